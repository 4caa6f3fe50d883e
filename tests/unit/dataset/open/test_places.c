/* Places that an index names: in any order, each compared with the bytes it refers to. Records
 * stored in descending order are read as well as others. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "dataset/batch/direct_reader.h"
#include "dataset/open/dataset.h"
#include "dataset/open/direct_support.h"
#include "index/tables/offsets.h"
#include "support/folder.h"
#include "support/index/build.h"
#include "support/index/forged.h"
#include "support/random.h"
#include "support/shards/oracle.h"

enum { RECORDS = 600, ASKED = RECORDS / 2, SIZE_MAX_OF_RECORD = 3000 };

static struct buffer contents;
static uint64_t frames[RECORDS + 1]; /* where the frames of the shard begin */
static uint64_t chosen[ASKED];       /* the frame that record 2 * i is said to be */

static int enter(void **state) {
    if (folder_enter_on_device(state)) return -1;
    struct rng random = {1};
    for (size_t i = 0; i < RECORDS; i++) {
        uint8_t data[SIZE_MAX_OF_RECORD];
        size_t size = (size_t)rng_below(&random, i % 10 ? 40 : SIZE_MAX_OF_RECORD);
        for (size_t k = 0; k < size; k++) data[k] = (uint8_t)rng_next(&random);
        frames[i] = contents.size;
        oracle_add_record(&contents, data, size);
    }
    frames[RECORDS] = contents.size;
    index_bytes("sample.rmx", NULL, "shard", &contents);
    return 0;
}

static int leave(void **state) {
    buffer_deinit(&contents);
    return folder_leave(state);
}

/* Writes an index that places each even record at a frame drawn at random. The record after it
 * begins where that frame ends, so only the odd records contradict the index itself. */
static void forge(uint64_t seed) {
    struct rng random = {seed};
    uint64_t offsets[RECORDS];
    uint32_t shards[RECORDS] = {0};
    for (size_t i = 0; i < ASKED; i++) {
        chosen[i] = rng_below(&random, RECORDS);
        offsets[2 * i] = frames[chosen[i]];
        offsets[2 * i + 1] = frames[chosen[i] + 1];
    }
    struct forged index = forged_read("sample.rmx");
    uint8_t *packed = must_realloc(NULL, offsets_capacity(RECORDS));
    size_t size = offsets_pack(packed, offsets, shards, RECORDS);
    /* The samples are of other frames, and would show that the index and the shard differ. */
    index.shards[0].identity.sample_count = 0;
    forged_encode(&index);
    forged_remove(&index, STORE_OFFSETS);
    forged_add(&index, STORE_OFFSETS, (struct store_key){0, 0}, packed, size);
    forged_write(&index, "forged.rmx");
    free(packed);
    forged_deinit(&index);
}

static recmap_dataset *open_forged(recmap_access access) {
    recmap_dataset_options options = RECMAP_DATASET_OPTIONS_INIT;
    options.access = access;
    return dataset_open("forged.rmx", &options);
}

static void assert_chosen(const recmap_record *record) {
    uint64_t frame = chosen[record->number / 2];
    size_t size = (size_t)(frames[frame + 1] - frames[frame] - 16);
    assert_int_equal(record->number % 2, 0);
    assert_int_equal(record->size, size);
    assert_memory_equal(record->data, contents.data + frames[frame] + 12, size);
}

static void test_descending_are_gathered(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= 20; seed++)
        for (int access = RECMAP_ACCESS_MAP; access <= RECMAP_ACCESS_DIRECT; access++) {
            recmap_error error = RECMAP_ERROR_INIT;
            uint64_t numbers[ASKED];
            recmap_batch *batch;
            forge(seed);
            recmap_dataset *dataset = open_forged((recmap_access)access);
            for (size_t i = 0; i < ASKED; i++) numbers[i] = 2 * i;
            ASSERT_OK(recmap_batch_create(&batch, &error), &error);
            ASSERT_OK(recmap_dataset_gather(batch, dataset, numbers, ASKED, &error), &error);
            assert_int_equal(recmap_batch_count(batch), ASKED);
            for (size_t i = 0; i < ASKED; i++) assert_chosen(&recmap_batch_records(batch)[i]);
            recmap_batch_destroy(batch);
            recmap_dataset_close(dataset);
        }
}

