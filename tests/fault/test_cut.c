/* Files that are cut short, overwritten, replaced or removed while a data set is open: shards read
 * with pread, or mapped under the guard; the index mapped or in memory. What is whole is read
 * right, what is not is an error that names file, record and byte. And the guard's manners: every
 * other SIGBUS goes where it went before. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "fault/cases.h"
#include "fault/fixture.h"
#include "fault/interpose.h"

enum {
    VICTIM = 1, /* the shard that is cut */
    FIRST = VICTIM * FIXTURE_SHARD_RECORDS,
    END = FIRST + FIXTURE_SHARD_RECORDS,
    PAGE = 4096,
    HEADER = 12,
    FOOTER = 4,
};

enum moment { BEFORE_GET, IN_GATHER, BETWEEN_GETS, MOMENTS };
enum cut_place { CUT_EMPTY, CUT_HEADER, CUT_DATA, CUT_FOOTER, CUT_PAGE, CUT_LAST_PAGE, CUT_PLACES };
enum { POSITIONS = 5, ACCESSES = 2 };

static struct fixture data;
static struct file_bytes victim;
static struct stat victim_stat;

static void restore_victim(void) {
    struct timespec times[2] = {victim_stat.st_mtim, victim_stat.st_mtim};
    unlink(data.shards[VICTIM]);
    file_bytes_save(data.shards[VICTIM], victim.bytes, victim.size);
    require(!utimensat(0, data.shards[VICTIM], times, 0), "set the time");
}

static uint64_t choose_cut(enum cut_place place, const recmap_location *location) {
    switch (place) {
    case CUT_EMPTY: return 0;
    case CUT_HEADER: return location->offset + HEADER / 2;
    case CUT_DATA: return location->offset + HEADER + location->size / 2;
    case CUT_FOOTER: return location->offset + HEADER + location->size + FOOTER / 2;
    case CUT_PAGE: return location->offset / PAGE * PAGE;
    default: return victim.size - 3;
    }
}

/* A cut that happens at a call: once the victim is mapped, or first read. */
struct cut_later {
    enum call_kind kind;
    uint64_t size;
    bool is_done;
};

static void cut_victim(void *context, const struct call *call) {
    struct cut_later *cut = context;
    struct stat st, ours;
    if (cut->is_done || call->kind != cut->kind) return;
    if (fstat(call->fd, &st) || stat(data.shards[VICTIM], &ours) || st.st_ino != ours.st_ino)
        return;
    require(!truncate(data.shards[VICTIM], (off_t)cut->size), "truncate");
    cut->is_done = true;
}

static bool names_victim(const recmap_error *error) {
    return !strcmp(error->path, data.shards[VICTIM]);
}

static const char *check_error(const recmap_error *error, uint64_t number) {
    bool is_stated = error->status == RECMAP_IO || error->status == RECMAP_CORRUPT ||
                     error->status == RECMAP_STALE;
    if (is_stated && names_victim(error) && error->record >= FIRST && error->record < END &&
        error->offset != RECMAP_NO_OFFSET && error->message[0])
        return NULL;
    return case_says("record %d: %s, path \"%s\", record %lld, byte %lld: %s", (int)number,
                     recmap_status_name(error->status), error->path, (long long)error->record,
                     (long long)error->offset, error->message);
}

/* Every record by itself: right where it lies before the cut, else an error. */
static const char *check_each(recmap_dataset *dataset, const recmap_location *places,
                              uint64_t cut) {
    for (uint64_t number = 0; number < FIXTURE_RECORDS; number++) {
        recmap_error error = RECMAP_ERROR_INIT;
        recmap_record record;
        uint64_t end = places[number].offset + HEADER + places[number].size + FOOTER;
        bool is_whole = number < FIRST || number >= END || end <= cut;
        if (recmap_dataset_get(&record, dataset, number, &error) == RECMAP_OK) {
            bool holds = payload_holds(&record, number);
            recmap_record_release(&record);
            if (!is_whole) return case_says("record %d lies past the cut", (int)number);
            if (!holds) return case_says("record %d has wrong bytes", (int)number);
            continue;
        }
        if (is_whole) return case_says("record %d is whole: %s", (int)number, error.message);
        const char *wrong = check_error(&error, number);
        if (wrong) return wrong;
    }
    return NULL;
}

