/* Writing TFRecord files, and their index with no second pass. */
#ifndef RECMAP_WRITER_H
#define RECMAP_WRITER_H

#include <recmap/index.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct recmap_writer_options {
    uint32_t version;                  /* RECMAP_WRITER_OPTIONS_VERSION */
    const char *index_path;            /* an index is made as records are written; NULL: none */
    const recmap_index_options *index; /* ids and columns of that index; NULL: defaults */
} recmap_writer_options;

#define RECMAP_WRITER_OPTIONS_VERSION 1
#define RECMAP_WRITER_OPTIONS_INIT                                                                 \
    { RECMAP_WRITER_OPTIONS_VERSION, NULL, NULL }

/* Writes one TFRecord file. A writer belongs to one thread at a time. The file is written under a
 * temporary name beside its own and appears whole when recmap_writer_finish succeeds. A process
 * that changes its current folder in between gives an absolute path.
 *
 * Fork: the writer stays the parent's. A child's copy writes nothing, cannot be closed (INVALID),
 * and leaves the parent's file alone when it is destroyed. */
typedef struct recmap_writer recmap_writer;

/* Errors: INVALID for impossible options; IO when the folder cannot be written. */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_writer_create(recmap_writer **writer,
                                                               const char *path,
                                                               const recmap_writer_options *options,
                                                               recmap_error *error);

/* Appends one record. Errors: IO (ENOSPC: no space); FEATURE when its id or a lifted feature is not
 * as asked; NO_MEMORY. After an error the writer can only be destroyed. Cost: the CRC of the record
 * and one copy into a buffer, which is written when it is full. */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_writer_write(recmap_writer *writer,
                                                              const void *data, size_t size,
                                                              recmap_error *error);

/* Syncs the file and its index and gives them their names: the file first, then the index. The
 * writer is still to be destroyed. Errors: IO; INVALID when it was closed before. */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_writer_finish(recmap_writer *writer,
                                                               recmap_error *error);

/* Frees the writer. What was not closed vanishes. NULL may be destroyed. */
RECMAP_API void recmap_writer_destroy(recmap_writer *writer);

/* What stands before and behind a payload in a TFRecord file, for writing one where a recmap_writer
 * cannot: into a pipe. */
typedef struct recmap_frame {
    uint8_t header[12];
    uint8_t footer[4];
} recmap_frame;

/* The frame of a payload. Never fails. Cost: the CRC of the payload. */
RECMAP_API recmap_frame recmap_frame_of(const void *data, size_t size);

#ifdef __cplusplus
}
#endif
#endif
