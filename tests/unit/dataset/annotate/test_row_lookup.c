/* Ids that are looked up together give the records that they give one by one. */
#include "dataset/annotate/row_lookup.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "support/folder.h"
#include "support/index/build.h"
#include "support/shards/features.h"
#include "support/shards/oracle.h"

enum { RECORDS = 2000, IDS_LIMIT = 1500, ROWS = 5000 };

/* The id is the payload. */
static recmap_status lift(const recmap_record *record, recmap_value *id, recmap_value *columns,
                          size_t column_count, char *message, size_t message_capacity,
                          void *context) {
    (void)context;
    (void)columns;
    (void)column_count;
    (void)message;
    (void)message_capacity;
    id->type = RECMAP_TYPE_BYTES;
    id->as.bytes.data = record->data;
    id->as.bytes.size = record->size;
    return RECMAP_OK;
}

static void build_index(struct rng *random) {
    struct buffer shard = BUFFER_INIT;
    recmap_index_options options = RECMAP_INDEX_OPTIONS_INIT;
    options.id_feature = "id";
    options.lift = lift;
    for (int i = 0; i < RECORDS; i++) {
        char id[16];
        int size = snprintf(id, sizeof id, "%u", (unsigned)rng_below(random, IDS_LIMIT));
        oracle_add_record(&shard, id, (size_t)size);
    }
    index_bytes("set.rmx", &options, "shard", &shard);
    buffer_deinit(&shard);
}

static uint64_t find_alone(struct index_file *index, const recmap_value *id) {
    recmap_error error = RECMAP_ERROR_INIT;
    struct index_candidates candidates;
    uint64_t number = ROW_ABSENT, other;
    bool is_found;
    ASSERT_OK(index_candidates_init(&candidates, index, id_hash(id), &error), &error);
    ASSERT_OK(index_candidates_next(&candidates, &number, &is_found, &error), &error);
    if (!is_found) return ROW_ABSENT;
    ASSERT_OK(index_candidates_next(&candidates, &other, &is_found, &error), &error);
    return is_found ? ROW_SEVERAL : number;
}

static void check_rows(struct row_lookup *lookup, const recmap_value *ids, size_t count) {
    recmap_error error = RECMAP_ERROR_INIT;
    ASSERT_OK(row_lookup_find(lookup, ids, count, &error), &error);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(lookup->numbers[i], ids[i].type == RECMAP_TYPE_FLOAT
                                                 ? ROW_ABSENT
                                                 : find_alone(lookup->index, &ids[i]));
}

static void test_lookup_finds_the_rows_of_each_record(void **state) {
    (void)state;
    struct rng random = {1};
    recmap_error error = RECMAP_ERROR_INIT;
    struct index_file *index;
    struct row_lookup lookup;
    char(*texts)[16] = must_realloc(NULL, ROWS * sizeof *texts);
    recmap_value *ids = must_realloc(NULL, ROWS * sizeof *ids);
    build_index(&random);
    ASSERT_OK(index_open(&index, "set.rmx", NULL, &error), &error);
    for (int i = 0; i < ROWS; i++) {
        snprintf(texts[i], sizeof texts[i], "%u", (unsigned)rng_below(&random, 2 * IDS_LIMIT));
        ids[i] = rng_one_in(&random, 9) ? int64_value(i) : text_value(texts[i]);
        if (rng_one_in(&random, 50)) ids[i].type = RECMAP_TYPE_FLOAT;
    }
    row_lookup_init(&lookup, index);
    check_rows(&lookup, ids, 0);
    check_rows(&lookup, ids, 7);
    check_rows(&lookup, ids, ROWS);
    check_rows(&lookup, ids + 100, 800);
    row_lookup_deinit(&lookup);
    index_close(index);
    free(ids);
    free(texts);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_lookup_finds_the_rows_of_each_record, folder_enter,
                                        folder_leave),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