static const char *gather_while_cut(recmap_dataset *dataset, struct cut_later *cut) {
    uint64_t numbers[FIXTURE_RECORDS];
    recmap_batch *batch;
    recmap_error error = RECMAP_ERROR_INIT;
    struct call_plan plan = {.kinds = CALL_BIT(cut->kind), .watch = cut_victim, .context = cut};
    for (size_t i = 0; i < FIXTURE_RECORDS; i++) numbers[i] = (i * 77) % FIXTURE_RECORDS;
    require(recmap_batch_create(&batch, NULL) == RECMAP_OK, "a batch");
    interpose_start(&plan);
    recmap_status status = recmap_dataset_gather(batch, dataset, numbers, FIXTURE_RECORDS, &error);
    interpose_stop();
    size_t count = recmap_batch_count(batch);
    const char *wrong = NULL;
    if (!cut->is_done) wrong = "the shard was never cut";
    else if (status == RECMAP_OK) {
        /* One pread may have got all that was needed before the cut. */
        for (size_t i = 0; i < count && !wrong; i++)
            if (!payload_holds(&recmap_batch_records(batch)[i], numbers[i]))
                wrong = "gather gave wrong bytes";
    } else if (count) wrong = "a batch that failed is not empty";
    else wrong = check_error(&error, 0);
    recmap_batch_destroy(batch);
    return wrong;
}

/* Truncates a shard while a data set is open: between two reads, or from inside a gather. Every
 * record is then read and must be complete or an error, depending on its place. */
static const char *cut_open(recmap_dataset *dataset, enum moment moment, uint64_t target,
                            enum cut_place place, recmap_access access) {
    recmap_location places[FIXTURE_RECORDS];
    recmap_record record = {0};
    recmap_error error = RECMAP_ERROR_INIT;
    if (recmap_dataset_locate(places, dataset, 0, FIXTURE_RECORDS, &error) != RECMAP_OK)
        return "locate failed";
    uint64_t cut = choose_cut(place, &places[target]);
    struct cut_later later = {access == RECMAP_ACCESS_MAP ? CALL_MAP : CALL_READ, cut, false};
    const char *wrong = NULL;
    if (moment == IN_GATHER) {
        wrong = gather_while_cut(dataset, &later);
    } else {
        uint64_t first = moment == BETWEEN_GETS ? target : FIRST;
        if (recmap_dataset_get(&record, dataset, first, &error) != RECMAP_OK)
            return case_says("get: %s", error.message);
        recmap_record_release(&record);
        require(!truncate(data.shards[VICTIM], (off_t)cut), "truncate");
    }
    return wrong ? wrong : check_each(dataset, places, cut);
}

static const char *run_cut(void *context, size_t number) {
    static const uint64_t positions[POSITIONS] = {FIRST, FIRST + 1, FIRST + 30, END - 2, END - 1};
    recmap_dataset_options options = RECMAP_DATASET_OPTIONS_INIT;
    recmap_dataset *dataset = NULL;
    recmap_error error = RECMAP_ERROR_INIT;
    (void)context;
    options.access = number % ACCESSES ? RECMAP_ACCESS_READ : RECMAP_ACCESS_MAP;
    options.guard = 1;
    number /= ACCESSES;
    uint64_t target = positions[number % POSITIONS];
    number /= POSITIONS;
    restore_victim();
    if (recmap_dataset_open(&dataset, data.index, &options, &error) != RECMAP_OK)
        return error.message[0] ? case_says("open: %s", error.message) : "open failed";
    const char *wrong = cut_open(dataset, (enum moment)(number % MOMENTS), target,
                                 (enum cut_place)(number / MOMENTS), options.access);
    recmap_dataset_close(dataset);
    return wrong;
}

static void test_cut_shards_give_errors_or_right_bytes(void **state) {
    (void)state;
    size_t count = (size_t)ACCESSES * POSITIONS * MOMENTS * CUT_PLACES;
    size_t failed = cases_run("shard cut", count, 1, run_cut, NULL);
    restore_victim();
    assert_int_equal(failed, 0);
}

