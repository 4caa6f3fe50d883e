/* Several sets of shards in a folder, a pattern or a list: what is an error, what is a warning, and
 * which shards are taken. */
#define _GNU_SOURCE /* mkdtemp */
#include <recmap/shards.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
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
    snprintf(base, sizeof base, "/tmp/recmap-sets-XXXXXX");
    return !mkdtemp(base) || chdir(base) || mkdir("f", 0777);
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

#define TOUCH(...)                                                                                 \
    do {                                                                                           \
        const char *const paths[] = {__VA_ARGS__};                                                 \
        for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) write_file(paths[i], "");        \
    } while (0)

/* Adds names (up to NULL) with a choice of sets. Writes the shards and the warnings, one a line. */
static recmap_status add(char text[4096], recmap_error *error, const char *split, recmap_sets sets,
                         const char *const *names) {
    recmap_shards *shards;
    size_t size = 0;
    text[0] = 0;
    assert_int_equal(recmap_shards_create(&shards, error), RECMAP_OK);
    recmap_status status = recmap_shards_choose_sets(shards, split, sets, error);
    for (; status == RECMAP_OK && *names; names++)
        status = recmap_shards_add(shards, *names, error);
    for (size_t i = 0; i < recmap_shards_count(shards); i++)
        size += (size_t)snprintf(text + size, 4096 - size, "%s\n", recmap_shards_path(shards, i));
    for (size_t i = 0; i < recmap_shards_warning_count(shards); i++)
        size +=
            (size_t)snprintf(text + size, 4096 - size, "%s\n", recmap_shards_warning(shards, i));
    assert_null(recmap_shards_warning(shards, recmap_shards_warning_count(shards)));
    recmap_shards_destroy(shards);
    return status;
}

#define ASSERT_TAKEN(expected, split, sets, ...)                                                   \
    do {                                                                                           \
        char text[4096];                                                                           \
        recmap_error error = RECMAP_ERROR_INIT;                                                    \
        if (add(text, &error, split, sets, (const char *const[]){__VA_ARGS__, NULL}) != RECMAP_OK) \
            fail_msg("%s: %s", error.path, error.message);                                         \
        assert_string_equal(text, expected);                                                       \
    } while (0)

#define ASSERT_REFUSED(where, what, todo, split, ...)                                              \
    do {                                                                                           \
        char text[4096];                                                                           \
        recmap_error error = RECMAP_ERROR_INIT;                                                    \
        assert_int_equal(                                                                          \
            add(text, &error, split, RECMAP_SETS_ERROR, (const char *const[]){__VA_ARGS__, NULL}), \
            RECMAP_INVALID);                                                                       \
        assert_string_equal(error.path, where);                                                    \
        assert_string_equal(error.message, what);                                                  \
        assert_string_equal(error.advice, todo);                                                   \
    } while (0)

static void touch_mnist(void) {
    TOUCH("f/mnist-train.tfrecord-00000-of-00002", "f/mnist-train.tfrecord-00001-of-00002",
          "f/mnist-test.tfrecord-00000-of-00001", "f/dataset_info.json");
}

#define MNIST_TEST "f/mnist-test.tfrecord-00000-of-00001\n"
#define MNIST_TRAIN "f/mnist-train.tfrecord-00000-of-00002\nf/mnist-train.tfrecord-00001-of-00002\n"

static void test_a_folder_of_several_sets_is_an_error(void **state) {
    (void)state;
    touch_mnist();
    ASSERT_REFUSED("f",
                   "the folder has 2 sets of shards: mnist-test.tfrecord@1 (1 shard), "
                   "mnist-train.tfrecord@2 (2 shards)",
                   "to read one, pass `--split train`, or name it: "
                   "'f/mnist-train.tfrecord@2'; `--sets all` joins them",
                   NULL, "f");
    ASSERT_TAKEN(MNIST_TEST MNIST_TRAIN, NULL, RECMAP_SETS_ALL, "f");
    ASSERT_TAKEN(MNIST_TRAIN, "train", RECMAP_SETS_ERROR, "f");
    ASSERT_TAKEN(MNIST_TEST, "test", RECMAP_SETS_ERROR, "f/");
    ASSERT_TAKEN(MNIST_TRAIN, NULL, RECMAP_SETS_ERROR, "f/mnist-train.tfrecord@2");
}

