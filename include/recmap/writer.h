/* Writing TFRecord files, and their index without a second pass. */
#ifndef RECMAP_WRITER_H
#define RECMAP_WRITER_H

#include <recmap/index.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct recmap_writer_options {
    uint32_t version;                  /* RECMAP_WRITER_OPTIONS_VERSION */
    const char *index_path;            /* build an index while records are written; NULL: none */
    const recmap_index_options *index; /* ids, lifted columns and counts of that index, or
                                          `lift`; NULL: none. Members that concern reading shards
                                          have no effect */
    recmap_compression compression;    /* AUTO: by the end of the name, .gz or .zlib,
                                          before -00000-of-00002 if that follows */
    unsigned thread_count; /* of compressing; 0: one per core that this process may use. The file
                              does not depend on it */
    int keeps_leftovers;   /* not 0: recmap_writer_remove_leftovers was called for all files of a
                              set, so that creating each writer need not list the folder */
} recmap_writer_options;

#define RECMAP_WRITER_OPTIONS_VERSION 3
#define RECMAP_WRITER_OPTIONS_INIT                                                                 \
    { RECMAP_WRITER_OPTIONS_VERSION, NULL, NULL, RECMAP_COMPRESSION_AUTO, 0, 0 }

/* Writes one TFRecord file, compressed or not. A writer belongs to one thread at a time. The file
 * has a temporary name in the same folder until recmap_writer_finish succeeds; it then appears
 * complete under its own name. If the process changes its working directory in between, use an
 * absolute path.
 *
 * Fork: the writer stays with the parent. A child's copy writes nothing, cannot be finished
 * (INVALID), and can be destroyed without affecting the parent's file. */
typedef struct recmap_writer recmap_writer;

/* Removes the temporary files that writers of these files, or of indexes at these paths, left when
 * they were killed. A writer does so for its own file, and lists its folder: to write many files of
 * a set, call this once and set options.keeps_leftovers. Files of other targets, and of writers
 * that run, are left alone. Never fails: what cannot be removed stays. */
RECMAP_API void recmap_writer_remove_leftovers(const char *const *paths, size_t count);

/* Creates a writer, which the caller destroys. NULL options are the defaults. Errors: INVALID for
 * invalid options, for names that state another compression than the file has, or one that cannot
 * be written (.bz2, .xz, .zst, .lz4), for names of indexes and selections (.rmx, .rmv), and for an
 * index_path that recmap_index_builder_create refuses or that is the path of the file; IO if the
 * folder cannot be written to. */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_writer_create(recmap_writer **writer,
                                                               const char *path,
                                                               const recmap_writer_options *options,
                                                               recmap_error *error);

/* Returns how the file is compressed: NONE, GZIP or ZLIB, never AUTO. */
RECMAP_API recmap_compression recmap_writer_get_compression(const recmap_writer *writer);

/* Appends one record. Errors: IO (ENOSPC: no space left); FEATURE if its id or a lifted feature has
 * another type, or if it lacks a lifted feature that has no default and is not nullable; NO_MEMORY.
 * After an error the writer can only be destroyed. Cost: the CRC of the record and one copy into a
 * buffer, which is written when it is full. If the file is compressed, the buffer is deflated
 * first, by all threads; it has 2 MiB for each, or 1 MiB with one thread, and deflating it takes as
 * much again. */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_writer_write(recmap_writer *writer,
                                                              const void *data, size_t size,
                                                              recmap_error *error);

/* Syncs the file and its index and renames them to their final names, the file first. The writer
 * must still be destroyed. With an index, a compressed file is inflated once to find its seek
 * points. Errors: IO; INVALID if the writer was already finished; CORRUPT if the file cannot be
 * inflated to what was written; FEATURE if no record has the id, and the index is not a part: the
 * file then appears without an index. */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_writer_finish(recmap_writer *writer,
                                                               recmap_error *error);

/* Frees the writer and discards an unfinished file. NULL may be destroyed. */
RECMAP_API void recmap_writer_destroy(recmap_writer *writer);

/* The bytes before and after a payload in a TFRecord file. Use them to write to something that a
 * recmap_writer cannot write to, such as a pipe. */
typedef struct recmap_frame {
    uint8_t header[12];
    uint8_t footer[4];
} recmap_frame;

/* Returns the frame of a payload. Never fails. Cost: the CRC of the payload. */
RECMAP_API recmap_frame recmap_frame_of(const void *data, size_t size);

#ifdef __cplusplus
}
#endif
#endif
