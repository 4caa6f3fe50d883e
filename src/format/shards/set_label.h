/* What the name of a file says about the set of shards that the file belongs to. Pure.
 *
 * Files NAME-K-of-N are the shards of the set NAME. A file without -of-N whose name is the name of
 * a split (train, test, ...), or ends in it, belongs to the set of this split; numbers at the end,
 * as in train-01 and train00-107, do not matter. Files whose names begin with the name of a split,
 * or add a capital letter to it, as trainA does, are also a set, but not the split itself:
 * train_small is not train. Other files are loose: those that are found together are one set, or
 * one for each folder that is named after a split. A split in the middle of a name (a_test_b) says
 * nothing, because a test drive is not test data. The mark of a copy (copy_mark.h) says nothing
 * either: "train (1)" is train. */
#ifndef RECMAP_FORMAT_SHARDS_SET_LABEL_H
#define RECMAP_FORMAT_SHARDS_SET_LABEL_H

#include "format/shards/set_name.h"

/* SET_SPLIT_VARIANT: the name begins with a split or adds a letter, as test_batch and trainA do. */
enum set_kind { SET_LOOSE, SET_SPLIT, SET_SPLIT_VARIANT, SET_NUMBERED };

/* All parts point into the path. */
struct set_label {
    enum set_kind kind;
    const char *path;
    struct path_part folder; /* with its slash at the end; may be empty */
    size_t
        base; /* bytes of the path whose folders say nothing about a split; at first the folder's */
    struct path_part name;        /* without -K-of-N and the suffixes of records and compression */
    struct path_part type;        /* of a numbered file: any other suffix, such as .tar */
    struct path_part compression; /* such as .gz; may be empty */
    struct path_part copy_mark;   /* such as " (1)", in `name` or `type`; may be empty */
    struct path_part split;       /* SET_SPLIT, SET_SPLIT_VARIANT: the split, a part of `name` */
    struct set_member member;     /* SET_NUMBERED */
};

/* What finding the parts of a name costs: for the interrupt, in bytes. */
enum { SET_LABEL_WORK = 256 };

void set_label_init(struct set_label *label, const char *path);

/* Orders files by their sets: 0 for two files of one set: loose files are, unless the
 * folders that are named after splits differ. */
int set_label_compare_sets(const struct set_label *a, const struct set_label *b);

/* Orders files by folder and name: 0 for two files of one set, or of two copies of a set. */
int set_label_compare_names(const struct set_label *a, const struct set_label *b);

/* Orders files without a number by folder and by all of their name but the compression suffix. */
int set_label_compare_files(const struct set_label *a, const struct set_label *b);

/* Returns true for files of two copies of a set: x-0-of-2 and x-0-of-4, or x.tfrecord and
 * x.tfrecord.gz, in one folder. */
bool set_label_is_copy(const struct set_label *a, const struct set_label *b);

/* Orders files by their paths without the marks of copies: 0 for two copies of one file. */
int set_label_compare_originals(const struct set_label *a, const struct set_label *b);

/* Returns true if one of the two files is a copy of the other by its mark. Two marked files are
 * copies only if they have a number: "x-0-of-2 (1)" and "x-0-of-2 (2)". */
bool set_label_is_marked_copy(const struct set_label *a, const struct set_label *b);

/* Returns true if the name is `split`, or ends in it after a hyphen, an underscore, a dot or a
 * space; or if a folder after the base is named so, and the name has no usual split. */
bool set_label_has_split(const struct set_label *label, const char *split);

/* Returns true if the file is in a folder that is named after a usual split and whose name begins
 * after `base` bytes of the path. */
bool set_label_is_in_split(const struct set_label *label, size_t base);

/* Returns the split that is usual (train, test, ...) and that the name has, or NULL. */
const char *set_label_find_split(const struct set_label *label);

#endif
