/* Every allocation fails in turn, once or from then on, in every public call. What must come of it:
 * NO_MEMORY, nothing leaked, no file left; and where the failure was a single one, the same call on
 * the same handle then succeeds. */
#define _GNU_SOURCE
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "fault/cases.h"
#include "fault/fixture.h"
#include "fault/interpose.h"
#include "support/folder.h"
#include "support/rounds.h"
#include "support/shards/deflate.h"

/* What the steps work on. */
struct session {
    recmap_dataset_options reading;
    recmap_dataset *dataset;
    const char *wrong; /* an answer that was given, and is not right */
};

static struct fixture data;
static char other[128];             /* a second folder */
static char damaged[PATH_LIMIT];    /* a shard in it with one bad record, */
static char skipped[PATH_LIMIT];    /* its index, */
static char listed[PATH_LIMIT];     /* a list file, */
static char written[PATH_LIMIT];    /* a shard that is written, */
static char indexed[PATH_LIMIT];    /* and its index, */
static char lines[PATH_LIMIT];      /* an index of the list's lines, */
static char compressed[PATH_LIMIT]; /* a shard that is, */
static char inflated[PATH_LIMIT];   /* and its index */
static char by_idx[PATH_LIMIT];     /* and one that is made by a text index */

enum { DAMAGED_RECORDS = 20, WRITTEN_RECORDS = 30 };

static void expect(struct session *session, bool holds, const char *reason) {
    if (!holds) session->wrong = reason;
}

static recmap_status name_shards(struct session *session, recmap_error *error) {
    recmap_shards *shards = NULL;
    char pattern[PATH_LIMIT + 8], list[PATH_LIMIT + 8], path[PATH_LIMIT];
    snprintf(pattern, sizeof pattern, "%s/part-?", data.folder);
    snprintf(list, sizeof list, "@%s", listed);
    recmap_status status = recmap_shards_create(&shards, error);
    if (status == RECMAP_OK) status = recmap_shards_add(shards, pattern, error);
    if (status == RECMAP_OK) status = recmap_shards_add(shards, data.folder, error);
    if (status == RECMAP_OK) status = recmap_shards_add(shards, list, error);
    if (status == RECMAP_OK) status = recmap_shards_index_path(path, sizeof path, shards, error);
    if (status == RECMAP_OK)
        expect(session, recmap_shards_count(shards) == 3 * FIXTURE_SHARDS, "shards are missing");
    recmap_shards_destroy(shards);
    return status;
}

static recmap_status append(struct session *session, recmap_error *error) {
    (void)session;
    return fixture_append(&data, error);
}

static recmap_status rebuild_with_threads(struct session *session, recmap_error *error) {
    (void)session;
    return fixture_rebuild(&data, 2, error);
}

static recmap_status skip_damage(struct session *session, recmap_error *error) {
    recmap_index_builder *builder = NULL;
    recmap_index_options options = fixture_options();
    options.on_bad_record = RECMAP_ON_BAD_RECORD_SKIP;
    recmap_index_summary summary;
    recmap_status status = recmap_index_builder_create(&builder, skipped, &options, error);
    if (status == RECMAP_OK) status = recmap_index_builder_add_shard(builder, damaged, error);
    if (status == RECMAP_OK) status = recmap_index_builder_finish(&summary, builder, error);
    if (status == RECMAP_OK)
        expect(session, summary.record_count == DAMAGED_RECORDS - 1 && summary.damage_count == 1,
               "damage was missed");
    recmap_index_builder_destroy(builder);
    return status;
}

static recmap_status index_one(const char *path, const char *shard, recmap_index_options options,
                               recmap_error *error) {
    recmap_index_builder *builder = NULL;
    options.thread_count = 1;
    recmap_status status = recmap_index_builder_create(&builder, path, &options, error);
    if (status == RECMAP_OK) status = recmap_index_builder_add_shard(builder, shard, error);
    if (status == RECMAP_OK) status = recmap_index_builder_finish(NULL, builder, error);
    recmap_index_builder_destroy(builder);
    return status;
}

