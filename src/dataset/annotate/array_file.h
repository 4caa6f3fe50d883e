/* Files in NumPy's format (.npy): an array with one value per record. */
#ifndef RECMAP_DATASET_ANNOTATE_ARRAY_FILE_H
#define RECMAP_DATASET_ANNOTATE_ARRAY_FILE_H

#include <stdbool.h>

#include <recmap/record.h>

#include "base/os/map.h"

struct array_file {
    const char *path;
    struct file_map *map;
    const uint8_t *items;
    char kind; /* of items: i, u, b, f or S */
    size_t item_size;
    uint64_t count;
    recmap_type type; /* FLOAT of doubles that floats hold exactly, FLOAT64 of others */
};

/* Opens a file with an array of one dimension. The path is borrowed. Close it also after an error.
 * Errors: INVALID for another shape, an unknown type, or a malformed file; IO. */
recmap_status array_file_open(struct array_file *array, const char *path, recmap_error *error);
void array_file_close(struct array_file *array);

/* Item `i` < count as a value of the array's type, which borrows its bytes. Errors: INVALID if it
 * is beyond int64; CORRUPT if the file was cut short. */
recmap_status array_file_at(recmap_value *value, const struct array_file *array, uint64_t i,
                            recmap_error *error);

#endif
