/* The bytes of a shard that is being written: buffered, compressed if wanted, and written to its
 * temporary file. The bytes before compression are the shard's image. */
#ifndef RECMAP_INDEX_BUILD_SHARD_OUTPUT_H
#define RECMAP_INDEX_BUILD_SHARD_OUTPUT_H

#include "base/os/file.h"
#include "format/deflate/compression.h"

struct shard_output {
    struct temporary_file file;
    const char *path; /* for errors */
    enum compression compression;
    unsigned thread_count;
    uint8_t *buffer; /* of the image */
    size_t capacity;
    size_t buffered;
    uint64_t flushed; /* bytes of the image that left the buffer */
    uint64_t written; /* bytes in the file */
    uint32_t sum;     /* of the image, if it is compressed */
};

#define SHARD_OUTPUT_INIT                                                                          \
    { .file = TEMPORARY_FILE_INIT }

/* Creates the temporary file of `path`, which must outlive the output. With compression, blocks are
 * deflated on up to `thread_count` threads; the file does not depend on their number. Discard the
 * output also after an error. */
recmap_status shard_output_create(struct shard_output *output, const char *path,
                                  enum compression compression, unsigned thread_count,
                                  enum temporary_leftovers leftovers, recmap_error *error);

void shard_output_discard(struct shard_output *output);

/* After a fork, the child has a copy of the output whose descriptor refers to the parent's file.
 * Every write makes this check, so that the child cannot change the file. */
recmap_status shard_output_check_process(const struct shard_output *output, recmap_error *error);

/* The size of the image so far. */
uint64_t shard_output_size(const struct shard_output *output);

recmap_status shard_output_append(struct shard_output *output, const void *data, size_t size,
                                  recmap_error *error);

/* Writes what is left and syncs the file. Nothing may be appended afterwards. */
recmap_status shard_output_finish(struct shard_output *output, recmap_error *error);

#endif