static recmap_status read_lines(struct session *session, recmap_error *error) {
    recmap_dataset *dataset = NULL;
    recmap_record record;
    recmap_index_options options = RECMAP_INDEX_OPTIONS_INIT;
    options.framing = "lines";
    recmap_status status = index_one(lines, listed, options, error);
    if (status == RECMAP_OK)
        status = recmap_dataset_open(&dataset, lines, &session->reading, error);
    if (status == RECMAP_OK) status = recmap_dataset_get(&record, dataset, 1, error);
    if (status == RECMAP_OK)
        expect(session,
               record.size == strlen(data.shards[1]) &&
                   !memcmp(record.data, data.shards[1], record.size),
               "another line");
    recmap_dataset_close(dataset);
    return status;
}

/* The last record lies after seek points. */
static recmap_status read_compressed(struct session *session, recmap_error *error) {
    recmap_dataset *dataset = NULL;
    recmap_record record;
    recmap_span_info spans;
    recmap_index_options options = RECMAP_INDEX_OPTIONS_INIT;
    recmap_status status = index_one(inflated, compressed, options, error);
    if (status == RECMAP_OK)
        status = recmap_dataset_open(&dataset, inflated, &session->reading, error);
    if (status == RECMAP_OK) status = recmap_dataset_get_span_info(&spans, dataset, error);
    if (status == RECMAP_OK) expect(session, spans.point_count > 0, "no seek points");
    if (status == RECMAP_OK)
        status = recmap_dataset_get(&record, dataset, recmap_dataset_count(dataset) - 1, error);
    if (status == RECMAP_OK) {
        uint8_t due[PAYLOAD_MAX];
        size_t size = payload_write(due, FIXTURE_RECORDS - 1);
        expect(session, record.size == size && !memcmp(record.data, due, size),
               "another record of the compressed shard");
        recmap_record_release(&record);
    }
    recmap_dataset_close(dataset);
    return status;
}

static recmap_status take_text_index(struct session *session, recmap_error *error) {
    (void)session;
    recmap_index_options options = fixture_options();
    options.text_index_folder = other;
    return index_one(by_idx, data.shards[0], options, error);
}

static recmap_status look_at_damage(struct session *session, recmap_error *error) {
    recmap_dataset *dataset = NULL;
    recmap_damage damage = {0};
    recmap_text text = RECMAP_TEXT_INIT;
    recmap_status status = recmap_dataset_open(&dataset, skipped, &session->reading, error);
    if (status != RECMAP_OK) return status;
    status = recmap_dataset_get_damage(&damage, dataset, 0, error);
    if (status == RECMAP_OK) expect(session, damage.size > 0, "empty damage");
    if (status == RECMAP_OK) status = recmap_dataset_info_to_json(&text, dataset, 1, error);
    recmap_text_deinit(&text);
    recmap_dataset_close(dataset);
    return status;
}

static recmap_status write_as(recmap_compression compression, recmap_error *error) {
    uint8_t bytes[PAYLOAD_MAX];
    recmap_writer *writer = NULL;
    recmap_index_options index = fixture_options();
    recmap_writer_options options = RECMAP_WRITER_OPTIONS_INIT;
    options.index_path = indexed;
    options.index = &index;
    options.compression = compression;
    recmap_status status = recmap_writer_create(&writer, written, &options, error);
    for (uint64_t i = 0; status == RECMAP_OK && i < WRITTEN_RECORDS; i++)
        status = recmap_writer_write(writer, bytes, payload_write(bytes, i), error);
    if (status == RECMAP_OK) status = recmap_writer_finish(writer, error);
    recmap_writer_destroy(writer);
    return status;
}

static recmap_status write_shard(struct session *session, recmap_error *error) {
    (void)session;
    return write_as(RECMAP_COMPRESSION_NONE, error);
}

static recmap_status write_deflated(struct session *session, recmap_error *error) {
    (void)session;
    return write_as(RECMAP_COMPRESSION_ZLIB, error);
}

static recmap_status open_dataset(struct session *session, recmap_error *error) {
    return recmap_dataset_open(&session->dataset, data.index, &session->reading, error);
}

