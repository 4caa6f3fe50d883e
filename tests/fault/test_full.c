/* A full disk, at every size: builds into file systems of memory that are too small, and under a
 * limit of file size. The error says that there is no space, the old index stays, and no temporary
 * file is left. Needs the right to mount; else only the limit is tested. */
#define _GNU_SOURCE
#include <errno.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "fault/cases.h"
#include "fault/fixture.h"

enum { SIZES = 32, PAGE = 4096, SLACK = 64 << 10 };

static struct fixture data;

/* A file system of `size` bytes that only this process sees. */
static bool mount_small(const char *folder, size_t size) {
    char options[64];
    snprintf(options, sizeof options, "size=%zu", size);
    return !unshare(CLONE_NEWNS) && !mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) &&
           !mount("none", folder, "tmpfs", 0, options);
}

/* The builds: of all shards into the small folder; by a writer with an index. */
static recmap_status build_at(const char *index, recmap_error *error) {
    recmap_index_builder *builder = NULL;
    recmap_index_options options = fixture_options();
    recmap_status status = recmap_index_builder_create(&builder, index, &options, error);
    for (size_t i = 0; status == RECMAP_OK && i < FIXTURE_SHARDS; i++)
        status = recmap_index_builder_add_shard(builder, data.shards[i], error);
    if (status == RECMAP_OK) status = recmap_index_builder_finish(NULL, builder, error);
    recmap_index_builder_destroy(builder);
    return status;
}

static recmap_status write_at(const char *path, const char *index, recmap_compression compression,
                              recmap_error *error) {
    uint8_t bytes[PAYLOAD_MAX];
    recmap_writer *writer = NULL;
    recmap_index_options indexing = fixture_options();
    recmap_writer_options options = RECMAP_WRITER_OPTIONS_INIT;
    options.index_path = index;
    options.index = &indexing;
    options.compression = compression;
    recmap_status status = recmap_writer_create(&writer, path, &options, error);
    for (uint64_t i = 0; status == RECMAP_OK && i < FIXTURE_RECORDS; i++)
        status = recmap_writer_write(writer, bytes, payload_write(bytes, i), error);
    if (status == RECMAP_OK) status = recmap_writer_finish(writer, error);
    recmap_writer_destroy(writer);
    return status;
}

static const char *check_outcome(const char *folder, const char *index, bool is_done,
                                 recmap_status status, const recmap_error *error) {
    if (count_temporaries(folder)) return "a temporary file is left";
    if (status == RECMAP_OK && is_done) return NULL;
    if (status == RECMAP_OK) return "it said OK, and nothing is there";
    if (!file_bytes_equal(&data.old_index, index)) return "the old index is harmed";
    bool tells = error->system_errno == ENOSPC || error->system_errno == EFBIG;
    if (status == RECMAP_IO && tells && error->path[0] && error->advice[0]) return NULL;
    return case_says("%s, errno %d: %s: %s", recmap_status_name(status), error->system_errno,
                     error->path, error->message);
}

static bool is_readable(const char *index, uint64_t record_count) {
    recmap_dataset *dataset = NULL;
    recmap_dataset_options options = RECMAP_DATASET_OPTIONS_INIT;
    options.index_check = RECMAP_INDEX_CHECK_FULL;
    options.allow_absolute_paths = 1;
    bool holds = recmap_dataset_open(&dataset, index, &options, NULL) == RECMAP_OK &&
                 !dataset_check_all(dataset, record_count, NULL);
    recmap_dataset_close(dataset);
    return holds;
}

struct space {
    size_t min, max;
    bool writes; /* a writer, else a builder */
    recmap_compression compression;
};

