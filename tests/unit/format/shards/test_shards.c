/* Lists of shards: what a name stands for, in which order, and what the index is called. */
#define _GNU_SOURCE
#include <recmap/shards.h>

#include <errno.h>
#include <limits.h>
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

/* Every test starts in an empty folder of its own: BASE/work. */
static char base[64];

static int enter(void **state) {
    (void)state;
    snprintf(base, sizeof base, "/tmp/recmap-shards-XXXXXX");
    if (!mkdtemp(base) || chdir(base) || mkdir("work", 0777) || chdir("work")) return -1;
    return 0;
}

static int leave(void **state) {
    (void)state;
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", base);
    return chdir("/") || system(command);
}

static void write_file(const char *path, const char *text) {
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static void touch(const char *path) {
    write_file(path, "");
}

/* The paths that `names` (up to NULL) stand for, one a line, of whatever sets. */
static void list(char *text, size_t capacity, const char *const *names) {
    recmap_shards *shards;
    recmap_error error = RECMAP_ERROR_INIT;
    assert_int_equal(recmap_shards_create(&shards, &error), RECMAP_OK);
    assert_int_equal(recmap_shards_choose_sets(shards, NULL, RECMAP_SETS_ALL, &error), RECMAP_OK);
    for (; *names; names++)
        if (recmap_shards_add(shards, *names, &error) != RECMAP_OK) fail_msg("%s", error.message);
    size_t size = 0;
    text[0] = 0;
    for (size_t i = 0; i < recmap_shards_count(shards); i++)
        size +=
            (size_t)snprintf(text + size, capacity - size, "%s\n", recmap_shards_path(shards, i));
    recmap_shards_destroy(shards);
}

#define ASSERT_LIST(expected, ...)                                                                 \
    do {                                                                                           \
        char text[4096];                                                                           \
        list(text, sizeof text, (const char *const[]){__VA_ARGS__, NULL});                         \
        assert_string_equal(text, expected);                                                       \
    } while (0)

/* Adding `name` fails, says `message` about `path`, and leaves the list as it was. */
static void assert_refused(const char *name, recmap_status status, const char *path,
                           const char *message) {
    recmap_shards *shards;
    recmap_error error = RECMAP_ERROR_INIT;
    assert_int_equal(recmap_shards_create(&shards, &error), RECMAP_OK);
    touch("kept");
    assert_int_equal(recmap_shards_add(shards, "kept", &error), RECMAP_OK);
    assert_int_equal(recmap_shards_add(shards, name, &error), status);
    assert_int_equal(error.status, status);
    assert_string_equal(error.path, path);
    assert_string_equal(error.message, message);
    assert_true(error.advice[0]);
    assert_int_equal(recmap_shards_count(shards), 1);
    assert_string_equal(recmap_shards_path(shards, 0), "kept");
    assert_null(recmap_shards_path(shards, 1));
    recmap_shards_destroy(shards);
    unlink("kept");
}

static void test_files_keep_the_order_given(void **state) {
    (void)state;
    touch("b");
    touch("a");
    touch(".hidden");
    touch("x.json");
    ASSERT_LIST("b\na\n.hidden\nx.json\nb\n", "b", "a", ".hidden", "x.json", "b");
}

static void test_globs_come_in_natural_order(void **state) {
    (void)state;
    touch("part-10");
    touch("part-2");
    touch("part-1");
    touch(".part-3");
    ASSERT_LIST("part-1\npart-2\npart-10\n", "part-*");
    ASSERT_LIST("part-10\npart-1\npart-2\n", "part-10", "part-?");
    ASSERT_LIST("part-2\n", "*[2-9]");
}

static void test_globs_match_files_that_can_be_shards(void **state) {
    (void)state;
    touch("a");
    touch("a.json");
    touch("a.rmx");
    touch("a.rmx.tmp-0123");
    touch("a.rmx.lock");
    assert_int_equal(mkdir("a.folder", 0777), 0);
    assert_int_equal(mkfifo("a.fifo", 0666), 0);
    ASSERT_LIST("a\n", "a*");
    ASSERT_LIST("a.json\n", "a.j*");
    ASSERT_LIST("a.rmx\n", "a.rmx");
}

/* Temporary files of recmap and of others, which patterns and folders leave out. */
static const char *const temporaries[] = {
    "a.tmp-0123456789abcdef",
    "a-00000-of-00002.tmp-0123456789abcdef",
    "a.tmp",
    "a~",
    "a.bak",
    "a.orig",
    "a.old",
    "a.crc",
    "a_.gstmp",
    "a.incomplete",
    "a.crdownload",
    "a.part",
    "a.partial",
    "a.filepart",
    "a.download",
    "a.inprogress",
    "a._COPYING_",
    "a.temp",
    "_SUCCESS",
    "_committed_123",
    "_started_4",
    "incomplete.0123456789abcdef0123456789abcdef.a",
};

static const char *const temporary_folders[] = {
    "_temporary",
    "incomplete.AB12CD_1.0.0",
    "1.0.0.incompleteAB12CD",
    "beam-temp-a-0123456789abcdef0123456789abcdef",
};

static void test_temporary_files_match_no_pattern(void **state) {
    (void)state;
    char path[256];
    touch("a");
    for (size_t i = 0; i < sizeof temporaries / sizeof *temporaries; i++) touch(temporaries[i]);
    for (size_t i = 0; i < sizeof temporary_folders / sizeof *temporary_folders; i++) {
        assert_int_equal(mkdir(temporary_folders[i], 0777), 0);
        snprintf(path, sizeof path, "%s/a", temporary_folders[i]);
        touch(path);
    }
    ASSERT_LIST("a\n", "*");
    ASSERT_LIST("a\n", "**/*");
    ASSERT_LIST("./a\n", ".");
    assert_refused("*/a", RECMAP_INVALID, "*/a", "no file matches, except temporary files");
    assert_refused("a?*", RECMAP_INVALID, "a?*", "no file matches, except temporary files");
    /* What is named is as the caller wants it. */
    ASSERT_LIST("a.tmp\n", "a.tmp");
    ASSERT_LIST("_temporary/a\n", "_temporary/*");
    ASSERT_LIST("_temporary/a\n", "_temporary/**");
    ASSERT_LIST("_temporary/a\n", "_temporary");
}

/* Names that only resemble those of temporary files. */
static void test_similar_names_match_patterns(void **state) {
    (void)state;
    static const char *const names[] = {"_committed_",  "_committed_x", "a.incomplete1",
                                        "b.tmpx",       "beam-temp-a",  "beam-temp-b",
                                        "incomplete.a", "z_SUCCESS"};
    char expected[256];
    size_t size = 0;
    assert_int_equal(mkdir("f", 0777), 0);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char path[64];
        snprintf(path, sizeof path, "f/%s", names[i]);
        touch(path);
        size += (size_t)snprintf(expected + size, sizeof expected - size, "%s\n", path);
    }
    ASSERT_LIST(expected, "f/*");
}

