#include "viewer/preview.h"

#include <inttypes.h>

#include <recmap/table.h>

#include "report/characters.h"
#include "report/picture.h"
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
    size_t features;     /* so far */
    uint64_t part_count; /* so far, also those that are not shown */
    bool has_picture;
    uint64_t picture; /* its part */
};

/* Looks for the first part whose first value is a picture. */
static recmap_status find_picture(const recmap_example_part *part, void *context) {
    struct line *line = context;
    uint64_t index = line->part_count++;
    if (line->has_picture || !part->bytes || !part->count) return RECMAP_OK;
    const recmap_bytes value = part->bytes[0];
    struct media media = media_detect(value.data, value.size);
    line->has_picture = media.kind == MEDIA_PICTURE
                            ? !media.problem[0]
                            : media.kind == MEDIA_NONE &&
                                  array_shape_matches(&line->shape, value.size);
    line->picture = index;
    return RECMAP_OK;
}

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

/* Of a record that is bytes, the part is UINT64_MAX. */
static void write_picture(const struct line *line) {
    if (!line->has_picture) return;
    page_json_key(line->json, "picture");
    page_json_begin(line->json, '{');
    if (line->picture != UINT64_MAX) {
        page_json_key(line->json, "part");
        page_json_number(line->json, line->picture);
    }
    page_json_end(line->json, '}');
}

static void find_whole_picture(struct line *line, const recmap_record *record) {
    struct media media = media_detect(record->data, record->size);
    line->has_picture = media.kind == MEDIA_PICTURE && !media.problem[0];
    line->picture = UINT64_MAX;
}

/* A record without features is shown as bytes. */
recmap_status preview_write(struct page_json *json, const recmap_dataset *dataset,
                            const recmap_record *record, recmap_error *error) {
    struct line line = {.json = json};
    recmap_error found = RECMAP_ERROR_INIT;
    page_json_key(json, "preview");
    page_json_begin_string(json);
    recmap_status status = recmap_dataset_visit(learn_shape, &line, dataset, record, &found);
    if (status == RECMAP_OK)
        status = recmap_dataset_visit(write_part, &line, dataset, record, &found);
    if (status == RECMAP_OK && line.features)
        status = recmap_dataset_visit(find_picture, &line, dataset, record, &found);
    if (!line.features) write_bytes(&line, record->data, record->size, RECORD_TEXT_MAX);
    if (!line.features) find_whole_picture(&line, record);
    if (line.features > FEATURES_MAX) page_json_format(json, " · … (%zu features)", line.features);
    page_json_end_string(json);
    write_picture(&line);
    if (status != RECMAP_NO_MEMORY) return RECMAP_OK;
    *error = found;
    return status;
}