/* Cut when it is open and not read yet. Compressed shards have no byte for each record: what was
 * inflated before the cut stays right, all else is an error that names the shard; the other shards
 * are not harmed. */
enum compressed_moment { IN_ONE_GET, IN_ONE_GATHER, IN_LOADER, COMPRESSED_MOMENTS };
enum { COMPRESSED_CUTS = 6 };

static uint64_t choose_compressed_cut(size_t i) {
    const uint64_t cuts[COMPRESSED_CUTS] = {
        0, 5, PAGE, victim.size / 2, victim.size - 9, victim.size - 3};
    return cuts[i];
}

static const char *check_stated(const recmap_error *error) {
    bool is_stated = error->status == RECMAP_IO || error->status == RECMAP_CORRUPT ||
                     error->status == RECMAP_STALE;
    if (is_stated && names_victim(error) && error->record >= FIRST && error->record < END &&
        error->message[0] && error->advice[0])
        return NULL;
    return case_says("%s, path \"%s\", record %lld: %s", recmap_status_name(error->status),
                     error->path, (long long)error->record, error->message);
}

static const char *check_rest(recmap_dataset *dataset) {
    for (uint64_t number = 0; number < FIXTURE_RECORDS; number++) {
        recmap_error error = RECMAP_ERROR_INIT;
        recmap_record record;
        if (recmap_dataset_get(&record, dataset, number, &error) == RECMAP_OK) {
            bool holds = payload_holds(&record, number);
            recmap_record_release(&record);
            if (!holds) return case_says("record %d has wrong bytes", (int)number);
            continue;
        }
        const char *wrong = check_stated(&error);
        if (wrong) return wrong;
    }
    return NULL;
}

/* Loads an epoch, up to its first error. */
static const char *load_epoch(recmap_dataset *dataset) {
    recmap_loader_options options = RECMAP_LOADER_OPTIONS_INIT;
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_order *order = NULL;
    recmap_loader *loader = NULL;
    recmap_batch *batch = NULL;
    options.batch_size = 8;
    options.thread_count = 2;
    options.readahead = RECMAP_READAHEAD_ON;
    require(recmap_order_shuffled(&order, FIXTURE_RECORDS, 3, NULL) == RECMAP_OK &&
                recmap_loader_create(&loader, dataset, order, &options, NULL) == RECMAP_OK,
            "a loader");
    const char *wrong = NULL;
    recmap_status status = RECMAP_OK;
    while (!wrong && (status = recmap_loader_next(&batch, loader, &error)) == RECMAP_OK && batch)
        for (size_t i = 0; i < recmap_batch_count(batch); i++) {
            const recmap_record *record = &recmap_batch_records(batch)[i];
            if (!payload_holds(record, record->number)) wrong = "a loader gave wrong bytes";
        }
    if (!wrong && status != RECMAP_OK) wrong = check_stated(&error);
    recmap_batch_destroy(batch);
    recmap_loader_destroy(loader);
    recmap_order_release(order);
    return wrong;
}

static const char *gather_all(recmap_dataset *dataset) {
    uint64_t numbers[FIXTURE_RECORDS];
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_batch *batch;
    for (size_t i = 0; i < FIXTURE_RECORDS; i++) numbers[i] = (i * 77) % FIXTURE_RECORDS;
    require(recmap_batch_create(&batch, NULL) == RECMAP_OK, "a batch");
    recmap_status status = recmap_dataset_gather(batch, dataset, numbers, FIXTURE_RECORDS, &error);
    const char *wrong = status == RECMAP_OK ? NULL : check_stated(&error);
    for (size_t i = 0; !wrong && i < recmap_batch_count(batch); i++)
        if (!payload_holds(&recmap_batch_records(batch)[i], numbers[i]))
            wrong = "gather gave wrong bytes";
    recmap_batch_destroy(batch);
    return wrong;
}

