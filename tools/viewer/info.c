/* About the data set: totals, damaged places, and the records with an id. */
#include <string.h>

#include "records/find_id.h"
#include "terminal/message.h"
#include "viewer/viewer.h"

enum { PLACES_MAX = 500, MATCHES_MAX = 100, ID_SIZE = 4096 };

static void write_count(struct page_json *json, const char *key, uint64_t count) {
    page_json_key(json, key);
    page_json_number(json, count);
}

static recmap_status write_columns(struct page_json *json, recmap_dataset *dataset,
                                   recmap_error *error) {
    size_t count = recmap_dataset_get_info(dataset)->lifted_column_count;
    page_json_key(json, "columns");
    page_json_begin(json, '[');
    for (size_t i = 1; i < count && i <= COLUMNS_SHOWN_MAX; i++) {
        recmap_lifted_column column;
        RETURN_IF_FAILED(recmap_dataset_get_lifted_column(&column, dataset, i, error));
        page_json_begin(json, '{');
        page_json_key(json, "name");
        page_json_string(json, column.name);
        page_json_key(json, "type");
        page_json_string(json, recmap_type_name(column.type));
        page_json_end(json, '}');
    }
    page_json_end(json, ']');
    return RECMAP_OK;
}

recmap_status viewer_write_info(struct viewer *viewer, struct page_json *json,
                                const struct request *request, recmap_error *error) {
    const struct view *view = &viewer->view;
    const recmap_dataset_info *info = recmap_dataset_get_info(view->dataset);
    (void)request;
    page_json_begin(json, '{');
    page_json_key(json, "version");
    page_json_string(json, recmap_version());
    page_json_key(json, "path");
    page_json_string(json, view->path);
    page_json_key(json, "index");
    page_json_string(json, view->index_path);
    write_count(json, "count", view->count);
    write_count(json, "records", info->record_count);
    write_count(json, "shards", info->file_count);
    write_count(json, "bytes", info->byte_count);
    write_count(json, "damage", info->damage_count);
    page_json_key(json, "ids");
    if (info->id_name) page_json_string(json, info->id_name);
    else page_json_null(json);
    RETURN_IF_FAILED(write_columns(json, view->dataset, error));
    page_json_end(json, '}');
    return RECMAP_OK;
}

/* ---- Damage. */

static void write_place(struct page_json *json, const recmap_damage *place) {
    page_json_begin(json, '{');
    page_json_key(json, "shard");
    page_json_string(json, place->path);
    write_count(json, "offset", place->offset);
    write_count(json, "length", place->size);
    page_json_key(json, "number");
    if (place->record == RECMAP_NO_RECORD) page_json_null(json);
    else page_json_number(json, place->record);
    page_json_key(json, "reason");
    page_json_string(json, place->reason);
    page_json_end(json, '}');
}

recmap_status viewer_write_damage(struct viewer *viewer, struct page_json *json,
                                  const struct request *request, recmap_error *error) {
    recmap_dataset *dataset = viewer->view.dataset;
    uint64_t total = recmap_dataset_get_info(dataset)->damage_count, first = 0, count = PLACES_MAX;
    RETURN_IF_FAILED(viewer_get_number(&first, request, "first", false, total, error));
    RETURN_IF_FAILED(viewer_get_number(&count, request, "count", false, PLACES_MAX, error));
    if (count > total - first) count = total - first;
    page_json_begin(json, '{');
    write_count(json, "count", total);
    page_json_key(json, "places");
    page_json_begin(json, '[');
    for (uint64_t i = first; i < first + count; i++) {
        recmap_damage place;
        RETURN_IF_FAILED(recmap_dataset_get_damage(&place, dataset, i, error));
        write_place(json, &place);
    }
    page_json_end(json, ']');
    page_json_end(json, '}');
    return RECMAP_OK;
}

/* ---- Records by id or number. */

static void write_match(struct page_json *json, const struct listing *listing, uint64_t number) {
    uint64_t row;
    page_json_begin(json, '{');
    write_count(json, "number", number);
    page_json_key(json, "row");
    if (listing_find(&row, listing, number)) page_json_number(json, row);
    else page_json_null(json);
    page_json_end(json, '}');
}

static recmap_status write_ids(struct viewer *viewer, struct page_json *json,
                               const struct listing *listing, const char *id, recmap_error *error) {
    struct match_list matches = MATCH_LIST_INIT;
    recmap_status status = find_id(&matches, &viewer->view, id, error);
    if (status == RECMAP_OK && !matches.count)
        status = find_id_fail(&matches, &viewer->view, id, error);
    for (size_t i = 0; status == RECMAP_OK && i < matches.count && i < MATCHES_MAX; i++)
        write_match(json, listing, view_number(&viewer->view, matches.numbers[i]));
    match_list_deinit(&matches);
    return status;
}

static recmap_status write_number(struct viewer *viewer, struct page_json *json,
                                  const struct listing *listing, const struct request *request,
                                  recmap_error *error) {
    recmap_location location;
    uint64_t number = 0;
    RETURN_IF_FAILED(viewer_get_number(&number, request, "number", true, UINT64_MAX, error));
    RETURN_IF_FAILED(recmap_dataset_locate(&location, viewer->view.dataset, number, 1, error));
    write_match(json, listing, number);
    return RECMAP_OK;
}

static recmap_status write_list(struct viewer *viewer, struct page_json *json,
                                const struct listing *listing, const struct request *request,
                                recmap_error *error) {
    char id[ID_SIZE];
    switch (request_get_text(id, sizeof id, request, "id")) {
    case FIELD_VALID: return write_ids(viewer, json, listing, id, error);
    case FIELD_MISSING: return write_number(viewer, json, listing, request, error);
    default: return message_fail(error, RECMAP_INVALID, NULL, NULL, "the field 'id' is malformed");
    }
}

recmap_status viewer_write_matches(struct viewer *viewer, struct page_json *json,
                                   const struct request *request, recmap_error *error) {
    struct listing listing;
    recmap_status status = listing_init(&listing, &viewer->view, &viewer->searches, request, error);
    page_json_begin(json, '{');
    page_json_key(json, "matches");
    page_json_begin(json, '[');
    if (status == RECMAP_OK) status = write_list(viewer, json, &listing, request, error);
    page_json_end(json, ']');
    if (status == RECMAP_OK) viewer_write_search(json, &listing);
    page_json_end(json, '}');
    listing_deinit(&listing);
    return status;
}
