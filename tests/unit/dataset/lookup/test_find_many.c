/* Positions of many ids equal those that recmap_dataset_find gives for each id: of ids that repeat,
 * that are absent, that hash alike, in data sets, concatenations and selections. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "index/tables/ids.h"
#include "support/folder.h"
#include "support/index/build.h"
#include "support/shards/features.h"
#include "support/shards/oracle.h"

enum { RECORDS = 3000, IDS = 5000, IDS_MAX = 1000, TEXT_SIZE = 40 };

/* The id is the record's payload; "#" and digits is an int64; an empty payload has none. */
static recmap_status lift(const recmap_record *record, recmap_value *id, recmap_value *columns,
                          size_t column_count, char *message, size_t message_capacity,
                          void *context) {
    (void)context;
    (void)columns;
    (void)column_count;
    (void)message;
    (void)message_capacity;
    if (!record->size || !id) return RECMAP_OK;
    if (record->data[0] == '#') {
        *id = int64_value(strtoll((const char *)record->data + 1, NULL, 10));
    } else {
        id->type = RECMAP_TYPE_BYTES;
        id->as.bytes.data = record->data;
        id->as.bytes.size = record->size;
    }
    return RECMAP_OK;
}

/* Indexes the shard NAME as NAME.rmx and opens it. */
static recmap_dataset *open_shard(const char *name, const struct buffer *shard) {
    char path[40];
    recmap_index_options options = RECMAP_INDEX_OPTIONS_INIT;
    options.id_feature = "id";
    options.lift = lift;
    snprintf(path, sizeof path, "%s.rmx", name);
    index_bytes(path, &options, name, shard);
    recmap_dataset_options opening = RECMAP_DATASET_OPTIONS_INIT;
    opening.lift = lift;
    return dataset_open(path, &opening);
}

/* Short and long texts. */
static size_t write_text(char text[TEXT_SIZE], uint64_t id) {
    const char *start = id % 3 ? "id-" : "id-of-more-bytes-than-fit-";
    return (size_t)snprintf(text, TEXT_SIZE, "%s%u", start, (unsigned)id);
}

/* One of IDS_MAX ids, each of which is a text or a number; or none. */
static size_t draw_id(char text[TEXT_SIZE], struct rng *random) {
    uint64_t id = rng_below(random, IDS_MAX);
    if (!id) return 0;
    return id % 2 ? (size_t)snprintf(text, TEXT_SIZE, "#%u", (unsigned)id) : write_text(text, id);
}

static recmap_dataset *open_random(const char *name, struct rng *random) {
    struct buffer shard = BUFFER_INIT;
    for (int i = 0; i < RECORDS; i++) {
        char text[TEXT_SIZE] = "";
        size_t size = draw_id(text, random);
        oracle_add_record(&shard, text, size);
    }
    recmap_dataset *dataset = open_shard(name, &shard);
    buffer_deinit(&shard);
    return dataset;
}

/* Ids to look up, half of which are in the data sets. */
struct wanted {
    char texts[IDS][TEXT_SIZE];
    recmap_value ids[IDS];
};

static struct wanted *draw_wanted(struct rng *random) {
    struct wanted *wanted = must_realloc(NULL, sizeof *wanted);
    for (int i = 0; i < IDS; i++) {
        unsigned id = (unsigned)rng_below(random, 2 * IDS_MAX);
        write_text(wanted->texts[i], id);
        wanted->ids[i] = rng_one_in(random, 2) ? int64_value(id) : text_value(wanted->texts[i]);
    }
    return wanted;
}

/* A selection: the records whose number is odd, backwards. */
static int64_t odd_backwards(uint64_t number, void *context) {
    const recmap_dataset *dataset = context;
    return number % 2 ? (int64_t)(recmap_dataset_count(dataset) - number) : -1;
}