static void test_other_sets_in_a_folder(void **state) {
    (void)state;
    static const char train[] = "to read one, pass `--split train`, or name it: "
                                "'f/train.tfrecord'; `--sets all` joins them";
    TOUCH("f/train.tfrecord", "f/test.tfrecord");
    ASSERT_REFUSED("f",
                   "the folder has 2 sets of shards: test.tfrecord (1 shard), train.tfrecord "
                   "(1 shard)",
                   train, NULL, "f");
    TOUCH("f/test.tfrecord", "f/a.tfrecord", "f/b.tfrecord");
    unlink("f/test.tfrecord");
    ASSERT_REFUSED("f",
                   "the folder has 2 sets of shards: a.tfrecord and 1 other (2 shards), "
                   "train.tfrecord (1 shard)",
                   train, NULL, "f");
    unlink("f/train.tfrecord");
    ASSERT_TAKEN("f/a.tfrecord\nf/b.tfrecord\n", NULL, RECMAP_SETS_ERROR, "f");
}

static void test_copies_in_a_folder(void **state) {
    (void)state;
    TOUCH("f/s-00000-of-00002", "f/s-00001-of-00002", "f/s-00000-of-00003", "f/s-00002-of-00003");
    ASSERT_REFUSED("f", "the folder has 2 sets of shards: s@2 (2 shards), s@3 (2 of 3 shards)",
                   "to read one, name it: 'f/s@2'; `--sets all` joins them", NULL, "f");
    /* NAME@N does not name shards that count from 1. */
    TOUCH("f/s-00001-of-00003", "f/s-00003-of-00003");
    unlink("f/s-00000-of-00003");
    ASSERT_REFUSED("f", "the folder has 2 sets of shards: s@2 (2 shards), s-*-of-00003 (3 shards)",
                   "to read one, name it: 'f/s-*-of-00003'; `--sets all` joins them", NULL, "f");
    mkdir("g", 0777);
    TOUCH("g/x.recordio", "g/x.recordio.gz", "g/y.recordio");
    ASSERT_REFUSED("g",
                   "the folder has 2 sets of shards: x.recordio and 1 other (2 shards), "
                   "x.recordio.gz (1 shard)",
                   "to read one, name its files; `--sets all` joins them", NULL, "g");
    TOUCH("g/y.recordio.gz");
    ASSERT_REFUSED("g",
                   "the folder has 2 sets of shards: x.recordio and 1 other (2 shards), "
                   "x.recordio.gz and 1 other (2 shards)",
                   "to read one, name its files; `--sets all` joins them", NULL, "g");
}

/* By the names that programs give them. */
static void test_marked_copies(void **state) {
    (void)state;
    TOUCH("f/x.tfrecord", "f/x (1).tfrecord", "f/x copy.tfrecord", "f/y (1).tfrecord");
    ASSERT_REFUSED("f",
                   "the folder has 2 sets of shards: x (1).tfrecord and 1 other (2 shards), "
                   "x.tfrecord and 1 other (2 shards)",
                   "if their contents are equal, remove the copies, such as 'x (1).tfrecord', else "
                   "rename them; to read one, name its files; `--sets all` joins them",
                   NULL, "f");
    unlink("f/y (1).tfrecord");
    unlink("f/x copy.tfrecord");
    ASSERT_TAKEN("f/x (1).tfrecord\nf/x.tfrecord\n"
                 "f/*: the pattern matches 2 sets of shards, which are joined: x (1).tfrecord (1 "
                 "shard), x.tfrecord (1 shard). If their contents are equal, remove the copies, "
                 "such as 'x (1).tfrecord', else rename them. To read one, name it: "
                 "'f/x.tfrecord'; `--sets all` says that all are meant\n",
                 NULL, RECMAP_SETS_ERROR, "f/*");
    ASSERT_TAKEN("f/x (1).tfrecord\nf/x.tfrecord\n", NULL, RECMAP_SETS_ALL, "f");
    unlink("f/x.tfrecord");
    TOUCH("f/x (2).tfrecord", "f/y.tfrecord.old", "f/x (2).tfrecord.bak", "f/x (2).tfrecord~");
    ASSERT_TAKEN("f/x (1).tfrecord\nf/x (2).tfrecord\n", NULL, RECMAP_SETS_ERROR, "f");
}

