/* Errors of a table's rows. */
#ifndef RECMAP_DATASET_ANNOTATE_TABLE_ERROR_H
#define RECMAP_DATASET_ANNOTATE_TABLE_ERROR_H

#include "dataset/annotate/table.h"

/* "id" or "number". */
const char *table_key_name(recmap_key key);

/* The error INVALID for a line of the file, and what to do about it. */
recmap_status table_fail(const struct table *table, uint64_t line, recmap_error *error,
                         const char *advice, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

#endif
