/* Indexes that name shards in places where none can be: outside the folder, through links to
 * folders, or things that are not files. By default they are refused, and nothing outside the
 * folder is read.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "fault/cases.h"
#include "fault/fixture.h"
#include "index/store/store.h"
#include "index/tables/manifest.h"

enum { RENAMED = 1, FIRST = RENAMED * FIXTURE_SHARD_RECORDS };

/* The required result of opening and reading under the name. */
enum outcome { REFUSED, READ };

struct hostile {
    const char *name; /* %s stands for the folder's own name, %o for that of the other one; %F and
                         %O are their paths */
    enum outcome by_default;
    enum outcome with_absolute;
};

static const struct hostile names[] = {
    {"part-1", READ, READ},
    {"hard", READ, READ},
    {"\xff\xfe-\xc0", READ, READ},
    {"deep/part-1", READ, READ},
    {"../%o/part-1", REFUSED, REFUSED},
    {"../%s/part-1", REFUSED, REFUSED},
    {"deep/../part-1", REFUSED, REFUSED},
    {"deep/../../%o/part-1", REFUSED, REFUSED},
    {"./part-1", REFUSED, REFUSED},
    {"part-1/", REFUSED, REFUSED},
    {"deep//part-1", REFUSED, REFUSED},
    {"", REFUSED, REFUSED},
    {".", REFUSED, REFUSED},
    {"..", REFUSED, REFUSED},
    {"deep", REFUSED, REFUSED},
    {"part-1\1tail", REFUSED, REFUSED}, /* \1 becomes a NUL */
    {"link-out", READ, READ},           /* the user made the link, not the index */
    {"link-in", READ, READ},
    {"link-to-folder", REFUSED, REFUSED},
    {"link-to-others", REFUSED, REFUSED}, /* it leads to other records than the index has */
    {"link-folder/part-1", REFUSED, REFUSED},
    {"link-nowhere", REFUSED, REFUSED},
    {"fifo", REFUSED, REFUSED},
    {"missing", REFUSED, REFUSED},
    {"part-0", REFUSED, REFUSED}, /* twice */
    {"\x1b[31mred", REFUSED, REFUSED},
    {"/tmp/../%F/part-1", REFUSED, READ},
    {"%F/part-1", REFUSED, READ},
    {"/etc/passwd", REFUSED, REFUSED},
    {"/proc/self/mem", REFUSED, REFUSED},
    {"/dev/zero", REFUSED, REFUSED},
    {"/dev/null", REFUSED, REFUSED},
    {"//etc//passwd", REFUSED, REFUSED},
    {"long", REFUSED, REFUSED},   /* becomes 4,096 characters */
    {"longer", REFUSED, REFUSED}, /* becomes 2,048 folders deep */
};

enum { NAME_COUNT = sizeof names / sizeof *names };

/* Two names in an index that is opened with `shards`. */
struct moved {
    const char *previous; /* of the shard before, or NULL: its own name, which is relative */
    const char *name;
    enum outcome outcome;
};

static const struct moved moved_names[] = {
    {NULL, "part-1", READ},
    {NULL, "/a/part-1", READ},
    {NULL, "s3://bucket/part-1", READ},
    {NULL, "/etc/part-1", READ},
    {"/a/part-0", "/a/part-1", READ},
    {"/a/part-0", "/a/deep/part-1", READ},
    {"s3://bucket/part-0", "s3://bucket/deep/part-1", READ},
    {"http://127.0.0.1:1/part-0", "%O/part-1", REFUSED}, /* no folder in common */
    {"%F/part-0", "http://127.0.0.1:1/part-1", REFUSED},
    {"s3://bucket/part-0", "http://127.0.0.1:1/part-1", REFUSED},
    {"/a/part-0", "/a/%O/part-1", REFUSED}, /* an absolute path after the common folder */
    {"s3://bucket/part-0", "s3://bucket/%O/part-1", REFUSED},
    {"http://127.0.0.1:1/part-0", "http:///%O/part-1", REFUSED},
    {"/a/part-0", "/a/http://127.0.0.1:1/part-1", REFUSED}, /* a URL there */
    {"/a/part-0", "/a/../%o/part-1", REFUSED},
    {"/a/part-0", "/a/deep/../../%o/part-1", REFUSED},
    {"/a/part-0", "/a/./part-1", REFUSED},
    {"/a/part-0", "/a/deep//part-1", REFUSED},
    {"/a/part-0", "/a/", REFUSED},
    {"s3://bucket/part-0", "s3://bucket/../part-1", REFUSED},
    {NULL, "/a/..", REFUSED},
    {NULL, "/", REFUSED},
    {NULL, "s3://bucket/", REFUSED},
};

enum { MOVED_COUNT = sizeof moved_names / sizeof *moved_names };

static struct fixture data;
static char other[128];

static const char *last_part(const char *path) {
    return strrchr(path, '/') + 1;
}

