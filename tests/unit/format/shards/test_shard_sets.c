/* What names of files say about sets, and the sets in a list of shards. */
#include "format/shards/shard_sets.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void assert_label(const char *path, enum set_kind kind, const char *expected) {
    struct set_label label;
    char parts[256];
    set_label_init(&label, path);
    snprintf(parts, sizeof parts, "%.*s|%.*s|%.*s|%.*s", (int)label.folder.size, label.folder.start,
             (int)label.name.size, label.name.start, (int)label.type.size, label.type.start,
             (int)label.compression.size, label.compression.start);
    assert_string_equal(parts, expected);
    assert_int_equal(label.kind, kind);
}

static void test_parts_of_numbered_names(void **state) {
    (void)state;
    assert_label("a/robot-train.tfrecord-00000-of-00002", SET_NUMBERED, "a/|robot-train||");
    assert_label("train-00000-of-00004.tfrecord.gz", SET_NUMBERED, "|train||.gz");
    assert_label("train.tfrecord.gz-00000-of-00004", SET_NUMBERED, "|train||.gz");
    assert_label("train.tfrecords-0-of-4.gz", SET_NUMBERED, "|train||.gz");
    assert_label("cats_00000-of-00010.tar", SET_NUMBERED, "|cats|.tar|");
    assert_label("00000-of-00010.RecordIO", SET_NUMBERED, "|||");
    assert_label("s-00000-of-00002-9f86d081884c7d65.tfrecord", SET_NUMBERED, "|s||");
    assert_label("s-00000-of-00002-v2.tfrecord", SET_NUMBERED, "|s|-v2|");
    assert_label("s3://bucket/a/val-0-of-1", SET_NUMBERED, "s3://bucket/a/|val||");
}

static void test_parts_of_other_names(void **state) {
    (void)state;
    assert_label("a/v1.0.tfrecord", SET_LOOSE, "a/|v1.0||");
    assert_label("v1.0.tfrecord.gz", SET_LOOSE, "|v1.0||.gz");
    assert_label("x.recordio.zlib", SET_LOOSE, "|x||.zlib");
    assert_label("samples.tar", SET_LOOSE, "|samples.tar||");
    assert_label(".tfrecord", SET_LOOSE, "|.tfrecord||");
    assert_label("..gz", SET_LOOSE, "|..gz||");
    assert_label("a/", SET_LOOSE, "a/|||");
    assert_label("train_small.tfrecord", SET_SPLIT_VARIANT, "|train_small||");
    assert_label("test_batch.tfrecord", SET_SPLIT_VARIANT, "|test_batch||");
    assert_label("strain.tfrecord", SET_LOOSE, "|strain||");
    assert_label("trainA.tfrecord", SET_SPLIT_VARIANT, "|trainA||");
    assert_label("horse2zebra_testB-01", SET_SPLIT_VARIANT, "|horse2zebra_testB-01||");
    assert_label("TESTA.tfrecord", SET_LOOSE, "|TESTA||");
    assert_label("tests.tfrecord", SET_LOOSE, "|tests||");
    assert_label("a_test_b.tfrecord", SET_LOOSE, "|a_test_b||");
    assert_label("flowers00-230.tfrec", SET_LOOSE, "|flowers00-230.tfrec||");
    assert_label("2024-01-02.tfrecord", SET_LOOSE, "|2024-01-02||");
}

static void assert_split(const char *path, const char *split) {
    struct set_label label;
    set_label_init(&label, path);
    assert_int_equal(label.kind, SET_SPLIT);
    assert_int_equal(label.split.size, strlen(split));
    assert_memory_equal(label.split.start, split, strlen(split));
    assert_true(set_label_has_split(&label, split));
}

static void test_names_of_splits_are_recognised(void **state) {
    (void)state;
    assert_split("train.tfrecord", "train");
    assert_split("a/robot-test.tfrecords.gz", "test");
    assert_split("robot_validation.recordio", "validation");
    assert_split("x.val", "val");
    assert_split("dev-0001.tfrecord", "dev");
    assert_split("eval.tar.gz", "eval");
    assert_split("train2017.tfrecord", "train");
    assert_split("lines_train_7.txt", "train");
    assert_split("train00-107.tfrec", "train");
    assert_split("ld_test12-1765.tfrec", "test");
    assert_split("my train.tfrecord", "train");
    assert_split("train (1).tfrecord", "train");
    assert_split("train.tfrecord (1).gz", "train");
    assert_split("train copy.tfrec", "train");
    assert_split("Copy of train-1.tfrecord", "train");
}

