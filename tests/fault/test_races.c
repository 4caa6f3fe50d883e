/* Many processes at one index: builders that race each other, builders that append, and readers
 * that open, read and close while it is replaced. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "fault/cases.h"
#include "fault/fixture.h"
#include "fault/interpose.h"
#include "support/rounds.h"

static struct fixture data;
/* Said by one process to all. */
static struct {
    volatile int is_over;
    volatile int read_count;
} * shared;

static void pause_ns(long ns) {
    struct timespec pause = {0, ns};
    nanosleep(&pause, NULL);
}

static pid_t start(const char *(*run)(size_t which), size_t number) {
    fflush(stdout);
    pid_t pid = fork();
    require(pid >= 0, "fork");
    if (pid) return pid;
    child_prepare();
    const char *wrong = run(number);
    if (wrong) printf("process %zu: %s\n", number, wrong);
    fflush(stdout);
    _exit(wrong != NULL);
}

static bool has_passed(pid_t pid) {
    int ended;
    require(waitpid(pid, &ended, 0) == pid, "waitpid");
    if (WIFSIGNALED(ended)) printf("a process died: %s\n", strsignal(WTERMSIG(ended)));
    return WIFEXITED(ended) && !WEXITSTATUS(ended);
}

/* Process `which` builds an index of the first shards (0) or of all (1); both must succeed. */
static uint64_t skew[2];

static const char *build_one(size_t number) {
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_index_builder *builder = NULL;
    recmap_index_options options = fixture_options();
    pause_ns((long)skew[number]);
    recmap_status status = recmap_index_builder_create(&builder, data.index, &options, &error);
    size_t count = number ? FIXTURE_SHARDS : FIXTURE_OLD_SHARDS;
    for (size_t i = 0; status == RECMAP_OK && i < count; i++)
        status = recmap_index_builder_add_shard(builder, data.shards[i], &error);
    if (status == RECMAP_OK) status = recmap_index_builder_finish(NULL, builder, &error);
    recmap_index_builder_destroy(builder);
    return status == RECMAP_OK ? NULL : case_says("%s: %s", error.path, error.message);
}

static const char *race_builders(void *context, size_t number) {
    uint64_t random = test_seed() + number;
    (void)context;
    unlink(data.index);
    /* Half of the races begin at once, where the narrow gaps are. */
    for (int i = 0; i < 2; i++) skew[i] = number % 2 ? choose_below(&random, 6000000) : 0;
    pid_t first = start(build_one, 0), second = start(build_one, 1);
    bool first_passed = has_passed(first), second_passed = has_passed(second);
    if (!first_passed || !second_passed) return "a builder failed";
    return fixture_check(&data, true, true);
}

static void test_two_builders_leave_one_whole_index(void **state) {
    (void)state;
    test_seed();
    assert_int_equal(cases_run("races, two builders", test_is_long() ? 1000 : some_rounds(200), 1,
                               race_builders, NULL),
                     0);
}

/* When an index gets its name, its folder is locked: since the builder looked at the index that it
 * replaces, nobody else could publish another one, which would then be lost. */
static void require_locked(void *context, const struct call *call) {
    bool *is_locked = context;
    char folder[PATH_LIMIT];
    snprintf(folder, sizeof folder, "%s", call->new_path);
    *strrchr(folder, '/') = 0;
    int fd = open(folder, O_RDONLY | O_DIRECTORY);
    require(fd >= 0, "open the folder");
    *is_locked = flock(fd, LOCK_EX | LOCK_NB) != 0;
    close(fd);
}

static void test_index_is_replaced_under_a_lock(void **state) {
    (void)state;
    bool is_locked = false;
    recmap_error error = RECMAP_ERROR_INIT;
    struct call_plan plan = {
        .kinds = CALL_BIT(CALL_RENAME), .watch = require_locked, .context = &is_locked};
    fixture_reset(&data);
    interpose_start(&plan);
    recmap_status status = fixture_rebuild(&data, 1, &error);
    assert_int_equal(interpose_stop(), 1);
    assert_int_equal(status, RECMAP_OK);
    assert_true(is_locked);
}

/* Another append replaces the index while this one finds out whether the index that is added is the
 * one that it replaces. */
static void replace_once(void *context, const struct call *call) {
    bool *is_replaced = context;
    char path[PATH_LIMIT + 8];
    if (*is_replaced || !call->path || strcmp(call->path, data.index)) return;
    *is_replaced = true;
    snprintf(path, sizeof path, "%s.other", data.index);
    file_bytes_save(path, data.old_index.bytes, data.old_index.size);
    require(!rename(path, data.index), "rename");
}

