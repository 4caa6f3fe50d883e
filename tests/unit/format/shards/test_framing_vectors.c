/* docs/formats/vectors/framings.txt: what the specification says of shards in other framings than
 * TFRecord is what an index of them has, and what a data set reads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <recmap/dataset.h>
#include <recmap/index.h>

#include "index/tables/index.h"
#include "support/folder.h"
#include "support/vector_file.h"

static void build(const struct vector_case *vector) {
    recmap_index_options options = RECMAP_INDEX_OPTIONS_INIT;
    recmap_index_builder *builder = NULL;
    recmap_error error = RECMAP_ERROR_INIT;
    size_t size;
    uint8_t *image = vector_bytes(vector, "image", &size);
    file_write("shard", image, size);
    free(image);
    options.framing = vector_text(vector, "framing");
    options.on_bad_record = RECMAP_ON_BAD_RECORD_SKIP;
    options.compression = RECMAP_COMPRESSION_NONE;
    assert_int_equal(recmap_index_builder_create(&builder, "x.rmx", &options, &error), RECMAP_OK);
    assert_int_equal(recmap_index_builder_add_shard(builder, "shard", &error), RECMAP_OK);
    assert_int_equal(recmap_index_builder_finish(NULL, builder, &error), RECMAP_OK);
    recmap_index_builder_destroy(builder);
}

/* Compares what the index says of the shard with the vector: framing, tail, identity and damages.
 * */
static void expect_index(const struct vector_case *vector) {
    struct index_file *index = NULL;
    assert_int_equal(index_open(&index, "x.rmx", NULL, NULL), RECMAP_OK);
    const struct shard_entry *shard = &index_shards(index)->entry;
    assert_string_equal(shard->framing, vector_text(vector, "framing"));
    assert_int_equal(shard->tail_size, vector_number(vector, "tail"));
    vector_expect(vector, "hash", shard->identity.hash, sizeof shard->identity.hash);
    size_t count;
    uint64_t *samples = vector_numbers(vector, "samples", &count);
    assert_int_equal(shard->identity.sample_count, count);
    for (size_t i = 0; i < count; i++) assert_int_equal(shard->identity.samples[i], samples[i]);
    free(samples);
    uint64_t *damage = vector_numbers(vector, "damage", &count);
    assert_int_equal(shard->damage_count * 2, count);
    for (size_t i = 0; i < count / 2; i++) {
        assert_int_equal(index_damages(index)[i].offset, damage[2 * i]);
        assert_int_equal(index_damages(index)[i].length, damage[2 * i + 1]);
    }
    free(damage);
    index_close(index);
}

/* Compares places and bytes of all records with the vector, whose payloads follow each other. */
static void expect_records(const struct vector_case *vector) {
    recmap_dataset *dataset = NULL;
    size_t count, size_count, payload_size;
    uint64_t *offsets = vector_numbers(vector, "offsets", &count);
    uint64_t *sizes = vector_numbers(vector, "sizes", &size_count);
    uint8_t *payloads = vector_bytes(vector, "payloads", &payload_size), *payload = payloads;
    assert_int_equal(recmap_dataset_open(&dataset, "x.rmx", NULL, NULL), RECMAP_OK);
    assert_int_equal(recmap_dataset_count(dataset), count);
    for (size_t i = 0; i < count; i++) {
        recmap_location place;
        recmap_record record;
        assert_int_equal(recmap_dataset_locate(&place, dataset, i, 1, NULL), RECMAP_OK);
        assert_int_equal(place.offset, offsets[i]);
        assert_int_equal(place.size, sizes[i]);
        assert_int_equal(recmap_dataset_get(&record, dataset, i, NULL), RECMAP_OK);
        assert_int_equal(record.size, sizes[i]);
        assert_memory_equal(record.data, payload, record.size);
        payload += record.size;
        recmap_record_release(&record);
    }
    assert_ptr_equal(payload, payloads + payload_size);
    recmap_dataset_close(dataset);
    free(payloads);
    free(sizes);
    free(offsets);
}

static void test_framings_agree_with_their_vectors(void **state) {
    (void)state;
    struct vector_file file = vectors_load("framings.txt");
    assert_true(file.count >= 12);
    for (size_t i = 0; i < file.count; i++) {
        const struct vector_case *vector = vectors_at(&file, i);
        build(vector);
        expect_index(vector);
        expect_records(vector);
    }
    vectors_deinit(&file);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_framings_agree_with_their_vectors, folder_enter,
                                        folder_leave),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