static int64_t find_alone(recmap_dataset *dataset, const recmap_value *id,
                          recmap_position_fn position) {
    recmap_error error = RECMAP_ERROR_INIT;
    uint64_t numbers[RECORDS];
    size_t count;
    int64_t lowest = -1;
    ASSERT_OK(recmap_dataset_find_all(numbers, RECORDS, &count, dataset, id, &error), &error);
    for (size_t i = 0; i < count; i++) {
        int64_t found = position ? position(numbers[i], dataset) : (int64_t)numbers[i];
        if (found >= 0 && (lowest < 0 || found < lowest)) lowest = found;
    }
    return lowest;
}

static void check_wanted(recmap_dataset *dataset, const struct wanted *wanted, size_t count,
                         recmap_position_fn position) {
    recmap_error error = RECMAP_ERROR_INIT;
    int64_t found[IDS + 1];
    found[count] = 99;
    ASSERT_OK(
        recmap_dataset_find_many(found, dataset, wanted->ids, count, position, dataset, &error),
        &error);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(found[i], find_alone(dataset, &wanted->ids[i], position));
    assert_int_equal(found[count], 99);
}

static void check_dataset(recmap_dataset *dataset, const struct wanted *wanted) {
    static const size_t counts[] = {0, 1, 7, 700, IDS};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        check_wanted(dataset, wanted, counts[i], NULL);
        check_wanted(dataset, wanted, counts[i], odd_backwards);
    }
}

static void test_many_ids_are_found_at_once(void **state) {
    (void)state;
    struct rng random = {1};
    recmap_dataset *dataset = open_random("one", &random);
    struct wanted *wanted = draw_wanted(&random);
    check_dataset(dataset, wanted);
    free(wanted);
    recmap_dataset_close(dataset);
}

static void test_ids_are_found_in_concatenations(void **state) {
    (void)state;
    struct rng random = {2};
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_dataset *parts[] = {open_random("one", &random), open_random("two", &random)}, *both;
    struct wanted *wanted = draw_wanted(&random);
    ASSERT_OK(recmap_dataset_concat(&both, parts, 2, &error), &error);
    check_dataset(both, wanted);
    recmap_dataset_close(both);
    free(wanted);
    for (int i = 0; i < 2; i++) recmap_dataset_close(parts[i]);
}

/* Each record matches the record with its id; a record without id matches none. */
static void check_matches(recmap_dataset *dataset, recmap_dataset *source, const uint64_t *numbers,
                          size_t count, recmap_position_fn position) {
    recmap_error error = RECMAP_ERROR_INIT;
    int64_t found[2 * RECORDS];
    ASSERT_OK(
        recmap_dataset_match(found, dataset, source, numbers, count, position, dataset, &error),
        &error);
    for (size_t i = 0; i < count; i++) {
        recmap_record record;
        recmap_value id = {.type = RECMAP_TYPE_NONE};
        ASSERT_OK(recmap_dataset_get(&record, source, numbers[i], &error), &error);
        ASSERT_OK(lift(&record, &id, NULL, 0, NULL, 0, NULL), &error);
        int64_t due = id.type == RECMAP_TYPE_NONE ? -1 : find_alone(dataset, &id, position);
        assert_int_equal(found[i], due);
        recmap_record_release(&record);
    }
}

/* In any order: backwards, drawn with repetition, of neighbouring records, and ascending. */
static void check_match(recmap_dataset *dataset, recmap_dataset *source,
                        recmap_position_fn position) {
    struct rng random = {6};
    uint64_t numbers[2 * RECORDS], count = recmap_dataset_count(source);
    for (uint64_t i = 0; i < count; i++) numbers[i] = count - 1 - i;
    check_matches(dataset, source, numbers, (size_t)count, position);
    for (uint64_t i = 0; i < count; i++) numbers[i] = rng_below(&random, count);
    check_matches(dataset, source, numbers, (size_t)count, position);
    for (uint64_t i = 0; i < 100; i++) numbers[i] = count - 1 - rng_below(&random, 9);
    check_matches(dataset, source, numbers, 100, position);
    for (uint64_t i = 0; i < 100; i++) numbers[i] = 3 * i;
    check_matches(dataset, source, numbers, 100, position);
}

