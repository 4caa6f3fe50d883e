#include "index/build/shard_output.h"

#include <stdlib.h>
#include <string.h>

#include "base/core/bytes.h"
#include "base/core/error.h"
#include "base/os/team.h"
#include "format/deflate/deflate.h"

/* With several threads, each has two blocks, so that one that is slow to start delays the others
 * less. */
enum { BLOCKS_PER_THREAD = 2 };

/* Blocks that are deflated together. */
struct deflating {
    const uint8_t *data;
    size_t size;
    unsigned block_count;
    uint8_t *out;  /* DEFLATE_BLOCK_ROOM for each block */
    size_t *sizes; /* of the deflated blocks; 0: without memory */
};

static recmap_status write_bytes(struct shard_output *output, const uint8_t *bytes, size_t size,
                                 recmap_error *error) {
    recmap_status status =
        file_write_at(output->file.fd, bytes, size, output->written, output->path, error);
    output->written += size;
    return status;
}

recmap_status shard_output_create(struct shard_output *output, const char *path,
                                  enum compression compression, unsigned thread_count,
                                  enum temporary_leftovers leftovers, recmap_error *error) {
    output->path = path;
    output->compression = compression;
    output->thread_count = thread_count;
    bool is_parallel = compression != COMPRESSION_NONE && thread_count > 1;
    output->capacity = DEFLATE_BLOCK_SIZE;
    if (is_parallel) output->capacity *= (size_t)thread_count * BLOCKS_PER_THREAD;
    output->buffer = malloc(output->capacity);
    if (!output->buffer) return fail_memory(error);
    RETURN_IF_FAILED(temporary_create(&output->file, path, leftovers, error));
    if (compression == COMPRESSION_NONE) return RECMAP_OK;
    uint8_t header[DEFLATE_EDGE_ROOM];
    output->sum = deflate_sum_begin(compression);
    return write_bytes(output, header, deflate_begin(header, compression), error);
}

void shard_output_discard(struct shard_output *output) {
    temporary_discard(&output->file);
    free(output->buffer);
}

recmap_status shard_output_check_process(const struct shard_output *output, recmap_error *error) {
    if (temporary_is_own(&output->file)) return RECMAP_OK;
    fail(error, RECMAP_INVALID, "the writer belongs to the process that forked this one");
    fail_file(error, output->path);
    fail_advise(error, "write another file in each process");
    return RECMAP_INVALID;
}

uint64_t shard_output_size(const struct shard_output *output) {
    return output->flushed + output->buffered;
}

static void deflate_part(void *context, unsigned phase, unsigned part, bool is_caller) {
    (void)phase;
    (void)is_caller;
    struct deflating *deflating = context;
    size_t begin = (size_t)part * DEFLATE_BLOCK_SIZE;
    size_t size = (size_t)min_u64(DEFLATE_BLOCK_SIZE, deflating->size - begin);
    deflating->sizes[part] = deflate_block(deflating->out + (size_t)part * DEFLATE_BLOCK_ROOM,
                                           deflating->data + begin, size);
}

static unsigned end_deflating(void *context, unsigned phase, bool is_caller) {
    (void)context;
    (void)is_caller;
    return phase + 1;
}

static recmap_status write_deflated(struct shard_output *output, const struct deflating *deflating,
                                    recmap_error *error) {
    for (unsigned i = 0; i < deflating->block_count; i++) {
        if (!deflating->sizes[i]) return fail_memory(error);
        RETURN_IF_FAILED(write_bytes(output, deflating->out + (size_t)i * DEFLATE_BLOCK_ROOM,
                                     deflating->sizes[i], error));
    }
    return RECMAP_OK;
}

/* Helpers work for a writer only while its buffer is deflated, so a fork between two records loses
 * nothing of it. */
static recmap_status deflate_buffer(struct shard_output *output, recmap_error *error) {
    struct deflating deflating = {.data = output->buffer, .size = output->buffered};
    deflating.block_count = (unsigned)((output->buffered - 1) / DEFLATE_BLOCK_SIZE + 1);
    deflating.out = malloc((size_t)deflating.block_count * DEFLATE_BLOCK_ROOM);
    deflating.sizes = calloc(deflating.block_count, sizeof *deflating.sizes);
    recmap_status status = RECMAP_OK;
    if (deflating.out && deflating.sizes) {
        struct team_job job = {1,   deflating.block_count, &deflating, deflate_part, end_deflating,
                               NULL};
        team_run(&job, output->thread_count);
        output->sum =
            deflate_sum(output->sum, output->compression, output->buffer, output->buffered);
        status = write_deflated(output, &deflating, error);
    } else {
        status = fail_memory(error);
    }
    free(deflating.sizes);
    free(deflating.out);
    return status;
}

static recmap_status flush(struct shard_output *output, recmap_error *error) {
    RETURN_IF_FAILED(shard_output_check_process(output, error));
    if (!output->buffered) return RECMAP_OK;
    recmap_status status = output->compression == COMPRESSION_NONE
                               ? write_bytes(output, output->buffer, output->buffered, error)
                               : deflate_buffer(output, error);
    output->flushed += output->buffered;
    output->buffered = 0;
    return status;
}

/* Writes a plain part that is larger than the buffer without a copy. */
static recmap_status write_directly(struct shard_output *output, const void *data, size_t size,
                                    recmap_error *error) {
    RETURN_IF_FAILED(flush(output, error));
    recmap_status status = write_bytes(output, data, size, error);
    output->flushed += size;
    return status;
}

/* The buffer is deflated only when it is full: where blocks end must not depend on the sizes of the
 * records. */
recmap_status shard_output_append(struct shard_output *output, const void *data, size_t size,
                                  recmap_error *error) {
    const uint8_t *bytes = data;
    if (output->compression == COMPRESSION_NONE && size > output->capacity)
        return write_directly(output, data, size, error);
    while (size) {
        size_t part = (size_t)min_u64(size, output->capacity - output->buffered);
        memcpy(output->buffer + output->buffered, bytes, part);
        output->buffered += part;
        bytes += part;
        size -= part;
        if (output->buffered == output->capacity) RETURN_IF_FAILED(flush(output, error));
    }
    return RECMAP_OK;
}

recmap_status shard_output_finish(struct shard_output *output, recmap_error *error) {
    RETURN_IF_FAILED(flush(output, error));
    if (output->compression != COMPRESSION_NONE) {
        uint8_t end[DEFLATE_EDGE_ROOM];
        size_t size = deflate_end(end, output->compression, output->sum, output->flushed);
        RETURN_IF_FAILED(write_bytes(output, end, size, error));
    }
    return file_sync(output->file.fd, output->path, error);
}