static recmap_status get(struct session *session, recmap_error *error) {
    recmap_record record, later;
    recmap_status status = recmap_dataset_get(&record, session->dataset, 3, error);
    if (status != RECMAP_OK) return status;
    status = recmap_dataset_get(&later, session->dataset, FIXTURE_RECORDS - 1, error);
    expect(session, payload_holds(&record, 3), "get gave wrong bytes");
    if (status == RECMAP_OK) {
        expect(session, payload_holds(&later, FIXTURE_RECORDS - 1), "get gave wrong bytes");
        recmap_record_release(&later);
    }
    recmap_record_release(&record);
    return status;
}

static recmap_status gather(struct session *session, recmap_error *error) {
    static const uint64_t numbers[] = {170, 3, 99, 3, 0, 61, 60, 59, 120, 119};
    enum { COUNT = sizeof numbers / sizeof *numbers };
    recmap_batch *batch = NULL;
    recmap_status status = recmap_batch_create(&batch, error);
    if (status == RECMAP_OK)
        status = recmap_dataset_gather(batch, session->dataset, numbers, COUNT, error);
    for (size_t i = 0; status == RECMAP_OK && i < COUNT; i++)
        expect(session, payload_holds(&recmap_batch_records(batch)[i], numbers[i]),
               "gather gave wrong bytes");
    if (status == RECMAP_OK) status = recmap_dataset_read(batch, session->dataset, 50, 80, error);
    if (status == RECMAP_OK)
        expect(session, recmap_batch_count(batch) == 80, "gather_range gave another number");
    recmap_batch_destroy(batch);
    return status;
}

static recmap_status find(struct session *session, recmap_error *error) {
    char text[32];
    recmap_value id = payload_id(text, 77);
    uint64_t number = 0, numbers[2];
    size_t count = 0;
    recmap_status status = recmap_dataset_find(&number, session->dataset, &id, error);
    if (status == RECMAP_OK) expect(session, number == 77, "find gave another number");
    if (status == RECMAP_OK)
        status = recmap_dataset_find_all(numbers, 2, &count, session->dataset, &id, error);
    if (status == RECMAP_OK)
        expect(session, count == 1 && numbers[0] == 77, "find_all gave other numbers");
    return status;
}

static recmap_status read_columns(struct session *session, recmap_error *error) {
    int64_t labels[4];
    recmap_value names[4];
    recmap_location places[4];
    size_t label, name;
    recmap_dataset *dataset = session->dataset;
    recmap_status status = recmap_dataset_find_lifted_column(&label, dataset, "label", error);
    if (status == RECMAP_OK)
        status = recmap_dataset_find_lifted_column(&name, dataset, "name", error);
    if (status == RECMAP_OK)
        status = recmap_dataset_read_int64(labels, dataset, label, 58, 4, error);
    if (status == RECMAP_OK) expect(session, labels[3] == 3 * 61 - 7, "a label is wrong");
    if (status == RECMAP_OK) status = recmap_dataset_read_bytes(names, dataset, name, 58, 4, error);
    if (status == RECMAP_OK)
        expect(session, !memcmp(names[2].as.bytes.data, "n0", 2), "a name is wrong");
    return status == RECMAP_OK ? recmap_dataset_locate(places, dataset, 58, 4, error) : status;
}

static recmap_status describe(struct session *session, recmap_error *error) {
    recmap_text text = RECMAP_TEXT_INIT;
    recmap_shard_info shard;
    recmap_missing_shards missing;
    recmap_status status = recmap_dataset_info_to_json(&text, session->dataset, 1, error);
    if (status == RECMAP_OK) status = recmap_dataset_get_shard(&shard, session->dataset, 1, error);
    if (status == RECMAP_OK)
        status = recmap_dataset_find_missing_shards(&missing, session->dataset, error);
    recmap_text_deinit(&text);
    return status;
}

static recmap_status verify(struct session *session, recmap_error *error) {
    recmap_report *report = NULL;
    recmap_text text = RECMAP_TEXT_INIT;
    recmap_verify_options options = RECMAP_VERIFY_OPTIONS_INIT;
    options.thread_count = 1;
    recmap_status status = recmap_dataset_verify(&report, session->dataset, &options, error);
    if (status != RECMAP_OK) return status;
    expect(session,
           !recmap_report_damage_count(report) &&
               recmap_report_record_count(report) == FIXTURE_RECORDS,
           "verify found damage");
    status = recmap_report_to_json(&text, report, error);
    recmap_text_deinit(&text);
    recmap_report_destroy(report);
    return status;
}