static const char *run_compressed_cut(void *context, size_t number) {
    recmap_dataset_options options = RECMAP_DATASET_OPTIONS_INIT;
    recmap_dataset *dataset = NULL;
    (void)context;
    options.access = number % ACCESSES ? RECMAP_ACCESS_READ : RECMAP_ACCESS_MAP;
    options.guard = 1;
    number /= ACCESSES;
    enum compressed_moment moment = (enum compressed_moment)(number % COMPRESSED_MOMENTS);
    struct cut_later cut = {options.access == RECMAP_ACCESS_MAP ? CALL_MAP : CALL_STAT,
                            choose_compressed_cut(number / COMPRESSED_MOMENTS), false};
    struct call_plan plan = {.kinds = CALL_BIT(cut.kind), .watch = cut_victim, .context = &cut};
    restore_victim();
    if (recmap_dataset_open(&dataset, data.index, &options, NULL) != RECMAP_OK) return "open";
    interpose_start(&plan);
    const char *wrong = moment == IN_ONE_GET  ? check_rest(dataset)
                        : moment == IN_LOADER ? load_epoch(dataset)
                                              : gather_all(dataset);
    interpose_stop();
    if (!wrong && !cut.is_done) wrong = "the shard was never cut";
    if (!wrong) wrong = check_rest(dataset);
    /* The last record is certainly not in the first half of the bytes. */
    if (!wrong && cut.size <= victim.size / 2 &&
        recmap_dataset_get(&(recmap_record){0}, dataset, END - 1, NULL) == RECMAP_OK)
        wrong = "a record was read that lies past the cut";
    recmap_dataset_close(dataset);
    return wrong;
}

static void test_compressed_shard_cut(void **state) {
    (void)state;
    size_t count = (size_t)ACCESSES * COMPRESSED_MOMENTS * COMPRESSED_CUTS;
    assert_int_equal(cases_run("compressed shard cut", count, 1, run_compressed_cut, NULL), 0);
}

/* What is done to the index while it is open. */
enum harm { HARM_CUT, HARM_OVERWRITE, HARM_REPLACE, HARM_REMOVE, HARMS };

static void do_harm(enum harm harm, uint64_t random) {
    uint64_t state = random;
    size_t size = data.new_index.size, at = choose_below(&state, size);
    char other[PATH_LIMIT + 8];
    snprintf(other, sizeof other, "%s.other", data.index);
    if (harm == HARM_CUT) require(!truncate(data.index, (off_t)at), "truncate");
    if (harm == HARM_REMOVE) require(!unlink(data.index), "unlink");
    if (harm == HARM_REPLACE) {
        file_bytes_save(other, data.old_index.bytes, data.old_index.size);
        require(!rename(other, data.index), "rename");
    }
    if (harm != HARM_OVERWRITE) return;
    FILE *stream = fopen(data.index, "r+b");
    require(stream && !fseek(stream, (long)at, SEEK_SET), "open the index");
    for (size_t i = at; i < size && i < at + 2 * PAGE; i++)
        fputc((int)choose_below(&state, 256), stream);
    require(!fclose(stream), "overwrite the index");
}

/* Reads every record of a changed shard and looks up one id. An error must name the path and say
 * what is wrong; wrong bytes are never accepted. */
static const char *read_harmed(recmap_dataset *dataset, bool must_be_right) {
    for (uint64_t number = 0; number < FIXTURE_RECORDS; number++) {
        recmap_record record;
        recmap_error error = RECMAP_ERROR_INIT;
        if (recmap_dataset_get(&record, dataset, number, &error) == RECMAP_OK) {
            bool holds = payload_holds(&record, number);
            recmap_record_release(&record);
            if (!holds) return "wrong bytes";
        } else if (must_be_right || !error.path[0] || !error.message[0]) {
            return case_says("record %d: %s: %s", (int)number, error.path, error.message);
        }
    }
    char text[32];
    recmap_value id = payload_id(text, 100);
    recmap_error error = RECMAP_ERROR_INIT;
    uint64_t number;
    if (recmap_dataset_find(&number, dataset, &id, &error) == RECMAP_OK)
        return number == 100 ? NULL : "find gave another number";
    return must_be_right ? case_says("find: %s", error.message) : NULL;
}

