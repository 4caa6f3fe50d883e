/* Tells whether a path names a known file, whatever the path's spelling and through links. */
#ifndef RECMAP_TOOLS_OUTPUT_SAME_FILE_H
#define RECMAP_TOOLS_OUTPUT_SAME_FILE_H

#include <stdbool.h>
#include <sys/stat.h>

/* False also if there is no file at the path. */
bool same_file(const char *path, const struct stat *file);

#endif