/* The same past the page cache, if the kernel and the file system can do that. */
static void test_descending_are_read_directly(void **state) {
    (void)state;
    uint64_t numbers[ASKED];
    for (size_t i = 0; i < ASKED; i++) numbers[i] = 2 * i;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        recmap_error error = RECMAP_ERROR_INIT;
        recmap_batch *batch;
        forge(seed);
        recmap_dataset *dataset = open_forged(RECMAP_ACCESS_DIRECT);
        if (!dataset_supports_direct(dataset)) {
            recmap_dataset_close(dataset);
            skip();
        }
        struct direct_reader *reader = direct_reader_create(dataset, 8);
        assert_non_null(reader);
        ASSERT_OK(recmap_batch_create(&batch, &error), &error);
        assert_true(direct_reader_start(reader, batch, numbers, ASKED));
        assert_true(direct_reader_finish(reader, batch));
        assert_int_equal(recmap_batch_count(batch), ASKED);
        for (size_t i = 0; i < ASKED; i++) assert_chosen(&recmap_batch_records(batch)[i]);
        direct_reader_destroy(reader);
        recmap_batch_destroy(batch);
        recmap_dataset_close(dataset);
    }
}

/* A frame that is not wholly within the bytes that were read is refused before it is looked at. */
static void test_outside_of_what_was_read(void **state) {
    (void)state;
    enum { FIRST = 20, END = 40 };
    recmap_dataset *dataset = dataset_open("sample.rmx", NULL);
    uint64_t begin = frames[FIRST], end = frames[END];
    size_t size = (size_t)(end - begin);
    uint8_t *copy = must_realloc(NULL, size); /* of its own, for the sanitizer */
    memcpy(copy, contents.data + begin, size);
    struct shard_window window = {.data = copy, .offset = begin, .size = size};
    for (uint64_t i = 0; i < RECORDS; i++) {
        recmap_error error = RECMAP_ERROR_INIT;
        recmap_record record;
        struct index_place place = {0, frames[i], frames[i + 1] - frames[i]};
        recmap_status status = dataset_check_frame(&record, dataset, &window, &place, i, &error);
        if (i >= FIRST && i < END) {
            ASSERT_OK(status, &error);
            assert_ptr_equal(record.data, copy + frames[i] - begin + 12);
            continue;
        }
        assert_int_equal(status, RECMAP_CORRUPT);
        assert_non_null(strstr(error.message, "the index is damaged or forged"));
        assert_string_equal(error.path, "shard");
        assert_int_equal(error.record, i);
        assert_int_equal(error.offset, frames[i]);
        assert_non_null(strstr(error.advice, "recmap index"));
    }
    const struct index_place strange[] = {
        {0, begin, UINT64_MAX}, {0, UINT64_MAX, 1}, {0, begin - 1, size}, {0, begin + 1, size},
        {0, begin, size + 1},   {0, end, 1},        {0, 0, end}};
    for (size_t i = 0; i < sizeof strange / sizeof *strange; i++) {
        recmap_record record;
        assert_int_equal(dataset_check_frame(&record, dataset, &window, &strange[i], 0, NULL),
                         RECMAP_CORRUPT);
    }
    free(copy);
    recmap_dataset_close(dataset);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_descending_are_gathered),
        cmocka_unit_test(test_descending_are_read_directly),
        cmocka_unit_test(test_outside_of_what_was_read),
    };
    return cmocka_run_group_tests(tests, enter, leave);
}