static bool has_split(const char *path, const char *split) {
    struct set_label label;
    set_label_init(&label, path);
    return set_label_has_split(&label, split);
}

static void test_names_with_a_split(void **state) {
    (void)state;
    assert_true(has_split("robot-train.tfrecord-00000-of-00002", "train"));
    assert_true(has_split("cats-train-00000-of-00010.tar", "train"));
    assert_true(has_split("cats.train.tfrecord", "train"));
    assert_true(has_split("a_train_small.tfrecord", "train_small"));
    assert_true(has_split("a_train_small.tfrecord", "small"));
    assert_true(has_split("unlabelled-3.tfrecord.gz", "unlabelled"));
    assert_false(has_split("train_small-00000-of-00002", "train"));
    assert_false(has_split("train_small.tfrecord", "train"));
    assert_false(has_split("strain.tfrecord", "train"));
    assert_false(has_split("train-2-00000-of-00002", "train"));
    assert_false(has_split("train/x.tfrecord", "train"));
    assert_false(has_split("x.tfrecord", ""));
}

/* Finds the sets of the paths, and writes the first shard and the number of shards of each. */
static void assert_sets(const char *expected, const char *const *paths, size_t count) {
    struct shard_sets sets;
    char text[512] = "";
    assert_int_equal(shard_sets_find(&sets, (char *const *)paths, count, NULL), RECMAP_OK);
    for (size_t i = 0; i < sets.count; i++) {
        size_t size = strlen(text);
        snprintf(text + size, sizeof text - size, "%s%s:%zu", i ? " " : "", sets.sets[i].label.path,
                 sets.sets[i].shard_count);
    }
    shard_sets_deinit(&sets);
    assert_string_equal(text, expected);
}

#define ASSERT_SETS(expected, ...)                                                                 \
    assert_sets(expected, (const char *const[]){__VA_ARGS__},                                      \
                sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *))

static void test_sets_of_numbered_names(void **state) {
    (void)state;
    ASSERT_SETS("a-0-of-2:2", "a-0-of-2", "a-1-of-2");
    ASSERT_SETS("a-0-of-2:2 a-0-of-3:1", "a-0-of-2", "a-0-of-3", "a-1-of-2");
    ASSERT_SETS("a-0-of-2:1 a-0-of-2.gz:1", "a-0-of-2", "a-0-of-2.gz");
    ASSERT_SETS("a-0-of-2:1 b/a-0-of-2:1", "a-0-of-2", "b/a-0-of-2");
    ASSERT_SETS("a-0-of-2-0123456789abcdef.gz:2", "a-0-of-2-0123456789abcdef.gz",
                "a-1-of-2-f123456789abcdef.gz");
    ASSERT_SETS("a-0-of-2_1:1 a-0-of-2_2:1", "a-0-of-2_1", "a-0-of-2_2");
}

static void test_sets_of_other_names(void **state) {
    (void)state;
    ASSERT_SETS("a:3", "a", "b.gz", "d/c.tfrecord");
    ASSERT_SETS("a:2 train:2 x-0-of-1:1", "a", "train", "b", "x-train", "x-0-of-1");
    ASSERT_SETS("d/train:1 e/train:1", "d/train", "e/train");
    ASSERT_SETS("train00-107.tfrec:2 test00-59.tfrec:1", "train00-107.tfrec", "train01-107.tfrec",
                "test00-59.tfrec");
    ASSERT_SETS("trainA:2 testA:1", "trainA", "trainB", "testA");
    ASSERT_SETS("my train:1 my test:1", "my train", "my test");
    ASSERT_SETS("flowers00-230:2", "flowers00-230", "flowers01-230");
    ASSERT_SETS("val-1:2 validation-1:1", "val-1", "validation-1", "val-2");
}

/* One file that is there plain and compressed makes a set of each suffix. */
static void test_a_compressed_copy_is_a_set_of_its_own(void **state) {
    (void)state;
    ASSERT_SETS("x.recordio:1 x.recordio.gz:1", "x.recordio", "x.recordio.gz");
    ASSERT_SETS("a:1 a.gz:2 c.zlib:1", "a", "a.gz", "b.gz", "c.zlib");
    ASSERT_SETS("d/a:2", "d/a", "e/a.gz");
    ASSERT_SETS("train.tfrecord:1 train.tfrecord.gz:1", "train.tfrecord", "train.tfrecord.gz");
}

