/* Selections: some records of a data set, in an order, kept in a small file (NAME.rmv). */
#ifndef RECMAP_SELECTION_H
#define RECMAP_SELECTION_H

#include <recmap/dataset.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Records by number: a set, which is in ascending order, or a list in any order, in which numbers
 * may repeat. Threads: any, once it is created or attached. */
typedef struct recmap_selection recmap_selection;

/* Selects `count` records by their numbers, which are copied. They are a set if they ascend
 * strictly, else a list.
 *
 * Errors: INVALID if a number is out of range, or if the data set is a concatenation, because no
 * single index describes it; NO_MEMORY. */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_selection_create(recmap_selection **selection,
                                                                  recmap_dataset *dataset,
                                                                  const uint64_t *numbers,
                                                                  size_t count,
                                                                  recmap_error *error);

/* Opens a file that recmap_selection_save wrote. Open its data set with
 * recmap_selection_open_dataset, or attach the selection to it, before anything else.
 *
 * Errors: IO; CORRUPT if the file is not a selection or is damaged; UNSUPPORTED for a newer format;
 * INVALID if it names its index by an absolute path, or by a path through a link that would not be
 * followed to a shard, and `allow_absolute_path` is 0, because a file from elsewhere could name any
 * other: pass 1 also if you name the index yourself; NO_MEMORY. */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_selection_open(recmap_selection **selection,
                                                                const char *path,
                                                                int allow_absolute_path,
                                                                recmap_error *error);

/* Opens the data set of a selection, and attaches the selection to it. `index_path` is the path of
 * an index that was moved, or NULL for recmap_selection_index_path, which may start at the folder
 * of the selection. options.shards is the folder of shards that were moved. The caller closes the
 * data set.
 *
 * Errors: those of recmap_dataset_open and recmap_selection_attach. */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_selection_open_dataset(
    recmap_dataset **dataset, recmap_selection *selection, const char *index_path,
    const recmap_dataset_options *options, recmap_error *error);

/* Compares the selection with the data set, and reads its numbers. The data set may have more
 * shards than when the selection was saved: appending changes no record number.
 *
 * Errors: STALE if the data set does not begin with the shards that the selection was made from;
 * CORRUPT if the numbers are malformed; NO_MEMORY. */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_selection_attach(recmap_selection *selection,
                                                                  recmap_dataset *dataset,
                                                                  recmap_error *error);

/* Frees the selection. NULL may be closed. */
RECMAP_API void recmap_selection_close(recmap_selection *selection);

/* The path of its index. Lives as long as the selection. */
RECMAP_API const char *recmap_selection_index_path(const recmap_selection *selection);

/* The number of records, and their numbers, which live as long as the selection. */
RECMAP_API size_t recmap_selection_count(const recmap_selection *selection);
RECMAP_API const uint64_t *recmap_selection_numbers(const recmap_selection *selection);

/* Not 0: a set. 0: a list. */
RECMAP_API int recmap_selection_is_set(const recmap_selection *selection);

/* Writes the selection to a file, which appears when it is complete, and replaces a file of that
 * name, which must end in `.rmv`: commands and Python recognise selections by it.
 * docs/formats/selection-format.md specifies the bytes.
 *
 * Errors: INVALID if the name ends otherwise, or if the selection was opened and not attached; IO;
 * NO_MEMORY. */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_selection_save(const recmap_selection *selection,
                                                                const char *path,
                                                                recmap_error *error);

#ifdef __cplusplus
}
#endif
#endif
