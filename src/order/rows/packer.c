#include "order/rows/packer.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/core/bytes.h"
#include "base/core/error.h"

static bool allocate(struct packer *packer, size_t count) {
    packer->sorted = malloc(count * sizeof *packer->sorted);
    packer->spare = malloc(count * sizeof *packer->spare);
    packer->documents = malloc(count * sizeof *packer->documents);
    packer->lengths = malloc(count * sizeof *packer->lengths);
    packer->whole_ends = malloc(count * sizeof *packer->whole_ends);
    packer->parts = malloc(count * sizeof *packer->parts);
    return packer->sorted && packer->spare && packer->documents && packer->lengths &&
           packer->whole_ends && packer->parts &&
           free_rows_init(&packer->free_rows, packer->packing->size, count);
}

recmap_status packer_init(struct packer *packer, const struct packing *packing,
                          recmap_error *error) {
    *packer = (struct packer){.packing = packing};
    /* A group of a small data set needs no memory for more documents than there are. */
    size_t count = (size_t)min_u64(packing->group, packing->document_count);
    if (allocate(packer, count ? count : 1)) return RECMAP_OK;
    packer_deinit(packer);
    return fail_memory(error);
}

void packer_deinit(struct packer *packer) {
    free(packer->sorted);
    free(packer->spare);
    free(packer->documents);
    free(packer->lengths);
    free(packer->whole_ends);
    free(packer->parts);
    free_rows_deinit(&packer->free_rows);
}

uint64_t packing_group_count(const struct packing *packing) {
    return packing->document_count / packing->group +
           (packing->document_count % packing->group != 0);
}

static void read_documents(struct packer *packer, uint64_t group) {
    const struct packing *packing = packer->packing;
    uint64_t first = group * packing->group;
    uint32_t count = (uint32_t)min_u64(packing->group, packing->document_count - first);
    packer->document_count = count;
    for (uint32_t i = 0; i < count; i++) packer->documents[i] = first + i;
    permutation_at(&packing->documents, packer->documents, packer->documents, count);
    lengths_gather(packer->lengths, &packing->lengths, packer->documents, count);
}

/* The parts of one document: how many are whole rows, and the rest. */
struct document_parts {
    uint64_t whole;
    uint64_t rest;
};

static struct document_parts parts_of(const struct packing *packing, uint64_t length) {
    if (length < packing->size) return (struct document_parts){0, length};
    if (length == packing->size) return (struct document_parts){1, 0};
    switch (packing->long_documents) {
    case RECMAP_LONG_SPLIT:
        return (struct document_parts){length / packing->size, length % packing->size};
    case RECMAP_LONG_TRUNCATE: return (struct document_parts){1, 0};
    default: return (struct document_parts){0, 0};
    }
}

static void cut_documents(struct packer *packer) {
    const uint64_t size = packer->packing->size;
    uint64_t whole = 0, rests = 0;
    packer->part_count = 0;
    for (uint32_t i = 0; i < packer->document_count; i++) {
        struct document_parts cut = parts_of(packer->packing, packer->lengths[i]);
        whole += cut.whole;
        packer->whole_ends[i] = whole;
        assert(cut.rest < size);
        if (!cut.rest) continue;
        rests += cut.rest;
        packer->parts[packer->part_count++] =
            (struct packed_part){cut.whole * size, cut.rest, i, 0};
    }
    packer->elements = whole * size + rests;
}

/* Digits of the radix sort. */
enum { RADIX_BITS = 13, RADIX = 1 << RADIX_BITS };

/* One stable pass, by a digit of the difference between a whole row and the part: the longest parts
 * come first. */
static void sort_pass(uint32_t *destination, const uint32_t *unsorted, const struct packer *packer,
                      unsigned shift) {
    const uint64_t size = packer->packing->size;
    uint32_t starts[RADIX + 1];
    memset(starts, 0, sizeof starts);
    for (uint32_t i = 0; i < packer->part_count; i++)
        starts[((size - packer->parts[i].count) >> shift & (RADIX - 1)) + 1]++;
    for (int i = 0; i < RADIX; i++) starts[i + 1] += starts[i];
    for (uint32_t i = 0; i < packer->part_count; i++) {
        uint64_t lack = size - packer->parts[unsorted[i]].count;
        destination[starts[lack >> shift & (RADIX - 1)]++] = unsorted[i];
    }
}

static void sort_parts(struct packer *packer) {
    unsigned bits = bit_length(packer->packing->size - 1);
    for (uint32_t i = 0; i < packer->part_count; i++) packer->sorted[i] = i;
    for (unsigned shift = 0; shift < bits; shift += RADIX_BITS) {
        uint32_t *unsorted = packer->sorted;
        packer->sorted = packer->spare;
        packer->spare = unsorted;
        sort_pass(packer->sorted, unsorted, packer, shift);
    }
}

static recmap_status fit_parts(struct packer *packer, recmap_error *error) {
    struct free_rows *free_rows = &packer->free_rows;
    free_rows_clear(free_rows);
    packer->opened = 0;
    for (uint32_t i = 0; i < packer->part_count; i++) {
        struct packed_part *part = &packer->parts[packer->sorted[i]];
        uint64_t space;
        if (!free_rows_take(&part->row, &space, free_rows, part->count)) {
            part->row = packer->opened++;
            space = packer->packing->size;
        }
        assert(part->count <= space && part->row < packer->opened);
        space -= part->count;
        if (space && !free_rows_put(free_rows, part->row, space)) return fail_memory(error);
    }
    return RECMAP_OK;
}

recmap_status packer_pack(struct packer *packer, uint64_t group, recmap_error *error) {
    read_documents(packer, group);
    cut_documents(packer);
    sort_parts(packer);
    return fit_parts(packer, error);
}

uint64_t packer_whole_count(const struct packer *packer) {
    return packer->document_count ? packer->whole_ends[packer->document_count - 1] : 0;
}

uint64_t packer_row_count(const struct packer *packer) {
    return packer_whole_count(packer) + packer->opened;
}