/* `numbers` may be NULL: all records. */
static recmap_status examine_by(struct session *session, unsigned threads, const uint64_t *numbers,
                                size_t count, recmap_error *error) {
    recmap_diagnosis *diagnosis = NULL;
    recmap_doctor_options options = RECMAP_DOCTOR_OPTIONS_INIT;
    options.thread_count = threads;
    options.lists_records = 1;
    recmap_status status =
        recmap_dataset_examine(&diagnosis, session->dataset, numbers, count, &options, error);
    if (status != RECMAP_OK) return status;
    expect(session, recmap_diagnosis_read_count(diagnosis) == count, "the doctor left records out");
    recmap_diagnosis_destroy(diagnosis);
    return RECMAP_OK;
}

static recmap_status examine(struct session *session, recmap_error *error) {
    return examine_by(session, 1, NULL, FIXTURE_RECORDS, error);
}

static recmap_status examine_in_parts(struct session *session, recmap_error *error) {
    return examine_by(session, 3, NULL, FIXTURE_RECORDS, error);
}

static recmap_status examine_selection(struct session *session, recmap_error *error) {
    static const uint64_t numbers[] = {7, 3, 4};
    return examine_by(session, 1, numbers, 3, error);
}

static recmap_status learn_schema(struct session *session, recmap_error *error) {
    recmap_schema *schema = NULL;
    recmap_record record = {0};
    recmap_text text = RECMAP_TEXT_INIT;
    recmap_status status = recmap_dataset_get(&record, session->dataset, 5, error);
    if (status != RECMAP_OK) return status;
    status = recmap_schema_create(&schema, error);
    if (status == RECMAP_OK) status = recmap_schema_add(schema, record.data, record.size, error);
    if (status == RECMAP_OK) status = recmap_schema_to_json(&text, schema, error);
    if (status == RECMAP_OK)
        expect(session, recmap_schema_feature_count(schema) == 4, "the schema lacks features");
    if (status == RECMAP_OK) status = recmap_record_to_json(&text, &record, error);
    recmap_text_deinit(&text);
    recmap_schema_destroy(schema);
    recmap_record_release(&record);
    return status;
}

struct step {
    const char *name;
    recmap_status (*run)(struct session *session, recmap_error *error);
    bool needs_dataset;
};

static const struct step steps[] = {
    {"shards", name_shards, false},
    {"append", append, false},
    {"skip", skip_damage, false},
    {"damage", look_at_damage, false},
    {"lines", read_lines, false},
    {"compressed", read_compressed, false},
    {"text index", take_text_index, false},
    {"writer", write_shard, false},
    {"compressing writer", write_deflated, false},
    {"open", open_dataset, false},
    {"get", get, true},
    {"gather", gather, true},
    {"find", find, true},
    {"columns", read_columns, true},
    {"info", describe, true},
    {"verify", verify, true},
    {"schema", learn_schema, true},
    {"doctor", examine, true},
    {"doctor in parts", examine_in_parts, true},
    {"doctor of a selection", examine_selection, true},
};

enum { STEP_COUNT = sizeof steps / sizeof *steps };

static const char *check_step(const struct step *step, struct session *session, bool is_sticky) {
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_status status = step->run(session, &error);
    if (status == RECMAP_OK && error.status != RECMAP_OK)
        return case_says("%s said OK and left an error: %s", step->name, error.message);
    if (status == RECMAP_OK) return session->wrong;
    if (status != RECMAP_NO_MEMORY || error.status != status || error.system_errno != ENOMEM ||
        !error.message[0])
        return case_says("%s: %s, errno %d: %s", step->name, recmap_status_name(status),
                         error.system_errno, error.message);
    if (is_sticky) return NULL;
    if (step->run(session, &error) != RECMAP_OK)
        return case_says("%s fails a second time: %s", step->name, error.message);
    return session->wrong;
}

