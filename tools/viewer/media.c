/* Pictures and sounds of a record. Only bytes that are recognised as one are sent, with its type:
 * never text, markup or a script. */
#include <recmap/example.h>

#include "report/array.h"
#include "report/media.h"
#include "terminal/message.h"
#include "viewer/viewer.h"

#define MEDIA_SIZE_MAX ((size_t)64 << 20)

/* The value to find in a record. */
struct value_search {
    uint64_t part;
    uint64_t value;
    uint64_t part_count; /* so far */
    recmap_bytes found;  /* into the record; `data` is NULL if there is no such value */
    struct array_shape shape;
};

static recmap_status search_part(const recmap_example_part *part, void *context) {
    struct value_search *search = context;
    array_shape_add(&search->shape, part);
    if (search->part_count++ == search->part && part->bytes && search->value < part->count)
        search->found = part->bytes[search->value];
    return RECMAP_OK;
}

static void write_array(struct reply *reply, const struct value_search *search) {
    static uint8_t bitmap[ARRAY_BITMAP_SIZE_MAX];
    size_t size = array_make_bitmap(bitmap, &search->shape, search->found.data);
    reply->type = "image/bmp";
    fwrite(bitmap, 1, size, reply->stream);
}

/* Sends a picture or a sound as it is, and an array of pixels as a bitmap. */
static recmap_status write_found(struct reply *reply, const struct value_search *search,
                                 recmap_error *error) {
    const recmap_bytes *bytes = &search->found;
    struct media media = {.kind = MEDIA_NONE};
    if (bytes->data) media = media_detect(bytes->data, bytes->size);
    bool is_shown = media.kind == MEDIA_SOUND ||
                    (media.kind == MEDIA_PICTURE && media_is_shown(&media));
    if (is_shown && bytes->size <= MEDIA_SIZE_MAX) {
        reply->type = media.type;
        fwrite(bytes->data, 1, bytes->size, reply->stream);
        return RECMAP_OK;
    }
    if (bytes->data && media.kind == MEDIA_NONE &&
        array_shape_matches(&search->shape, bytes->size)) {
        write_array(reply, search);
        return RECMAP_OK;
    }
    return message_fail(error, RECMAP_NOT_FOUND, NULL, NULL,
                        "this is not a picture or sound that can be shown");
}

/* Without `part`, the whole record is the value. */
static recmap_status find_value(struct value_search *search, const recmap_record *record,
                                const struct request *request, recmap_error *error) {
    search->part = UINT64_MAX;
    RETURN_IF_FAILED(
        viewer_get_number(&search->part, request, "part", false, UINT64_MAX - 1, error));
    RETURN_IF_FAILED(viewer_get_number(&search->value, request, "value", false, UINT64_MAX, error));
    if (search->part == UINT64_MAX) {
        search->found = (recmap_bytes){record->data, record->size};
        return RECMAP_OK;
    }
    return recmap_example_visit(search_part, search, record->data, record->size, error);
}

recmap_status viewer_write_media(struct viewer *viewer, struct reply *reply,
                                 const struct request *request, recmap_error *error) {
    struct value_search search = {.part = 0};
    recmap_record record = {.size = 0};
    RETURN_IF_FAILED(viewer_get_record(&record, viewer, request, error));
    recmap_status status = find_value(&search, &record, request, error);
    if (status == RECMAP_OK) status = write_found(reply, &search, error);
    recmap_record_release(&record);
    return status;
}