static void test_left_out_files_of_patterns_are_told(void **state) {
    (void)state;
    recmap_shards *shards;
    recmap_error error = RECMAP_ERROR_INIT;
    touch("a");
    touch("a-2.tmp");
    touch("a-10.tmp");
    touch("a.rmx");
    assert_int_equal(recmap_shards_create(&shards, &error), RECMAP_OK);
    assert_int_equal(recmap_shards_add(shards, "a*", &error), RECMAP_OK);
    assert_int_equal(recmap_shards_left_out_count(shards), 2);
    assert_string_equal(recmap_shards_left_out_path(shards, 0), "a-2.tmp");
    assert_string_equal(recmap_shards_left_out_path(shards, 1), "a-10.tmp");
    recmap_shards_destroy(shards);
}

static void make_folders(const char *const *folders) {
    for (; *folders; folders++) assert_int_equal(mkdir(*folders, 0777), 0);
}

static void touch_all(const char *const *paths) {
    for (; *paths; paths++) touch(*paths);
}

#define LIST(...) ((const char *const[]){__VA_ARGS__, NULL})

static void test_recursive_globs_find_files_at_any_depth(void **state) {
    (void)state;
    make_folders(LIST("d", "d/10", "d/9", "d/9/x", "d/9/x/y", "d/.hidden", "d/**x"));
    touch_all(LIST("top.t", "d/a.t", "d/10/a.t", "d/9/10.t", "d/9/9.t", "d/9/x/a.t", "d/9/x/y/a.t",
                   "d/9/a.u", "d/.hidden/a.t", "d/9/.a.t", "d/9/a.rmx", "d/**x/a.t"));
    ASSERT_LIST("d/**x/a.t\nd/9/9.t\nd/9/10.t\nd/9/x/a.t\nd/9/x/y/a.t\nd/10/a.t\nd/a.t\n",
                "d/**/*.t");
    ASSERT_LIST("d/9/x/a.t\nd/9/x/y/a.t\n", "**/x/**/a.t");
    ASSERT_LIST("d/9/x/a.t\n", "d/**/x/*.t");
    ASSERT_LIST("d/9/9.t\nd/9/10.t\nd/9/a.u\nd/9/x/a.t\nd/9/x/y/a.t\n", "d/9/**");
    ASSERT_LIST("d/9/x/a.t\n", "d/[0-9]/**/x//a.t");
    ASSERT_LIST("d/.hidden/a.t\n", "**/.h*/*");
    ASSERT_LIST("top.t\n", "**/t*");
    ASSERT_LIST("./top.t\n", "./**/top.t");
    /* Only a whole component is recursive. */
    ASSERT_LIST("d/**x/a.t\n", "d/[*]**/a.t");
    char absolute[PATH_MAX], expected[PATH_MAX + 8];
    snprintf(absolute, sizeof absolute, "%s/work/d/**/9.t", base);
    snprintf(expected, sizeof expected, "%s/work/d/9/9.t\n", base);
    ASSERT_LIST(expected, absolute);
}

