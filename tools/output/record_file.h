/* Recognises files of records, which no output replaces. */
#ifndef RECMAP_TOOLS_OUTPUT_RECORD_FILE_H
#define RECMAP_TOOLS_OUTPUT_RECORD_FILE_H

#include <stdbool.h>

/* Returns true if a regular file at the path begins with a TFRecord, or is not empty and has a name
 * of TFRecord files, which may be compressed or damaged. */
bool record_file_exists(const char *path);

#endif