static const char *run_steps(struct session *session, bool is_sticky) {
    const char *wrong = NULL;
    for (size_t i = 0; !wrong && i < STEP_COUNT; i++)
        if (!steps[i].needs_dataset || session->dataset)
            wrong = check_step(&steps[i], session, is_sticky);
    recmap_dataset_close(session->dataset);
    return wrong;
}

/* One way of reading, and the allocation that fails. */
struct sweep {
    recmap_dataset_options reading;
    uint64_t count;
};

static void clear_other(void) {
    unlink(skipped);
    unlink(written);
    unlink(indexed);
    unlink(lines);
    unlink(by_idx);
    unlink(inflated);
}

/* Lets one allocation fail, or that one and all later ones, then undoes the injection. Memory, file
 * descriptors and temporary files must be as before, and a single failure must leave the data
 * usable. */
static const char *run_case(void *context, size_t number) {
    const struct sweep *sweep = context;
    bool is_sticky = number % 2;
    struct session session = {.reading = sweep->reading};
    struct call_plan plan = {.kinds = CALL_BIT(CALL_ALLOCATE),
                             .at = number / 2 + 1,
                             .is_sticky = is_sticky,
                             .fault = FAULT_ERRNO,
                             .code = ENOMEM};
    fixture_reset(&data);
    clear_other();
    struct holdings before = holdings_now();
    interpose_start(&plan);
    const char *wrong = run_steps(&session, is_sticky);
    interpose_stop();
    if (!wrong) wrong = holdings_check(&before);
    if (!wrong && count_temporaries(data.folder) + count_temporaries(other))
        wrong = "a temporary file is left";
    if (!wrong && !is_sticky) wrong = fixture_check(&data, false, true);
    if (!wrong) return NULL;
    char text[1024];
    snprintf(text, sizeof text, "%s", wrong);
    return case_says("allocation %zu%s: %s", number / 2 + 1, is_sticky ? " and all after" : "",
                     text);
}

static uint64_t count_allocations(const recmap_dataset_options *reading) {
    uint64_t count = 0;
    /* Twice, as the first time what stays for good is allocated too. */
    for (int i = 0; i < 2; i++) {
        struct session session = {.reading = *reading};
        struct call_plan plan = {.kinds = CALL_BIT(CALL_ALLOCATE)};
        fixture_reset(&data);
        clear_other();
        interpose_start(&plan);
        const char *wrong = run_steps(&session, true);
        count = interpose_stop();
        if (wrong) printf("%s\n", wrong);
        require(!wrong, "the steps without faults");
    }
    return count;
}

static size_t step_between_cases(void) {
    if (test_is_long()) return 1;
    /* Odd, because every second case keeps failing after its first failure. */
    if (is_short()) return short_level() > 1 ? 31 : 13;
    return test_is_sanitized() ? 7 : 3;
}

static void run_sweep(const char *name, const recmap_dataset_options *reading) {
    struct sweep sweep = {*reading, count_allocations(reading)};
    assert_int_equal(cases_run(name, 2 * sweep.count, step_between_cases(), run_case, &sweep), 0);
}

static void test_mapped_access_reports_failed_allocations(void **state) {
    (void)state;
    recmap_dataset_options reading = RECMAP_DATASET_OPTIONS_INIT;
    run_sweep("memory, map", &reading);
}

static void test_read(void **state) {
    (void)state;
    recmap_dataset_options reading = RECMAP_DATASET_OPTIONS_INIT;
    reading.access = RECMAP_ACCESS_READ;
    reading.index_in_memory = 1;
    reading.shard_limit = 2;
    run_sweep("memory, pread", &reading);
}

static void test_few_mappings_report_failed_allocations(void **state) {
    (void)state;
    recmap_dataset_options reading = RECMAP_DATASET_OPTIONS_INIT;
    reading.shard_limit = 1;
    run_sweep("memory, few maps", &reading);
}

/* With threads the order of allocations is not always the same: any may fail. */
static const char *run_threaded(void *context, size_t number) {
    struct session session = {0};
    static const struct step build = {"rebuild", rebuild_with_threads, false};
    struct call_plan plan = {.kinds = CALL_BIT(CALL_ALLOCATE),
                             .at = number / 2 + 1,
                             .is_sticky = number % 2,
                             .fault = FAULT_ERRNO,
                             .code = ENOMEM};
    (void)context;
    fixture_reset(&data);
    interpose_start(&plan);
    const char *wrong = check_step(&build, &session, number % 2);
    interpose_stop();
    return wrong ? wrong : fixture_check(&data, number % 2, true);
}