static void test_append_to_an_index_that_is_replaced(void **state) {
    (void)state;
    bool is_replaced = false;
    char lock[PATH_LIMIT + 8];
    recmap_index_builder *builder = NULL;
    recmap_index_options options = fixture_options();
    struct call_plan plan = {
        .kinds = CALL_BIT(CALL_STAT), .watch = replace_once, .context = &is_replaced};
    fixture_reset(&data);
    assert_int_equal(recmap_index_builder_create(&builder, data.index, &options, NULL), RECMAP_OK);
    interpose_start(&plan);
    recmap_status status = recmap_index_builder_add_index(builder, data.index, NULL);
    interpose_stop();
    assert_int_equal(status, RECMAP_OK);
    assert_true(is_replaced);
    snprintf(lock, sizeof lock, "%s.lock", data.index);
    assert_int_equal(access(lock, F_OK), 0);
    recmap_index_builder_destroy(builder);
}

/* Between a builder's creating its temporary file and locking it, another one takes it for left
 * over by a dead builder: it holds the lock already, or has removed the file too. */
struct remover {
    bool removes;
    int fd; /* once it has the lock; else -1 */
};

static void take_for_dead(void *context, const struct call *call) {
    struct remover *remover = context;
    char path[PATH_LIMIT];
    if (remover->fd >= 0 || call->kind != CALL_OPEN || !call->creates) return;
    snprintf(path, sizeof path, "%s", call->path);
    remover->fd = open(path, O_RDONLY);
    require(remover->fd >= 0 && !flock(remover->fd, LOCK_EX | LOCK_NB), "lock the temporary file");
    if (remover->removes) require(!unlink(path), "unlink");
}

static const char *build_taken_for_dead(void *context, size_t number) {
    struct remover remover = {number, -1};
    struct call_plan plan = {
        .kinds = CALL_BIT(CALL_OPEN), .watch = take_for_dead, .context = &remover};
    recmap_error error = RECMAP_ERROR_INIT;
    (void)context;
    fixture_reset(&data);
    interpose_start(&plan);
    recmap_status status = fixture_rebuild(&data, 1, &error);
    interpose_stop();
    if (remover.fd < 0) return "no temporary file was made";
    close(remover.fd);
    if (status != RECMAP_OK) return case_says("%s", error.message);
    /* The process that holds the lock removes the file. */
    return number                                          ? fixture_check(&data, false, true)
           : file_bytes_equal(&data.new_index, data.index) ? NULL
                                                           : "not the new index";
}

static void test_taken_for_dead(void **state) {
    (void)state;
    assert_int_equal(cases_run("races, taken for dead", 2, 1, build_taken_for_dead, NULL), 0);
}

/* A user with write permission for the folder moves a builder's temporary file away as soon as it
 * exists, and puts a link (or a file) with its name in its place. */
struct impostor {
    bool is_link;
    char path[PATH_LIMIT]; /* of the temporary file, once it exists */
};

static void take_name(void *context, const struct call *call) {
    struct impostor *impostor = context;
    char victim[PATH_LIMIT], away[PATH_LIMIT];
    if (impostor->path[0] || call->kind != CALL_OPEN || !call->creates) return;
    snprintf(impostor->path, sizeof impostor->path, "%s", call->path);
    snprintf(victim, sizeof victim, "%s/victim", data.folder);
    snprintf(away, sizeof away, "%s/away", data.folder);
    file_bytes_save(victim, "", 0);
    require(!rename(impostor->path, away), "rename");
    require(impostor->is_link ? !symlink(victim, impostor->path) : !link(victim, impostor->path),
            "a name");
}

static const char *build_with_impostor(void *context, size_t number) {
    struct impostor impostor = {.is_link = number != 0};
    struct call_plan plan = {
        .kinds = CALL_BIT(CALL_OPEN), .watch = take_name, .context = &impostor};
    recmap_error error = RECMAP_ERROR_INIT;
    struct file_bytes nothing = {(uint8_t *)"", 0};
    char victim[PATH_LIMIT];
    (void)context;
    fixture_reset(&data);
    interpose_start(&plan);
    recmap_status status = fixture_rebuild(&data, 1, &error);
    interpose_stop();
    require(impostor.path[0], "no temporary file was made");
    snprintf(victim, sizeof victim, "%s/victim", data.folder);
    if (!file_bytes_equal(&nothing, victim)) return "another file was written to";
    if (status != RECMAP_IO || !strstr(error.message, "somebody replaced the temporary file"))
        return case_says("status %d: %s", (int)status, error.message);
    if (access(impostor.path, F_OK)) return "another file was removed";
    return file_bytes_equal(&data.old_index, data.index) ? NULL : "the old index was replaced";
}

