/* Writes the items of a view, to an output or as a selection. */
#ifndef RECMAP_TOOLS_RECORDS_VIEW_OUTPUT_H
#define RECMAP_TOOLS_RECORDS_VIEW_OUTPUT_H

#include "output/output.h"
#include "records/view.h"

/* Checks that `path` (NULL: stdout) is none of the files that the view reads: the selection, the
 * index and its shards. Every command that writes calls this first. Returns 0, or the exit status
 * after printing the error. */
int view_output_check(const struct view *view, const char *path);

/* For commands that write records: refuses `path` (NULL: stdout) if it is the name of a selection
 * or an index. Every command would then try to open the records as one, and another index would be
 * replaced, with the columns that only it has. Returns 0, or the exit status after printing the
 * error. */
int view_output_check_name(const char *path);

/* As view_output_check and view_output_check_name. */
int view_output_check_records(const struct view *view, const char *path);

/* The permissions that a file of this group must not have that has records of the view, so that
 * nobody but its owner can read it who cannot read the index and all shards. */
recmap_status view_output_denied(mode_t *denied, const struct view *view, gid_t group,
                                 recmap_error *error);

/* As output_open. Nobody but the owner may read a new or replaced file who cannot read the index
 * and all shards of the view, unless only numbers are written. */
recmap_status view_output_open(struct output *output, const struct view *view, const char *path,
                               enum output_format format, recmap_error *error);

/* Writes the records at the positions of `source`, in its order. A bar shows the progress unless
 * the output is standard output, which may be a terminal, or a pipe to a program that prints on
 * one. With OUTPUT_NUMBER, no shard is read. */
recmap_status view_output_write(struct output *output, const struct view *view,
                                struct number_source positions, recmap_error *error);

/* Writes all items in their order to a file in a format, or to standard output if `path` is NULL.
 * Returns 0, or the exit status after printing the error. */
int view_output_write_all(const struct view *view, const char *path, enum output_format format);

/* Saves the items as a selection, and prints how many of how many they are. */
recmap_status view_output_save(const struct view *view, const char *path, uint64_t total,
                               recmap_error *error);

/* Returns true if `path`, which may be NULL, is the name of a selection, or of an index. */
bool view_output_is_selection(const char *path);
bool view_output_is_index(const char *path);

#endif
