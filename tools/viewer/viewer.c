#include "viewer/viewer.h"

#include <inttypes.h>
#include <string.h>

#include "terminal/message.h"
#include "viewer/assets.h"

#define RECORD_SIZE_MAX ((uint64_t)256 << 20)

recmap_status viewer_init(struct viewer *viewer, recmap_error *error) {
    return recmap_batch_create(&viewer->batch, error);
}

void viewer_deinit(struct viewer *viewer) {
    recmap_batch_destroy(viewer->batch);
    search_cache_deinit(&viewer->searches);
    view_close(&viewer->view);
}

/* ---- Routes. */

typedef recmap_status (*write_fn)(struct viewer *viewer, struct page_json *json,
                                  const struct request *request, recmap_error *error);

static const struct {
    const char *path;
    write_fn write;
} routes[] = {{"api/info", viewer_write_info},     {"api/rows", viewer_write_rows},
              {"api/record", viewer_write_record}, {"api/hex", viewer_write_hex},
              {"api/find", viewer_write_matches},  {"api/damage", viewer_write_damage}};

static write_fn find_route(const char *resource) {
    for (size_t i = 0; i < sizeof routes / sizeof *routes; i++)
        if (!strcmp(resource, routes[i].path)) return routes[i].write;
    return NULL;
}

static bool answer_asset(struct reply *reply, const char *resource) {
    for (size_t i = 0; i < ASSET_COUNT; i++) {
        const struct asset *asset = &assets[i];
        if (strcmp(resource, asset->path)) continue;
        reply->type = asset->type;
        reply->is_page = !*asset->path;
        if (reply->stream) fwrite(asset->data, 1, asset->size, reply->stream);
        return true;
    }
    return false;
}

void viewer_answer(void *context, struct reply *reply, const char *resource,
                   const struct request *request) {
    struct viewer *viewer = context;
    struct page_json json = {.stream = reply->stream};
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_status status = RECMAP_OK;
    write_fn write = find_route(resource);
    if (!reply->stream || answer_asset(reply, resource)) return;
    if (write) status = write(viewer, &json, request, &error);
    else if (!strcmp(resource, "api/media"))
        status = viewer_write_media(viewer, reply, request, &error);
    else reply_refuse(reply, 404, "There is nothing at this address.");
    if (status != RECMAP_OK) reply_fail(reply, &error);
}

bool viewer_continue(void *context) {
    struct viewer *viewer = context;
    return search_cache_continue(&viewer->searches);
}

/* ---- Shared by the answers. */

recmap_status viewer_get_number(uint64_t *number, const struct request *request, const char *name,
                                bool is_required, uint64_t limit, recmap_error *error) {
    enum request_field field = request_get_number(number, request, name);
    if (field == FIELD_MISSING && !is_required) return RECMAP_OK;
    if (field != FIELD_VALID)
        return message_fail(error, RECMAP_INVALID, NULL, NULL, "the field '%s' must be a number",
                            name);
    if (*number <= limit) return RECMAP_OK;
    return message_fail(error, RECMAP_INVALID, NULL, NULL,
                        "the field '%s' must be at most %" PRIu64, name, limit);
}

recmap_status viewer_get_record(recmap_record *record, struct viewer *viewer,
                                const struct request *request, recmap_error *error) {
    recmap_dataset *dataset = viewer->view.dataset;
    recmap_location location;
    uint64_t number;
    RETURN_IF_FAILED(viewer_get_number(&number, request, "number", true, UINT64_MAX, error));
    RETURN_IF_FAILED(recmap_dataset_locate(&location, dataset, number, 1, error));
    if (location.size <= RECORD_SIZE_MAX) return recmap_dataset_get(record, dataset, number, error);
    char size[HUMAN_SIZE];
    message_fail(error, RECMAP_UNSUPPORTED, NULL, "'recmap get' writes it to a file",
                 "the record is too large to show: %s", human_bytes(size, (double)location.size));
    error->record = number;
    return RECMAP_UNSUPPORTED;
}

void viewer_write_search(struct page_json *json, const struct listing *listing) {
    uint64_t searched, total;
    if (listing_is_complete(listing)) return;
    search_progress(&searched, &total, listing->search);
    page_json_key(json, "search");
    page_json_begin(json, '{');
    page_json_key(json, "searched");
    page_json_number(json, searched);
    page_json_key(json, "total");
    page_json_number(json, total);
    page_json_key(json, "found");
    page_json_number(json, listing->matches->count);
    page_json_end(json, '}');
}

static recmap_status read_value(recmap_value *value, recmap_dataset *dataset, size_t column_index,
                                recmap_type type, uint64_t number, recmap_error *error) {
    uint8_t is_null;
    RETURN_IF_FAILED(recmap_dataset_read_nulls(&is_null, dataset, column_index, number, 1, error));
    value->type = is_null ? RECMAP_TYPE_NONE : type;
    if (is_null) return RECMAP_OK;
    if (type == RECMAP_TYPE_INT64)
        return recmap_dataset_read_int64(&value->as.int64, dataset, column_index, number, 1, error);
    if (type == RECMAP_TYPE_FLOAT)
        return recmap_dataset_read_float(&value->as.float32, dataset, column_index, number, 1,
                                         error);
    if (type == RECMAP_TYPE_FLOAT64)
        return recmap_dataset_read_float64(&value->as.float64, dataset, column_index, number, 1,
                                           error);
    return recmap_dataset_read_bytes(value, dataset, column_index, number, 1, error);
}

recmap_status viewer_write_values(struct viewer *viewer, struct page_json *json, uint64_t number,
                                  size_t limit, recmap_error *error) {
    recmap_dataset *dataset = viewer->view.dataset;
    size_t count = recmap_dataset_get_info(dataset)->lifted_column_count;
    page_json_begin(json, '[');
    for (size_t i = 1; i < count && i <= COLUMNS_SHOWN_MAX; i++) {
        recmap_lifted_column column;
        recmap_value value;
        RETURN_IF_FAILED(recmap_dataset_get_lifted_column(&column, dataset, i, error));
        RETURN_IF_FAILED(read_value(&value, dataset, i, column.type, number, error));
        page_json_value(json, &value, limit);
    }
    page_json_end(json, ']');
    return RECMAP_OK;
}
