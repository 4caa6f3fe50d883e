#include "loader/slices/partial.h"

#include <stdlib.h>

#include "base/core/error.h"

/* Adds a range of bytes of the payload of a record. There is room. */
static void add_range(struct gather_parts *parts, size_t record_index, uint64_t begin,
                      uint64_t end) {
    struct gather_part *part = &parts->records[record_index];
    parts->ranges[parts->range_count] = (struct payload_range){begin, end, part->first_range};
    part->first_range = parts->range_count++;
}

/* Plans what a piece needs of a record. Returns false if that is not known. */
static bool plan_piece(struct partial_rows *partial, const recmap_piece *piece, size_t piece_index,
                       size_t record_index) {
    const recmap_parser *parser = partial->parser;
    for (size_t i = 0; i < parser->slice_count; i++) {
        const struct slice_plan *slice = &parser->slices[i];
        const struct list_place *list = &partial->lists[record_index * parser->slice_count + i];
        struct list_start *start = &partial->starts[piece_index * parser->slice_count + i];
        struct stretch stretch;
        if (!stretch_of_piece(&stretch, piece, &parser->columns[slice->column].feature)) continue;
        if (!slice_locate(start, slice, list, &stretch, piece->record, partial->caches->marks))
            return false;
        add_range(&partial->parts, record_index, list->offset + start->offset,
                  list->offset + start->end);
    }
    return true;
}

/* Features that are not sliced are read from the whole record. */
static bool needs_whole(const recmap_parser *parser) {
    return parser->slice_count != parser->column_count;
}

static void find_layout(struct partial_rows *partial, uint64_t record, size_t record_index) {
    const recmap_parser *parser = partial->parser;
    struct record_layout layout = {.record = record, .parser_id = parser->id};
    struct gather_part *part = &partial->parts.records[record_index];
    *part = (struct gather_part){.first_range = SIZE_MAX, .payload_offset = UINT64_MAX};
    if (needs_whole(parser) ||
        !record_layouts_find(&layout, &partial->lists[record_index * parser->slice_count],
                             parser->slice_count, partial->caches->layouts))
        return;
    part->is_partial = true;
    part->payload_offset = layout.payload_offset;
    part->payload_size = layout.payload_size;
}

static bool allocate(struct partial_rows *partial, size_t record_count, size_t piece_count) {
    size_t slice_count = partial->parser->slice_count;
    struct gather_parts *parts = &partial->parts;
    parts->records = calloc(record_count + 1, sizeof *parts->records);
    parts->ranges = calloc(piece_count * slice_count + 1, sizeof *parts->ranges);
    partial->lists = calloc(record_count * slice_count + 1, sizeof *partial->lists);
    partial->starts = calloc(piece_count * slice_count + 1, sizeof *partial->starts);
    return parts->records && parts->ranges && partial->lists && partial->starts;
}

recmap_status partial_rows_init(struct partial_rows *partial, const recmap_batch *batch,
                                const recmap_parser *parser, struct row_caches *caches,
                                size_t record_count, recmap_error *error) {
    *partial = (struct partial_rows){.parser = parser, .caches = caches};
    if (!allocate(partial, record_count, batch->pieces.count)) return fail_memory(error);
    for (size_t i = 0; i < record_count; i++) find_layout(partial, batch->requests[i].number, i);
    for (size_t i = 0; i < batch->pieces.count; i++) {
        const recmap_piece *piece = &batch->pieces.items[i];
        struct gather_part *part = &partial->parts.records[batch->piece_records[i]];
        if (piece->count < piece->length) part->is_cut = true;
        if (part->is_partial)
            part->is_partial = plan_piece(partial, piece, i, batch->piece_records[i]);
    }
    return RECMAP_OK;
}

void partial_rows_deinit(struct partial_rows *partial) {
    free(partial->parts.records);
    free(partial->parts.ranges);
    free(partial->lists);
    free(partial->starts);
}

bool partial_rows_spans(struct slice_span *spans, const struct partial_rows *partial,
                        size_t record_index, const recmap_record *record) {
    size_t slice_count = partial->parser->slice_count;
    const struct list_place *lists = &partial->lists[record_index * slice_count];
    if (!partial->parts.records[record_index].is_partial) return false;
    for (size_t i = 0; i < slice_count; i++)
        spans[i] = (struct slice_span){lists[i].is_found, record->data + lists[i].offset,
                                       (size_t)lists[i].size};
    return true;
}

const struct list_start *partial_rows_starts(const struct partial_rows *partial,
                                             size_t piece_index) {
    return &partial->starts[piece_index * partial->parser->slice_count];
}

recmap_status partial_rows_fail(struct partial_rows *partial, uint64_t record,
                                recmap_error *error) {
    partial->has_failed = true;
    record_layouts_forget(partial->caches->layouts, record);
    return fail(error, RECMAP_CORRUPT, "the record has changed since it was checked");
}

void partial_rows_learn(const struct partial_rows *partial, size_t record_index,
                        const recmap_record *record, const struct slice_span *spans) {
    const struct gather_part *part = &partial->parts.records[record_index];
    size_t slice_count = partial->parser->slice_count;
    if (part->payload_offset == UINT64_MAX || record->size < LAYOUT_MIN_SIZE ||
        needs_whole(partial->parser))
        return;
    struct list_place *lists = &partial->lists[record_index * slice_count];
    for (size_t i = 0; i < slice_count; i++) {
        lists[i] = (struct list_place){.is_found = spans[i].is_found, .size = spans[i].size};
        if (spans[i].is_found) lists[i].offset = (uint64_t)(spans[i].data - record->data);
    }
    struct record_layout layout = {record->number, partial->parser->id, part->payload_offset,
                                   record->size};
    record_layouts_keep(partial->caches->layouts, &layout, lists, slice_count);
}
