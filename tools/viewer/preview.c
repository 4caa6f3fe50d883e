#include "viewer/preview.h"

#include <inttypes.h>

#include "report/array.h"
#include "report/characters.h"
#include "report/media.h"
#include "terminal/message.h"

enum {
    FEATURES_MAX = 8,
    NAME_MAX_SHOWN = 40,
    NUMBERS_MAX = 4,
    TEXT_MAX = 60,
    BYTES_MAX = 16,
    RECORD_TEXT_MAX = 200
};

struct line {
    struct page_json *json;
    struct array_shape shape;
    size_t features; /* so far */
};

static void write_bytes(const struct line *line, const uint8_t *data, size_t size, size_t limit) {
    struct page_json *json = line->json;
    const struct array_shape *shape = &line->shape;
    struct media media = media_detect(data, size);
    if (media.kind == MEDIA_PICTURE && media.width)
        page_json_format(json, "%s %u x %u", media.name, media.width, media.height);
    else if (media.kind != MEDIA_NONE) page_json_format(json, "%s, %zu bytes", media.name, size);
    else if (array_shape_matches(shape, size))
        page_json_format(json, "array %" PRIu64 " x %" PRIu64, shape->height, shape->width);
    else if (characters_are_text(data, size)) page_json_piece(json, data, size, limit);
    else {
        for (size_t i = 0; i < size && i < BYTES_MAX; i++)
            page_json_format(json, i ? " %02x" : "%02x", data[i]);
        if (size > BYTES_MAX) page_json_format(json, " … (%zu bytes)", size);
    }
}

static void write_numbers(struct page_json *json, const recmap_example_part *part) {
    for (size_t i = 0; i < part->count && i < NUMBERS_MAX; i++) {
        if (i) page_json_format(json, ", ");
        if (part->int64s) page_json_format(json, "%" PRId64, part->int64s[i]);
        else page_json_format(json, "%.6g", (double)part->floats[i]);
    }
    if (part->count > NUMBERS_MAX) page_json_format(json, ", … (%zu values)", part->count);
}

static recmap_status learn_shape(const recmap_example_part *part, void *context) {
    struct line *line = context;
    array_shape_add(&line->shape, part);
    return RECMAP_OK;
}

/* Steps of feature lists are left out: their list says how many there are. */
static recmap_status write_part(const recmap_example_part *part, void *context) {
    struct line *line = context;
    struct page_json *json = line->json;
    if (part->kind == RECMAP_EXAMPLE_PART_STEP || ++line->features > FEATURES_MAX) return RECMAP_OK;
    if (line->features > 1) page_json_format(json, " · ");
    page_json_piece(json, part->name, part->name_size, NAME_MAX_SHOWN);
    page_json_format(json, ": ");
    if (part->kind == RECMAP_EXAMPLE_PART_LIST)
        page_json_format(json, "%zu step%s", part->count, plural(part->count));
    else if (!part->count) page_json_format(json, "-");
    else if (part->type == RECMAP_TYPE_BYTES) {
        write_bytes(line, part->bytes[0].data, part->bytes[0].size, TEXT_MAX);
        if (part->count > 1) page_json_format(json, ", … (%zu values)", part->count);
    } else write_numbers(json, part);
    return RECMAP_OK;
}

/* A record that is not an Example, or has no features, is shown as bytes. */
recmap_status preview_write(struct page_json *json, const recmap_record *record,
                            recmap_error *error) {
    struct line line = {.json = json};
    recmap_error found = RECMAP_ERROR_INIT;
    page_json_begin_string(json);
    recmap_status status =
        recmap_example_visit(learn_shape, &line, record->data, record->size, &found);
    if (status == RECMAP_OK)
        status = recmap_example_visit(write_part, &line, record->data, record->size, &found);
    if (!line.features) write_bytes(&line, record->data, record->size, RECORD_TEXT_MAX);
    if (line.features > FEATURES_MAX) page_json_format(json, " · … (%zu features)", line.features);
    page_json_end_string(json);
    if (status != RECMAP_NO_MEMORY) return RECMAP_OK;
    *error = found;
    return status;
}