static void test_an_impostor_file_is_not_published(void **state) {
    (void)state;
    assert_int_equal(cases_run("races, impostor", 2, 1, build_with_impostor, NULL), 0);
    fixture_reset(&data);
}

/* The owner of an append's lock removes the lock file after another append has opened it and before
 * that one locks it. */
static void remove_lock_file(void *context, const struct call *call) {
    bool *is_removed = context;
    const char *end = call->path ? strstr(call->path, ".rmx.lock") : NULL;
    if (*is_removed || call->kind != CALL_OPEN || call->fd < 0 || !end) return;
    require(!unlink(call->path), "unlink");
    *is_removed = true;
}

/* A lock on a file without a name would exclude no other append. */
static void test_lock_file_is_removed(void **state) {
    (void)state;
    bool is_removed = false;
    char lock[PATH_LIMIT + 8];
    struct call_plan plan = {
        .kinds = CALL_BIT(CALL_OPEN), .watch = remove_lock_file, .context = &is_removed};
    recmap_index_builder *builder = NULL;
    recmap_index_options options = fixture_options();
    fixture_reset(&data);
    snprintf(lock, sizeof lock, "%s.lock", data.index);
    interpose_start(&plan);
    recmap_status status = recmap_index_builder_create(&builder, data.index, &options, NULL);
    if (status == RECMAP_OK) status = recmap_index_builder_add_index(builder, data.index, NULL);
    interpose_stop();
    assert_int_equal(status, RECMAP_OK);
    assert_true(is_removed);
    assert_int_equal(access(lock, F_OK), 0);
    recmap_index_builder_destroy(builder);
    assert_int_not_equal(access(lock, F_OK), 0);
}

/* Process `number` appends the shard after the first `number` ones. */
static const char *append_one(size_t number) {
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_index_builder *builder = NULL;
    recmap_index_options options = fixture_options();
    pause_ns((long)skew[number % 2]);
    recmap_status status = recmap_index_builder_create(&builder, data.index, &options, &error);
    if (status == RECMAP_OK) status = recmap_index_builder_add_index(builder, data.index, &error);
    if (status == RECMAP_OK)
        status = recmap_index_builder_add_shard(builder, data.shards[number], &error);
    if (status == RECMAP_OK) status = recmap_index_builder_finish(NULL, builder, &error);
    recmap_index_builder_destroy(builder);
    return status == RECMAP_OK ? NULL : case_says("%s: %s", error.path, error.message);
}

/* Both must end up in the index, in either order. */
static const char *check_both_appended(void) {
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_dataset *dataset;
    if (recmap_dataset_open(&dataset, data.index, NULL, &error) != RECMAP_OK)
        return case_says("%s", error.message);
    const char *wrong = NULL;
    if (recmap_dataset_count(dataset) != FIXTURE_RECORDS) wrong = "one of the shards was lost";
    for (uint64_t number = 0; !wrong && number < FIXTURE_RECORDS; number++) {
        char text[32];
        recmap_value id = payload_id(text, number);
        uint64_t found;
        if (recmap_dataset_find(&found, dataset, &id, &error) != RECMAP_OK)
            wrong = case_says("%s", error.message);
    }
    recmap_dataset_close(dataset);
    return wrong;
}

static const char *race_appenders(void *context, size_t number) {
    uint64_t random = test_seed() + number;
    (void)context;
    unlink(data.index);
    recmap_index_builder *builder = NULL;
    recmap_index_options options = fixture_options();
    require(!recmap_index_builder_create(&builder, data.index, &options, NULL) &&
                !recmap_index_builder_add_shard(builder, data.shards[0], NULL) &&
                !recmap_index_builder_finish(NULL, builder, NULL),
            "the index of one shard");
    recmap_index_builder_destroy(builder);
    for (int i = 0; i < 2; i++) skew[i] = number % 2 ? choose_below(&random, 6000000) : 0;
    pid_t first = start(append_one, 1), second = start(append_one, 2);
    bool first_passed = has_passed(first), second_passed = has_passed(second);
    if (!first_passed || !second_passed) return "a builder failed";
    if (count_temporaries(data.folder)) return "a temporary file is left";
    return check_both_appended();
}

static void test_two_appenders_take_turns(void **state) {
    (void)state;
    test_seed();
    assert_int_equal(cases_run("races, two appenders", test_is_long() ? 500 : some_rounds(100), 1,
                               race_appenders, NULL),
                     0);
}

