#include "dataset/long_records/record_sums.h"

#include <assert.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/core/bytes.h"
#include "base/core/crc32c.h"
#include "base/os/thread.h"

/* A record of 27 MB has 3.3 kB of checksums. */
enum { PLACES = 1024 };

struct kept_sums {
    uint64_t record;
    uint64_t size; /* of the payload */
    uint32_t crcs[];
};

/* A record has one place and evicts what was there. */
struct record_sums {
    struct kept_sums *places[PLACES]; /* process lock */
};

struct record_sums *record_sums_create(void) {
    return calloc(1, sizeof(struct record_sums));
}

void record_sums_destroy(struct record_sums *sums) {
    for (size_t i = 0; sums && i < PLACES; i++) free(sums->places[i]);
    free(sums);
}

static struct kept_sums **place_of(struct record_sums *sums, uint64_t record) {
    return &sums->places[(size_t)(record * UINT64_C(0x9e3779b97f4a7c15) >> 32) % PLACES];
}

static size_t block_count(uint64_t size) {
    return (size_t)(size / SUMS_BLOCK_SIZE + (size % SUMS_BLOCK_SIZE != 0));
}

static void sum_blocks(uint32_t *crcs, const uint8_t *bytes, uint64_t size) {
    for (uint64_t done = 0; done < size; done += SUMS_BLOCK_SIZE)
        *crcs++ = crc32c(bytes + done, (size_t)min_u64(SUMS_BLOCK_SIZE, size - done));
}

void record_sums_keep(struct record_sums *sums, uint64_t record, const uint8_t *payload,
                      uint64_t size) {
    struct kept_sums *entry = malloc(sizeof *entry + block_count(size) * sizeof *entry->crcs);
    if (!entry) return;
    entry->record = record;
    entry->size = size;
    sum_blocks(entry->crcs, payload, size);
    struct kept_sums **place = place_of(sums, record);
    process_lock();
    struct kept_sums *evicted = *place;
    *place = entry;
    process_unlock();
    free(evicted);
}

bool record_sums_has(struct record_sums *sums, uint64_t record, uint64_t size) {
    process_lock();
    const struct kept_sums *entry = *place_of(sums, record);
    bool has = entry && entry->record == record && entry->size == size;
    process_unlock();
    return has;
}

static bool are_kept(struct record_sums *sums, uint64_t record, const uint32_t *crcs,
                     uint64_t begin, uint64_t end) {
    size_t first = (size_t)(begin / SUMS_BLOCK_SIZE);
    process_lock();
    const struct kept_sums *entry = *place_of(sums, record);
    bool are = entry && entry->record == record && end <= entry->size &&
               (end == entry->size || end % SUMS_BLOCK_SIZE == 0) &&
               !memcmp(crcs, entry->crcs + first, block_count(end - begin) * sizeof *crcs);
    process_unlock();
    return are;
}

bool record_sums_check(struct record_sums *sums, uint64_t record, const uint8_t *bytes,
                       uint64_t begin, uint64_t end) {
    assert(begin < end && begin % SUMS_BLOCK_SIZE == 0);
    uint32_t *crcs = malloc(block_count(end - begin) * sizeof *crcs);
    if (!crcs) return false;
    sum_blocks(crcs, bytes, end - begin);
    bool is_good = are_kept(sums, record, crcs, begin, end);
    free(crcs);
    return is_good;
}
