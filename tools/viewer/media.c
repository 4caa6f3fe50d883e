/* Pictures and sounds of a record. Only bytes that are recognised as one are sent, with its type:
 * never text, markup or a script. Large pictures and arrays are sent as PNG files. */
#include <recmap/table.h>

#include "report/picture.h"
#include "terminal/message.h"
#include "viewer/viewer.h"

#define SOUND_SIZE_MAX ((size_t)64 << 20)

/* Of a picture, and of a thumbnail with a side of the request's. */
static const struct picture_room whole_room = {.file_size = (size_t)4 << 20, .side = 1600};
enum { THUMBNAIL_FILE_SIZE = 16 << 10, SIDE_MAX = 1024 };

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

static void send(struct reply *reply, const char *type, const uint8_t *data, size_t size) {
    reply->type = type;
    fwrite(data, 1, size, reply->stream);
}

/* Field `side` asks for a thumbnail. */
static recmap_status read_room(struct picture_room *room, const struct request *request,
                               recmap_error *error) {
    uint64_t side = 0;
    RETURN_IF_FAILED(viewer_get_number(&side, request, "side", false, SIDE_MAX, error));
    *room = whole_room;
    if (side) *room = (struct picture_room){THUMBNAIL_FILE_SIZE, (uint32_t)side};
    return RECMAP_OK;
}

static recmap_status send_picture(struct reply *reply, const struct value_search *search,
                                  const struct media *media, struct picture_room room,
                                  recmap_error *error) {
    const recmap_bytes *bytes = &search->found;
    struct picture picture;
    recmap_status status =
        media->kind == MEDIA_PICTURE
            ? picture_of_file(&picture, media, bytes->data, bytes->size, room, error)
            : picture_of_array(&picture, &search->shape, bytes->data, error);
    if (status == RECMAP_OK) send(reply, picture.type, picture.data, picture.size);
    picture_deinit(&picture);
    return status;
}

static recmap_status write_found(struct reply *reply, const struct value_search *search,
                                 const struct request *request, recmap_error *error) {
    const recmap_bytes *bytes = &search->found;
    struct media media = {.kind = MEDIA_NONE};
    struct picture_room room;
    RETURN_IF_FAILED(read_room(&room, request, error));
    if (bytes->data) media = media_detect(bytes->data, bytes->size);
    if (media.kind == MEDIA_SOUND && bytes->size <= SOUND_SIZE_MAX) {
        send(reply, media.type, bytes->data, bytes->size);
        return RECMAP_OK;
    }
    if (media.kind == MEDIA_PICTURE || (bytes->data && media.kind == MEDIA_NONE &&
                                        array_shape_matches(&search->shape, bytes->size)))
        return send_picture(reply, search, &media, room, error);
    return message_fail(error, RECMAP_NOT_FOUND, NULL, NULL,
                        "this is not a picture or sound that can be shown");
}

/* Without `part`, the whole record is the value. */
static recmap_status find_value(struct value_search *search, const recmap_dataset *dataset,
                                const recmap_record *record, const struct request *request,
                                recmap_error *error) {
    search->part = UINT64_MAX;
    RETURN_IF_FAILED(
        viewer_get_number(&search->part, request, "part", false, UINT64_MAX - 1, error));
    RETURN_IF_FAILED(viewer_get_number(&search->value, request, "value", false, UINT64_MAX, error));
    if (search->part == UINT64_MAX) {
        search->found = (recmap_bytes){record->data, record->size};
        return RECMAP_OK;
    }
    return recmap_dataset_visit(search_part, search, dataset, record, error);
}

recmap_status viewer_write_media(struct viewer *viewer, struct reply *reply,
                                 const struct request *request, recmap_error *error) {
    struct value_search search = {.part = 0};
    recmap_record record = {.size = 0};
    RETURN_IF_FAILED(viewer_get_record(&record, viewer, request, error));
    recmap_status status = find_value(&search, viewer->view.dataset, &record, request, error);
    if (status == RECMAP_OK) status = write_found(reply, &search, request, error);
    recmap_record_release(&record);
    return status;
}
