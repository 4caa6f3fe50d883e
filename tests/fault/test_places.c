/* Where data sets lie: folders and files that may not be read or written, by another user or on a
 * read-only file system; and data sets that move, as wholes and in parts. It works, or the error
 * names the path; a failed build leaves the folder as it was. */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "fault/cases.h"
#include "fault/fixture.h"

enum { NOBODY = 65534, OTHER_PATH_MAX = 2 * PATH_LIMIT };

static struct fixture data;

/* Names, sizes, owners and times of a folder's files, in one sum, and of the folder itself. */
static uint64_t listing(const char *folder) {
    DIR *stream = opendir(folder);
    struct dirent *entry;
    uint64_t sum = 0;
    require(stream != NULL, "read the folder");
    while ((entry = readdir(stream))) {
        struct stat st;
        uint64_t one = 0;
        if (!strcmp(entry->d_name, "..") || fstatat(dirfd(stream), entry->d_name, &st, 0)) continue;
        for (const char *cursor = entry->d_name; *cursor; cursor++)
            one = one * 31 + (unsigned char)*cursor;
        one = one * 31 + (uint64_t)st.st_ino;
        if (strcmp(entry->d_name, ".")) one = one * 31 + (uint64_t)st.st_mtim.tv_nsec;
        sum += choose_next(&one);
    }
    closedir(stream);
    return sum;
}

/* A setting: what is made unusable for the user nobody, and what must come of it. errno 0: works.
 */
struct setting {
    const char *name;
    mode_t folder_mode, index_mode, shard_mode; /* of shard 1 */
    bool read_only_mount, folder_is_nobodys, folder_is_sticky, stale_lock;
    int open_errno, get_errno, build_errno;
};

static const struct setting settings[] = {
    {"all allowed", 0777, 0666, 0644, false, false, false, false, 0, 0, 0},
    {"folder read-only", 0555, 0644, 0644, false, false, false, false, 0, 0, EACCES},
    {"folder of another", 0755, 0644, 0644, false, false, false, false, 0, 0, EACCES},
    {"own folder read-only", 0555, 0644, 0644, false, true, false, false, 0, 0, EACCES},
    {"lock file of another", 0755, 0644, 0644, false, false, false, true, 0, 0, EACCES},
    {"lock file, folder open", 0777, 0644, 0644, false, false, false, true, 0, 0, 0},
    {"folder not listable", 0711, 0644, 0644, false, false, false, false, 0, 0, EACCES},
    {"folder write-only", 0733, 0644, 0644, false, false, false, false, 0, 0, EACCES},
    {"folder closed", 0000, 0644, 0644, false, false, false, false, EACCES, 0, EACCES},
    {"index closed", 0755, 0000, 0644, false, false, false, false, EACCES, 0, EACCES},
    {"index closed, folder open", 0777, 0000, 0644, false, false, false, false, EACCES, 0, 0},
    {"shard closed", 0777, 0644, 0000, false, false, false, false, 0, EACCES, EACCES},
    {"sticky folder", 01777, 0644, 0644, false, false, true, false, 0, 0, EPERM},
    {"read-only mount", 0777, 0644, 0644, true, false, false, false, 0, 0, EROFS},
};

enum { SETTING_COUNT = sizeof settings / sizeof *settings };

static bool prepare(const struct setting *setting) {
    char lock[PATH_LIMIT + 8];
    fixture_reset(&data);
    unlink(data.index);
    file_bytes_save(data.index, data.new_index.bytes, data.new_index.size);
    snprintf(lock, sizeof lock, "%s-lock", data.index);
    if (setting->stale_lock) file_bytes_save(lock, "x", 1);
    uid_t owner = setting->folder_is_nobodys ? NOBODY : 0;
    require(!chmod(data.index, setting->index_mode), "chmod");
    require(!chmod(data.shards[1], setting->shard_mode), "chmod");
    require(!chown(data.folder, owner, owner), "chown");
    require(!chmod(data.folder, setting->folder_mode), "chmod");
    if (!setting->read_only_mount) return true;
    return !unshare(CLONE_NEWNS) && !mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) &&
           !mount(data.folder, data.folder, NULL, MS_BIND, NULL) &&
           !mount("none", data.folder, NULL, MS_REMOUNT | MS_BIND | MS_RDONLY, NULL);
}