static const char *run_harm(void *context, size_t number) {
    recmap_dataset_options options = RECMAP_DATASET_OPTIONS_INIT;
    recmap_dataset *dataset = NULL;
    enum harm harm = (enum harm)(number % HARMS);
    (void)context;
    options.index_in_memory = number / HARMS % 2;
    options.guard = 1;
    fixture_reset(&data);
    file_bytes_save(data.index, data.new_index.bytes, data.new_index.size);
    if (recmap_dataset_open(&dataset, data.index, &options, NULL) != RECMAP_OK) return "open";
    /* In every other case the values are checked before the harm is done. */
    bool is_read_before = number / HARMS / 2 % 2;
    const char *wrong = is_read_before ? read_harmed(dataset, true) : NULL;
    do_harm(harm, test_seed() + number);
    bool must_be_right = options.index_in_memory || harm == HARM_REPLACE || harm == HARM_REMOVE;
    if (!wrong) wrong = read_harmed(dataset, must_be_right);
    recmap_dataset_close(dataset);
    if (!wrong) return NULL;
    char kept[1024];
    snprintf(kept, sizeof kept, "%s", wrong);
    return case_says("harm %d%s: %s", (int)harm, options.index_in_memory ? " in memory" : "", kept);
}

static void test_harmed_indexes_give_errors_or_right_records(void **state) {
    (void)state;
    test_seed();
    size_t count = (size_t)HARMS * 4 * (test_is_long() ? 200 : 10);
    assert_int_equal(cases_run("index harmed", count, 1, run_harm, NULL), 0);
    fixture_reset(&data);
    file_bytes_save(data.index, data.new_index.bytes, data.new_index.size);
}

/* Harm that is done to the index by call `due` of those that open it. */
struct opening_harm {
    enum harm harm;
    uint64_t random;
    size_t due, seen;
};

static void harm_opening(void *context, const struct call *call) {
    struct opening_harm *opening = context;
    struct stat st, ours;
    if (opening->seen > opening->due || call->fd < 0) return;
    if (fstat(call->fd, &st) || stat(data.index, &ours) || st.st_ino != ours.st_ino) return;
    if (opening->seen++ == opening->due) do_harm(opening->harm, opening->random);
}

enum { OPENING_CALLS = 16, OPENING_CASES = HARMS * 2 * OPENING_CALLS * 8 };

/* Each call that opening makes on the index (open, stat, reads, the map) is followed by harm. The
 * index opens or does not, and everything read from it is right or an error. */
static const char *run_opening_harm(void *context, size_t number) {
    struct opening_harm opening = {.harm = (enum harm)(number % HARMS),
                                   .random = test_seed() + number,
                                   .due = number / HARMS / 2 % OPENING_CALLS};
    struct call_plan plan = {.kinds = CALL_BIT(CALL_OPEN) | CALL_BIT(CALL_STAT) |
                                      CALL_BIT(CALL_READ) | CALL_BIT(CALL_MAP),
                             .watch = harm_opening,
                             .context = &opening};
    recmap_dataset_options options = RECMAP_DATASET_OPTIONS_INIT;
    recmap_dataset *dataset = NULL;
    recmap_error error = RECMAP_ERROR_INIT;
    (void)context;
    options.index_in_memory = number / HARMS % 2;
    options.guard = 1;
    fixture_reset(&data);
    file_bytes_save(data.index, data.new_index.bytes, data.new_index.size);
    interpose_start(&plan);
    recmap_status status = recmap_dataset_open(&dataset, data.index, &options, &error);
    interpose_stop();
    if (status != RECMAP_OK) return error.message[0] && error.path[0] ? NULL : "no stated error";
    bool must_be_right = opening.harm == HARM_REPLACE || opening.harm == HARM_REMOVE;
    const char *wrong = read_harmed(dataset, must_be_right);
    recmap_dataset_close(dataset);
    return wrong;
}

static void test_index_harmed_while_opening(void **state) {
    (void)state;
    size_t step = test_is_long() ? 1 : 3;
    assert_int_equal(
        cases_run("index harmed while opening", OPENING_CASES, step, run_opening_harm, NULL), 0);
}

/* The guard's manners. */
static sigjmp_buf before_fault;
static volatile sig_atomic_t caught;

static void catch_plain(int signal_number) {
    caught = signal_number;
    siglongjmp(before_fault, 1);
}

