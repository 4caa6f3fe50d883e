/* Every call on files fails in turn, once or from then on, while an index is built, opened, read
 * and verified. What must come of it: the right bytes, or an error that names a file and has the
 * call's own errno; interruptions and short transfers are not seen at all; a sync that failed is
 * never made good by another; nothing is left over, neither on disk nor in the process. */
#define _GNU_SOURCE
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fault/cases.h"
#include "fault/fixture.h"
#include "fault/interpose.h"
#include "support/emulation.h"

/* What is done while calls fail. */
struct scenario {
    const char *name;
    bool append;
    recmap_dataset_options reading;
};

struct failing {
    const char *name;
    enum call_fault fault;
    int code;
    unsigned kinds;
};

enum {
    OPENING = CALL_BIT(CALL_OPEN) | CALL_BIT(CALL_FOLDER),
    WRITING = CALL_BIT(CALL_WRITE) | CALL_BIT(CALL_RESIZE) | CALL_BIT(CALL_SYNC) |
              CALL_BIT(CALL_RENAME),
    READING = CALL_BIT(CALL_STAT) | CALL_BIT(CALL_READ),
};

static const struct failing failings[] = {
    {"EIO", FAULT_ERRNO, EIO, OPENING | READING | WRITING},
    {"ENOSPC", FAULT_ERRNO, ENOSPC, WRITING},
    {"EINTR", FAULT_ERRNO, EINTR,
     CALL_BIT(CALL_OPEN) | CALL_BIT(CALL_READ) | CALL_BIT(CALL_WRITE) | CALL_BIT(CALL_RESIZE) |
         CALL_BIT(CALL_SYNC) | CALL_BIT(CALL_LOCK)},
    {"short", FAULT_SHORT, 0, CALL_BIT(CALL_READ) | CALL_BIT(CALL_WRITE)},
    {"EMFILE", FAULT_ERRNO, EMFILE, OPENING},
    {"ENOMEM", FAULT_ERRNO, ENOMEM, CALL_BIT(CALL_MAP)},
};

enum { FAILING_COUNT = sizeof failings / sizeof *failings };

struct io_case {
    const struct scenario *scenario;
    const struct failing *failing;
    bool is_sticky;
    uint64_t at;
};

static struct fixture data;
static struct io_case *cases;
static size_t case_count;

static bool is_invisible(const struct failing *failing) {
    return failing->fault == FAULT_SHORT || failing->code == EINTR;
}

/* Checks that an error says what happened. Where LMDB made the call it says EIO for a short
 * one. */
static const char *check_error(const struct io_case *io_case, const char *step,
                               const recmap_error *error) {
    int code = error->system_errno;
    bool tells = code == io_case->failing->code || (interpose_hit_lmdb() && code == EIO);
    bool is_system = error->status == RECMAP_IO || error->status == RECMAP_NO_MEMORY;
    if (is_invisible(io_case->failing) && !interpose_hit_lmdb())
        return case_says("%s did not bear it: %s", step, error->message);
    if (is_invisible(io_case->failing)) tells = is_system;
    if (tells && is_system && error->path[0] && error->message[0]) return NULL;
    return case_says("%s: status %s, errno %d, path \"%s\": %s", step,
                     recmap_status_name(error->status), code, error->path, error->message);
}

/* A read may have failed and the outcome still be right, but no write. */
static const char *check_build(const struct io_case *io_case, recmap_status status,
                               const recmap_error *error) {
    bool must_fail = (interpose_hit_kinds() & WRITING) && !is_invisible(io_case->failing);
    if (status == RECMAP_OK && must_fail) return "build: a write failed, and it said OK";
    if (status == RECMAP_OK && error->status != RECMAP_OK)
        return case_says("build said OK and left an error: %s", error->message);
    if (status == RECMAP_OK) return fixture_check(&data, false, true);
    const char *wrong = check_error(io_case, "build", error);
    if (wrong) return wrong;
    /* When the folder's sync fails the new index has its name already. */
    return fixture_check(&data, true, interpose_hit_kinds() & CALL_BIT(CALL_SYNC));
}

static const char *check_verify(const struct io_case *io_case, recmap_dataset *dataset,
                                recmap_error *error) {
    recmap_report *report;
    recmap_verify_options options = RECMAP_VERIFY_OPTIONS_INIT;
    options.thread_count = 1;
    if (recmap_dataset_verify(&report, dataset, &options, error) != RECMAP_OK)
        return "verify failed";
    size_t damage_count = recmap_report_damage_count(report);
    recmap_report_destroy(report);
    if (error->status != RECMAP_OK) {
        error->status = RECMAP_OK;
        return "verify said OK and left an error";
    }
    if (!damage_count) return NULL;
    /* A shard that cannot be read is damage; that this process may open no more files is none. */
    return interpose_hits() && io_case->failing->code == EIO ? NULL : "verify found damage";
}