static void test_marked_copies_of_numbered_shards(void **state) {
    (void)state;
    TOUCH("f/s-00000-of-00002", "f/s-00001-of-00002", "f/s-00001-of-00002 (1)");
    ASSERT_REFUSED(
        "f",
        "the folder has 2 sets of shards: s@2 (2 shards), s-*-of-00002 (1) (1 of 2 "
        "shards)",
        "if their contents are equal, remove the copies, such as 's-00001-of-00002 (1)', "
        "else rename them; to read one, name it: "
        "'f/s@2'; `--sets all` joins them",
        NULL, "f");
    unlink("f/s-00001-of-00002");
    ASSERT_TAKEN("f/s-00000-of-00002\nf/s-00001-of-00002 (1)\n", NULL, RECMAP_SETS_ERROR, "f");
    TOUCH("f/t-00000-of-00001");
    ASSERT_REFUSED("f", "the folder has 2 sets of shards: s@2 (2 shards), t@1 (1 shard)",
                   "to read one, name its files; `--sets all` joins them", NULL, "f");
}

/* A copy of train does not lead advice to test. */
static void test_advice_for_a_split_with_a_copy(void **state) {
    (void)state;
    TOUCH("f/Copy of train", "f/test", "f/train");
    ASSERT_REFUSED(
        "f",
        "the folder has 3 sets of shards: Copy of train (1 shard), test (1 shard), train "
        "(1 shard)",
        "if their contents are equal, remove the copies, such as 'Copy of train', else "
        "rename them; to read one, name it: 'f/train'; `--sets all` joins them",
        NULL, "f");
    ASSERT_TAKEN("f/train\n", NULL, RECMAP_SETS_ERROR, "f/train");
    TOUCH("f/Copy of test");
    unlink("f/Copy of train");
    ASSERT_REFUSED("f",
                   "the folder has 3 sets of shards: Copy of test (1 shard), test (1 shard), train "
                   "(1 shard)",
                   "if their contents are equal, remove the copies, such as 'Copy of test', else "
                   "rename them; to read one, pass `--split train`, or name it: 'f/train'; `--sets "
                   "all` joins them",
                   NULL, "f");
}

/* A name is not cut, so that it is not that of another file. */
static void test_advice_leaves_long_names_out(void **state) {
    (void)state;
    char names[2][256], text[4096];
    recmap_error error = RECMAP_ERROR_INIT;
    snprintf(names[0], sizeof names[0], "f/%0200d", 1);
    snprintf(names[1], sizeof names[1], "f/%0200d (1)", 1);
    TOUCH(names[0], names[1]);
    assert_int_equal(add(text, &error, NULL, RECMAP_SETS_ERROR, (const char *const[]){"f", NULL}),
                     RECMAP_INVALID);
    assert_string_equal(error.advice,
                        "if their contents are equal, remove the copies, else rename them; to read "
                        "one, name its files; `--sets all` joins them");
}

static void test_lists_of_marked_copies(void **state) {
    (void)state;
    static const char advice[] = "leave one out; `--sets all` joins them";
    TOUCH("x.tfrecord", "Copy of x.tfrecord", "s-00000-of-00002", "s-00001-of-00002",
          "s-00001-of-00002 (1)", "f/x copy.tfrecord");
    ASSERT_REFUSED("Copy of x.tfrecord",
                   "there are two copies of one set: x.tfrecord and Copy of x.tfrecord", advice,
                   NULL, "x.tfrecord", "Copy of x.tfrecord");
    ASSERT_REFUSED("x.tfrecord",
                   "there are two copies of one set: Copy of x.tfrecord and x.tfrecord", advice,
                   NULL, "s@2", "Copy of x.tfrecord", "x.tfrecord");
    ASSERT_REFUSED("s-00001-of-00002 (1)",
                   "there are two copies of one set: s@2 and s-*-of-00002 (1)", advice, NULL, "s@2",
                   "s-00001-of-00002 (1)");
    TOUCH("s-00001-of-00002 (2)");
    ASSERT_REFUSED("s-00001-of-00002 (2)",
                   "there are two copies of one set: s-*-of-00002 (1) and s-*-of-00002 (2)", advice,
                   NULL, "s-00001-of-00002 (1)", "s-00001-of-00002 (1)", "s-00001-of-00002 (2)");
    ASSERT_TAKEN("s-00000-of-00002\ns-00001-of-00002 (1)\nx.tfrecord\nf/x copy.tfrecord\n", NULL,
                 RECMAP_SETS_ERROR, "s-00000-of-00002", "s-00001-of-00002 (1)", "x.tfrecord",
                 "f/x copy.tfrecord");
}

