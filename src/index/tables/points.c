#include "index/tables/points.h"

#include <assert.h>
#include <stdlib.h>

#include <isa-l/igzip_lib.h>

#include "base/core/array.h"
#include "base/core/bytes.h"
#include "base/core/search.h"

enum { VALUE_HEADER_SIZE = 8, ENTRY_SIZE = 24, CHECK_SIZE = 4 };

void points_deinit(struct point_list *points) {
    for (size_t i = 0; points->owns && i < points->count; i++)
        free((uint8_t *)points->at[i].packed);
    free(points->at);
    free(points->checks);
    free(points->packer);
    *points = (struct point_list){0};
}

static bool add(struct point_list *points, const struct stored_point *point) {
    if (!array_reserve(&points->at, &points->capacity, points->count + 1, sizeof *points->at))
        return false;
    points->at[points->count++] = *point;
    points->packed_size += point->packed_size;
    return true;
}

/* Memory for deflating windows: half a MiB, allocated once per list. */
struct window_packer {
    struct isal_zstream stream;
    uint8_t level_memory[ISAL_DEF_LVL3_DEFAULT];
    uint8_t packed[INFLATE_WINDOW_MAX + 256];
};

/* Compresses to raw deflate. A window that cannot be compressed is stored, which adds a few bytes.
 * Level 3, because levels 1 and 2 of ISA-L 2.30 hash a part of the address of the stream where they
 * should hash the third byte: what they write depends on where memory lies. */
static uint8_t *pack(uint32_t *size, struct window_packer *packer, const struct seek_point *point) {
    struct isal_zstream *stream = &packer->stream;
    isal_deflate_stateless_init(stream);
    stream->level = 3;
    stream->level_buf = packer->level_memory;
    stream->level_buf_size = sizeof packer->level_memory;
    stream->end_of_stream = 1;
    stream->next_in = (uint8_t *)point->window;
    stream->avail_in = point->window_size;
    stream->next_out = packer->packed;
    stream->avail_out = sizeof packer->packed;
    if (isal_deflate_stateless(stream) != COMP_OK) return NULL;
    uint32_t packed_size = sizeof packer->packed - stream->avail_out;
    uint8_t *packed = malloc(packed_size);
    if (!packed) return NULL;
    memcpy(packed, packer->packed, packed_size);
    *size = packed_size;
    return packed;
}

bool points_add(struct point_list *points, const struct seek_point *point) {
    assert(point->window_size <= INFLATE_WINDOW_MAX);
    struct stored_point stored = {
        .bit = point->bit, .offset = point->offset, .window_size = point->window_size};
    if (point->window_size) {
        if (!points->packer) points->packer = calloc(1, sizeof *points->packer);
        if (!points->packer) return false;
        stored.packed = pack(&stored.packed_size, points->packer, point);
        if (!stored.packed) return false;
    }
    points->owns = true;
    if (add(points, &stored)) return true;
    free((uint8_t *)stored.packed);
    return false;
}

void points_finish(struct point_list *points, uint64_t image_size) {
    free(points->packer);
    points->packer = NULL;
    while (points->count && points->at[points->count - 1].offset >= image_size) {
        const struct stored_point *last = &points->at[--points->count];
        points->packed_size -= last->packed_size;
        if (points->owns) free((uint8_t *)last->packed);
    }
}

uint64_t points_size(const struct point_list *points) {
    return points->packed_size + (uint64_t)points->count * ENTRY_SIZE;
}

uint64_t span_check_count(uint64_t span_size) {
    return span_size ? (span_size - 1) / SPAN_CHECKED_SIZE + 1 : 1;
}

bool points_add_check(struct point_list *points, uint32_t check) {
    if (!array_reserve(&points->checks, &points->check_capacity, points->check_count + 1,
                       sizeof *points->checks))
        return false;
    points->checks[points->check_count++] = check;
    return true;
}

bool points_divide_checks(struct point_list *points, uint64_t image_size) {
    uint64_t begin = 0, first = 0;
    for (size_t i = 0; i < points->count; i++) {
        first += span_check_count(points->at[i].offset - begin);
        begin = points->at[i].offset;
        if (first >= points->check_count) return false;
        points->at[i].first_check = (size_t)first;
    }
    return first + span_check_count(image_size - begin) == points->check_count;
}

const uint32_t *points_checks(const struct point_list *points, size_t span_index) {
    assert(span_index <= points->count);
    return points->checks + (span_index ? points->at[span_index - 1].first_check : 0);
}

size_t points_value_count(uint64_t point_count) {
    return point_count ? (size_t)((point_count - 1) / POINTS_PER_VALUE + 1) : 1;
}

/* Writes the entries and, in parallel, the windows that follow all of them, with the checks in
 * between. An entry stores the end of its window; the start is the end of the previous one. */