/* Several ** can match a path in several ways; it is still listed once. */
static void test_recursive_globs_list_a_file_once(void **state) {
    (void)state;
    make_folders(LIST("a", "a/a", "a/a/a"));
    touch("a/a/a/x");
    ASSERT_LIST("a/a/a/x\n", "**/**/x");
    ASSERT_LIST("a/a/a/x\n", "**/a/**/a/**/x");
    ASSERT_LIST("a/a/a/x\n", "**/**");
}

static void test_recursive_globs_end_in_circles_of_links(void **state) {
    (void)state;
    make_folders(LIST("d", "d/e", "f"));
    touch_all(LIST("d/x", "d/e/x", "f/x"));
    assert_int_equal(symlink("..", "d/e/up"), 0);
    assert_int_equal(symlink(".", "d/self"), 0);
    assert_int_equal(symlink("loop", "d/loop"), 0); /* a link to itself */
    assert_int_equal(symlink("../f", "d/f"), 0);
    assert_int_equal(symlink("../f/x", "d/linked-x"), 0);
    ASSERT_LIST("d/e/x\nd/linked-x\nd/x\n", "d/**/*x");
    /* A component with a name follows links. */
    ASSERT_LIST("d/f/x\n", "d/**/f/x");
    ASSERT_LIST("d/self/e/x\nd/self/x\n", "d/**/self/**/x");
    ASSERT_LIST("d/f/x\n", "d/f/**");
}