static void catch_info(int signal_number, siginfo_t *info, void *context) {
    (void)context;
    caught = info->si_addr ? signal_number : 0;
    siglongjmp(before_fault, 1);
}

/* Reads where a file of ours, not recmap's, has no bytes any more. */
static void fault_elsewhere(void) {
    FILE *file = tmpfile();
    require(file && !ftruncate(fileno(file), PAGE), "a file");
    volatile char *map = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, fileno(file), 0);
    require(map != MAP_FAILED && !ftruncate(fileno(file), 0), "a map");
    (void)map[0];
}

static const char *fault_of_others(void *context, size_t number) {
    struct sigaction action = {0};
    (void)context;
    if (number == 0) action.sa_handler = catch_plain;
    else if (number == 1)
        action = (struct sigaction){.sa_sigaction = catch_info, .sa_flags = SA_SIGINFO};
    sigaction(SIGBUS, &action, NULL);
    require(recmap_guard_install(NULL) == RECMAP_OK, "the guard");
    require(recmap_guard_install(NULL) == RECMAP_OK, "the guard, twice");
    if (!sigsetjmp(before_fault, 1)) fault_elsewhere();
    return caught == SIGBUS ? NULL : "the handler before was not called";
}

/* With nobody to handle it, SIGBUS ends the process: of a fault, sent, with a flag set. */
static const char *fault_of_nobody(void *context, size_t number) {
    struct sigaction action = {.sa_handler = SIG_DFL, .sa_flags = number == 2 ? SA_SIGINFO : 0};
    (void)context;
    sigaction(SIGBUS, &action, NULL);
    require(recmap_guard_install(NULL) == RECMAP_OK, "the guard");
    if (number == 1) kill(getpid(), SIGBUS);
    else fault_elsewhere();
    return NULL;
}

/* A SIGBUS that is sent and ignored leaves the guard where it is. */
static const char *sent_and_ignored(void *context, size_t number) {
    (void)context;
    signal(SIGBUS, SIG_IGN);
    require(recmap_guard_install(NULL) == RECMAP_OK, "the guard");
    kill(getpid(), SIGBUS);
    return run_cut(NULL, number);
}

static const char *expect_sigbus(void *context, size_t number) {
    int ended;
    (void)context;
    pid_t pid = fork();
    if (!pid) {
        child_prepare();
        fault_of_nobody(NULL, number);
        _exit(0);
    }
    waitpid(pid, &ended, 0);
    return WIFSIGNALED(ended) && WTERMSIG(ended) == SIGBUS ? NULL : "SIGBUS had no effect";
}

static void test_guard_passes_on(void **state) {
    (void)state;
    for (size_t i = 0; i < 2; i++)
        assert_int_equal(child_run(fault_of_others, NULL, i), CHILD_PASSED);
    assert_int_equal(cases_run("SIGBUS of nobody", 3, 1, expect_sigbus, NULL), 0);
    assert_int_equal(child_run(sent_and_ignored, NULL, 0), CHILD_PASSED);
}

static int begin(void) {
    file_bytes_save(data.index, data.new_index.bytes, data.new_index.size);
    require(!stat(data.shards[VICTIM], &victim_stat), "stat");
    return file_bytes_load(&victim, data.shards[VICTIM]) ? 0 : -1;
}

static int enter(void **state) {
    (void)state;
    fixture_create(&data);
    return begin();
}

static int enter_compressed(void **state) {
    (void)state;
    fixture_create_compressed(&data);
    return begin();
}

static int leave(void **state) {
    (void)state;
    fixture_destroy(&data);
    free(victim.bytes);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cut_shards_give_errors_or_right_bytes),
        cmocka_unit_test(test_harmed_indexes_give_errors_or_right_records),
        cmocka_unit_test(test_index_harmed_while_opening),
        cmocka_unit_test(test_guard_passes_on),
    };
    const struct CMUnitTest compressed[] = {cmocka_unit_test(test_compressed_shard_cut)};
    int failed = cmocka_run_group_tests(tests, enter, leave);
    return failed + cmocka_run_group_tests(compressed, enter_compressed, leave);
}