static void restore(void) {
    require(!chown(data.folder, 0, 0) && !chmod(data.folder, 0755), "restore the folder");
    chmod(data.shards[1], 0644);
}

static const char *check_errno(const char *step, recmap_status status, const recmap_error *error,
                               int expected) {
    if (status == RECMAP_OK && !expected) return NULL;
    if (status == RECMAP_IO && error->system_errno == expected && error->path[0] &&
        error->advice[0])
        return NULL;
    return case_says("%s: %s, errno %d, path %s: %s", step, recmap_status_name(status),
                     status == RECMAP_OK ? 0 : error->system_errno, error->path, error->message);
}

/* Opens, reads and rebuilds an index in the given setting. Each step must succeed or fail with
 * exactly the errno listed for it. */
static const char *use(const struct setting *setting, recmap_access access) {
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_dataset_options options = RECMAP_DATASET_OPTIONS_INIT;
    recmap_dataset *dataset = NULL;
    recmap_record record = {0};
    options.access = access;
    recmap_status status = recmap_dataset_open(&dataset, data.index, &options, &error);
    const char *wrong = check_errno("open", status, &error, setting->open_errno);
    if (!wrong && status == RECMAP_OK) {
        status = recmap_dataset_get(&record, dataset, FIXTURE_SHARD_RECORDS, &error);
        wrong = check_errno("get", status, &error, setting->get_errno);
        if (!wrong && status == RECMAP_OK && !payload_holds(&record, FIXTURE_SHARD_RECORDS))
            wrong = "wrong bytes";
        recmap_record_release(&record);
    }
    recmap_dataset_close(dataset);
    if (wrong) return wrong;
    status = fixture_rebuild(&data, 1, &error);
    wrong = check_errno("build", status, &error, setting->build_errno);
    /* The temporary name would confuse. */
    return !wrong && strstr(error.path, ".tmp-") ? case_says("build: %s", error.path) : wrong;
}

/* In a separate child process, which drops its privileges. */
static const char *use_as_nobody(void *context, size_t number) {
    const struct setting *setting = context;
    require(!setgid(NOBODY) && !setuid(NOBODY), "setuid");
    return use(setting, number ? RECMAP_ACCESS_READ : RECMAP_ACCESS_MAP);
}

static const char *run_setting(void *context, size_t number) {
    const struct setting *setting = &settings[number / 2];
    (void)context;
    if (!prepare(setting)) return setting->read_only_mount ? NULL : "not prepared";
    uint64_t before = listing(data.folder);
    enum child_end end = child_run(use_as_nobody, (void *)setting, number % 2);
    bool is_same = listing(data.folder) == before;
    const char *wrong = count_temporaries(data.folder) ? "a temporary file is left" : NULL;
    if (!setting->read_only_mount) restore();
    if (end != CHILD_PASSED) return setting->name;
    if (!wrong && setting->build_errno && !is_same) wrong = "the folder has changed";
    return wrong ? case_says("%s: %s", setting->name, wrong) : NULL;
}

static void test_missing_rights_are_reported(void **state) {
    (void)state;
    if (geteuid()) {
        print_message("skipped: only root can become another user\n");
        skip();
    }
    /* One child a setting: a mount namespace cannot be left. */
    size_t failed = 0;
    for (size_t i = 0; i < 2 * SETTING_COUNT; i++)
        failed += child_run(run_setting, NULL, i) != CHILD_PASSED;
    printf("rights: %d cases, %zu failed\n", 2 * SETTING_COUNT, failed);
    assert_int_equal(failed, 0);
}

/* Ways for a data set to move. `moved` is another folder, empty at first. */
static char moved[128];

static void path_in(char path[OTHER_PATH_MAX], const char *folder, const char *name) {
    snprintf(path, OTHER_PATH_MAX, "%s/%s", folder, name);
}

