#include "order/rows/lengths.h"

#include <inttypes.h>

#include "base/core/bytes.h"
#include "base/core/error.h"

recmap_status lengths_total(uint64_t *total, const struct lengths *lengths, recmap_error *error) {
    const recmap_counts *counts = lengths->counts;
    uint64_t room = RECMAP_COUNTS_MAX - counts->total;
    if (lengths->add && counts->filled > room / lengths->add)
        return fail(error, RECMAP_INVALID,
                    "%" PRIu64 " documents with %" PRIu64
                    " added elements each have more than 2^62 elements",
                    counts->filled, lengths->add);
    *total = counts->total + counts->filled * lengths->add;
    return RECMAP_OK;
}

static void add_to_filled(uint64_t *values, uint64_t add, size_t count) {
    for (size_t i = 0; i < count; i++)
        values[i] = values[i] ? min_u64(values[i], RECMAP_COUNTS_MAX) + add : 0;
}

void lengths_gather(uint64_t *values, const struct lengths *lengths, const uint64_t *documents,
                    size_t count) {
    lengths->counts->source->gather(values, lengths->counts, documents, count);
    add_to_filled(values, lengths->add, count);
}

void lengths_run(uint64_t *values, const struct lengths *lengths, uint64_t first, size_t count) {
    lengths->counts->source->run(values, lengths->counts, first, count);
    add_to_filled(values, lengths->add, count);
}