/* Opens the index as often as it can: each time it is all the old one or all the new one. */
static const char *read_until_over(size_t number) {
    recmap_dataset_options options = RECMAP_DATASET_OPTIONS_INIT;
    options.access = number % 2 ? RECMAP_ACCESS_READ : RECMAP_ACCESS_MAP;
    options.index_in_memory = number % 4 / 2;
    const char *wrong = NULL;
    alarm(0);
    while (!wrong && !shared->is_over) {
        recmap_error error = RECMAP_ERROR_INIT;
        recmap_dataset *dataset;
        if (recmap_dataset_open(&dataset, data.index, &options, &error) != RECMAP_OK)
            return case_says("open: %s: %s", error.path, error.message);
        uint64_t count = recmap_dataset_count(dataset);
        wrong = count == FIXTURE_OLD_RECORDS || count == FIXTURE_RECORDS
                    ? dataset_check_all(dataset, count, &error)
                    : "another number of records";
        if (wrong && error.status != RECMAP_OK) wrong = case_says("%s: %s", wrong, error.message);
        recmap_dataset_close(dataset);
        __sync_fetch_and_add(&shared->read_count, 1);
    }
    return wrong;
}

/* Eight readers open the index again and again while it is replaced. Each opening must see one
 * complete index, either the old or the new one. */
static void test_readers_beside_a_builder(void **state) {
    (void)state;
    enum { READERS = 8 };
    pid_t readers[READERS];
    fixture_reset(&data);
    shared->is_over = shared->read_count = 0;
    for (size_t i = 0; i < READERS; i++) readers[i] = start(read_until_over, i);
    unsigned replacements = test_is_long() ? 500 : some_rounds(100);
    const char *wrong = NULL;
    skew[0] = skew[1] = 0;
    for (unsigned i = 0; !wrong && i < replacements; i++) wrong = build_one(i % 2);
    shared->is_over = 1;
    bool all_passed = true;
    for (size_t i = 0; i < READERS; i++) all_passed &= has_passed(readers[i]);
    printf("readers: %d openings during %d replacements\n", shared->read_count, replacements);
    if (wrong) print_error("%s\n", wrong);
    assert_null(wrong);
    assert_true(all_passed);
    assert_true(shared->read_count > READERS);
}

/* A builder that has appended but is not destroyed yet blocks no other process. */
static const char *append_twice(void *context, size_t number) {
    recmap_index_builder *builders[2] = {NULL, NULL};
    recmap_index_options options = fixture_options();
    const char *wrong = NULL;
    bool first_fails = number == 1;
    (void)context;
    fixture_reset(&data);
    for (int i = 0; !wrong && i < 2; i++) {
        recmap_error error = RECMAP_ERROR_INIT;
        const char *shard = !i && first_fails ? "/nowhere" : data.shards[2];
        recmap_status status =
            recmap_index_builder_create(&builders[i], data.index, &options, &error);
        if (status == RECMAP_OK)
            status = recmap_index_builder_add_index(builders[i], data.index, &error);
        if (status == RECMAP_OK && (i == 0 || first_fails))
            status = recmap_index_builder_add_shard(builders[i], shard, &error);
        if (status == RECMAP_OK) status = recmap_index_builder_finish(NULL, builders[i], &error);
        if ((status == RECMAP_OK) == (!i && first_fails)) wrong = case_says("%s", error.message);
    }
    for (int i = 0; i < 2; i++) recmap_index_builder_destroy(builders[i]);
    return wrong ? wrong : fixture_check(&data, false, true);
}

static void test_one_process_twice(void **state) {
    (void)state;
    assert_int_equal(cases_run("races, one process twice", 2, 1, append_twice, NULL), 0);
}

static int enter(void **state) {
    (void)state;
    fixture_create(&data);
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return shared == MAP_FAILED ? -1 : 0;
}

static int leave(void **state) {
    (void)state;
    fixture_destroy(&data);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_two_builders_leave_one_whole_index),
        cmocka_unit_test(test_index_is_replaced_under_a_lock),
        cmocka_unit_test(test_append_to_an_index_that_is_replaced),
        cmocka_unit_test(test_taken_for_dead),
        cmocka_unit_test(test_two_appenders_take_turns),
        cmocka_unit_test(test_readers_beside_a_builder),
        cmocka_unit_test(test_one_process_twice),
        cmocka_unit_test(test_an_impostor_file_is_not_published),
        cmocka_unit_test(test_lock_file_is_removed),
    };
    return cmocka_run_group_tests(tests, enter, leave);
}
