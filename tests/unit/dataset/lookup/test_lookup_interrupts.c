/* Each phase of a search for many ids, and reading a column of texts, asks the thread's interrupt,
 * and can be stopped by it. The tests run on one core, so that the number of questions is known. */
#define _GNU_SOURCE
#include <sched.h>
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

/* A phase asks after QUESTION_WORK bytes. An id counts as ID_WORK bytes, a record that is read as
 * RECORD_WORK. */
enum { QUESTION_WORK = 256 << 10, ID_WORK = 64, RECORD_WORK = 256 };

enum {
    RECORDS = 40000,
    IDS = 20000,
    TEXT_SIZE = 24,
    IDS_QUESTIONS = IDS * ID_WORK / QUESTION_WORK,
    RECORD_IDS_QUESTIONS = RECORDS * ID_WORK / QUESTION_WORK,
    RECORDS_QUESTIONS = RECORDS * RECORD_WORK / QUESTION_WORK,
};

struct questions {
    size_t count;
    size_t stop; /* the question that is answered with "stop", or SIZE_MAX */
};

static int answer(void *context) {
    struct questions *questions = context;
    return questions->count++ == questions->stop;
}

struct search {
    recmap_dataset *dataset;
    recmap_value *ids, *texts;
    uint64_t *numbers, *hashes;
    int64_t *positions; /* as many as numbers */
};

typedef recmap_status (*call_fn)(struct search *search);

/* The payload is the id, and the value of the column. */
static recmap_status lift(const recmap_record *record, recmap_value *id, recmap_value *columns,
                          size_t column_count, char *message, size_t message_capacity,
                          void *context) {
    (void)context;
    (void)message;
    (void)message_capacity;
    const recmap_value payload = {.type = RECMAP_TYPE_BYTES,
                                  .as.bytes = {record->data, record->size}};
    if (id) *id = payload;
    for (size_t i = 0; i < column_count; i++) columns[i] = payload;
    return RECMAP_OK;
}

static recmap_dataset *open_set(void) {
    struct buffer shard = BUFFER_INIT;
    recmap_index_options options = RECMAP_INDEX_OPTIONS_INIT;
    recmap_dataset_options opening = RECMAP_DATASET_OPTIONS_INIT;
    for (int i = 0; i < RECORDS; i++) {
        char text[TEXT_SIZE];
        oracle_add_record(&shard, text, (size_t)snprintf(text, sizeof text, "%d", i));
    }
    const recmap_lift text_lift = {"text", NULL, 0};
    options.id_feature = "id";
    options.lifts = &text_lift;
    options.lift_count = 1;
    options.lift = opening.lift = lift;
    index_bytes("set.rmx", &options, "shard", &shard);
    buffer_deinit(&shard);
    return dataset_open("set.rmx", &opening);
}

static struct search search_create(void) {
    struct search search = {.dataset = open_set()};
    search.ids = must_realloc(NULL, IDS * sizeof *search.ids);
    search.texts = must_realloc(NULL, RECORDS * sizeof *search.texts);
    search.numbers = must_realloc(NULL, RECORDS * sizeof *search.numbers);
    search.hashes = must_realloc(NULL, RECORDS * sizeof *search.hashes);
    search.positions = must_realloc(NULL, RECORDS * sizeof *search.positions);
    for (uint64_t i = 0; i < RECORDS; i++) search.numbers[i] = i;
    return search;
}

static void search_destroy(struct search *search) {
    recmap_dataset_close(search->dataset);
    free(search->ids);
    free(search->texts);
    free(search->numbers);
    free(search->hashes);
    free(search->positions);
}

static recmap_status find_ids(struct search *search) {
    return recmap_dataset_find_many(search->positions, search->dataset, search->ids, IDS, NULL,
                                    NULL, NULL);
}

static recmap_status match_records(struct search *search) {
    return recmap_dataset_match(search->positions, search->dataset, search->dataset,
                                search->numbers, RECORDS, NULL, NULL, NULL);
}

static recmap_status read_texts(struct search *search) {
    return recmap_dataset_read_bytes(search->texts, search->dataset, 1, 0, RECORDS, NULL);
}

static recmap_status read_hashes(struct search *search) {
    return recmap_dataset_read_id_hashes(search->hashes, search->dataset, NULL);
}

/* Calls once to count the questions, and once for each of them to be stopped there. */
static size_t stop_at_each_question(call_fn call, struct search *search) {
    struct questions all = {0, SIZE_MAX};
    recmap_thread_set_interrupt(answer, &all);
    assert_int_equal(call(search), RECMAP_OK);
    for (size_t stop = 0; stop < all.count; stop++) {
        struct questions questions = {0, stop};
        recmap_thread_set_interrupt(answer, &questions);
        assert_int_equal(call(search), RECMAP_CANCELLED);
        assert_int_equal(questions.count, stop + 1);
    }
    recmap_thread_set_interrupt(NULL, NULL);
    assert_int_equal(call(search), RECMAP_OK);
    return all.count;
}

/* No record is read for ids that the data set lacks: their hashes are made, which asks once at the
 * end, and searched. */
static void test_looking_up_unknown_ids_asks_once(void **state) {
    (void)state;
    struct search search = search_create();
    for (int i = 0; i < IDS; i++) search.ids[i] = text_value("unknown");
    assert_true(stop_at_each_question(find_ids, &search) >= 1 + IDS_QUESTIONS);
    search_destroy(&search);
}

/* The ids are all the same, so one record is read, and compared with each. */
static void test_comparing_ids_asks_the_interrupt(void **state) {
    (void)state;
    struct search search = search_create();
    for (int i = 0; i < IDS; i++) search.ids[i] = text_value("7");
    assert_true(stop_at_each_question(find_ids, &search) >= 1 + 2 * IDS_QUESTIONS);
    search_destroy(&search);
}

/* The ids of all records are read, hashed and searched; the records found are read and compared. */
static void test_ids_of_records(void **state) {
    (void)state;
    struct search search = search_create();
    assert_true(stop_at_each_question(match_records, &search) >=
                1 + 2 * RECORDS_QUESTIONS + 3 * RECORD_IDS_QUESTIONS);
    search_destroy(&search);
}

static void test_reading_hashes_asks_the_interrupt(void **state) {
    (void)state;
    struct search search = search_create();
    assert_true(stop_at_each_question(read_hashes, &search) >= 1);
    search_destroy(&search);
}

static void test_reading_texts_asks_the_interrupt(void **state) {
    (void)state;
    struct search search = search_create();
    assert_true(stop_at_each_question(read_texts, &search) >= 1);
    search_destroy(&search);
}

static int use_one_core(void **state) {
    cpu_set_t set;
    (void)state;
    CPU_ZERO(&set);
    CPU_SET(sched_getcpu(), &set);
    return sched_setaffinity(0, sizeof set, &set);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(test_##name, folder_enter, folder_leave)
    const struct CMUnitTest tests[] = {
        TEST(looking_up_unknown_ids_asks_once),
        TEST(comparing_ids_asks_the_interrupt),
        TEST(ids_of_records),
        TEST(reading_hashes_asks_the_interrupt),
        TEST(reading_texts_asks_the_interrupt),
    };
    return cmocka_run_group_tests(tests, use_one_core, NULL);
}
