/* What programs add to the name of a copy that they leave beside a file: "x (1).tfrecord" is of a
 * browser, "x copy.tfrecord" of macOS, "x - Copy.tfrecord" of Windows, "Copy of x.tfrecord" of a
 * drive. Pure. */
#ifndef RECMAP_FORMAT_SHARDS_COPY_MARK_H
#define RECMAP_FORMAT_SHARDS_COPY_MARK_H

#include <stdbool.h>
#include <stddef.h>

/* A part of a path. */
struct path_part {
    const char *start;
    size_t size;
};

/* The mark in the name of a file, which begins the name, or ends it or precedes a dot; the last one
 * of several. Empty, and at the end of the name, if there is none. A name with a mark is often not
 * that of a copy: "x (1)" to "x (9)" may be all files that there are. */
struct path_part copy_mark_find(const char *file);

/* Returns true for " (1)": the files of a set may be numbered so. */
bool copy_mark_is_number(struct path_part mark);

/* Returns true if the mark is a part of `part`. An empty mark is not. */
bool copy_mark_is_in(struct path_part mark, struct path_part part);

/* The size of `part` without the mark, if that is a part of it. */
size_t copy_mark_original_size(struct path_part part, struct path_part mark);

/* Compares two parts as text, without the mark of each. */
int copy_mark_compare(struct path_part a, struct path_part mark_a, struct path_part b,
                      struct path_part mark_b);

#endif