/* Opens and reads; a failing step ends it. */
static const char *read_all(const struct io_case *io_case) {
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_dataset *dataset = NULL;
    if (recmap_dataset_open(&dataset, data.index, &io_case->scenario->reading, &error) != RECMAP_OK)
        return check_error(io_case, "open", &error);
    uint64_t count = recmap_dataset_count(dataset);
    const char *wrong = count == FIXTURE_OLD_RECORDS || count == FIXTURE_RECORDS
                            ? dataset_check_all(dataset, count, &error)
                            : "another number of records";
    if (!wrong) wrong = check_verify(io_case, dataset, &error);
    recmap_dataset_close(dataset);
    return wrong && error.status != RECMAP_OK ? check_error(io_case, wrong, &error) : wrong;
}

static const char *run_all(const struct io_case *io_case) {
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_status status = io_case->scenario->append ? fixture_append(&data, &error)
                                                     : fixture_rebuild(&data, 1, &error);
    interpose_pause();
    const char *wrong = check_build(io_case, status, &error);
    interpose_resume();
    return wrong ? wrong : read_all(io_case);
}

/* Lets one system call of a scenario fail, or all calls from it on, and runs all steps of the
 * scenario. The error must be reported at the right place, and nothing may leak. */
static const char *run_case(void *context, size_t number) {
    (void)context;
    const struct io_case *io_case = &cases[number];
    struct call_plan plan = {.kinds = io_case->failing->kinds,
                             .at = io_case->at,
                             .is_sticky = io_case->is_sticky,
                             .fault = io_case->failing->fault,
                             .code = io_case->failing->code};
    fixture_reset(&data);
    struct holdings before = holdings_now();
    interpose_start(&plan);
    const char *wrong = run_all(io_case);
    interpose_stop();
    if (!wrong && io_case->at && !interpose_hits()) wrong = "the call was never made";
    if (!wrong) wrong = holdings_check(&before);
    if (!wrong) return NULL;
    char text[1024];
    snprintf(text, sizeof text, "%s", wrong);
    return case_says("%s, %s%s at call %llu (kind %d%s): %s", io_case->scenario->name,
                     io_case->failing->name, io_case->is_sticky ? " for good" : "",
                     (unsigned long long)io_case->at, (int)interpose_hit_kind(),
                     interpose_hit_lmdb() ? ", LMDB" : "", text);
}

static uint64_t count_calls(const struct scenario *scenario, const struct failing *failing) {
    struct io_case none = {scenario, failing, false, 0};
    struct call_plan plan = {.kinds = failing->kinds};
    fixture_reset(&data);
    interpose_start(&plan);
    const char *wrong = run_all(&none);
    uint64_t count = interpose_stop();
    if (wrong) printf("%s\n", wrong);
    require(!wrong, "the scenario without faults");
    return count;
}

static void list_cases(const struct scenario *scenario) {
    for (size_t f = 0; f < FAILING_COUNT; f++) {
        uint64_t count = count_calls(scenario, &failings[f]);
        cases = realloc(cases, (case_count + 2 * count) * sizeof *cases);
        require(cases != NULL, "memory");
        for (uint64_t at = 1; at <= count; at++)
            for (int sticky = 0; sticky < 2; sticky++)
                cases[case_count++] = (struct io_case){scenario, &failings[f], sticky, at};
    }
}

static void run_scenarios(const char *name) {
    static struct scenario scenarios[] = {
        {"append, map", true, RECMAP_DATASET_OPTIONS_INIT},
        {"rebuild, pread, index in memory", false, RECMAP_DATASET_OPTIONS_INIT},
    };
    scenarios[1].reading.access = RECMAP_ACCESS_READ;
    scenarios[1].reading.index_in_memory = 1;
    scenarios[1].reading.index_check = RECMAP_INDEX_CHECK_FULL;
    for (size_t i = 0; i < sizeof scenarios / sizeof *scenarios; i++) list_cases(&scenarios[i]);
    size_t step = test_is_sanitized() && !test_is_long() ? 3 : 1;
    size_t failed = cases_run(name, case_count, step, run_case, NULL);
    free(cases);
    cases = NULL;
    case_count = 0;
    fixture_destroy(&data);
    assert_int_equal(failed, 0);
}

/* What is due depends on whether LMDB made a call, which its own shared library tells. */
static const char static_lmdb[] = "LMDB is linked statically, so its calls look like recmap's";

static void test_calls_that_fail(void **state) {
    (void)state;
    if (is_emulated(__func__, static_lmdb)) skip();
    fixture_create(&data);
    run_scenarios("I/O");
}

static void test_calls_that_fail_over_compressed_shards(void **state) {
    (void)state;
    if (is_emulated(__func__, static_lmdb)) skip();
    fixture_create_compressed(&data);
    run_scenarios("I/O, compressed");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_calls_that_fail),
        cmocka_unit_test(test_calls_that_fail_over_compressed_shards),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