/* The name with its placeholders filled in. */
static char *expand(const char *pattern) {
    char *name = calloc(1, 8192);
    require(name != NULL, "memory");
    if (!strcmp(pattern, "long")) return memset(name, 'a', 4096);
    for (size_t i = 0; !strcmp(pattern, "longer") && i < 2048; i++) memcpy(name + 2 * i, "a/", 2);
    if (!strcmp(pattern, "longer")) return name;
    size_t size = 0;
    for (const char *cursor = pattern; *cursor; cursor++) {
        const char *put = NULL;
        if (cursor[0] == '%' && cursor[1] == 's') put = last_part(data.folder);
        if (cursor[0] == '%' && cursor[1] == 'o') put = last_part(other);
        if (cursor[0] == '%' && cursor[1] == 'F') put = data.folder;
        if (cursor[0] == '%' && cursor[1] == 'O') put = other;
        if (!put) {
            name[size++] = *cursor;
            continue;
        }
        size += (size_t)snprintf(name + size, 4096, "%s", put);
        cursor++;
    }
    return name;
}

static void replace_name(struct shard_entry *entry, const char *name) {
    if (!name) return;
    free(entry->path);
    entry->path = strdup(name);
}

/* The table of shards with another name for one of them and, unless it is NULL, for the previous
 * one. */
static uint8_t *rename_shards(size_t *size, const struct store_value *value, const char *previous,
                              const char *name) {
    struct shard_entry entries[FIXTURE_SHARDS];
    size_t count = 0;
    require(shards_decode(entries, &count, FIXTURE_SHARDS, value->data, value->size) == DECODE_OK,
            "decode the shards");
    replace_name(&entries[RENAMED - 1], previous);
    replace_name(&entries[RENAMED], name);
    uint8_t *packed = shards_encode(size, entries, count);
    require(packed != NULL, "encode the shards");
    for (size_t i = 0; i < *size; i++)
        if (packed[i] == 1 && i >= 6 && !memcmp(packed + i - 6, "part-1", 6)) packed[i] = 0;
    for (size_t i = 0; i < count; i++) shard_entry_deinit(&entries[i]);
    return packed;
}

/* A sound index, but for the names. */
static void make_index(const char *previous, const char *name) {
    struct store *source;
    struct store_writer *writer;
    file_bytes_save(data.index, data.new_index.bytes, data.new_index.size);
    require(store_open(&source, data.index, NULL, NULL) == RECMAP_OK, "open the index");
    require(store_writer_create(&writer, data.index, LEFTOVERS_REMOVE, NULL) == RECMAP_OK,
            "write an index");
    for (int table = 0; table < STORE_TABLE_COUNT; table++) {
        size_t count;
        const struct store_value *values = store_values(source, (enum store_table)table, &count);
        for (size_t i = 0; i < count; i++) {
            size_t size = values[i].size;
            uint8_t *packed = NULL;
            if (table == STORE_SHARDS) packed = rename_shards(&size, &values[i], previous, name);
            require(store_writer_put(writer, (enum store_table)table, values[i].key,
                                     packed ? packed : values[i].data, size, NULL) == RECMAP_OK,
                    "put a value");
            free(packed);
        }
    }
    require(store_writer_finish(writer, NULL, NULL, NULL) == RECMAP_OK, "finish");
    store_writer_destroy(writer);
    store_close(source);
}

static bool is_printable(const char *text) {
    for (; *text; text++)
        if ((unsigned char)*text < 0x20) return false;
    return true;
}

/* Reads the shard under its name by get, gather and verify. */
static const char *read_named(recmap_dataset *dataset, enum outcome expected, recmap_error *error) {
    recmap_record record;
    recmap_report *report = NULL;
    recmap_status status = recmap_dataset_get(&record, dataset, FIRST, error);
    if (status == RECMAP_OK) {
        bool holds = payload_holds(&record, FIRST);
        recmap_record_release(&record);
        if (!holds) return "get gave wrong bytes";
    }
    if ((status == RECMAP_OK) != (expected == READ))
        return case_says("get: %s: %s", recmap_status_name(status), error->message);
    if (recmap_dataset_verify(&report, dataset, NULL, NULL) != RECMAP_OK) return "verify failed";
    size_t found = recmap_report_damage_count(report);
    recmap_report_destroy(report);
    if ((found == 0) != (expected == READ)) return case_says("verify found %zu", found);
    if (recmap_dataset_get(&record, dataset, 0, NULL) != RECMAP_OK || !payload_holds(&record, 0))
        return "the shard before is harmed";
    recmap_record_release(&record);
    return NULL;
}

/* Each name is tried four times: mapped and unmapped, with and without permission for absolute
 * paths. Opening or reading must give the outcome listed for the name, and errors must be
 * printable. */
