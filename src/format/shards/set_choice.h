/* Which sets are taken from a folder, from a pattern, or from a list of names. */
#ifndef RECMAP_FORMAT_SHARDS_SET_CHOICE_H
#define RECMAP_FORMAT_SHARDS_SET_CHOICE_H

#include "base/os/list.h"
#include "format/shards/label_table.h"
#include "format/shards/shard_sets.h"

struct set_choice {
    char *split;    /* take only files whose names have it (set_label_has_split); NULL: any */
    bool joins_all; /* several sets are meant */
};

/* How a name led to shards. */
enum set_source {
    SET_SOURCE_NAME,    /* of a file or of a set: it is meant */
    SET_SOURCE_PATTERN, /* several sets are a warning */
    SET_SOURCE_FOLDER   /* several sets are an error */
};

/* Removes the paths from `first` on that the choice excludes. `name` led to them. Adds to
 * `warnings` if a pattern matches several sets. Errors: INVALID if a folder has several sets,
 * listing them, or if no path has the split; CANCELLED; NO_MEMORY. */
recmap_status set_choice_apply(struct path_list *list, size_t first, const char *name,
                               enum set_source source, const struct set_choice *choice,
                               struct path_list *warnings, recmap_error *error);

/* The names of the sets in a list, to find one that is listed twice. */
struct set_register {
    struct label_table names; /* of sets */
    struct label_table files; /* without the marks of copies */
    bool has_marks;           /* a path has a mark: `files` is in use */
    size_t searched;          /* for marks: the first paths of the list */
};

#define SET_REGISTER_INIT                                                                          \
    { LABEL_TABLE_INIT(LABEL_KEY_NAME), LABEL_TABLE_INIT(LABEL_KEY_FILE), false, 0 }

/* Compares the paths from `first` on, to which `name` led, with those before them. Errors, which
 * name the path itself if `name` is NULL: INVALID if both have copies of a set, such as x@2 and
 * x@4, x.tfrecord and x.tfrecord.gz, or x.tfrecord and "x (1).tfrecord"; NO_MEMORY. */
recmap_status set_register_check(struct set_register *sets, const struct path_list *list,
                                 size_t first, const char *name, recmap_error *error);

/* Call this after paths were removed from the list. */
void set_register_clear(struct set_register *sets);

#endif