/* A program left a copy beside its original. */
static void test_a_marked_copy_is_in_a_set_of_its_own(void **state) {
    (void)state;
    ASSERT_SETS("x (1).tfrecord:1 x.tfrecord:1", "x (1).tfrecord", "x.tfrecord");
    ASSERT_SETS("a:3 a copy:3", "a", "a copy", "a copy 2", "b.gz", "c (1)", "Copy of b.gz");
    ASSERT_SETS("train:1 Copy of train:1 test:1", "train", "Copy of train", "test");
    ASSERT_SETS("x-0-of-2:2 x-1-of-2 (1):1", "x-0-of-2", "x-1-of-2", "x-1-of-2 (1)");
    ASSERT_SETS("x (1).tfrecord-0-of-1:1 x.tfrecord-0-of-1:1", "x (1).tfrecord-0-of-1",
                "x.tfrecord-0-of-1");
    ASSERT_SETS("x-0-of-1.gz:1 x-0-of-1 - Copy.gz:1", "x-0-of-1.gz", "x-0-of-1 - Copy.gz");
}

/* Within a set, a second file of one number is a copy. */
static void test_marked_copies_without_their_original(void **state) {
    (void)state;
    ASSERT_SETS("x-0-of-2 (1).a:2 x-0-of-2 (2).a:1", "x-0-of-2 (1).a", "x-0-of-2 (2).a",
                "x-1-of-2.a");
    ASSERT_SETS("s (1).a-0-of-1:1 s (2).a-0-of-1:1", "s (1).a-0-of-1", "s (2).a-0-of-1");
    ASSERT_SETS("x-0-of-2 (2):2 x-0-of-2 copy:1", "x-0-of-2 (2)", "x-0-of-2 copy", "x-1-of-2 (1)");
    ASSERT_SETS("x-0-of-2 (1):2 x-0-of-2 (2):2", "x-0-of-2 (1)", "x-0-of-2 (2)", "x-1-of-2 (1)",
                "x-1-of-2 (2)");
    ASSERT_SETS("x copy:1 x copy 2:2", "x copy", "x copy 2", "x copy 3");
    ASSERT_SETS("Copy of x:1 x (1):2", "Copy of x", "x (1)", "x (2)");
    ASSERT_SETS("x (1) copy:2 x copy:1", "x (1) copy", "y", "x copy");
}

/* Copies of files that have marks themselves. */
static void test_marked_copies_of_copies(void **state) {
    (void)state;
    ASSERT_SETS("x (1).a:1 x (1) (1).a:1", "x (1).a", "x (1) (1).a");
    ASSERT_SETS("x (1).a:2 x (1) copy.a:1", "x (1).a", "x (2).a", "x (1) copy.a");
    ASSERT_SETS("Copy of x (1).a:1 x (1).a:2", "Copy of x (1).a", "x (1).a", "x (2).a");
    ASSERT_SETS("x:1 x - Copy - Copy:1", "x", "x - Copy - Copy");
    ASSERT_SETS("x:1 x (1):2", "x", "x (1)", "x (1) (1)");
}

/* As the files that a program has numbered. */
static void test_a_mark_alone_makes_no_copy(void **state) {
    (void)state;
    ASSERT_SETS("x (1):3", "x (1)", "x (2)", "x (3)");
    ASSERT_SETS("x (1) (1):2", "x (1) (1)", "x (1) (2)");
    ASSERT_SETS("x-0-of-2 (1):2", "x-0-of-2 (1)", "x-1-of-2 (1)");
    ASSERT_SETS("d/x:2", "d/x", "e/x (1)");
    ASSERT_SETS("x:2", "x", "y (1)");
    ASSERT_SETS("x-0-of-2:2", "x-0-of-2", "x-1-of-2 (1)");
    ASSERT_SETS("x-0-of-2.a:1 x-1-of-2 (1).b:1", "x-0-of-2.a", "x-1-of-2 (1).b");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_parts_of_numbered_names),
                                       cmocka_unit_test(test_parts_of_other_names),
                                       cmocka_unit_test(test_names_of_splits_are_recognised),
                                       cmocka_unit_test(test_names_with_a_split),
                                       cmocka_unit_test(test_sets_of_numbered_names),
                                       cmocka_unit_test(test_sets_of_other_names),
                                       cmocka_unit_test(test_a_compressed_copy_is_a_set_of_its_own),
                                       cmocka_unit_test(test_a_marked_copy_is_in_a_set_of_its_own),
                                       cmocka_unit_test(test_marked_copies_without_their_original),
                                       cmocka_unit_test(test_marked_copies_of_copies),
                                       cmocka_unit_test(test_a_mark_alone_makes_no_copy)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