static void test_recursive_globs_reach_deep_folders(void **state) {
    (void)state;
    char path[PATH_MAX] = "d", pattern[256];
    for (int size = 1; size < 2000; size += 2) {
        assert_int_equal(mkdir(path, 0777), 0);
        snprintf(path + size, sizeof path - (size_t)size, "/d");
    }
    touch(path);
    char expected[PATH_MAX + 1];
    snprintf(expected, sizeof expected, "%s\n", path);
    ASSERT_LIST(expected, "**/d");
    for (int i = 0; i < 63; i++) memcpy(pattern + 2 * i, "*/", 2);
    memcpy(pattern + 126, "**", 3);
    assert_refused(pattern, RECMAP_INVALID, pattern, "the pattern has more than 63 components");
}

static void test_folders_give_their_likely_files(void **state) {
    (void)state;
    assert_int_equal(mkdir("f", 0777), 0);
    static const char *const files[] = {
        "f/10.tfrecord", "f/9.tfrecord", "f/9",     "f/.hidden",
        "f/_SUCCESS",    "f/a.rmx",      "f/a.idx", "f/a.json",
        "f/.a.crc",      "f/a.crc",      "f/a.tmp", "f/a.tmp-0123456789abcdef",
        "f/a~",          "f/[x]",        "f/b c",   "f/n\nl",
        "f/\xff",        "f/@list",      "f/a.rmv",
    };
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) touch(files[i]);
    assert_int_equal(mkdir("f/inner", 0777), 0);
    touch("f/inner/x");
    assert_int_equal(symlink("9", "f/link"), 0);
    assert_int_equal(symlink("inner", "f/other"), 0);
    const char *expected =
        "f/9\nf/9.tfrecord\nf/10.tfrecord\nf/@list\nf/[x]\nf/b c\nf/link\nf/n\nl\n"
        "f/\xff\n";
    ASSERT_LIST(expected, "f");
    ASSERT_LIST(expected, "f//");
}

static void test_folders_leave_out_what_accompanies_shards(void **state) {
    (void)state;
    static const char *const beside[] = {"label.labels.txt", "features.json", "dataset_info.json",
                                         "README",           "README.md",     "LICENSE",
                                         "schema.pbtxt",     "a.md5",         "SHA256SUMS",
                                         "list.csv",         "ids.csv.gz",    "metadata.yaml",
                                         "prepare.py",       "index.html",    "train.log"};
    assert_int_equal(mkdir("f", 0777), 0);
    touch("f/mnist-train.tfrecord-00000-of-00001");
    touch("f/NOTICE-00000-of-00001.tfrecord");
    for (size_t i = 0; i < sizeof beside / sizeof *beside; i++) {
        char path[64];
        snprintf(path, sizeof path, "f/%s", beside[i]);
        touch(path);
    }
    ASSERT_LIST("f/NOTICE-00000-of-00001.tfrecord\nf/mnist-train.tfrecord-00000-of-00001\n", "f");
}

static void test_text_files_are_shards_of_a_folder_without_others(void **state) {
    (void)state;
    assert_int_equal(mkdir("f", 0777), 0);
    touch("f/a.txt");
    touch("f/b.jsonl.gz");
    touch("f/README.md");
    ASSERT_LIST("f/a.txt\nf/b.jsonl.gz\n", "f");
    touch("f/c.tfrecord");
    ASSERT_LIST("f/c.tfrecord\n", "f");
    ASSERT_LIST("f/a.txt\n", "f/*.txt");
}

/* A missing shard is reported however it is named; links that are not shards are ignored. */
static void test_links_that_lead_nowhere(void **state) {
    (void)state;
    static const char *const names[] = {"f", "f/*", "f/link", "@list"};
    assert_int_equal(mkdir("f", 0777), 0);
    touch("f/part-1");
    assert_int_equal(symlink("nowhere", "f/.hidden"), 0);
    ASSERT_LIST("f/part-1\n", "f");
    assert_int_equal(symlink("nowhere", "f/link"), 0);
    write_file("list", "f/link\n");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        recmap_shards *shards;
        recmap_error error = RECMAP_ERROR_INIT;
        assert_int_equal(recmap_shards_create(&shards, &error), RECMAP_OK);
        assert_int_equal(recmap_shards_add(shards, names[i], &error), RECMAP_INVALID);
        assert_int_equal(error.system_errno, ENOENT);
        if (names[i][0] == '@') assert_non_null(strstr(error.message, "f/link"));
        else assert_string_equal(error.path, "f/link");
        assert_int_equal(recmap_shards_count(shards), 0);
        recmap_shards_destroy(shards);
    }
}

