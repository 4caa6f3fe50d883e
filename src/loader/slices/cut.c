#include "loader/slices/cut.h"

#include <assert.h>

#include <recmap/columns.h>

#include "base/core/bytes.h"
#include "parse/decode/list_decode.h"
#include "parse/decode/read_paths.h"
#include "parse/varints/skip_varints.h"

enum {
    BYTES_TAG = 1 << 3 | WIRE_BYTES,
    VARINT_SPACING = 4096, /* values between marks: about 1 us to skip */
    BYTES_SPACING = 16,
};

/* Values of the list, as a part of its bytes; of a feature list, steps. */
struct value_part {
    const uint8_t *data;
    size_t size;
    uint64_t count;
};

/* A step of a feature list is encoded as a bytes value is, and is an element. */
static bool has_bytes(const struct slot *slot) {
    return slot->is_list || (slot->list == RECMAP_TYPE_BYTES && !slot->raw);
}

static uint64_t values_per_element(const struct slice_plan *slice) {
    return slice->slot.is_list ? 1 : slice->stride;
}

/* The size of a value if all have one size, otherwise 0. */
static size_t fixed_size(const struct slot *slot) {
    if (has_bytes(slot)) return 0;
    if (slot->raw) return recmap_element_size(slot->element);
    return slot->list == RECMAP_TYPE_FLOAT ? 4 : 0;
}

/* The values of the stretch, in a list of values of one size. */
static bool find_fixed(struct value_part *part, const struct slice_plan *slice,
                       const struct slice_span *span, const struct stretch *stretch) {
    size_t element_size = (size_t)slice->stride * fixed_size(&slice->slot);
    if (stretch->total != span->size / element_size || span->size % element_size) return false;
    part->data = span->data + stretch->first * element_size;
    part->size = (size_t)stretch->count * element_size;
    part->count = stretch->count * slice->stride;
    return true;
}

/* Reads the next bytes value, with its tag. */
static bool next_bytes(struct wire *contents, struct wire *wire) {
    struct wire_trace trace;
    uint32_t tag;
    return wire_read_tag(&tag, wire, &trace) && tag == BYTES_TAG &&
           wire_read_bytes(contents, wire, &trace);
}

/* Returns the size of the first `count` bytes values, each with its tag. */
static size_t skip_bytes(const uint8_t *data, size_t size, uint64_t count) {
    struct wire list = {data, data + size}, value;
    for (; count; count--)
        if (wire_done(&list) || !next_bytes(&value, &list)) return SIZE_MAX;
    return (size_t)(list.at - data);
}

/* Where value `first` starts, or SIZE_MAX. */
static size_t find_value(const struct marked_list *list, uint64_t first,
                         const struct list_start *start, struct list_marks_cache *marks) {
    size_t offset = start ? (size_t)start->offset : 0;
    uint64_t value = start ? start->value : 0;
    if (!start && list->size >= LIST_MARKS_MIN_SIZE && first >= list->spacing &&
        !list_marks_find(&offset, &value, marks, list, first))
        return SIZE_MAX;
    assert(value <= first && offset <= list->size);
    size_t step = list->skip(list->data + offset, list->size - offset, first - value);
    return step == SIZE_MAX ? SIZE_MAX : offset + step;
}

/* The values of the stretch, in a list of values of any size. The end of the list is checked only
 * if the stretch reaches it: looking for it otherwise would cost as much as decoding the rest. */
static bool find_varied(struct value_part *part, const struct slice_plan *slice,
                        const struct stretch *stretch, const struct marked_list *list,
                        const struct list_start *start, struct list_marks_cache *marks) {
    bool has_end = stretch->first + stretch->count == stretch->total;
    uint64_t per_element = values_per_element(slice);
    size_t begin = 0, end = list->size;
    part->count = stretch->count * per_element;
    if (stretch->first) begin = find_value(list, stretch->first * per_element, start, marks);
    if (begin == SIZE_MAX) return false;
    if (!has_end) {
        end = list->skip(list->data + begin, list->size - begin, part->count);
        if (end == SIZE_MAX) return false;
        end += begin;
    }
    part->data = list->data + begin;
    part->size = end - begin;
    return true;
}

/* A list of values of any size, at `position` of a record. */
static struct marked_list list_of(const struct slot *slot, uint64_t record, uint64_t position,
                                  uint64_t size) {
    bool is_bytes = has_bytes(slot);
    return (struct marked_list){.record = record,
                                .position = position,
                                .size = (size_t)size,
                                .skip = is_bytes ? skip_bytes : skip_varints,
                                .spacing = is_bytes ? BYTES_SPACING : VARINT_SPACING};
}