static void test_threads_report_failed_allocations(void **state) {
    (void)state;
    if (test_is_sanitized()) {
        print_message("skipped: a sanitizer bears no shortage of memory when a thread starts\n");
        skip();
    }
    struct call_plan plan = {.kinds = CALL_BIT(CALL_ALLOCATE)};
    interpose_start(&plan);
    assert_int_equal(fixture_rebuild(&data, 2, NULL), RECMAP_OK);
    uint64_t count = interpose_stop();
    assert_int_equal(
        cases_run("memory, threads", 2 * count, step_between_cases(), run_threaded, NULL), 0);
}

/* OTHER/NAME.idx for a shard. */
static void write_text_index(const char *shard) {
    char path[2 * PATH_LIMIT];
    struct file_bytes bytes;
    snprintf(path, sizeof path, "%s%s.idx", other, strrchr(shard, '/'));
    require(file_bytes_load(&bytes, shard), "load a shard");
    FILE *text = fopen(path, "w");
    for (size_t at = 0, size; text && at < bytes.size; at += size) {
        size = bytes.bytes[at] + ((size_t)bytes.bytes[at + 1] << 8) + 16;
        fprintf(text, "%zu %zu\n", at, size);
    }
    require(text && !fclose(text), "write a text index");
    free(bytes.bytes);
}

/* The same records over and over, some MiB. */
static void write_compressed(void) {
    enum { SIZE = 9 << 18 };
    struct buffer content = BUFFER_INIT, file = BUFFER_INIT;
    shard_write(compressed, 0, FIXTURE_RECORDS);
    struct buffer once = file_read(compressed);
    while (content.size < SIZE) buffer_add(&content, once.data, once.size);
    struct deflate_way way = {.level = 0, .memory = 8};
    add_deflated(&file, COMPRESSION_GZIP, &content, &way);
    file_write(compressed, file.data, file.size);
    buffer_deinit(&once);
    buffer_deinit(&content);
    buffer_deinit(&file);
}

/* Creates the files that the steps read besides the fixture: damaged, compressed, text and listed
 * shards. None of this is under fault injection. */
static int enter(void **state) {
    (void)state;
    fixture_create(&data);
    folder_create(other, sizeof other);
    snprintf(damaged, sizeof damaged, "%s/damaged", other);
    snprintf(skipped, sizeof skipped, "%s/skipped.rmx", other);
    snprintf(listed, sizeof listed, "%s/list", other);
    snprintf(compressed, sizeof compressed, "%s/compressed", other);
    snprintf(inflated, sizeof inflated, "%s/compressed.rmx", other);
    write_compressed();
    snprintf(written, sizeof written, "%s/written", other);
    snprintf(indexed, sizeof indexed, "%s/written.rmx", other);
    snprintf(lines, sizeof lines, "%s/lines.rmx", other);
    snprintf(by_idx, sizeof by_idx, "%s/by-idx.rmx", other);
    write_text_index(data.shards[0]);
    shard_write(damaged, 0, DAMAGED_RECORDS);
    struct file_bytes shard;
    require(file_bytes_load(&shard, damaged), "load a shard");
    shard.bytes[shard.size / 2] ^= 0x10;
    file_bytes_save(damaged, shard.bytes, shard.size);
    free(shard.bytes);
    FILE *list = fopen(listed, "w");
    for (size_t i = 0; list && i < FIXTURE_SHARDS; i++) fprintf(list, "%s\n", data.shards[i]);
    require(list && !fclose(list), "write a list");
    return 0;
}

static int leave(void **state) {
    (void)state;
    folder_remove(other);
    fixture_destroy(&data);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_mapped_access_reports_failed_allocations),
        cmocka_unit_test(test_read),
        cmocka_unit_test(test_few_mappings_report_failed_allocations),
        cmocka_unit_test(test_threads_report_failed_allocations),
    };
    return cmocka_run_group_tests(tests, enter, leave);
}
