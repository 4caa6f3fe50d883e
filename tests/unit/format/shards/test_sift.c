/* Which files of a folder or pattern are shards, and what is told about the others. */
#define _GNU_SOURCE /* mkdtemp */
#include <recmap/shards.h>

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

static char base[64];

static int enter(void **state) {
    (void)state;
    snprintf(base, sizeof base, "/tmp/recmap-sift-XXXXXX");
    return !mkdtemp(base) || chdir(base) || mkdir("d", 0777);
}

static int leave(void **state) {
    (void)state;
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", base);
    return chdir("/") || system(command);
}

static void write_bytes(const char *path, const void *bytes, size_t size) {
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

#define TOUCH(...)                                                                                 \
    do {                                                                                           \
        const char *const paths[] = {__VA_ARGS__};                                                 \
        for (size_t n = 0; n < sizeof paths / sizeof *paths; n++)                                  \
            write_bytes(paths[n], "some text", 9);                                                 \
    } while (0)

/* A record without a payload, as in the format's description. */
static const uint8_t record[] = {0,    0,    0,    0,    0,    0,    0,    0,
                                 0x29, 0x03, 0x98, 0x07, 0xd8, 0xea, 0x82, 0xa2};

/* Writes the shards that `name` stands for and the notes about what was left out, one a line. */
static recmap_status add(char text[4096], recmap_error *error, const char *framing,
                         const char *name) {
    recmap_shards *shards;
    size_t size = 0;
    text[0] = 0;
    assert_int_equal(recmap_shards_create(&shards, error), RECMAP_OK);
    assert_int_equal(recmap_shards_choose_sets(shards, NULL, RECMAP_SETS_ALL, error), RECMAP_OK);
    recmap_shards_set_framing(shards, framing);
    recmap_status status = recmap_shards_add(shards, name, error);
    for (size_t i = 0; i < recmap_shards_count(shards); i++)
        size += (size_t)snprintf(text + size, 4096 - size, "%s\n", recmap_shards_path(shards, i));
    size_t count = recmap_shards_left_out_note_count(shards);
    for (size_t i = 0; i < count; i++)
        size += (size_t)snprintf(text + size, 4096 - size, "%s\n",
                                 recmap_shards_left_out_note(shards, i));
    assert_null(recmap_shards_left_out_note(shards, count));
    recmap_shards_destroy(shards);
    return status;
}

#define ASSERT_TAKEN(expected, framing, name)                                                      \
    do {                                                                                           \
        char taken[4096];                                                                          \
        recmap_error fault = RECMAP_ERROR_INIT;                                                    \
        if (add(taken, &fault, framing, name) != RECMAP_OK) fail_msg("%s", fault.message);         \
        assert_string_equal(taken, expected);                                                      \
    } while (0)

static void test_text_files_are_the_shards_of_lines(void **state) {
    (void)state;
    TOUCH("d/a.jsonl", "d/b.jsonl", "d/tokenizer.model", "d/README.md");
    ASSERT_TAKEN("d/a.jsonl\nd/b.jsonl\n"
                 "d: left out 1 file beside the text files: tokenizer.model\n",
                 "lines", "d");
    TOUCH("d/c.tfrecord");
    ASSERT_TAKEN("d/c.tfrecord\nd/tokenizer.model\n", NULL, "d");
    ASSERT_TAKEN("d/a.jsonl\nd/b.jsonl\n"
                 "d: left out 2 files beside the text files: c.tfrecord, tokenizer.model\n",
                 "lines", "d");
}

static void test_lines_of_files_with_other_names(void **state) {
    (void)state;
    TOUCH("d/a", "d/b");
    ASSERT_TAKEN("d/a\nd/b\n", "lines", "d");
}

static void test_contents_decide_between_text_and_unknown_names(void **state) {
    (void)state;
    char text[4096];
    recmap_error error = RECMAP_ERROR_INIT;
    TOUCH("d/a.txt", "d/b.txt", "d/VERSION");
    assert_int_equal(add(text, &error, NULL, "d"), RECMAP_INVALID);
    assert_string_equal(error.path, "d");
    assert_string_equal(error.message, "the folder has 2 text files and 1 other, and none is known "
                                       "to be a shard: VERSION");
    assert_non_null(strstr(error.advice, "`--framing lines`"));
    assert_string_equal(text, "");
    ASSERT_TAKEN("d/a.txt\nd/b.txt\nd: left out 1 file beside the text files: VERSION\n", "lines",
                 "d");
    ASSERT_TAKEN("d/VERSION\n", "fixed:0,8,0", "d");
    write_bytes("d/shard_0", record, sizeof record);
    ASSERT_TAKEN("d/VERSION\nd/shard_0\nd: left out 2 files of text: a.txt, b.txt\n", "auto", "d");
    ASSERT_TAKEN("d/a.txt\nd/b.txt\n", "auto", "d/*.txt");
}

static void test_known_names_need_no_contents(void **state) {
    (void)state;
    static const char *const names[] = {"d/part-00000", "d/part-r-00001.gz", "d/x-0-of-2",
                                        "d/x.tfrec.gz", "d/x.tar"};
    TOUCH("d/a.txt");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char expected[64];
        TOUCH(names[i]);
        snprintf(expected, sizeof expected, "%s\n", names[i]);
        ASSERT_TAKEN(expected, NULL, "d");
        assert_int_equal(unlink(names[i]), 0);
    }
}