static void test_records_of_two_sets_are_matched(void **state) {
    (void)state;
    struct rng random = {3};
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_dataset *parts[] = {open_random("one", &random), open_random("two", &random)}, *both;
    ASSERT_OK(recmap_dataset_concat(&both, parts, 2, &error), &error);
    check_match(parts[0], parts[1], NULL);
    check_match(parts[0], parts[1], odd_backwards);
    check_match(parts[1], both, NULL);
    check_match(both, parts[0], odd_backwards);
    recmap_dataset_close(both);
    for (int i = 0; i < 2; i++) recmap_dataset_close(parts[i]);
}

/* Two ids whose hashes in the index are equal: the ids in the records decide. */
static void test_ids_with_the_same_hash(void **state) {
    (void)state;
    const char *lines[] = {SAME_HASH, "a", SAME_HASH, OF_SAME_HASH, "c", OF_SAME_HASH};
    const int64_t whole[] = {1, 3, 4}, odd[] = {5, 1, -1};
    struct buffer shard = BUFFER_INIT;
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_value ids[] = {text_value("a"), text_value(OF_SAME_HASH), text_value("c")};
    int64_t found[3];
    for (int i = 0; i < 6; i++) oracle_add_record(&shard, lines[i], strlen(lines[i]));
    recmap_dataset *dataset = open_shard("set", &shard);
    ASSERT_OK(recmap_dataset_find_many(found, dataset, ids, 3, NULL, NULL, &error), &error);
    assert_memory_equal(found, whole, sizeof found);
    ASSERT_OK(recmap_dataset_find_many(found, dataset, ids, 3, odd_backwards, dataset, &error),
              &error);
    assert_memory_equal(found, odd, sizeof found);
    recmap_dataset_close(dataset);
    buffer_deinit(&shard);
}

/* The hashes of each two ids differ only in their lowest 4 bits, except the last two, whose hashes
 * are equal. */
static void test_ids_with_similar_hashes(void **state) {
    (void)state;
    static const char *const ids[] = {
        "id-11309971", "id-10528834", "id-15562116", "id-19740086", "id-21650874",
        "id-11506305", "id-5079205",  "id-16088432", "id-12537252", "id-17223289",
    };
    enum { COUNT = sizeof ids / sizeof *ids };
    struct wanted *wanted = must_realloc(NULL, sizeof *wanted);
    for (int i = 0; i < COUNT; i++) wanted->ids[i] = text_value(ids[i]);
    assert_int_equal(id_hash(&wanted->ids[0]) >> 4, id_hash(&wanted->ids[1]) >> 4);
    assert_int_not_equal(id_hash(&wanted->ids[0]), id_hash(&wanted->ids[1]));
    assert_int_equal(id_hash(&wanted->ids[8]), id_hash(&wanted->ids[9]));
    for (unsigned first = 0; first < 2; first++)
        for (unsigned step = 1; step <= 3; step++) {
            struct buffer shard = BUFFER_INIT;
            for (int i = 0; i < 2 * COUNT; i += (int)step) {
                const char *id = ids[(first ? i : 2 * COUNT - 1 - i) % COUNT];
                oracle_add_record(&shard, id, strlen(id));
            }
            recmap_dataset *dataset = open_shard("set", &shard);
            check_wanted(dataset, wanted, COUNT, NULL);
            check_wanted(dataset, wanted, COUNT, odd_backwards);
            recmap_dataset_close(dataset);
            buffer_deinit(&shard);
        }
    free(wanted);
}

/* More ids than are looked up together. */
static void test_ids_beyond_one_group_are_found(void **state) {
    (void)state;
    enum { MANY = (1 << 20) + 5 };
    struct rng random = {7};
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_dataset *dataset = open_random("one", &random);
    recmap_value *ids = must_realloc(NULL, MANY * sizeof *ids);
    int64_t *found = must_realloc(NULL, MANY * sizeof *found), due[2 * IDS_MAX];
    for (int i = 0; i < 2 * IDS_MAX; i++) {
        recmap_value id = int64_value(i);
        due[i] = find_alone(dataset, &id, NULL);
    }
    for (int i = 0; i < MANY; i++) ids[i] = int64_value(i % (2 * IDS_MAX));
    ASSERT_OK(recmap_dataset_find_many(found, dataset, ids, MANY, NULL, NULL, &error), &error);
    for (int i = 0; i < MANY; i++) assert_int_equal(found[i], due[i % (2 * IDS_MAX)]);
    free(found);
    free(ids);
    recmap_dataset_close(dataset);
}