/* Advice names what opens a set: NAME@N would be an error for a set that lacks shards. */
static void test_advice_opens_what_it_names(void **state) {
    (void)state;
    TOUCH("f/s-00000-of-00003", "f/t-00000-of-00003");
    ASSERT_REFUSED("f", "the folder has 2 sets of shards: s@3 (1 of 3 shards), t@3 (1 of 3 shards)",
                   "to read one, name it: 'f/s-00000-of-00003'; `--sets all` joins them", NULL,
                   "f");
    mkdir("g", 0777);
    TOUCH("g/batch_1.bin", "g/batch_2.bin", "g/test_batch.bin");
    ASSERT_REFUSED(
        "g",
        "no set has the split 'test': there is batch_1.bin and 1 other (2 shards), "
        "test_batch.bin (1 shard)",
        "a set has the split if it or a folder is named 'test', or if its name ends in "
        "-, _, . or a space and that; to read one, pass: 'g/batch_*.bin', 'g/test_batch.bin'",
        "test", "g");
    ASSERT_TAKEN("g/batch_1.bin\ng/batch_2.bin\n", NULL, RECMAP_SETS_ERROR, "g/batch_*.bin");
    mkdir("h", 0777);
    TOUCH("h/a", "h/b", "h/test_1");
    ASSERT_REFUSED("h",
                   "no set has the split 'val': there is a and 1 other (2 shards), test_1 (1 "
                   "shard)",
                   "a set has the split if it or a folder is named 'val', or if its name ends in "
                   "-, _, . or a space and that; to read one, pass: `--split test`",
                   "val", "h");
}

static void test_a_pattern_of_several_sets_is_a_warning(void **state) {
    (void)state;
    TOUCH("f/b-foo-00000-of-00001", "f/b-foo_bar-00000-of-00001");
    ASSERT_TAKEN("f/b-foo-00000-of-00001\nf/b-foo_bar-00000-of-00001\n"
                 "f/b-foo*: the pattern matches 2 sets of shards, which are joined: b-foo@1 (1 "
                 "shard), b-foo_bar@1 (1 shard). To read one, name it: 'f/b-foo@1'; "
                 "`--sets all` says that all are meant\n",
                 NULL, RECMAP_SETS_ERROR, "f/b-foo*");
    ASSERT_TAKEN("f/b-foo-00000-of-00001\nf/b-foo_bar-00000-of-00001\n", NULL, RECMAP_SETS_ALL,
                 "f/b-foo*");
    ASSERT_TAKEN("f/b-foo-00000-of-00001\n", "foo", RECMAP_SETS_ERROR, "**/b-foo*");
    ASSERT_TAKEN("f/b-foo-00000-of-00001\n", NULL, RECMAP_SETS_ERROR, "f/b-foo-*");
    mkdir("f/v2", 0777);
    TOUCH("f/v2/b-foo-00000-of-00001");
    ASSERT_TAKEN("f/b-foo-00000-of-00001\nf/v2/b-foo-00000-of-00001\n"
                 "**/b-foo-*: the pattern matches 2 sets of shards, which are joined: f/b-foo@1 (1 "
                 "shard), f/v2/b-foo@1 (1 shard). To read one, name it: 'f/b-foo@1'; "
                 "`--sets all` says that all are meant\n",
                 NULL, RECMAP_SETS_ERROR, "**/b-foo-*");
}

