/* Rows of the table. */
#include "report/records.h"
#include "terminal/message.h"
#include "viewer/preview.h"
#include "viewer/viewer.h"

/* Limits on what is read for previews: of one record, and of all rows. */
#define PREVIEW_SIZE_MAX ((uint64_t)8 << 20)
#define PREVIEW_TOTAL_MAX ((uint64_t)32 << 20)

enum { VALUE_SHOWN_MAX = 80 };

struct row {
    uint64_t number;
    recmap_location location;
    bool has_preview; /* its record is read */
    size_t index;     /* in the batch, if the batch could be read */
};

struct table {
    struct viewer *viewer;
    uint64_t first;
    size_t count;
    struct row rows[LISTING_ROWS_MAX];
    bool has_batch;
    recmap_error error; /* why the batch could not be read */
};

static recmap_status locate_rows(struct table *table, const struct listing *listing,
                                 recmap_error *error) {
    uint64_t numbers[LISTING_ROWS_MAX], total = 0;
    RETURN_IF_FAILED(listing_read(numbers, listing, table->first, table->count, error));
    for (size_t i = 0; i < table->count; i++) {
        struct row *row = &table->rows[i];
        row->number = numbers[i];
        RETURN_IF_FAILED(
            recmap_dataset_locate(&row->location, listing->view->dataset, row->number, 1, error));
        row->has_preview = row->location.size <= PREVIEW_SIZE_MAX &&
                           total + row->location.size <= PREVIEW_TOTAL_MAX;
        if (row->has_preview) total += row->location.size;
    }
    return RECMAP_OK;
}

/* Reads the records together, which is also fast for remote stores. A record that cannot be read
 * fails the batch; write_preview then reads them one by one. */
static recmap_status read_batch(struct table *table, recmap_error *error) {
    struct viewer *viewer = table->viewer;
    uint64_t numbers[LISTING_ROWS_MAX];
    size_t count = 0;
    for (size_t i = 0; i < table->count; i++) {
        struct row *row = &table->rows[i];
        if (!row->has_preview) continue;
        row->index = count;
        numbers[count++] = row->number;
    }
    recmap_status status =
        recmap_dataset_gather(viewer->batch, viewer->view.dataset, numbers, count, &table->error);
    table->has_batch = status == RECMAP_OK;
    if (status != RECMAP_CANCELLED && status != RECMAP_NO_MEMORY) return RECMAP_OK;
    *error = table->error;
    return status;
}

/* If a store cannot be reached, each record would wait for it again. */
static recmap_status read_single(recmap_record *record, struct table *table, uint64_t number,
                                 recmap_error *error) {
    if (record_error_is_local(&table->error))
        return recmap_dataset_get(record, table->viewer->view.dataset, number, error);
    *error = table->error;
    return error->status;
}

/* The records of a page are read as one batch. If that failed, each is read by itself, and the row
 * of a damaged record shows the error. */
static recmap_status write_preview(struct page_json *json, struct table *table,
                                   const struct row *row, recmap_error *error) {
    recmap_record record = {.size = 0};
    recmap_error found = RECMAP_ERROR_INIT;
    if (table->has_batch) {
        record = recmap_batch_records(table->viewer->batch)[row->index];
        return preview_write(json, table->viewer->view.dataset, &record, error);
    }
    if (read_single(&record, table, row->number, &found) == RECMAP_OK) {
        recmap_status status = preview_write(json, table->viewer->view.dataset, &record, error);
        recmap_record_release(&record);
        return status;
    }
    if (found.status == RECMAP_CANCELLED || found.status == RECMAP_NO_MEMORY) {
        *error = found;
        return found.status;
    }
    page_json_error(json, &found);
    return RECMAP_OK;
}

static recmap_status write_row(struct page_json *json, struct table *table, const struct row *row,
                               recmap_error *error) {
    page_json_begin(json, '{');
    page_json_key(json, "number");
    page_json_number(json, row->number);
    page_json_key(json, "shard");
    page_json_number(json, row->location.shard_index);
    page_json_key(json, "size");
    page_json_number(json, row->location.size);
    page_json_key(json, "values");
    RETURN_IF_FAILED(viewer_write_values(table->viewer, json, row->number, VALUE_SHOWN_MAX, error));
    if (row->has_preview) RETURN_IF_FAILED(write_preview(json, table, row, error));
    page_json_end(json, '}');
    return RECMAP_OK;
}

static recmap_status write_table(struct page_json *json, struct table *table,
                                 const struct listing *listing, recmap_error *error) {
    RETURN_IF_FAILED(locate_rows(table, listing, error));
    RETURN_IF_FAILED(read_batch(table, error));
    page_json_begin(json, '{');
    page_json_key(json, "count");
    page_json_number(json, listing->count);
    page_json_key(json, "first");
    page_json_number(json, table->first);
    viewer_write_search(json, listing);
    page_json_key(json, "rows");
    page_json_begin(json, '[');
    for (size_t i = 0; i < table->count; i++)
        RETURN_IF_FAILED(write_row(json, table, &table->rows[i], error));
    page_json_end(json, ']');
    page_json_end(json, '}');
    recmap_batch_clear(table->viewer->batch);
    return RECMAP_OK;
}

/* Rows past the end are left out. */
static recmap_status set_range(struct table *table, const struct request *request,
                               uint64_t row_count, recmap_error *error) {
    uint64_t count = 0;
    RETURN_IF_FAILED(viewer_get_number(&table->first, request, "first", true, UINT64_MAX, error));
    RETURN_IF_FAILED(viewer_get_number(&count, request, "count", true, LISTING_ROWS_MAX, error));
    if (table->first > row_count) table->first = row_count;
    table->count = (size_t)(count < row_count - table->first ? count : row_count - table->first);
    return RECMAP_OK;
}

recmap_status viewer_write_rows(struct viewer *viewer, struct page_json *json,
                                const struct request *request, recmap_error *error) {
    static struct table table;
    struct listing listing;
    table = (struct table){.viewer = viewer, .error = RECMAP_ERROR_INIT};
    recmap_status status = listing_init(&listing, &viewer->view, &viewer->searches, request, error);
    if (status == RECMAP_OK) status = set_range(&table, request, listing.count, error);
    if (status == RECMAP_OK) status = write_table(json, &table, &listing, error);
    listing_deinit(&listing);
    return status;
}
