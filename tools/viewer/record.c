/* One record: its place, columns and features; its bytes; its pictures and sounds. */
#include <inttypes.h>
#include <string.h>

#include <recmap/table.h>

#include "report/characters.h"
#include "report/line.h"
#include "report/picture.h"
#include "terminal/message.h"
#include "viewer/viewer.h"

/* Limits on what the page of one record shows. */
enum {
    PARTS_MAX = 1000,
    NUMBERS_MAX = 1000,
    VALUES_MAX = 16, /* bytes of one feature */
    NAME_SHOWN_MAX = 200,
    TEXT_SHOWN_MAX = 20000,
    HEX_SHOWN_MAX = 256,
    HEX_PAGE_SIZE = 4096,
    COLUMN_SHOWN_MAX = 2000
};

#define REPLY_SIZE_MAX ((long)8 << 20)
#define SOUND_SIZE_MAX ((size_t)64 << 20)

/* ---- Bytes. */

/* A picture may be sent as a PNG file, whatever its format is. */
static void write_media(struct page_json *json, const struct media *media, size_t size) {
    const char *kind = media->kind == MEDIA_PICTURE ? "picture" : "sound";
    const char *reason = media->problem[0] ? media->problem : NULL;
    if (media->kind == MEDIA_SOUND && size > SOUND_SIZE_MAX) reason = "too large";
    page_json_key(json, "format");
    page_json_string(json, media->name);
    if (media->width) {
        page_json_key(json, "width");
        page_json_number(json, media->width);
        page_json_key(json, "height");
        page_json_number(json, media->height);
    }
    page_json_key(json, reason ? "hidden" : kind);
    page_json_string(json, reason ? reason : media->type);
}

static void write_array(struct page_json *json, const struct array_shape *shape,
                        const uint8_t *data) {
    char text[ARRAY_TEXT_SIZE];
    page_json_key(json, "format");
    page_json_string(json, array_describe(text, shape, data));
    page_json_key(json, "array");
    page_json_string(json, "image/png");
}

/* Writes an object that says what bytes are, and shows them if they are text or unknown. */
static void write_bytes(struct page_json *json, const struct array_shape *shape,
                        const uint8_t *data, size_t size) {
    struct media media = media_detect(data, size);
    page_json_begin(json, '{');
    page_json_key(json, "size");
    page_json_number(json, size);
    if (media.kind != MEDIA_NONE) write_media(json, &media, size);
    else if (array_shape_matches(shape, size)) write_array(json, shape, data);
    else if (characters_are_text(data, size)) {
        page_json_key(json, "text");
        page_json_text(json, data, size, TEXT_SHOWN_MAX);
    } else {
        page_json_key(json, "hex");
        page_json_hex(json, data, size < HEX_SHOWN_MAX ? size : HEX_SHOWN_MAX);
    }
    page_json_end(json, '}');
}

/* ---- Features. */

struct record_writer {
    struct page_json *json;
    struct array_shape shape;
    size_t part_count; /* so far */
    bool is_cut;       /* some parts are left out */
};

static recmap_status learn_shape(const recmap_example_part *part, void *context) {
    struct record_writer *writer = context;
    array_shape_add(&writer->shape, part);
    writer->part_count++;
    return RECMAP_OK;
}

static void write_number(struct page_json *json, const recmap_example_part *part, size_t index) {
    if (part->int64s) page_json_int64(json, part->int64s[index]);
    else page_json_float(json, part->floats[index]);
}

/* The page draws a line through the numbers. If it does not get all, the line has others. */
static void write_numbers(struct page_json *json, const recmap_example_part *part) {
    page_json_key(json, "numbers");
    page_json_begin(json, '[');
    for (size_t i = 0; i < part->count && i < NUMBERS_MAX; i++) write_number(json, part, i);
    page_json_end(json, ']');
    if (part->count <= NUMBERS_MAX) return;
    size_t places[LINE_POINTS_MAX], count = line_choose(places, part);
    page_json_key(json, "line");
    page_json_begin(json, '[');
    for (size_t i = 0; i < count; i++) write_number(json, part, places[i]);
    page_json_end(json, ']');
}

static void write_part_bytes(struct record_writer *writer, const recmap_example_part *part) {
    page_json_key(writer->json, "bytes");
    page_json_begin(writer->json, '[');
    for (size_t i = 0; i < part->count && i < VALUES_MAX; i++)
        write_bytes(writer->json, &writer->shape, part->bytes[i].data, part->bytes[i].size);
    page_json_end(writer->json, ']');
}

static const char *kind_name(recmap_example_part_kind kind) {
    return kind == RECMAP_EXAMPLE_PART_LIST   ? "list"
           : kind == RECMAP_EXAMPLE_PART_STEP ? "step"
                                              : "feature";
}

static const char *type_name(recmap_type type) {
    static const char *const names[] = {"unset", "int64", "float", "bytes"};
    return names[type];
}

/* Writes one feature of the record. Records may have any number of features, so those beyond a
 * limit are left out, and the reply says that it was cut. */