/* Each case is a process of its own, since a mount namespace cannot be left. */
static const char *fill(void *context, size_t number) {
    const struct space *space = context;
    char folder[PATH_LIMIT], index[PATH_LIMIT + 8], shard[PATH_LIMIT + 8];
    size_t size = space->min + (space->max - space->min) * number / (SIZES - 1);
    snprintf(folder, sizeof folder, "%s/small", data.folder);
    snprintf(index, sizeof index, "%s/set.rmx", folder);
    snprintf(shard, sizeof shard, "%s/shard", folder);
    if (!mount_small(folder, size / PAGE * PAGE)) return "mount failed";
    file_bytes_save(index, data.old_index.bytes, data.old_index.size);
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_status status = space->writes ? write_at(shard, index, space->compression, &error)
                                         : build_at(index, &error);
    bool is_done = status == RECMAP_OK && is_readable(index, FIXTURE_RECORDS);
    const char *wrong = check_outcome(folder, index, is_done, status, &error);
    if (!wrong && number == SIZES - 1 && status != RECMAP_OK) wrong = "there was space";
    if (!wrong && number == 0 && status == RECMAP_OK) wrong = "there was no space";
    if (!wrong && status != RECMAP_OK && !access(shard, F_OK)) wrong = "half a shard is there";
    return wrong;
}

static bool can_mount(void) {
    char folder[PATH_LIMIT];
    snprintf(folder, sizeof folder, "%s/small", data.folder);
    fflush(stdout);
    pid_t pid = fork();
    if (!pid) _exit(!mount_small(folder, 1 << 20));
    int ended;
    require(waitpid(pid, &ended, 0) == pid, "waitpid");
    return !ended;
}

static void fill_all(const char *name, struct space space) {
    space.min = data.old_index.size / PAGE * PAGE + 2 * PAGE;
    space.max += SLACK;
    size_t failed = 0;
    for (size_t i = 0; i < SIZES; i++) failed += child_run(fill, &space, i) != CHILD_PASSED;
    printf("%s: %d cases, %zu failed\n", name, SIZES, failed);
    assert_int_equal(failed, 0);
}

static void test_a_full_disk_keeps_the_old_index(void **state) {
    (void)state;
    if (!can_mount()) {
        print_message("skipped: mounting is not permitted\n");
        skip();
    }
    size_t both = data.old_index.size + data.new_index.size;
    fill_all("full disk, builder", (struct space){.max = both});
    size_t shards = 0;
    for (size_t i = 0; i < FIXTURE_SHARDS; i++) {
        struct stat st;
        require(!stat(data.shards[i], &st), "stat");
        shards += (size_t)st.st_size;
    }
    struct space writer = {.max = both + shards, .writes = true};
    fill_all("full disk, writer", writer);
    writer.compression = RECMAP_COMPRESSION_GZIP;
    fill_all("full disk, compressing writer", writer);
}

static const char *limit_size(void *context, size_t number) {
    size_t count = *(const size_t *)context;
    struct rlimit limit = {data.new_index.size * number / (count - 1), RLIM_INFINITY}, before;
    recmap_error error = RECMAP_ERROR_INIT;
    fixture_reset(&data);
    getrlimit(RLIMIT_FSIZE, &before);
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &limit);
    recmap_status status = fixture_rebuild(&data, 1, &error);
    setrlimit(RLIMIT_FSIZE, &before);
    bool is_done = status == RECMAP_OK && file_bytes_equal(&data.new_index, data.index);
    if (status == RECMAP_OK && number < count - 1) return "there was no space";
    return check_outcome(data.folder, data.index, is_done, status, &error);
}

static void test_limit_of_file_size(void **state) {
    (void)state;
    size_t count = test_is_long() ? 64 : 16;
    assert_int_equal(cases_run("limit of file size", count, 1, limit_size, &count), 0);
}

static int enter(void **state) {
    char folder[PATH_LIMIT];
    (void)state;
    fixture_create(&data);
    snprintf(folder, sizeof folder, "%s/small", data.folder);
    return mkdir(folder, 0755);
}

static int leave(void **state) {
    (void)state;
    fixture_destroy(&data);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_full_disk_keeps_the_old_index),
        cmocka_unit_test(test_limit_of_file_size),
    };
    return cmocka_run_group_tests(tests, enter, leave);
}