/* Names are meant, unless they name a set twice. */
static void test_lists_may_name_several_sets(void **state) {
    (void)state;
    static const char advice[] = "leave one out; `--sets all` joins them";
    touch_mnist();
    ASSERT_TAKEN(MNIST_TEST MNIST_TRAIN, NULL, RECMAP_SETS_ERROR, "f/mnist-test.tfrecord@1",
                 "f/mnist-train*");
    TOUCH("s-00000-of-00001", "s-00000-of-00002", "s-00001-of-00002");
    ASSERT_REFUSED("s@2", "there are two copies of one set: s@1 and s@2", advice, NULL, "s@1",
                   "s@2");
    ASSERT_REFUSED("s-00001-of-00002", "there are two copies of one set: s@1 and s@2", advice, NULL,
                   "s-00000-of-00001", "s-00001-of-00002");
    ASSERT_TAKEN("s-00000-of-00001\ns-00000-of-00002\ns-00001-of-00002\n", NULL, RECMAP_SETS_ALL,
                 "s@1", "s@2");
    TOUCH("x.recordio", "x.recordio.gz");
    ASSERT_REFUSED("x.recordio.gz", "there are two copies of one set: x.recordio and x.recordio.gz",
                   advice, NULL, "x.recordio", "x.recordio.gz");
    TOUCH("f/x.recordio", "x", "x-2.recordio");
    ASSERT_TAKEN("x.recordio\nx.recordio\nf/x.recordio\nx\nx-2.recordio\n", NULL, RECMAP_SETS_ERROR,
                 "x.recordio", "x.recordio", "f/x.recordio", "x", "x-2.recordio");
    write_file("list", "s@1\ns@2\n");
    ASSERT_REFUSED("list", "line 2: s@2: there are two copies of one set: s@1 and s@2", advice,
                   NULL, "@list");
    unlink("f/x.recordio");
    write_file("list", "f\n");
    ASSERT_REFUSED("list",
                   "line 1: f: the folder has 2 sets of shards: mnist-test.tfrecord@1 (1 shard), "
                   "mnist-train.tfrecord@2 (2 shards)",
                   "to read one, pass `--split train`, or name it: "
                   "'f/mnist-train.tfrecord@2'; `--sets all` joins them",
                   NULL, "@list");
    ASSERT_TAKEN(MNIST_TRAIN, "train", RECMAP_SETS_ERROR, "@list");
}

/* A list may have thousands of files, of which one may be a copy. */
static void test_long_lists_are_searched_for_copies(void **state) {
    (void)state;
    recmap_shards *shards;
    recmap_error error = RECMAP_ERROR_INIT;
    assert_int_equal(recmap_shards_create(&shards, &error), RECMAP_OK);
    char name[32];
    for (int number = 0; number < 3000; number++) {
        snprintf(name, sizeof name, "f/%d.tfrecord", number);
        TOUCH(name);
        assert_int_equal(recmap_shards_add(shards, name, &error), RECMAP_OK);
    }
    TOUCH("f/1234.tfrecord.gz", "f/x");
    assert_int_equal(recmap_shards_add(shards, "f/1234.tfrecord.gz", &error), RECMAP_INVALID);
    assert_int_equal(recmap_shards_count(shards), 3000);
    assert_int_equal(recmap_shards_add(shards, "f/x", &error), RECMAP_OK);
    assert_int_equal(recmap_shards_add(shards, "f/1234.tfrecord.gz", &error), RECMAP_INVALID);
    recmap_shards_destroy(shards);
}

static void test_a_split_chooses_one_set(void **state) {
    (void)state;
    touch_mnist();
    static const char advice[] = "a set has the split if it or a folder is named 'val', or if its "
                                 "name ends in -, _, . or a space and that; to read one, pass: "
                                 "`--split test`, `--split train`";
    static const char one[] =
        "a set has the split if it or a folder is named 'val', or if its "
        "name ends in -, _, . or a space and that; check the name, or leave the split out";
    static const char found[] = "no set has the split 'val': there is mnist-test.tfrecord@1 (1 "
                                "shard), mnist-train.tfrecord@2 (2 shards)";
    ASSERT_REFUSED("f", found, advice, "val", "f");
    ASSERT_REFUSED("f/*",
                   "no set has the split 'val': there is "
                   "mnist-test.tfrecord@1 (1 shard), mnist-train.tfrecord@2 (2 shards)",
                   advice, "val", "f/*");
    ASSERT_REFUSED("f/mnist-train.tfrecord@2", "is not of the split 'val'", one, "val",
                   "f/mnist-train.tfrecord@2");
    TOUCH("f/train_small-1", "f/train_small-2", "f/train.tfrecord");
    ASSERT_TAKEN("f/train_small-1\nf/train_small-2\n", "train_small", RECMAP_SETS_ERROR, "f");
    ASSERT_REFUSED("f",
                   "the folder has 2 sets of shards: mnist-train.tfrecord@2 (2 shards), "
                   "train.tfrecord (1 shard)",
                   "to read one, name it: 'f/mnist-train.tfrecord@2'; `--sets all` "
                   "joins them",
                   "train", "f");
    ASSERT_TAKEN(MNIST_TRAIN "f/train.tfrecord\n", "train", RECMAP_SETS_ALL, "f");
}