/* The error names the first record that cannot be read, also if several threads read. */
static void test_the_error_names_the_first_damaged_record(void **state) {
    (void)state;
    struct rng random = {4};
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_dataset *dataset = open_random("one", &random);
    int64_t found[RECORDS];
    uint64_t numbers[RECORDS];
    for (uint64_t i = 0; i < RECORDS; i++) numbers[i] = i;
    file_alter("one", 12, "\377", 1);
    assert_int_equal(
        recmap_dataset_match(found, dataset, dataset, numbers, RECORDS, NULL, NULL, &error),
        RECMAP_CORRUPT);
    assert_int_equal(error.record, 0);
    assert_string_equal(error.path, "one");
    recmap_dataset_close(dataset);
}

static int stop(void *context) {
    ++*(int *)context;
    return 1;
}

/* The other threads may do all the work of a call, so it is repeated until the calling thread had
 * enough of it to ask. */
static void test_an_interrupt_stops_the_call(void **state) {
    (void)state;
    enum { MANY = 200000, CALLS_MAX = 1000 };
    struct rng random = {5};
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_dataset *dataset = open_random("one", &random);
    recmap_value *ids = must_realloc(NULL, MANY * sizeof *ids);
    int64_t *found = must_realloc(NULL, MANY * sizeof *found);
    int calls = 0;
    for (int i = 0; i < MANY; i++) ids[i] = int64_value(i % IDS_MAX);
    recmap_thread_set_interrupt(stop, &calls);
    recmap_status status = RECMAP_OK;
    for (int i = 0; i < CALLS_MAX && status == RECMAP_OK; i++)
        status = recmap_dataset_find_many(found, dataset, ids, MANY, NULL, NULL, &error);
    recmap_thread_set_interrupt(NULL, NULL);
    assert_int_equal(status, RECMAP_CANCELLED);
    assert_true(calls > 0);
    free(found);
    free(ids);
    recmap_dataset_close(dataset);
}

static void test_invalid_arguments_are_refused(void **state) {
    (void)state;
    struct buffer shard = BUFFER_INIT;
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_value ids[] = {int64_value(1), {.type = RECMAP_TYPE_FLOAT}};
    int64_t found[2];
    uint64_t beyond = 1, descending[] = {UINT64_MAX / 3, 0};
    oracle_add_record(&shard, "a", 1);
    index_bytes("plain.rmx", NULL, "plain", &shard);
    recmap_dataset *plain = dataset_open("plain.rmx", NULL), *dataset = open_shard("set", &shard);
    assert_int_equal(recmap_dataset_find_many(found, dataset, ids, 2, NULL, NULL, &error),
                     RECMAP_INVALID);
    assert_non_null(strstr(error.message, "BYTES or INT64"));
    assert_int_equal(recmap_dataset_match(found, dataset, plain, NULL, 0, NULL, NULL, &error),
                     RECMAP_INVALID);
    assert_non_null(strstr(error.message, "has no ids"));
    assert_int_equal(recmap_dataset_match(found, dataset, dataset, &beyond, 1, NULL, NULL, &error),
                     RECMAP_INVALID);
    assert_int_equal(
        recmap_dataset_match(found, dataset, dataset, descending, 2, NULL, NULL, &error),
        RECMAP_INVALID);
    recmap_dataset_close(plain);
    recmap_dataset_close(dataset);
    buffer_deinit(&shard);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(test_##name, folder_enter, folder_leave)
    const struct CMUnitTest tests[] = {
        TEST(many_ids_are_found_at_once),      TEST(ids_are_found_in_concatenations),
        TEST(records_of_two_sets_are_matched), TEST(the_error_names_the_first_damaged_record),
        TEST(an_interrupt_stops_the_call),     TEST(ids_with_the_same_hash),
        TEST(invalid_arguments_are_refused),   TEST(ids_with_similar_hashes),
        TEST(ids_beyond_one_group_are_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