static void test_existing_files_precede_patterns(void **state) {
    (void)state;
    touch("[ab]");
    touch("a");
    touch("b*");
    touch("bc");
    touch("@a");
    ASSERT_LIST("[ab]\nb*\n@a\n", "[ab]", "b*", "@a");
}

static void test_list_files_name_shards(void **state) {
    (void)state;
    assert_int_equal(mkdir("d", 0777), 0);
    assert_int_equal(mkdir("d/f", 0777), 0);
    touch("d/a");
    touch("d/f/2");
    touch("d/f/10");
    touch("d/#c");
    write_file("d/inner", "f");
    write_file("d/list", "# a comment\n\na\r\nf/*\n@inner\n./#c\nf/2");
    ASSERT_LIST("d/a\nd/f/2\nd/f/10\nd/f/2\nd/f/10\nd/./#c\nd/f/2\n", "@d/list");

    char absolute[128], line[256], expected[256];
    snprintf(absolute, sizeof absolute, "%s/work/d/a", base);
    snprintf(line, sizeof line, "%s\nd/a\n", absolute);
    write_file("list", line);
    snprintf(expected, sizeof expected, "%s\nd/a\n", absolute);
    ASSERT_LIST(expected, "@list");
}

/* Patterns, folders and list files that name nothing, or name what is not there. Errors in list
 * files name the file and the line, also in nested ones, and files that are not lists are
 * recognised before they are read whole. */
static void test_unusable_names_are_refused(void **state) {
    (void)state;
    assert_refused("nothing", RECMAP_INVALID, "nothing", "there is no such file or folder");
    assert_refused("", RECMAP_INVALID, "", "there is no such file or folder");
    assert_refused("no*", RECMAP_INVALID, "no*", "no file matches");
    assert_refused("no/such/f*", RECMAP_INVALID, "no/such/f*", "no file matches");
    assert_refused("@nothing", RECMAP_IO, "nothing",
                   "cannot open the file: No such file or directory");
    assert_int_equal(mkdir("empty", 0777), 0);
    touch("empty/.hidden");
    assert_refused("empty", RECMAP_INVALID, "empty", "the folder contains no shards");
    assert_int_equal(mkdir("unusual", 0777), 0);
    touch("unusual/__local-train.tfrecord-00000-of-00002");
    touch("unusual/__local-train.tfrecord-00001-of-00002");
    assert_refused("unusual", RECMAP_INVALID, "unusual",
                   "the folder contains no shards: the names of its 2 files, such as "
                   "__local-train.tfrecord-00000-of-00002, are not names of shards");
    assert_refused("@empty", RECMAP_IO, "empty", "is a folder, not a regular file");
    write_file("list", "# nothing\n\n\r\n");
    assert_refused("@list", RECMAP_INVALID, "list", "the list file names no shards");
    write_file("list", "kept\nkept\nnothing\n");
    assert_refused("@list", RECMAP_INVALID, "list",
                   "line 3: nothing: there is no such file or folder");
    write_file("list", "kept\n@list\n");
    assert_refused("@list", RECMAP_INVALID, "list",
                   "line 2: list: list files are nested too deeply");
    write_file("list", "kept\n \t\r\n  \nno*");
    assert_refused("@list", RECMAP_INVALID, "list", "line 4: no*: no file matches");
    write_file("list", "kept\n@none\n");
    assert_refused("@list", RECMAP_IO, "list",
                   "line 2: none: cannot open the file: No such file or directory");
    write_file("list", "kept\n@empty/inner\n");
    write_file("empty/inner", "\n\nx\n");
    assert_refused("@list", RECMAP_INVALID, "empty/inner",
                   "line 3: empty/x: there is no such file or folder");
    FILE *file = fopen("list", "w");
    assert_int_equal(fwrite("kept\n\0\n", 1, 7, file), 7);
    fclose(file);
    assert_refused("@list", RECMAP_INVALID, "list", "is not a list file: it contains NUL bytes");
    assert_int_equal(truncate("list", (off_t)1 << 40), 0);
    assert_refused("@list", RECMAP_INVALID, "list", "is too large for a list file");
}