static const char *run_name(void *context, size_t number) {
    const struct hostile *hostile = &names[number / 4];
    recmap_dataset_options options = RECMAP_DATASET_OPTIONS_INIT;
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_dataset *dataset = NULL;
    (void)context;
    options.allow_absolute_paths = number % 2;
    options.access = number / 2 % 2 ? RECMAP_ACCESS_READ : RECMAP_ACCESS_MAP;
    enum outcome expected = number % 2 ? hostile->with_absolute : hostile->by_default;
    char *name = expand(hostile->name);
    bool is_unasked = name[0] == '/' && !options.allow_absolute_paths;
    make_index(NULL, name);
    free(name);
    recmap_status status = recmap_dataset_open(&dataset, data.index, &options, &error);
    const char *wrong = NULL;
    if (is_unasked && status != RECMAP_INVALID)
        wrong = case_says("open: %s", recmap_status_name(status));
    else if (status == RECMAP_OK) wrong = read_named(dataset, expected, &error);
    else if (expected == READ) wrong = case_says("open: %s", error.message);
    recmap_dataset_close(dataset);
    if (!wrong && expected == REFUSED &&
        (!error.path[0] || !error.message[0] || !is_printable(error.path)))
        wrong = case_says("path \"%s\", message \"%s\"", error.path, error.message);
    if (!wrong) return NULL;
    char kept[1024];
    snprintf(kept, sizeof kept, "%s", wrong);
    return case_says("%s%s: %s", hostile->name, number % 2 ? ", absolute allowed" : "", kept);
}

static void test_hostile_names_stay_in_their_folder(void **state) {
    (void)state;
    assert_int_equal(cases_run("names", NAME_COUNT * 4, 1, run_name, NULL), 0);
}

static const char *check_moved(const struct moved *moved, const recmap_dataset_options *options) {
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_dataset *dataset = NULL;
    recmap_status status = recmap_dataset_open(&dataset, data.index, options, &error);
    const char *wrong = NULL;
    if (moved->outcome == REFUSED && status != RECMAP_INVALID)
        wrong = case_says("open: %s", recmap_status_name(status));
    else if (moved->outcome == REFUSED && !(error.path[0] && error.message[0] && error.advice[0]))
        wrong = "the error has no path, message or advice";
    else if (moved->outcome == READ && status != RECMAP_OK)
        wrong = case_says("open: %s", error.message);
    else if (moved->outcome == READ && options->shards == data.folder)
        wrong = read_named(dataset, READ, &error);
    recmap_dataset_close(dataset);
    return wrong;
}

/* Each pair of names is tried with `shards` set to a folder, mapped and unmapped, and to a URL,
 * under which nothing is read. Permissions for absolute names must not matter. */
static const char *run_moved(void *context, size_t number) {
    const struct moved *moved = &moved_names[number / 6];
    recmap_dataset_options options = RECMAP_DATASET_OPTIONS_INIT;
    size_t choice = number % 6 / 2;
    (void)context;
    options.allow_absolute_paths = options.allow_urls = number % 2;
    options.access = choice == 0 ? RECMAP_ACCESS_MAP : RECMAP_ACCESS_READ;
    options.shards = choice == 2 ? "http://127.0.0.1:1/folder" : data.folder;
    char *name = expand(moved->name), *previous = moved->previous ? expand(moved->previous) : NULL;
    make_index(previous, name);
    free(name);
    free(previous);
    const char *wrong = check_moved(moved, &options);
    if (!wrong) return NULL;
    char kept[1024];
    snprintf(kept, sizeof kept, "%s", wrong);
    return case_says("%s, shards=%s: %s", moved->name, options.shards, kept);
}

static void test_moved_names_are_followed_or_refused(void **state) {
    (void)state;
    assert_int_equal(cases_run("moved names", MOVED_COUNT * 6, 1, run_moved, NULL), 0);
}

static void in_folder(char path[PATH_LIMIT + 16], const char *folder, const char *name) {
    snprintf(path, PATH_LIMIT + 16, "%s/%s", folder, name);
}

/* The same shard again at every place that must not be reached. */
static void furnish(void) {
    char path[PATH_LIMIT + 16], target[PATH_LIMIT + 16];
    in_folder(target, other, "part-1");
    shard_write(target, FIRST, FIXTURE_SHARD_RECORDS);
    in_folder(path, data.folder, "link-out");
    require(!symlink(target, path), "a link");
    in_folder(path, data.folder, "link-in");
    require(!symlink("part-1", path), "a link");
    in_folder(path, data.folder, "link-to-folder");
    require(!symlink(".", path), "a link");
    in_folder(path, data.folder, "link-to-others");
    require(!symlink("part-0", path), "a link");
    in_folder(path, data.folder, "link-nowhere");
    require(!symlink("nowhere", path), "a link");
    in_folder(path, data.folder, "link-folder");
    require(!symlink(other, path), "a link");
    in_folder(path, data.folder, "fifo");
    require(!mkfifo(path, 0600), "a FIFO");
    in_folder(path, data.folder, "hard");
    require(!link(data.shards[RENAMED], path), "a hard link");
    in_folder(path, data.folder, "\xff\xfe-\xc0");
    require(!link(data.shards[RENAMED], path), "a hard link");
    in_folder(path, data.folder, "deep");
    require(!mkdir(path, 0755), "a folder");
    in_folder(path, data.folder, "deep/part-1");
    require(!link(data.shards[RENAMED], path), "a hard link");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_hostile_names_stay_in_their_folder),
                                       cmocka_unit_test(test_moved_names_are_followed_or_refused)};
    fixture_create(&data);
    folder_create(other, sizeof other);
    furnish();
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    folder_remove(other);
    fixture_destroy(&data);
    return failed;
}
