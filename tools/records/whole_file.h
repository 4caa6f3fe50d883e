/* Reading a small file into memory. */
#ifndef RECMAP_TOOLS_RECORDS_WHOLE_FILE_H
#define RECMAP_TOOLS_RECORDS_WHOLE_FILE_H

#include <stddef.h>

/* Reads a file to its end, or until it has more than `limit` bytes. The caller frees `data`.
 * Returns 0, or the exit status after printing the error. */
int whole_file_read(char **data, size_t *size, const char *path, size_t limit);

#endif