static recmap_status write_part(const recmap_example_part *part, void *context) {
    struct record_writer *writer = context;
    struct page_json *json = writer->json;
    size_t index = writer->part_count++;
    if (index >= PARTS_MAX || ftell(json->stream) > REPLY_SIZE_MAX) {
        writer->is_cut = true;
        return RECMAP_OK;
    }
    page_json_begin(json, '{');
    page_json_key(json, "part");
    page_json_number(json, index);
    page_json_key(json, "name");
    page_json_text(json, part->name, part->name_size, NAME_SHOWN_MAX);
    page_json_key(json, "kind");
    page_json_string(json, kind_name(part->kind));
    page_json_key(json, "type");
    page_json_string(json, type_name(part->type));
    page_json_key(json, "count");
    page_json_number(json, part->count);
    if (part->int64s || part->floats) write_numbers(json, part);
    if (part->bytes) write_part_bytes(writer, part);
    page_json_end(json, '}');
    return RECMAP_OK;
}

/* Writes the features of a record, or its bytes if it has none. */
static recmap_status write_content(struct page_json *json, const recmap_dataset *dataset,
                                   const recmap_record *record, recmap_error *error) {
    struct record_writer writer = {.json = json};
    recmap_error found = RECMAP_ERROR_INIT;
    recmap_status status = recmap_dataset_visit(learn_shape, &writer, dataset, record, &found);
    if (status == RECMAP_NO_MEMORY) {
        *error = found;
        return status;
    }
    if (status != RECMAP_OK || !writer.part_count) {
        page_json_key(json, "bytes");
        write_bytes(json, &(struct array_shape){.height = 0}, record->data, record->size);
        return RECMAP_OK;
    }
    writer.part_count = 0;
    page_json_key(json, "parts");
    page_json_begin(json, '[');
    status = recmap_dataset_visit(write_part, &writer, dataset, record, error);
    page_json_end(json, ']');
    page_json_key(json, "part_count");
    page_json_number(json, writer.part_count);
    return status;
}

/* ---- The record. */

static recmap_status write_place(struct viewer *viewer, struct page_json *json, uint64_t number,
                                 recmap_error *error) {
    recmap_dataset *dataset = viewer->view.dataset;
    recmap_location location;
    recmap_shard_info shard;
    RETURN_IF_FAILED(recmap_dataset_locate(&location, dataset, number, 1, error));
    RETURN_IF_FAILED(recmap_dataset_get_shard(&shard, dataset, location.shard_index, error));
    page_json_key(json, "number");
    page_json_number(json, number);
    page_json_key(json, "shard");
    page_json_string(json, shard.path);
    page_json_key(json, "index");
    page_json_number(json, number - shard.first_record);
    page_json_key(json, "offset");
    page_json_number(json, location.offset);
    page_json_key(json, "size");
    page_json_number(json, location.size);
    page_json_key(json, "values");
    return viewer_write_values(viewer, json, number, COLUMN_SHOWN_MAX, error);
}

/* A record that cannot be read still has a place and columns. */
static recmap_status write_read(struct viewer *viewer, struct page_json *json,
                                const struct request *request, recmap_error *error) {
    recmap_record record = {.size = 0};
    recmap_error found = RECMAP_ERROR_INIT;
    recmap_status status = viewer_get_record(&record, viewer, request, &found);
    if (status == RECMAP_OK) {
        status = write_content(json, viewer->view.dataset, &record, error);
        recmap_record_release(&record);
        return status;
    }
    if (status == RECMAP_CANCELLED || status == RECMAP_NO_MEMORY) {
        *error = found;
        return status;
    }
    page_json_error(json, &found);
    return RECMAP_OK;
}

recmap_status viewer_write_record(struct viewer *viewer, struct page_json *json,
                                  const struct request *request, recmap_error *error) {
    uint64_t number = 0;
    RETURN_IF_FAILED(viewer_get_number(&number, request, "number", true, UINT64_MAX, error));
    page_json_begin(json, '{');
    RETURN_IF_FAILED(write_place(viewer, json, number, error));
    RETURN_IF_FAILED(write_read(viewer, json, request, error));
    page_json_end(json, '}');
    return RECMAP_OK;
}

recmap_status viewer_write_hex(struct viewer *viewer, struct page_json *json,
                               const struct request *request, recmap_error *error) {
    recmap_record record = {.size = 0};
    uint64_t first = 0;
    RETURN_IF_FAILED(viewer_get_number(&first, request, "first", false, UINT64_MAX, error));
    RETURN_IF_FAILED(viewer_get_record(&record, viewer, request, error));
    if (first > record.size) first = record.size;
    size_t left = record.size - (size_t)first;
    page_json_begin(json, '{');
    page_json_key(json, "size");
    page_json_number(json, record.size);
    page_json_key(json, "first");
    page_json_number(json, first);
    page_json_key(json, "hex");
    page_json_hex(json, record.data + first, left < HEX_PAGE_SIZE ? left : HEX_PAGE_SIZE);
    page_json_end(json, '}');
    recmap_record_release(&record);
    return RECMAP_OK;
}