static void check_advice(const char *name, const char *part, const char *end) {
    recmap_shards *shards;
    recmap_error error = RECMAP_ERROR_INIT;
    assert_int_equal(recmap_shards_create(&shards, &error), RECMAP_OK);
    assert_int_equal(recmap_shards_add(shards, name, &error), RECMAP_INVALID);
    assert_string_equal(error.path, name);
    assert_non_null(strstr(error.advice, part));
    assert_true(strlen(error.advice) > strlen(end));
    assert_string_equal(error.advice + strlen(error.advice) - strlen(end), end);
    recmap_shards_destroy(shards);
}

/* The advice for a folder without shards names a long folder by its end, and is complete. */
static void test_advice_for_long_names(void **state) {
    (void)state;
    char name[256], file[300];
    for (size_t i = 0; i < 254; i += 2) memcpy(name + i, "\xc3\xa9", 2); /* two bytes each */
    memcpy(name + 252, "z", 2);
    assert_int_equal(mkdir(name, 0777), 0);
    check_advice(name, "; '...\xc3\xa9\xc3\xa9", "\xc3\xa9z/**' names the files of all subfolders");
    snprintf(file, sizeof file, "%s/_a", name);
    touch(file);
    check_advice(name, "; '...\xc3\xa9\xc3\xa9", "\xc3\xa9z/**' also those of subfolders");
    memcpy(name + 158, "y", 2);
    assert_int_equal(mkdir(name, 0777), 0);
    char whole[300];
    snprintf(whole, sizeof whole, "; '%s/**", name);
    check_advice(name, whole, "y/**' names the files of all subfolders");
}

static void test_unreadable_folders_are_errors(void **state) {
    (void)state;
    if (geteuid() == 0) skip();            /* root reads everything */
    assert_int_equal(mkdir("f", 0111), 0); /* may be passed through, but not be looked into */
    assert_refused("f", RECMAP_IO, "f", "cannot read the folder: Permission denied");
    assert_refused("f/a*", RECMAP_IO, "f/", "cannot read the folder: Permission denied");
    assert_refused("f/**/a", RECMAP_IO, "f/", "cannot read the folder: Permission denied");
    assert_int_equal(chmod("f", 0), 0);
    assert_refused("f/a", RECMAP_IO, "f/a", "cannot look at the file: Permission denied");
    assert_refused("*f/a", RECMAP_IO, "f/a", "cannot look at the file: Permission denied");
}

/* What the index of `names` is called. */
static void assert_index_path(const char *expected, const char *const *names) {
    recmap_shards *shards;
    recmap_error error = RECMAP_ERROR_INIT;
    char path[512];
    assert_int_equal(recmap_shards_create(&shards, &error), RECMAP_OK);
    for (; *names; names++) {
        if (access(*names, F_OK)) touch(*names);
        assert_int_equal(recmap_shards_add(shards, *names, &error), RECMAP_OK);
    }
    assert_int_equal(recmap_shards_index_path(path, sizeof path, shards, &error), RECMAP_OK);
    assert_string_equal(path, expected);
    /* Exactly enough room, and one byte less. */
    size_t size = strlen(expected) + 1;
    assert_int_equal(recmap_shards_index_path(path, size, shards, &error), RECMAP_OK);
    memset(path, 'x', sizeof path);
    assert_int_equal(recmap_shards_index_path(path, size - 1, shards, &error), RECMAP_INVALID);
    assert_int_equal(path[0], 'x');
    recmap_shards_destroy(shards);
}