static void copy_into(const char *folder, const char *path) {
    char to[OTHER_PATH_MAX];
    struct file_bytes file;
    path_in(to, folder, strrchr(path, '/') + 1);
    require(file_bytes_load(&file, path), "load a file");
    file_bytes_save(to, file.bytes, file.size);
    free(file.bytes);
}

static void copy_all(void) {
    for (size_t i = 0; i < FIXTURE_SHARDS; i++) copy_into(moved, data.shards[i]);
    copy_into(moved, data.index);
}

/* Opens and reads; `lacking` is the one shard that must fail, and how. */
enum { NO_SHARD = FIXTURE_SHARDS };

static const char *read_moved(const char *index, size_t lacking, recmap_status status) {
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_dataset *dataset;
    if (recmap_dataset_open(&dataset, index, NULL, &error) != RECMAP_OK)
        return case_says("open: %s: %s", error.path, error.message);
    const char *wrong = NULL;
    for (size_t i = 0; !wrong && i < FIXTURE_RECORDS; i++) {
        recmap_record record;
        recmap_status got = recmap_dataset_get(&record, dataset, i, &error);
        bool must_fail = i / FIXTURE_SHARD_RECORDS == lacking;
        if (got == RECMAP_OK && !payload_holds(&record, i)) wrong = "wrong bytes";
        if (got == RECMAP_OK) recmap_record_release(&record);
        if (!wrong && (got == RECMAP_OK) == must_fail) wrong = case_says("%s", error.message);
        if (!wrong && must_fail && (got != status || !strstr(error.path, "part-")))
            wrong = case_says("%s: %s: %s", recmap_status_name(got), error.path, error.message);
    }
    recmap_dataset_close(dataset);
    return wrong;
}

static const char *open_refused(const char *index) {
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_dataset *dataset;
    if (recmap_dataset_open(&dataset, index, NULL, &error) == RECMAP_OK) return "opened";
    return error.status == RECMAP_IO && error.system_errno == ENOENT && error.path[0]
               ? NULL
               : case_says("%s", error.message);
}

static const char *move_folder(const char *index) {
    char back[160];
    (void)index;
    snprintf(back, sizeof back, "%s/set.rmx", moved);
    require(!rmdir(moved) && !rename(data.folder, moved), "rename the folder");
    const char *wrong = read_moved(back, NO_SHARD, RECMAP_OK);
    require(!rename(moved, data.folder) && !mkdir(moved, 0755), "rename it back");
    return wrong;
}

static const char *copy_folder(const char *index) {
    copy_all();
    return read_moved(index, NO_SHARD, RECMAP_OK);
}

static const char *copy_index_alone(const char *index) {
    copy_into(moved, data.index);
    copy_into(moved, data.shards[0]);
    copy_into(moved, data.shards[2]);
    return read_moved(index, 1, RECMAP_IO);
}

static const char *copy_shards_alone(const char *index) {
    copy_into(moved, data.shards[0]);
    return open_refused(index);
}

/* Another shard under the name, of the same size. */
static const char *swap_shard(const char *index) {
    char path[OTHER_PATH_MAX];
    struct file_bytes file;
    copy_all();
    path_in(path, moved, "part-1");
    require(file_bytes_load(&file, path), "load a shard");
    uint8_t payload[PAYLOAD_MAX];
    recmap_location place;
    recmap_dataset *dataset;
    require(recmap_dataset_open(&dataset, data.index, NULL, NULL) == RECMAP_OK &&
                recmap_dataset_locate(&place, dataset, FIXTURE_SHARD_RECORDS, 1, NULL) == RECMAP_OK,
            "locate a record");
    recmap_dataset_close(dataset);
    /* The first record is another one, sound in itself. */
    memset(payload, 'x', place.size);
    recmap_frame frame = recmap_frame_of(payload, place.size);
    memcpy(file.bytes, frame.header, sizeof frame.header);
    memcpy(file.bytes + sizeof frame.header, payload, place.size);
    memcpy(file.bytes + sizeof frame.header + place.size, frame.footer, sizeof frame.footer);
    file_bytes_save(path, file.bytes, file.size);
    free(file.bytes);
    return read_moved(index, 1, RECMAP_STALE);
}

