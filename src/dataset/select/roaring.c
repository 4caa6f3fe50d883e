#include "dataset/select/roaring.h"

#include <assert.h>
#include <string.h>

#include "base/core/bytes.h"

/* A bucket holds the numbers with the same upper 32 bits, as a bitmap of 32-bit integers. That
 * consists of containers for the numbers with the same 16 bits after these: a list of the lower 16
 * bits, a map of 2^16 bits, or, from other writers, a list of runs. */
enum {
    COOKIE = 12346,
    COOKIE_WITH_RUNS = 12347,
    LIST_MAX = 4096, /* a longer list is larger than a map */
    MAP_SIZE = 8192,
    DESCRIPTION_SIZE = 4, /* of a container: key and cardinality - 1 */
    OFFSET_SIZE = 4,
    OFFSETS_FROM = 4 /* with runs, fewer containers have no table of offsets */
};

/* ---- Writing. Containers are never written as runs. */

/* Numbers that share all bits above the lowest `shift`. */
static size_t group_size(const uint64_t *numbers, size_t count, unsigned shift) {
    assert(count > 0);
    size_t size = 1;
    while (size < count && numbers[size] >> shift == numbers[0] >> shift) size++;
    return size;
}

static size_t container_size(size_t cardinality) {
    return cardinality <= LIST_MAX ? 2 * cardinality : MAP_SIZE;
}

/* The size of the bitmap of one bucket, and how many containers it has. */
static size_t bitmap_size(size_t *containers, const uint64_t *numbers, size_t count) {
    size_t size = 8;
    *containers = 0;
    for (size_t i = 0; i < count; ++*containers) {
        size_t cardinality = group_size(numbers + i, count - i, 16);
        size += DESCRIPTION_SIZE + OFFSET_SIZE + container_size(cardinality);
        i += cardinality;
    }
    return size;
}

size_t roaring_size(const uint64_t *numbers, size_t count) {
    size_t size = 8;
    for (size_t i = 0; i < count;) {
        size_t containers, bucket = group_size(numbers + i, count - i, 32);
        size += 4 + bitmap_size(&containers, numbers + i, bucket);
        i += bucket;
    }
    return size;
}

/* A container takes at most a map or 4 bytes for each number, which runs of one number take, and
 * what describes it; a bucket takes its key and two words more. */
uint64_t roaring_size_max(uint64_t count, uint64_t limit) {
    enum { RUN_SIZE = 4, BUCKET_EXTRA = 12, CONTAINER_EXTRA = DESCRIPTION_SIZE + OFFSET_SIZE + 3 };
    uint64_t containers = min_u64(count, limit / 65536 + 1), numbers, maps, size;
    uint64_t buckets = min_u64(containers, (limit >> 32) + 1);
    if (__builtin_mul_overflow(count, RUN_SIZE, &numbers) ||
        __builtin_mul_overflow(containers, CONTAINER_EXTRA + MAP_SIZE, &maps) ||
        __builtin_mul_overflow(buckets, BUCKET_EXTRA, &size) ||
        __builtin_add_overflow(size, numbers, &size) || __builtin_add_overflow(size, maps, &size) ||
        __builtin_add_overflow(size, 8, &size))
        return UINT64_MAX;
    return size;
}

static void pack_container(uint8_t *bytes, const uint64_t *numbers, size_t cardinality) {
    assert(cardinality > 0 && numbers[0] >> 16 == numbers[cardinality - 1] >> 16);
    if (cardinality <= LIST_MAX) {
        for (size_t i = 0; i < cardinality; i++) store16(bytes + 2 * i, (uint16_t)numbers[i]);
        return;
    }
    memset(bytes, 0, MAP_SIZE);
    for (size_t i = 0; i < cardinality; i++) {
        uint16_t low = (uint16_t)numbers[i];
        bytes[low >> 3] |= (uint8_t)(1u << (low & 7));
    }
}

/* Returns the end of the bitmap. */
static uint8_t *pack_bitmap(uint8_t *bytes, const uint64_t *numbers, size_t count) {
    size_t containers;
    bitmap_size(&containers, numbers, count);
    store32(bytes, COOKIE);
    store32(bytes + 4, (uint32_t)containers);
    uint8_t *description = bytes + 8, *offset = description + DESCRIPTION_SIZE * containers;
    uint8_t *container = offset + OFFSET_SIZE * containers;
    for (size_t i = 0; i < count;) {
        size_t cardinality = group_size(numbers + i, count - i, 16);
        store16(description, (uint16_t)(numbers[i] >> 16));
        store16(description + 2, (uint16_t)(cardinality - 1));
        store32(offset, (uint32_t)(container - bytes));
        pack_container(container, numbers + i, cardinality);
        description += DESCRIPTION_SIZE;
        offset += OFFSET_SIZE;
        container += container_size(cardinality);
        i += cardinality;
    }
    return container;
}

void roaring_pack(uint8_t *bytes, const uint64_t *numbers, size_t count) {
    uint64_t buckets = 0;
    uint8_t *next = bytes + 8;
    for (size_t i = 0; i < count; buckets++) {
        size_t bucket = group_size(numbers + i, count - i, 32);
        store32(next, (uint32_t)(numbers[i] >> 32));
        next = pack_bitmap(next + 4, numbers + i, bucket);
        i += bucket;
    }
    assert(next == bytes + roaring_size(numbers, count));
    store64(bytes, buckets);
}