#define ASSERT_INDEX(expected, ...)                                                                \
    assert_index_path(expected, (const char *const[]){__VA_ARGS__, NULL})

static void test_index_of_one_file(void **state) {
    (void)state;
    ASSERT_INDEX("data.rmx", "data");
    ASSERT_INDEX("data.gz.rmx", "data.tfrecord.gz");
    ASSERT_INDEX("v1.0.rmx", "v1.0.tfrecord");
    ASSERT_INDEX("lines.txt.rmx", "lines.txt");
    ASSERT_INDEX("x.rmx", "x.RECORDIO");
    ASSERT_INDEX("train-00000-of-00004.rmx", "train-00000-of-00004.tfrecord");
    ASSERT_INDEX("train.rmx", "train.tfrecord-00000-of-00001");
    ASSERT_INDEX(".data.rmx", ".data.tfrecord");
    ASSERT_INDEX("....rmx", "...");
    ASSERT_INDEX("0.rmx", "0.tfrecord");
    ASSERT_INDEX("a b\n.rmx", "a b\n.tfrecords");
    ASSERT_INDEX("\xff.c.rmx", "\xff.c");
    ASSERT_INDEX("00000-of-00002.rmx", "00000-of-00002.tfrecord");
}

static void test_index_of_several_files(void **state) {
    (void)state;
    assert_int_equal(mkdir("d.1", 0777), 0);
    ASSERT_INDEX("train.rmx", "train-00000-of-00004.tfrecord", "train-00001-of-00004.tfrecord",
                 "train-00002-of-00004.tfrecord");
    ASSERT_INDEX("a.b.rmx", "a.b_1", "a.b_2");
    ASSERT_INDEX("x.rmx", "x -_.=+ 1", "x -_.=+ 2");
    ASSERT_INDEX("same.rmx", "same.tfrecord", "same.tfrecord");
    ASSERT_INDEX("fold1.rmx", "fold1-a", "fold1-b");
    ASSERT_INDEX("fold.rmx", "fold1", "fold2");
    ASSERT_INDEX("images.rmx", "images10", "images11");
    ASSERT_INDEX("v1.0.rmx", "v1.0-1", "v1.0-2");
    ASSERT_INDEX("y.gz.rmx", "y-1.gz", "y-2.gz");
    ASSERT_INDEX("data.rmx", "data-2023-01", "data-2023-02");
    ASSERT_INDEX("data.rmx", "data-2023-01", "data-2023-02", "data-2024-01");
    ASSERT_INDEX(".h.rmx", ".h1", ".h2");
    ASSERT_INDEX("d.1/t-all.rmx", "d.1/t1", "t2");
    ASSERT_INDEX("t-all.rmx", "t2", "d.1/t1");
    /* Nothing in common, or nothing but digits and separators: the folder's name. */
    ASSERT_INDEX("work.rmx", "left", "right");
    ASSERT_INDEX("work.rmx", "abc", "abcd");
    ASSERT_INDEX("work.rmx", "0001", "0002");
    ASSERT_INDEX("d.1/d.1.rmx", "d.1/-1", "d.1/-2");
    ASSERT_INDEX("work.rmx", "e\xc3\xa9", "e\xc3\xa8");
}

static void test_index_of_a_set(void **state) {
    (void)state;
    ASSERT_INDEX("fold2.rmx", "fold2-00000-of-00002.tfrecord", "fold2-00001-of-00002.tfrecord");
    ASSERT_INDEX("robot-train.rmx", "robot-train.tfrecord-0-of-2", "robot-train.tfrecord-1-of-2");
    ASSERT_INDEX("cats.tar.rmx", "cats-0-of-2.tar", "cats-1-of-2.tar");
    ASSERT_INDEX("cats.gz.rmx", "cats-0-of-2.tfrecords.gz", "cats-1-of-2.tfrecords.gz");
    ASSERT_INDEX("work.rmx", "0-of-2", "1-of-2");
    ASSERT_INDEX("train.rmx", "train-1", "train-2");
    ASSERT_INDEX("mnist-train.rmx", "mnist-train-1", "mnist-train-2");
    ASSERT_INDEX("train.rmx", "monday-train", "tuesday-train");
}