static const char *exchange_shards(const char *index) {
    char a[OTHER_PATH_MAX], b[OTHER_PATH_MAX], c[OTHER_PATH_MAX];
    copy_all();
    path_in(a, moved, "part-0");
    path_in(b, moved, "part-1");
    path_in(c, moved, "spare");
    require(!rename(a, c) && !rename(b, a) && !rename(c, b), "rename");
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_dataset *dataset;
    recmap_record record;
    if (recmap_dataset_open(&dataset, index, NULL, &error) != RECMAP_OK) return "open failed";
    recmap_status first = recmap_dataset_get(&record, dataset, 0, NULL);
    recmap_status second = recmap_dataset_get(&record, dataset, FIXTURE_SHARD_RECORDS, NULL);
    recmap_dataset_close(dataset);
    return first == RECMAP_STALE && second == RECMAP_STALE ? NULL : "exchanged shards were read";
}

static const char *link_index(const char *index) {
    require(!link(data.index, index), "a hard link");
    copy_into(moved, data.shards[0]);
    copy_into(moved, data.shards[2]);
    return read_moved(index, 1, RECMAP_IO);
}

static const char *link_folder(const char *index) {
    char path[OTHER_PATH_MAX];
    (void)index;
    path_in(path, moved, "link");
    require(!symlink(data.folder, path), "a link");
    path_in(path, moved, "link/set.rmx");
    return read_moved(path, NO_SHARD, RECMAP_OK);
}

static const char *hard_link_shards(const char *index) {
    char path[OTHER_PATH_MAX];
    copy_into(moved, data.index);
    for (size_t i = 0; i < FIXTURE_SHARDS; i++) {
        path_in(path, moved, strrchr(data.shards[i], '/') + 1);
        require(!link(data.shards[i], path), "a hard link");
    }
    return read_moved(index, NO_SHARD, RECMAP_OK);
}

/* Opened by a relative name; the process then goes elsewhere before it reads. */
static const char *change_folder(const char *index) {
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_dataset *dataset;
    (void)index;
    require(!chdir(data.folder), "chdir");
    if (recmap_dataset_open(&dataset, "set.rmx", NULL, &error) != RECMAP_OK) return "open failed";
    require(!chdir("/"), "chdir");
    const char *wrong = dataset_check_all(dataset, FIXTURE_RECORDS, &error);
    recmap_dataset_close(dataset);
    return wrong ? case_says("%s: %s: %s", wrong, error.path, error.message) : NULL;
}

static const char *(*const moves[])(const char *index) = {
    move_folder,     copy_folder, copy_index_alone, copy_shards_alone, swap_shard,
    exchange_shards, link_index,  link_folder,      hard_link_shards,  change_folder,
};

enum { MOVE_COUNT = sizeof moves / sizeof *moves };

static const char *run_move(void *context, size_t number) {
    char index[160];
    (void)context;
    fixture_reset(&data);
    unlink(data.index);
    file_bytes_save(data.index, data.new_index.bytes, data.new_index.size);
    folder_remove(moved);
    require(!mkdir(moved, 0755), "a folder");
    snprintf(index, sizeof index, "%s/set.rmx", moved);
    return moves[number](index);
}

static void test_moved_folders_are_found_or_reported(void **state) {
    (void)state;
    assert_int_equal(cases_run("moves", MOVE_COUNT, 1, run_move, NULL), 0);
}

static int enter(void **state) {
    (void)state;
    fixture_create(&data);
    folder_create(moved, sizeof moved);
    return chmod(data.folder, 0755);
}

static int leave(void **state) {
    (void)state;
    folder_remove(moved);
    fixture_destroy(&data);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_missing_rights_are_reported),
        cmocka_unit_test(test_moved_folders_are_found_or_reported),
    };
    return cmocka_run_group_tests(tests, enter, leave);
}