/* ---- Reading, from untrusted bytes. */

struct source {
    const uint8_t *bytes;
    size_t left;
    uint64_t *numbers;
    size_t count, capacity;
    uint64_t limit; /* numbers are below it */
};

static const uint8_t *take(struct source *source, size_t size) {
    if (size > source->left) return NULL;
    const uint8_t *bytes = source->bytes;
    source->bytes += size;
    source->left -= size;
    return bytes;
}

/* Numbers must ascend, so that a set has one order, and every number counts once. */
static bool add(struct source *source, uint64_t number) {
    if (source->count == source->capacity || number >= source->limit) return false;
    if (source->count && number <= source->numbers[source->count - 1]) return false;
    source->numbers[source->count++] = number;
    return true;
}

static bool unpack_list(struct source *source, uint64_t base, size_t cardinality) {
    const uint8_t *values = take(source, 2 * cardinality);
    for (size_t i = 0; values && i < cardinality; i++)
        if (!add(source, base + load16(values + 2 * i))) return false;
    return values != NULL;
}

static bool unpack_map(struct source *source, uint64_t base, size_t cardinality) {
    const uint8_t *map = take(source, MAP_SIZE);
    size_t before = source->count;
    for (size_t i = 0; map && i < MAP_SIZE / 8; i++)
        for (uint64_t word = load64(map + 8 * i); word; word &= word - 1)
            if (!add(source, base + 64 * i + (unsigned)__builtin_ctzll(word))) return false;
    return map && source->count - before == cardinality;
}

static bool unpack_runs(struct source *source, uint64_t base, size_t cardinality) {
    const uint8_t *size = take(source, 2);
    if (!size) return false;
    size_t runs = load16(size), before = source->count;
    const uint8_t *run = take(source, 4 * runs);
    for (size_t i = 0; run && i < runs; i++, run += 4) {
        uint32_t start = load16(run), length = load16(run + 2);
        if (start + length > UINT16_MAX) return false;
        for (uint32_t k = 0; k <= length; k++)
            if (!add(source, base + start + k)) return false;
    }
    return run && source->count - before == cardinality;
}

struct bitmap_header {
    size_t containers;
    const uint8_t *runs; /* a bit for each container that is a list of runs; or NULL */
    const uint8_t *descriptions;
    const uint8_t *offsets; /* or NULL */
};

/* The header has two forms. With runs, the cookie holds the number of containers and a bit for each
 * tells whether it is a list of runs; offsets are then left out for few containers. Without runs,
 * the number follows the cookie and offsets are always stored. */
static bool open_bitmap(struct bitmap_header *header, struct source *source) {
    *header = (struct bitmap_header){0};
    const uint8_t *cookie = take(source, 4);
    if (!cookie) return false;
    if ((load32(cookie) & 0xffff) == COOKIE_WITH_RUNS) {
        header->containers = (load32(cookie) >> 16) + 1;
        header->runs = take(source, (header->containers + 7) / 8);
        if (!header->runs) return false;
    } else {
        const uint8_t *size = load32(cookie) == COOKIE ? take(source, 4) : NULL;
        if (!size) return false;
        header->containers = load32(size);
    }
    if (header->containers > 1 << 16) return false;
    header->descriptions = take(source, DESCRIPTION_SIZE * header->containers);
    if (!header->descriptions) return false;
    if (header->runs && header->containers < OFFSETS_FROM) return true;
    header->offsets = take(source, OFFSET_SIZE * header->containers);
    return header->offsets != NULL;
}

/* Containers must be stored in order and without gaps, so offsets are only compared. */
static bool unpack_bitmap(struct source *source, uint64_t high) {
    const uint8_t *start = source->bytes;
    struct bitmap_header header;
    if (!open_bitmap(&header, source)) return false;
    for (size_t i = 0; i < header.containers; i++) {
        const uint8_t *description = header.descriptions + DESCRIPTION_SIZE * i;
        uint64_t base = high << 32 | (uint64_t)load16(description) << 16;
        size_t cardinality = load16(description + 2) + (size_t)1;
        if (header.offsets &&
            load32(header.offsets + OFFSET_SIZE * i) != (uint32_t)(source->bytes - start))
            return false;
        bool has_runs = header.runs && (header.runs[i / 8] >> (i % 8) & 1);
        bool is_good = has_runs                  ? unpack_runs(source, base, cardinality)
                       : cardinality <= LIST_MAX ? unpack_list(source, base, cardinality)
                                                 : unpack_map(source, base, cardinality);
        if (!is_good) return false;
    }
    return true;
}

bool roaring_unpack(uint64_t *numbers, size_t count, uint64_t limit, const uint8_t *bytes,
                    size_t size) {
    struct source source = {
        .bytes = bytes, .left = size, .numbers = numbers, .capacity = count, .limit = limit};
    const uint8_t *bucket_count = take(&source, 8);
    uint64_t buckets = bucket_count ? load64(bucket_count) : 0;
    for (uint64_t i = 0; bucket_count && i < buckets; i++) {
        const uint8_t *high = take(&source, 4);
        if (!high || !unpack_bitmap(&source, load32(high))) return false;
    }
    return bucket_count && !source.left && source.count == count;
}
