/* A file that can be read, but not mapped, like an object in a remote store. */
#ifndef RECMAP_TESTS_UNIT_INDEX_SCAN_REMOTE_FILE_H
#define RECMAP_TESTS_UNIT_INDEX_SCAN_REMOTE_FILE_H

#include <stdatomic.h>
#include <stdbool.h>

#include "base/os/source.h"
#include "format/shards/shard_source.h"

/* What happens to the reads of all remote files of a scan, and what was read. Shared by threads. */
struct remote_reads {
    bool flips;            /* the first read of the middle byte returns it with a flipped bit */
    uint64_t failing_read; /* this read of data fails, counted from 1; 0: none does */
    unsigned delay_ms;     /* of reads that are made together */
    unsigned meeting;      /* a read of data waits until so many threads read at the same time */
    atomic_bool has_met;
    atomic_uint waiting;
    atomic_uint_fast64_t call_count;   /* of reads that are made together */
    atomic_uint_fast64_t together_max; /* bytes of reads that are made together */
    atomic_bool was_flipped;
    atomic_uint_fast64_t count; /* of reads of data */
    atomic_uint_fast64_t size;  /* of all reads */
};

/* For scan_options.open. `context` is a struct remote_reads. */
recmap_status remote_file_open(struct source **source, void *context, size_t shard_index,
                               const char *name, const struct remote_identity *expected,
                               recmap_error *error);

#endif
