#include "order/counts/counts.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/core/bytes.h"
#include "base/core/error.h"
#include "base/core/interrupt.h"
#include "base/core/plural.h"

recmap_counts *recmap_counts_retain(recmap_counts *counts) {
    atomic_fetch_add_explicit(&counts->references, 1, memory_order_relaxed);
    return counts;
}

void recmap_counts_release(recmap_counts *counts) {
    if (!counts) return;
    assert(atomic_load(&counts->references) > 0);
    if (atomic_fetch_sub_explicit(&counts->references, 1, memory_order_acq_rel) != 1) return;
    counts->source->destroy(counts);
}

uint64_t recmap_counts_record_count(const recmap_counts *counts) {
    return counts->record_count;
}

uint64_t recmap_counts_total(const recmap_counts *counts) {
    return counts->total;
}

uint64_t recmap_counts_longest(const recmap_counts *counts) {
    return counts->longest;
}

recmap_status recmap_counts_read(uint64_t *values, const recmap_counts *counts, uint64_t first,
                                 size_t count, recmap_error *error) {
    if (!bytes_fit(first, count, counts->record_count))
        return fail(error, RECMAP_INVALID,
                    "%zu count%s from record %" PRIu64 ": there %s %" PRIu64 " record%s", count,
                    plural(count), first, counts->record_count == 1 ? "is" : "are",
                    counts->record_count, plural(counts->record_count));
    counts->source->run(values, counts, first, count);
    return RECMAP_OK;
}

/* Counts that are read at a time. */
enum { STRETCH = 1024 };

static recmap_status add_count(recmap_counts *counts, uint64_t record, uint64_t count,
                               recmap_error *error) {
    if (count > RECMAP_COUNTS_MAX || counts->total > RECMAP_COUNTS_MAX - count) {
        fail(error, RECMAP_INVALID,
             "the count of record %" PRIu64 " is %" PRIu64
             ": a count, and the sum of all counts, is at most 2^62",
             record, count);
        fail_at(error, NULL, record, RECMAP_NO_OFFSET);
        return RECMAP_INVALID;
    }
    counts->total += count;
    counts->filled += count > 0;
    if (count > counts->longest) counts->longest = count;
    return RECMAP_OK;
}

static recmap_status read_all(recmap_counts *counts, XXH3_state_t *hash, recmap_error *error) {
    uint64_t values[STRETCH];
    for (uint64_t first = 0; first < counts->record_count; first += STRETCH) {
        size_t here = (size_t)min_u64(STRETCH, counts->record_count - first);
        counts->source->run(values, counts, first, here);
        for (size_t i = 0; i < here; i++) {
            RETURN_IF_FAILED(add_count(counts, first + i, values[i], error));
            store64(&values[i], values[i]); /* little-endian, on every machine */
        }
        XXH3_128bits_update(hash, values, here * sizeof *values);
        RETURN_IF_FAILED(interrupt_check(thread_interrupt(), sizeof values, error));
    }
    return RECMAP_OK;
}

recmap_status counts_complete(recmap_counts *counts, recmap_error *error) {
    XXH3_state_t *hash = XXH3_createState();
    if (!hash) return fail_memory(error);
    XXH3_128bits_reset(hash);
    counts->total = counts->longest = counts->filled = 0;
    recmap_status status = read_all(counts, hash, error);
    XXH128_canonical_t canonical;
    XXH128_canonicalFromHash(&canonical, XXH3_128bits_digest(hash));
    memcpy(counts->digest, canonical.digest, COUNTS_DIGEST_SIZE);
    XXH3_freeState(hash);
    return status;
}
