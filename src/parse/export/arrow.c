#include <recmap/arrow.h>

#include "base/core/error.h"
#include "parse/columns/columns.h"
#include "parse/export/arrow_column.h"
#include "parse/export/arrow_views.h"

/* Describes a struct of all columns of the plan, or of none without a plan. */
static bool make_batch(struct arrow_node *node, struct arrow_box *box, const recmap_parser *parser,
                       const struct batch_memory *memory) {
    size_t count = parser ? parser->column_count : 0;
    *node = (struct arrow_node){.format = "+s", .name = ""};
    if (!arrow_node_add_children(node, box, count) || !arrow_node_add_buffers(node, box, 1))
        return false;
    if (memory) node->length = (int64_t)memory->row_count;
    for (size_t i = 0; i < count; i++)
        if (!arrow_column_init(&node->children[i], box, parser, memory, i)) return false;
    return true;
}

static recmap_status fail_box(struct arrow_box *box, recmap_error *error) {
    arrow_box_destroy(box);
    return fail_memory(error);
}

recmap_status recmap_columns_export_arrow(struct ArrowArray *array, struct ArrowSchema *schema,
                                          recmap_columns *columns, recmap_error *error) {
    struct batch_memory *memory = columns_memory(columns);
    struct arrow_node node;
    struct arrow_box *box = arrow_box_create(memory);
    if (!box) return fail_memory(error);
    if (!make_batch(&node, box, memory ? memory->parser : NULL, memory))
        return fail_box(box, error);
    return arrow_box_emit(array, schema, box, &node, error);
}

recmap_status recmap_columns_export_arrow_column(struct ArrowArray *array,
                                                 struct ArrowSchema *schema,
                                                 recmap_columns *columns, size_t column_index,
                                                 recmap_error *error) {
    struct batch_memory *memory = columns_memory(columns);
    struct arrow_node node = {0};
    if (column_index >= recmap_columns_count(columns))
        return fail(error, RECMAP_INVALID, "there is no column %zu", column_index);
    struct arrow_box *box = arrow_box_create(memory);
    if (!box) return fail_memory(error);
    if (!arrow_column_init(&node, box, memory->parser, memory, column_index))
        return fail_box(box, error);
    return arrow_box_emit(array, schema, box, &node, error);
}

recmap_status recmap_parser_export_arrow_schema(struct ArrowSchema *schema,
                                                const recmap_parser *parser, recmap_error *error) {
    struct arrow_node node;
    if (parser->slice_count)
        return fail(error, RECMAP_INVALID,
                    "feature '%.200s' is sliced: its type depends on the width of the rows",
                    parser->columns[parser->slices[0].column].feature.name);
    struct arrow_box *box = arrow_box_create(NULL);
    if (!box) return fail_memory(error);
    if (!make_batch(&node, box, parser, NULL)) return fail_box(box, error);
    return arrow_box_emit(NULL, schema, box, &node, error);
}

static bool make_records(struct arrow_node *node, struct arrow_box *box,
                         const recmap_record *records, size_t count) {
    static const uint8_t nothing[1];
    recmap_bytes *views = arena_allocate_zeros(&box->memory, count, sizeof *views);
    if (!views) return false;
    for (size_t i = 0; i < count; i++)
        views[i] = (recmap_bytes){records[i].size ? records[i].data : nothing, records[i].size};
    *node = (struct arrow_node){.format = "vz", .name = "record", .length = (int64_t)count};
    return arrow_views_init(node, box, views, count, count, arrow_view_alone, NULL);
}

static recmap_status check_record(const recmap_record *record, recmap_error *error) {
    if (record->size > INT32_MAX)
        fail(error, RECMAP_INVALID, "the record has 2 GiB or more, too much for a view");
    else if (record->size && !record->data) {
        fail(error, RECMAP_INVALID, "the record was read only in part, for rows");
        fail_advise(error, "read it with recmap_dataset_gather");
    } else return RECMAP_OK;
    fail_at(error, NULL, record->number, RECMAP_NO_OFFSET);
    return RECMAP_INVALID;
}

/* Takes ownership of the records' owner in every case: once it belongs to the box, destroying the
 * box releases it. */
recmap_status recmap_records_export_arrow(struct ArrowArray *array, struct ArrowSchema *schema,
                                          const recmap_record *records, size_t record_count,
                                          void *owner, void (*release)(void *owner),
                                          recmap_error *error) {
    struct arrow_node node;
    struct arrow_box *box = arrow_box_create(NULL);
    if (!box) {
        if (release) release(owner);
        return fail_memory(error);
    }
    box->owner = owner;
    box->release = release;
    for (size_t i = 0; i < record_count; i++) {
        recmap_status status = check_record(&records[i], error);
        if (status == RECMAP_OK) continue;
        arrow_box_destroy(box);
        return status;
    }
    if (!make_records(&node, box, records, record_count)) return fail_box(box, error);
    return arrow_box_emit(array, schema, box, &node, error);
}
