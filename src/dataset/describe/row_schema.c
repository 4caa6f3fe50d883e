/* What the fields of a row read like. */
#include "dataset/describe/row_schema.h"

#include <recmap/table.h>

#include "base/core/error.h"
#include "base/text/json.h"
#include "dataset/describe/record_framing.h"
#include "dataset/describe/row_text.h"
#include "parse/example/schema.h"

static bool is_usable(const struct feature_stats *stats) {
    return stats && !stats->text.is_held && !stats->text.has_null;
}

/* The statistics of the field at `place`. */
static struct feature_stats *find_field(recmap_schema *schema, const struct row_text *name,
                                        size_t place) {
    char position[ROW_POSITION_SIZE];
    bool has_name = name && utf8_valid((const uint8_t *)name->unquoted, name->size);
    struct feature_stats *stats = has_name ? schema_text_feature(schema, name->unquoted, name->size)
                                           : NULL;
    if (is_usable(stats) || (has_name && !stats)) return stats;
    return schema_text_feature(schema, position, row_position_name(position, place));
}

static bool add_fields(recmap_schema *schema, struct row_text *row, struct row_text *names) {
    for (size_t place = 0; !row->field.is_last; place++) {
        (void)!row_text_next(row);
        if (names) (void)!row_text_next(names);
        struct feature_stats *stats = find_field(schema, names, place);
        if (!stats) return false;
        stats->text.is_row = true;
        const struct text_value value = row_text_value(row);
        if (row->size) text_stats_add(stats, &value, 0);
        else text_stats_add_null(stats);
    }
    return true;
}

recmap_status row_schema_add(bool *is_added, recmap_schema *schema, const struct framing *framing,
                             const char *header, size_t header_size, const recmap_record *record,
                             recmap_error *error) {
    struct row_text row, names = {.unquoted = NULL};
    bool has_memory = row_text_init(&row, framing, (const char *)record->data, record->size);
    if (header) has_memory &= row_text_init(&names, framing, header, header_size);
    *is_added = has_memory && row_text_is_sound(row, names, header != NULL);
    if (*is_added) {
        has_memory = add_fields(schema, &row, header ? &names : NULL);
        schema_end_text(schema);
    }
    row_text_deinit(&row);
    row_text_deinit(&names);
    return has_memory ? RECMAP_OK : fail_memory(error);
}

/* A row or a line that is malformed is of another kind, as any other record is for an Example. */
recmap_status recmap_schema_add_record(recmap_schema *schema, const recmap_dataset *dataset,
                                       const recmap_record *record, recmap_error *error) {
    const struct framing *framing = record_framing(dataset, record->number);
    if (record_is_json(framing, record)) return json_schema_add(schema, record, error);
    if (framing && framing->separator) {
        size_t header_size;
        bool is_added;
        const char *header = recmap_dataset_header(&header_size, dataset);
        RETURN_IF_FAILED(
            row_schema_add(&is_added, schema, framing, header, header_size, record, error));
        if (is_added) return RECMAP_OK;
    }
    return recmap_schema_add(schema, record->data, record->size, error);
}
