/* Files and folders of HDFS, by its REST interface (WebHDFS). */
#ifndef RECMAP_STORAGE_REMOTE_HDFS_H
#define RECMAP_STORAGE_REMOTE_HDFS_H

#include "base/os/file.h"
#include "base/os/list.h"
#include "storage/remote/storage.h"

/* Whether the URL is one of HDFS: webhdfs:// or swebhdfs://. */
bool hdfs_is_url(const char *url);

/* Finds out the size and the time of a file. Errors: IO (also if it is a folder), INVALID,
 * NO_MEMORY, CANCELLED. */
recmap_status hdfs_stat(struct file_stat *stat, recmap_storage *storage, const char *url,
                        recmap_error *error);

/* Adds the URLs of the files that a pattern matches, or of those in a folder, as remote_list does.
 * Errors: those of hdfs_stat. */
recmap_status hdfs_list(struct path_list *list, recmap_storage *storage, const char *pattern,
                        path_filter filter, recmap_error *error);

#endif
