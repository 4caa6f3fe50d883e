#include "parse/columns/image_column.h"

#include <string.h>

#include "base/core/error.h"
#include "parse/columns/boxes_column.h"
#include "parse/columns/pictures.h"

/* The first random image of the parser, or NULL. */
static const struct image_feature *find_random(const recmap_parser *parser) {
    for (size_t i = 0; i < parser->image_count; i++)
        if (parser->images[i].plan.is_random) return &parser->images[i];
    return NULL;
}

bool columns_are_random(const recmap_parser *parser) {
    return find_random(parser);
}

recmap_status columns_check_draws(const recmap_parser *parser, const recmap_draws *draws,
                                  recmap_error *error) {
    const struct image_feature *image = draws ? NULL : find_random(parser);
    if (!image) return RECMAP_OK;
    fail(error, RECMAP_INVALID, "feature '%.200s' is random, but the epoch is not known",
         parser->outputs[image->pixels].name);
    fail_advise(error, "give the epoch and the seed of the run: `recmap_batch_set_draws`");
    return RECMAP_INVALID;
}

static size_t pixels_size(const struct batch_memory *memory, const struct image_feature *image) {
    const struct slot *slot = &memory->parser->outputs[image->pixels];
    return (size_t)slot->count * recmap_element_size(slot->element);
}

uint64_t columns_pixels_size(const recmap_columns *columns) {
    struct batch_memory *memory = columns->batch;
    uint64_t size = 0;
    for (size_t i = 0; i < memory->parser->image_count; i++)
        size += batch_memory_output(memory, memory->parser->images[i].pixels)->values.capacity;
    return size;
}

/* Makes room for a picture that keeps its size, which is read from its header and checked first. */
static void *reserve_pixels(struct batch_memory *memory, const struct image_feature *image,
                            const recmap_bytes *bytes, size_t row, recmap_error *error) {
    const struct slot *slot = &memory->parser->outputs[image->pixels];
    uint32_t height, width;
    if (image_plan_size(&height, &width, &image->plan, bytes->data, bytes->size, error) !=
        RECMAP_OK)
        return NULL;
    int64_t *shapes = buffer_int64(&batch_memory_output(memory, image->shapes)->values);
    shapes[3 * row] = height;
    shapes[3 * row + 1] = width;
    shapes[3 * row + 2] = image->plan.channels;
    const uint64_t count = (uint64_t)height * width * image->plan.channels;
    void *pixels = sink_extend(batch_memory_output(memory, image->pixels), slot, row, count);
    if (!pixels) fail_memory(error);
    return pixels;
}

/* A merge may let the sink start in the middle of a batch: then row 0 is the part's. */
static void *pixels_of(struct batch_memory *memory, const struct image_feature *image,
                       const recmap_bytes *bytes, size_t row, recmap_error *error) {
    if (image->shapes != SIZE_MAX) return reserve_pixels(memory, image, bytes, row, error);
    return batch_memory_output(memory, image->pixels)->values.data +
           row * pixels_size(memory, image);
}

/* Decoding takes about a millisecond for 10 KiB, a hundred times as long as reading them. */
static bool may_go_on(recmap_columns *columns, size_t size) {
    enum { WORK_PER_BYTE = 100 };
    return interrupt_continues(columns->interrupt, size * WORK_PER_BYTE);
}

static const char default_advice[] =
    "the picture is damaged: skip, replace or collect bad records, or store it again";

static bool take_fault(struct read_fault *fault, const recmap_parser *parser,
                       const struct image_feature *image, const recmap_error *error) {
    if (error->status == RECMAP_NO_MEMORY) return fault_memory(fault);
    fault_set(fault, RECMAP_FEATURE, SIZE_MAX, "feature '%.200s': %s",
              parser->outputs[image->pixels].name, error->message);
    fault_advise(fault, "%s", error->advice[0] ? error->advice : default_advice);
    return image->is_in_lists || image->is_sliced ? false : fault_blame(fault, image->bytes_slot);
}