/* The index of several sets has another name than the index of each. */
static void test_index_of_several_sets(void **state) {
    (void)state;
    ASSERT_INDEX("mnist.rmx", "mnist-test-0-of-1", "mnist-train-0-of-2", "mnist-train-1-of-2");
    ASSERT_INDEX("b-foo-all.rmx", "b-foo-0-of-2", "b-foo-1-of-2", "b-foo_bar-0-of-1");
    ASSERT_INDEX("work.rmx", "test.tfrecord", "train.tfrecord");
}

/* Files to be written need not exist. */
static void test_planned_shards_need_not_exist(void **state) {
    (void)state;
    recmap_shards *shards;
    char path[64];
    assert_int_equal(recmap_shards_create(&shards, NULL), RECMAP_OK);
    assert_int_equal(recmap_shards_add_planned(shards, "d/x@2.gz", NULL), RECMAP_OK);
    assert_int_equal(recmap_shards_count(shards), 2);
    assert_string_equal(recmap_shards_path(shards, 1), "d/x-00001-of-00002.gz");
    assert_int_equal(recmap_shards_index_path(path, sizeof path, shards, NULL), RECMAP_OK);
    assert_string_equal(path, "d/x.gz.rmx");
    static const char *const impossible[] = {"x@0", "x@00.gz", "x@1000001", "x@99999999999.gz"};
    for (size_t i = 0; i < sizeof impossible / sizeof *impossible; i++)
        assert_int_equal(recmap_shards_add_planned(shards, impossible[i], NULL), RECMAP_INVALID);
    static const char *const files[] = {"x", "x@", "x@02", "x@0x", "@2", "x@2/y", "*"};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        assert_int_equal(recmap_shards_add_planned(shards, files[i], NULL), RECMAP_OK);
        assert_string_equal(recmap_shards_path(shards, 2 + i), files[i]);
    }
    recmap_shards_destroy(shards);
}

static void test_no_shards_have_no_index(void **state) {
    (void)state;
    recmap_shards *shards;
    char path[64];
    assert_int_equal(recmap_shards_create(&shards, NULL), RECMAP_OK);
    assert_int_equal(recmap_shards_index_path(path, sizeof path, shards, NULL), RECMAP_INVALID);
    recmap_shards_destroy(shards);
    recmap_shards_destroy(NULL);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, enter, leave)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_files_keep_the_order_given),
        TEST(test_globs_come_in_natural_order),
        TEST(test_globs_match_files_that_can_be_shards),
        TEST(test_temporary_files_match_no_pattern),
        TEST(test_similar_names_match_patterns),
        TEST(test_left_out_files_of_patterns_are_told),
        TEST(test_recursive_globs_find_files_at_any_depth),
        TEST(test_recursive_globs_list_a_file_once),
        TEST(test_recursive_globs_end_in_circles_of_links),
        TEST(test_recursive_globs_reach_deep_folders),
        TEST(test_folders_give_their_likely_files),
        TEST(test_folders_leave_out_what_accompanies_shards),
        TEST(test_text_files_are_shards_of_a_folder_without_others),
        TEST(test_links_that_lead_nowhere),
        TEST(test_existing_files_precede_patterns),
        TEST(test_list_files_name_shards),
        TEST(test_unusable_names_are_refused),
        TEST(test_advice_for_long_names),
        TEST(test_unreadable_folders_are_errors),
        TEST(test_index_of_one_file),
        TEST(test_index_of_several_files),
        TEST(test_planned_shards_need_not_exist),
        TEST(test_index_of_a_set),
        TEST(test_index_of_several_sets),
        TEST(test_no_shards_have_no_index),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