static void test_invalid_choices(void **state) {
    (void)state;
    recmap_shards *shards;
    assert_int_equal(recmap_shards_create(&shards, NULL), RECMAP_OK);
    assert_int_equal(recmap_shards_choose_sets(shards, "", RECMAP_SETS_ALL, NULL), RECMAP_INVALID);
    assert_int_equal(recmap_shards_choose_sets(shards, "a/b", RECMAP_SETS_ALL, NULL),
                     RECMAP_INVALID);
    assert_int_equal(recmap_shards_choose_sets(shards, NULL, (recmap_sets)2, NULL), RECMAP_INVALID);
    recmap_shards_destroy(shards);
}

/* Layouts with a folder for each split. */
static void test_folders_of_splits(void **state) {
    (void)state;
    assert_int_equal(mkdir("f/train", 0777), 0);
    assert_int_equal(mkdir("f/test", 0777), 0);
    TOUCH("f/train/d-0.tfrecord", "f/train/d-1.tfrecord", "f/test/d-0.tfrecord");
    ASSERT_TAKEN("f/train/d-0.tfrecord\nf/train/d-1.tfrecord\n", "train", RECMAP_SETS_ERROR,
                 "f/**");
    ASSERT_TAKEN("f/test/d-0.tfrecord\n", "test", RECMAP_SETS_ERROR, "f/*/*.tfrecord");
    ASSERT_TAKEN("f/test/d-0.tfrecord\nf/train/d-0.tfrecord\nf/train/d-1.tfrecord\n"
                 "f/**: the pattern matches 2 sets of shards, which are joined: "
                 "f/test/d-0.tfrecord (1 shard), f/train/d-0.tfrecord and 1 other (2 shards). To "
                 "read one, pass `--split train`, or name it: 'f/train/d-*.tfrecord'; `--sets "
                 "all` says that all are meant\n",
                 NULL, RECMAP_SETS_ERROR, "f/**");
    /* Folders before the first wildcard say nothing. */
    ASSERT_TAKEN("f/train/d-0.tfrecord\nf/train/d-1.tfrecord\n", NULL, RECMAP_SETS_ERROR,
                 "f/train");
    char text[4096];
    recmap_error error = RECMAP_ERROR_INIT;
    assert_int_equal(
        add(text, &error, "train", RECMAP_SETS_ERROR, (const char *const[]){"f/train/*", NULL}),
        RECMAP_INVALID);
}

static void test_names_that_begin_with_a_split(void **state) {
    (void)state;
    TOUCH("f/batch_1.tfrecord", "f/batch_2.tfrecord", "f/test_batch.tfrecord");
    ASSERT_REFUSED("f",
                   "the folder has 2 sets of shards: batch_1.tfrecord and 1 other (2 shards), "
                   "test_batch.tfrecord (1 shard)",
                   "to read one, name it: 'f/batch_*.tfrecord'; `--sets all` joins them", NULL,
                   "f");
    ASSERT_TAKEN("f/batch_1.tfrecord\nf/batch_2.tfrecord\n", NULL, RECMAP_SETS_ERROR, "f/batch_*");
}

