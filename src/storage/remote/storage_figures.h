/* What a storage has requested and how long it took, and the gap that follows from it. */
#ifndef RECMAP_STORAGE_REMOTE_STORAGE_FIGURES_H
#define RECMAP_STORAGE_REMOTE_STORAGE_FIGURES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <recmap/storage.h>

#include "storage/protocol/latency.h"
#include "storage/protocol/request_gap.h"

struct source_read;

/* Members are as in recmap_storage_statistics. */
struct storage_figures {
    uint64_t request_count;
    uint64_t retry_count;
    uint64_t hedge_count;
    uint64_t byte_count;
    uint64_t used_byte_count;
    struct latency latency;
    struct request_gap gap;
};

/* A request that was answered. */
struct answer_times {
    uint64_t size;       /* bytes of its body */
    uint64_t first_ns;   /* until its first byte */
    uint64_t last_ns;    /* until its last byte */
    bool is_undisturbed; /* the only attempt, of a known size: a sample for the gap */
};

enum request_kind { REQUEST_FIRST, REQUEST_REPEATED, REQUEST_HEDGED };

void storage_figures_init(struct storage_figures *figures);

/* Any thread may call the functions below. */

/* Counts a request that is sent. */
void storage_count_request(recmap_storage *storage, enum request_kind kind);

/* Counts the bytes of reads that objects are requested for. */
void storage_count_reads(recmap_storage *storage, const struct source_read *reads, size_t count);

void storage_note_answer(recmap_storage *storage, const struct answer_times *times);

/* The gap that the caller has set, or else the measured one. */
uint64_t storage_gap(recmap_storage *storage);

/* Adds the figures of a storage to others. The gap is the largest one. */
void storage_add_figures(struct storage_figures *total, recmap_storage *storage);

/* The same figures for callers. */
recmap_storage_statistics storage_figures_show(const struct storage_figures *figures);

#endif
