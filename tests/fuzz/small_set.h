/* A data set of some records with lifted columns of every type, for targets that need one. */
#ifndef RECMAP_TESTS_FUZZ_SMALL_SET_H
#define RECMAP_TESTS_FUZZ_SMALL_SET_H

#include <stdbool.h>

#include <recmap/dataset.h>

enum { SMALL_SET_RECORDS = 70 };

/* Ends the program unless `holds`. */
void check(bool holds);

/* A new folder, which is removed at the end with the files that small_set_path named. */
const char *small_set_folder(void);

/* The path of a file in the folder. It lives as long as the program. */
const char *small_set_path(const char *name);

/* The data set "set.rmx" in the folder: columns "label" (int64), "score" (float) and "lang" (text);
 * and with nulls "rank" (int64), "tone" (float), "source" (text, stored as codes) and "absent", of
 * which all values are null. It is created by the first call. */
recmap_dataset *small_set(void);

/* Writes a file in place. */
void small_set_write(const char *path, const void *data, size_t size);

#endif