uint8_t *points_encode(size_t *size, const struct point_list *points, size_t first, size_t count) {
    size_t windows = 0;
    for (size_t i = first; i < first + count; i++) windows += points->at[i].packed_size;
    size_t end_point = first + count;
    size_t first_check = first ? points->at[first].first_check : 0;
    size_t end_check = end_point < points->count ? points->at[end_point].first_check
                                                 : points->check_count;
    size_t checks_size = (end_check - first_check) * CHECK_SIZE;
    *size = VALUE_HEADER_SIZE + count * ENTRY_SIZE + checks_size + windows;
    uint8_t *bytes = malloc(*size);
    if (!bytes) return NULL;
    uint8_t *entry = bytes + VALUE_HEADER_SIZE, *check = entry + count * ENTRY_SIZE;
    uint8_t *window = check + checks_size;
    uint32_t end = 0;
    store32(bytes, (uint32_t)count);
    store32(bytes + 4, (uint32_t)(end_check - first_check));
    for (size_t i = first_check; i < end_check; i++, check += CHECK_SIZE)
        store32(check, points->checks[i]);
    for (size_t i = first; i < first + count; i++, entry += ENTRY_SIZE) {
        const struct stored_point *point = &points->at[i];
        if (point->packed_size) memcpy(window + end, point->packed, point->packed_size);
        end += point->packed_size;
        store64(entry, point->bit);
        store64(entry + 8, point->offset);
        store32(entry + 16, point->window_size);
        store32(entry + 20, end);
    }
    return bytes;
}

static bool is_valid(const struct stored_point *point, const struct point_list *points,
                     uint64_t file_size, uint64_t image_size) {
    const struct stored_point *previous = points->count ? &points->at[points->count - 1] : NULL;
    return point->bit / 8 < file_size && point->offset < image_size &&
           (!previous || (point->bit > previous->bit && point->offset > previous->offset)) &&
           point->window_size <= INFLATE_WINDOW_MAX && point->window_size <= point->offset &&
           !point->window_size == !point->packed_size;
}

/* Windows must follow each other without gaps and fill the value. After an error the list contains
 * the points decoded so far, which its owner releases. */
enum points_verdict points_decode(struct point_list *points, const uint8_t *data, size_t size,
                                  size_t count, uint64_t file_size, uint64_t image_size) {
    if (size < VALUE_HEADER_SIZE || load32(data) != count ||
        count > (size - VALUE_HEADER_SIZE) / ENTRY_SIZE)
        return POINTS_BAD;
    size_t windows_size = size - VALUE_HEADER_SIZE - count * ENTRY_SIZE;
    uint32_t check_count = load32(data + 4);
    if (check_count > windows_size / CHECK_SIZE) return POINTS_BAD;
    windows_size -= check_count * (size_t)CHECK_SIZE;
    const uint8_t *entry = data + VALUE_HEADER_SIZE, *checks = entry + count * ENTRY_SIZE;
    const uint8_t *windows = checks + check_count * (size_t)CHECK_SIZE;
    for (size_t i = 0; i < check_count; i++)
        if (!points_add_check(points, load32(checks + i * CHECK_SIZE))) return POINTS_NO_MEMORY;
    uint32_t begin = 0;
    for (size_t i = 0; i < count; i++, entry += ENTRY_SIZE) {
        uint32_t end = load32(entry + 20);
        if (end < begin || end > windows_size) return POINTS_BAD;
        struct stored_point point = {.bit = load64(entry),
                                     .offset = load64(entry + 8),
                                     .packed = windows + begin,
                                     .packed_size = end - begin,
                                     .window_size = load32(entry + 16)};
        if (!is_valid(&point, points, file_size, image_size)) return POINTS_BAD;
        if (!add(points, &point)) return POINTS_NO_MEMORY;
        begin = end;
    }
    return begin == windows_size ? POINTS_OK : POINTS_BAD;
}

size_t points_find(const struct point_list *points, uint64_t offset) {
    assert(offset < UINT64_MAX);
    if (!points->count) return SIZE_MAX;
    return search_below(&points->at->offset, sizeof *points->at, points->count, offset + 1) - 1;
}

enum points_verdict points_unpack(uint8_t *window, const struct stored_point *point) {
    if (!point->window_size) return POINTS_OK;
    struct inflate_state *state = calloc(1, sizeof *state); /* zeroed: see inflater_create */
    if (!state) return POINTS_NO_MEMORY;
    isal_inflate_init(state);
    state->next_in = (uint8_t *)point->packed;
    state->avail_in = point->packed_size;
    state->next_out = window;
    state->avail_out = INFLATE_WINDOW_MAX;
    int result = isal_inflate(state);
    bool is_good = result == ISAL_DECOMP_OK && state->block_state == ISAL_BLOCK_FINISH &&
                   INFLATE_WINDOW_MAX - state->avail_out == point->window_size;
    free(state);
    return is_good ? POINTS_OK : POINTS_BAD;
}