static void test_a_set_whose_name_has_wildcards(void **state) {
    (void)state;
    TOUCH("f/[1]-00000-of-00001.tfrecord", "f/x*-00000-of-00001.tfrecord",
          "f/xy-00000-of-00001.tfrecord");
    ASSERT_TAKEN("f/[1]-00000-of-00001.tfrecord\n", NULL, RECMAP_SETS_ERROR, "f/[1]@1.tfrecord");
    ASSERT_TAKEN("f/x*-00000-of-00001.tfrecord\n", NULL, RECMAP_SETS_ERROR, "f/x*@1.tfrecord");
    ASSERT_REFUSED("f/{1..2}", "there is no such file or folder",
                   "recmap does not expand braces: use the wildcards * and ?, or name all N shards "
                   "of a set as NAME@N",
                   NULL, "f/{1..2}");
}

static void assert_alone(bool is_alone, const char *name) {
    recmap_shards *shards;
    recmap_error error = RECMAP_ERROR_INIT;
    assert_int_equal(recmap_shards_create(&shards, &error), RECMAP_OK);
    assert_int_equal(recmap_shards_add(shards, name, &error), RECMAP_OK);
    assert_int_equal(recmap_shards_name_one(shards), is_alone);
    recmap_shards_destroy(shards);
}

static void test_one_shard_that_is_meant_to_be_alone(void **state) {
    (void)state;
    TOUCH("f/x-00003-of-00004.tfrecord");
    assert_alone(true, "f/x-00003-of-00004.tfrecord");
    assert_alone(true, "f/x-00003*");
    assert_alone(true, "f/*-00003-of-*");
    assert_alone(false, "f/x-*");
    assert_alone(false, "f/x-0000*");
    assert_alone(false, "f/x-*-of-00004*");
    assert_alone(false, "f");
}

/* The default path of the index of what `name` stands for, all sets joined. */
static void assert_index(const char *expected, const char *name) {
    recmap_shards *shards;
    recmap_error error = RECMAP_ERROR_INIT;
    char path[256];
    assert_int_equal(recmap_shards_create(&shards, &error), RECMAP_OK);
    assert_int_equal(recmap_shards_choose_sets(shards, NULL, RECMAP_SETS_ALL, &error), RECMAP_OK);
    assert_int_equal(recmap_shards_add(shards, name, &error), RECMAP_OK);
    assert_int_equal(recmap_shards_index_path(path, sizeof path, shards, &error), RECMAP_OK);
    assert_string_equal(path, expected);
    recmap_shards_destroy(shards);
}

static void test_indexes_of_joined_sets_have_names_of_their_own(void **state) {
    (void)state;
    TOUCH("f/a.tfrecord", "f/b.tfrecord");
    assert_index("f/f.rmx", "f");
    TOUCH("f/f-00000-of-00001");
    assert_index("f/f.rmx", "f/f@1");
    assert_index("f/f-all.rmx", "f");
    assert_int_equal(mkdir("f/train", 0777), 0);
    assert_int_equal(mkdir("f/test", 0777), 0);
    TOUCH("f/train/d-0.tfrecord", "f/train/d-1.tfrecord", "f/test/d-0.tfrecord",
          "f/test/d-1.tfrecord");
    assert_index("f/test/d.rmx", "f/test");
    assert_index("f/d-all.rmx", "f/*/d-*");
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, enter, leave)

int main(void) {
    const struct CMUnitTest tests[] = {TEST(test_a_folder_of_several_sets_is_an_error),
                                       TEST(test_other_sets_in_a_folder),
                                       TEST(test_copies_in_a_folder),
                                       TEST(test_marked_copies),
                                       TEST(test_marked_copies_of_numbered_shards),
                                       TEST(test_advice_for_a_split_with_a_copy),
                                       TEST(test_advice_leaves_long_names_out),
                                       TEST(test_lists_of_marked_copies),
                                       TEST(test_advice_opens_what_it_names),
                                       TEST(test_a_pattern_of_several_sets_is_a_warning),
                                       TEST(test_lists_may_name_several_sets),
                                       TEST(test_long_lists_are_searched_for_copies),
                                       TEST(test_a_split_chooses_one_set),
                                       TEST(test_folders_of_splits),
                                       TEST(test_names_that_begin_with_a_split),
                                       TEST(test_a_set_whose_name_has_wildcards),
                                       TEST(test_one_shard_that_is_meant_to_be_alone),
                                       TEST(test_indexes_of_joined_sets_have_names_of_their_own),
                                       TEST(test_invalid_choices)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