static bool find_part(struct value_part *part, const struct slice_plan *slice,
                      const struct slice_span *span, const struct stretch *stretch,
                      const struct list_start *start, const recmap_record *record,
                      struct list_marks_cache *marks) {
    if (fixed_size(&slice->slot)) return find_fixed(part, slice, span, stretch);
    struct marked_list list =
        list_of(&slice->slot, record->number, (uint64_t)(span->data - record->data), span->size);
    list.data = span->data;
    if (start) list.size = (size_t)start->end;
    return find_varied(part, slice, stretch, &list, start, marks);
}

bool stretch_of_piece(struct stretch *stretch, const recmap_piece *piece,
                      const recmap_feature *feature) {
    uint64_t before = feature->prepend_count, after = feature->append_count;
    uint64_t total = piece->length - before - after;
    uint64_t first = piece->first > before ? piece->first : before;
    uint64_t end = min_u64(piece->first + piece->count, before + total);
    if (first >= end) return false;
    *stretch = (struct stretch){first - before, end - first, total, first - piece->first};
    return true;
}

/* In a list of values of any size, the stretch lies between two marks. The end of the list must be
 * there for a stretch that should reach it, and only then. */
static bool locate_varied(struct list_start *start, const struct slice_plan *slice,
                          const struct list_place *list, const struct stretch *stretch,
                          uint64_t record, struct list_marks_cache *marks) {
    struct marked_list marked = list_of(&slice->slot, record, list->offset, list->size);
    struct marked_part part = {.end = list->size};
    uint64_t per_element = values_per_element(slice), end = stretch->first + stretch->count;
    if (list->size >= LIST_MARKS_MIN_SIZE &&
        !list_marks_part(&part, marks, &marked, stretch->first * per_element, end * per_element))
        return false;
    *start = (struct list_start){part.begin, part.value, part.end};
    return end < stretch->total || part.end == list->size;
}

bool slice_locate(struct list_start *start, const struct slice_plan *slice,
                  const struct list_place *list, const struct stretch *stretch, uint64_t record,
                  struct list_marks_cache *marks) {
    size_t element_size = (size_t)slice->stride * fixed_size(&slice->slot);
    if (!list->is_found) return false;
    if (!element_size) return locate_varied(start, slice, list, stretch, record, marks);
    uint64_t offset = stretch->first * element_size;
    *start = (struct list_start){offset, stretch->first * slice->stride,
                                 offset + stretch->count * element_size};
    return start->end <= list->size;
}

static bool take_bytes(struct list_decoder *decoder, const struct value_part *part) {
    struct wire list = {part->data, part->data + part->size}, value;
    while (!wire_done(&list))
        if (!next_bytes(&value, &list) || !list_bytes(decoder, value.at, wire_left(&value)))
            return false;
    return true;
}

/* Decodes steps into the elements from index `place` on. Each has a list of `stride` values. */
static bool take_steps(struct sink *sink, const struct slice_plan *slice,
                       const struct value_part *part, uint64_t place) {
    const struct slot *slot = &slice->slot;
    struct wire steps = {part->data, part->data + part->size}, step, list;
    for (uint64_t i = 0; i < part->count; i++) {
        struct list_decoder decoder = list_begin(sink, slot, (place + i) * slice->stride);
        decoder.room = slice->stride;
        if (wire_done(&steps) || !next_bytes(&step, &steps) ||
            !read_entry_open_list(&list, slot->list, step) || !list_fields(&decoder, list) ||
            decoder.room)
            return false;
    }
    return wire_done(&steps);
}

bool slice_cut(struct sink *sink, const struct slice_plan *slice, const struct slice_span *span,
               const struct stretch *stretch, const struct list_start *start,
               const recmap_record *record, struct list_marks_cache *marks) {
    const struct slot *slot = &slice->slot;
    struct value_part part;
    if (!span->is_found || !find_part(&part, slice, span, stretch, start, record, marks))
        return false;
    if (slot->is_list) return take_steps(sink, slice, &part, stretch->place);
    struct list_decoder decoder = list_begin(sink, slot, stretch->place * slice->stride);
    decoder.room = part.count;
    bool is_decoded = has_bytes(slot) ? take_bytes(&decoder, &part)
                                      : list_run(&decoder, part.data, part.size);
    return is_decoded && !decoder.room;
}