static void test_patterns_leave_out_what_accompanies_shards(void **state) {
    (void)state;
    assert_int_equal(mkdir("d/1.0.0", 0777), 0);
    TOUCH("d/1.0.0/m-train.tfrecord-00000-of-00001", "d/1.0.0/dataset_info.json",
          "d/1.0.0/features.json", "d/1.0.0/label.labels.txt");
    ASSERT_TAKEN("d/1.0.0/m-train.tfrecord-00000-of-00001\n", NULL, "d/**");
    ASSERT_TAKEN("d/1.0.0/m-train.tfrecord-00000-of-00001\n", NULL, "d/*/*");
    ASSERT_TAKEN("d/1.0.0/dataset_info.json\nd/1.0.0/features.json\n", NULL, "d/**/*.json");
    ASSERT_TAKEN("d/1.0.0/label.labels.txt\n", NULL, "d/1.0.0/l*");
    ASSERT_TAKEN("d/1.0.0/label.labels.txt\nd/1.0.0/m-train.tfrecord-00000-of-00001\n", NULL,
                 "d/1.0.0/[lm]*");
    ASSERT_TAKEN("d/1.0.0/label.labels.txt\nd/1.0.0/m-train.tfrecord-00000-of-00001\n", "lines",
                 "d/**");
}

static void test_only_exact_temporary_names_are_left_out_and_told(void **state) {
    (void)state;
    TOUCH("d/run.tmp-a.tfrecord", "d/b.tfrecord", "d/b.tmp-0123", "d/b.tmp-0123456789ABCDEF");
    ASSERT_TAKEN("d/b.tfrecord\nd/run.tmp-a.tfrecord\n", NULL, "d/*.tfrecord");
    ASSERT_TAKEN("d/b.tfrecord\nd/b.tmp-0123\nd/b.tmp-0123456789ABCDEF\nd/run.tmp-a.tfrecord\n",
                 NULL, "d/*");
    TOUCH("d/c.tmp", "d/c.tmp-0123456789abcdef");
    ASSERT_TAKEN("d/b.tfrecord\nd/b.tmp-0123\nd/b.tmp-0123456789ABCDEF\nd/run.tmp-a.tfrecord\n"
                 "d/*: left out 2 files with temporary names: c.tmp, c.tmp-0123456789abcdef\n",
                 NULL, "d/*");
    TOUCH("d/e~", "d/f~");
    ASSERT_TAKEN("d/b.tfrecord\nd/b.tmp-0123\nd/b.tmp-0123456789ABCDEF\nd/run.tmp-a.tfrecord\n"
                 "d/*: left out 2 files named as backups: e~, f~\n"
                 "d/*: left out 2 files with temporary names: c.tmp, c.tmp-0123456789abcdef\n",
                 NULL, "d/*");
}

static void test_backups_are_told(void **state) {
    (void)state;
    char text[4096];
    recmap_error error = RECMAP_ERROR_INIT;
    TOUCH("d/a.bak", "d/b.orig", "d/.c.old");
    assert_int_equal(add(text, &error, NULL, "d"), RECMAP_INVALID);
    assert_string_equal(error.message, "the folder contains no shards: the names of its 2 files, "
                                       "such as a.bak, are not names of shards");
    assert_string_equal(error.advice,
                        "d/a.bak is a backup by its name: name the file itself to read it");
    assert_int_equal(add(text, &error, NULL, "d/*"), RECMAP_INVALID);
    assert_string_equal(error.message, "no file matches, except backups");
    assert_string_equal(error.advice,
                        "d/a.bak is a backup by its name: name the file itself to read it");
    ASSERT_TAKEN("d/a.bak\n", NULL, "d/a.bak");
    TOUCH("d/b.tmp", "d/c.tmp");
    assert_int_equal(add(text, &error, NULL, "d/*"), RECMAP_INVALID);
    assert_string_equal(error.message, "no file matches, except temporary files");
    assert_memory_equal(error.advice, "d/b.tmp has a temporary name: wait", 34);
    assert_int_equal(add(text, &error, NULL, "d"), RECMAP_INVALID);
    assert_memory_equal(error.advice, "hidden files", 12);
    /* The backup of a document is of no interest. */
    TOUCH("d/a", "d/README.md~");
    ASSERT_TAKEN("d/a\nd: left out 2 files named as backups: a.bak, b.orig\n", NULL, "d");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, enter, leave)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_text_files_are_the_shards_of_lines),
        TEST(test_lines_of_files_with_other_names),
        TEST(test_contents_decide_between_text_and_unknown_names),
        TEST(test_known_names_need_no_contents),
        TEST(test_patterns_leave_out_what_accompanies_shards),
        TEST(test_only_exact_temporary_names_are_left_out_and_told),
        TEST(test_backups_are_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