static recmap_status decode(void *pixels, const struct image_feature *image,
                            recmap_columns *columns, const recmap_bytes *bytes,
                            const recmap_image_draw *draw, recmap_error *error) {
    return image_plan_decode(pixels, &image->plan, &columns->image_scratch, bytes->data,
                             bytes->size, draw, error);
}

static recmap_status decode_counted(void *pixels, const struct image_feature *image,
                                    recmap_columns *columns, const recmap_bytes *bytes,
                                    const recmap_image_draw *draw, recmap_error *error) {
    struct image_counts *counts = columns->image_counts;
    if (!counts) return decode(pixels, image, columns, bytes, draw, error);
    uint64_t started_ns = image_counts_now(counts);
    recmap_status status = decode(pixels, image, columns, bytes, draw, error);
    counts->decode_ns += image_counts_now(counts) - started_ns;
    counts->decoded_count += status == RECMAP_OK;
    counts->failed_count += status != RECMAP_OK;
    counts->warning_count += status == RECMAP_OK && columns->image_scratch.rows.has_warnings;
    return status;
}

bool image_column_decode(recmap_columns *columns, const recmap_parser *parser,
                         const struct image_feature *image, void *pixels, const recmap_bytes *bytes,
                         const recmap_image_draw *draw, struct read_fault *fault) {
    recmap_error error = RECMAP_ERROR_INIT;
    if (!may_go_on(columns, bytes->size)) {
        fault_set(fault, RECMAP_CANCELLED, SIZE_MAX, "interrupted");
        return false;
    }
    if (decode_counted(pixels, image, columns, bytes, draw, &error) == RECMAP_OK) return true;
    return take_fault(fault, parser, image, &error);
}

static bool read_image(recmap_columns *columns, const struct image_feature *image,
                       const recmap_image_draw *draw, size_t row, struct read_fault *fault) {
    struct batch_memory *memory = columns->batch;
    const recmap_bytes *views =
        (const recmap_bytes *)(const void *)memory->sinks[image->bytes_slot].values.data;
    const recmap_bytes bytes = views[row];
    recmap_error error = RECMAP_ERROR_INIT;
    void *pixels = pixels_of(memory, image, &bytes, row, &error);
    if (!bytes.size && image->fill) {
        memcpy(pixels, image->fill, pixels_size(memory, image));
        columns->image_scratch.placement = placement_unmoved;
        return true;
    }
    if (pixels)
        return image_column_decode(columns, memory->parser, image, pixels, &bytes, draw, fault);
    if (columns->image_counts) columns->image_counts->failed_count++;
    return take_fault(fault, memory->parser, image, &error);
}

bool image_columns_read(recmap_columns *columns, const recmap_record *record, size_t row,
                        struct read_fault *fault) {
    const recmap_parser *parser = columns->batch->parser;
    const size_t index = columns->first_draw + row + columns->left_out_count;
    recmap_image_draw draw = {.seed = 0};
    if (columns->draws) draw = draws_get(columns->draws, index, record->number);
    for (size_t i = 0; i < parser->image_count; i++) {
        const struct image_feature *image = &parser->images[i];
        if (image->is_sliced) continue;
        if (!(image->has_list ? pictures_read : read_image)(
                columns, image, columns->draws ? &draw : NULL, row, fault) ||
            !boxes_columns_read(columns, i, row, fault))
            return false;
    }
    return true;
}

void image_columns_roll_back(struct batch_memory *memory, size_t row) {
    for (size_t i = 0; i < memory->parser->output_count; i++) {
        const struct slot *slot = &memory->parser->outputs[i];
        /* Pictures that are cut into rows are not added record by record. */
        if (slot->kind == RECMAP_FEATURE_SLICED) continue;
        sink_roll_back(batch_memory_output(memory, i), slot, row);
    }
}

void image_columns_nothing(struct batch_memory *memory, size_t row) {
    for (size_t i = 0; i < memory->parser->output_count; i++)
        sink_put_null(batch_memory_output(memory, i), &memory->parser->outputs[i], row);
}
