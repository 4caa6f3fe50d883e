#define _GNU_SOURCE
#include "remote_file.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <cmocka.h>

/* Detecting the compression reads this many bytes. */
enum { DETECTION_SIZE = 16 };

struct remote_file {
    struct source source; /* first, so that a source is its file */
    struct source *file;
    struct remote_reads *reads;
};

static bool fails(const struct remote_file *remote, const struct source_read *read) {
    struct remote_reads *reads = remote->reads;
    if (read->size <= DETECTION_SIZE && !read->offset) return false;
    return atomic_fetch_add(&reads->count, 1) + 1 == reads->failing_read;
}

static recmap_status fail_read(recmap_error *error) {
    error->status = RECMAP_IO;
    snprintf(error->message, sizeof error->message, "the store has gone");
    return RECMAP_IO;
}

static void flip(const struct remote_file *remote, const struct source_read *read) {
    struct remote_reads *reads = remote->reads;
    uint64_t middle = remote->source.stat.size / 2;
    if (!reads->flips || (read->size <= DETECTION_SIZE && !read->offset)) return;
    if (middle < read->offset || middle >= read->offset + read->size) return;
    if (atomic_exchange(&reads->was_flipped, true)) return;
    ((uint8_t *)read->data)[middle - read->offset] ^= 4;
}

/* The threads that read meet each other, or give up after ten seconds. */
static void meet(struct remote_reads *reads) {
    enum { TRIES = 10000 };
    const struct timespec pause = {.tv_nsec = 1000000};
    if (atomic_fetch_add(&reads->waiting, 1) + 1 >= reads->meeting)
        atomic_store(&reads->has_met, true);
    for (int i = 0; i < TRIES && !atomic_load(&reads->has_met); i++) nanosleep(&pause, NULL);
    atomic_fetch_sub(&reads->waiting, 1);
}

static void wait_together(const struct source_read *read, size_t count) {
    struct remote_reads *reads = ((const struct remote_file *)read->source)->reads;
    const struct timespec delay = {.tv_nsec = reads->delay_ms * 1000000l};
    uint64_t size = 0;
    for (size_t i = 0; i < count; i++) size += read[i].size;
    uint64_t largest = atomic_load(&reads->together_max);
    atomic_fetch_add(&reads->call_count, 1);
    while (largest < size && !atomic_compare_exchange_weak(&reads->together_max, &largest, size)) {
    }
    if (read->size <= DETECTION_SIZE && !read->offset) return;
    if (reads->delay_ms) nanosleep(&delay, NULL);
    if (reads->meeting) meet(reads);
}

static recmap_status read_remote(size_t *failed_index, const struct source_read *reads,
                                 size_t count, struct interrupt *interrupt, recmap_error *error) {
    (void)interrupt;
    wait_together(reads, count);
    for (*failed_index = 0; *failed_index < count; ++*failed_index) {
        const struct source_read *read = &reads[*failed_index];
        const struct remote_file *remote = (const struct remote_file *)read->source;
        if (fails(remote, read)) return fail_read(error);
        recmap_status status =
            source_read(remote->file, read->data, read->size, read->offset, error);
        if (status != RECMAP_OK) return status;
        atomic_fetch_add(&remote->reads->size, read->size);
        flip(remote, read);
    }
    return RECMAP_OK;
}

static void close_remote(struct source *source) {
    source_close(((struct remote_file *)source)->file);
    free(source);
}

recmap_status remote_file_open(struct source **source, void *context, size_t shard_index,
                               const char *name, const struct remote_identity *expected,
                               recmap_error *error) {
    static const struct source_table table = {read_remote, close_remote, NULL, NULL, NULL};
    (void)shard_index;
    struct remote_file *remote = calloc(1, sizeof *remote);
    assert_non_null(remote);
    remote->reads = context;
    recmap_status status = shard_source_open(&remote->file, name, NULL, expected, error);
    if (status == RECMAP_OK) {
        remote->source = (struct source){&table, -1, name, "", remote->file->stat};
        *source = &remote->source;
    } else {
        free(remote);
    }
    return status;
}
