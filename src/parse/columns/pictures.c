#include "parse/columns/pictures.h"

#include <inttypes.h>
#include <string.h>

#include "base/core/plural.h"

/* The encoded pictures of a row. */
struct encoded_list {
    const recmap_bytes *values;
    uint64_t count;
    bool is_null; /* the record lacks the feature */
};

static struct encoded_list find_list(const struct batch_memory *memory,
                                     const struct image_feature *image, size_t row) {
    const recmap_parser *parser = memory->parser;
    const struct slot_set *set = image->is_in_lists ? &parser->lists : &parser->features;
    const struct slot *slot = &set->slots[image->bytes_slot];
    const struct sink *sink =
        &memory->sinks[image->bytes_slot + (image->is_in_lists ? parser->features.count : 0)];
    const int64_t *rows = buffer_int64(&sink->rows);
    const bool is_fixed = slot->count && !slot->is_list;
    const uint64_t first = is_fixed ? row * slot->count : (uint64_t)rows[row];
    struct encoded_list list = {.count = is_fixed ? slot->count : (uint64_t)rows[row + 1] - first};
    if (slot->limit && list.count > slot->limit) list.count = slot->limit;
    list.values = (const recmap_bytes *)(const void *)sink->values.data + first;
    list.is_null = !(sink->validity.data[row >> 3] >> (row & 7) & 1);
    return list;
}

static uint64_t pixel_count(const struct image_feature *image) {
    return (uint64_t)image->plan.image.height * image->plan.image.width;
}

/* A few bytes of a record may hold many pictures, so their number is bounded before there is room
 * for their pixels. */
static bool check_pixels(const struct batch_memory *memory, const struct image_feature *image,
                         uint64_t count, struct read_fault *fault) {
    const uint64_t limit = image->plan.image.max_pixels / pixel_count(image);
    if (count <= limit) return true;
    fault_set(fault, RECMAP_FEATURE, SIZE_MAX,
              "feature '%.200s' has %" PRIu64 " picture%s of %" PRIu64
              " pixels, together more than the limit of %" PRIu64,
              memory->parser->outputs[image->pixels].name, count, plural(count), pixel_count(image),
              image->plan.image.max_pixels);
    fault_advise(fault, "take fewer of them, with max_length, or raise max_pixels");
    return false;
}

/* The place of the row's pixels. Returns NULL and fills `fault` on failure. */
static uint8_t *reserve(struct batch_memory *memory, const struct image_feature *image,
                        uint64_t count, size_t row, struct read_fault *fault) {
    const struct slot *slot = &memory->parser->outputs[image->pixels];
    struct sink *sink = batch_memory_output(memory, image->pixels);
    const uint64_t values = count * pixel_count(image) * image->plan.channels;
    if (slot->count)
        return sink->values.data + row * (size_t)slot->count * recmap_element_size(slot->element);
    if (!check_pixels(memory, image, count, fault)) return NULL;
    uint8_t *pixels = sink_extend(sink, slot, row, values);
    if (!pixels) fault_memory(fault);
    return pixels;
}

bool pictures_read(recmap_columns *columns, const struct image_feature *image,
                   const recmap_image_draw *draw, size_t row, struct read_fault *fault) {
    struct batch_memory *memory = columns->batch;
    const struct encoded_list list = find_list(memory, image, row);
    const size_t size = (size_t)pixel_count(image) * image->plan.pixel_size;
    uint8_t *pixels = reserve(memory, image, list.count, row, fault);
    if (!pixels) return false;
    for (uint64_t i = 0; i < list.count; i++, pixels += size) {
        if (!list.values[i].size) memset(pixels, 0, size);
        else if (!image_column_decode(columns, memory->parser, image, pixels, &list.values[i], draw,
                                      fault)) {
            fault_add(fault, " (picture %" PRIu64 ", counted from 0)", i);
            return false;
        }
    }
    if (list.is_null) sink_set_null(batch_memory_output(memory, image->pixels), row);
    return true;
}
