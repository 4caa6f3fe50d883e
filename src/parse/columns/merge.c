#include "parse/columns/merge.h"

#include <string.h>

#include "base/core/array.h"
#include "base/core/error.h"
#include "parse/columns/assemble.h"
#include "parse/columns/ragged.h"
#include "parse/columns/row_checks.h"

/* Where a part's contribution to something starts: after the parts before it. */
static uint64_t sum_before(const struct columns_merge *merge, size_t part, size_t sink,
                           uint64_t (*count)(const struct batch_memory *memory, size_t sink)) {
    uint64_t sum = 0;
    for (size_t i = 0; i < part; i++) sum += count(merge->parts[i]->batch, sink);
    return sum;
}

static uint64_t count_rows(const struct batch_memory *memory, size_t sink) {
    (void)sink;
    return memory->row_count;
}

static uint64_t count_values(const struct batch_memory *memory, size_t sink) {
    return memory->sinks[sink].value_count;
}

static uint64_t count_steps(const struct batch_memory *memory, size_t sink) {
    return memory->sinks[sink].step_count;
}

/* Returns true if the values of a row have a fixed place in the sink. */
static bool is_fixed(const struct slot *slot) {
    return slot->count > 0 && !slot->is_list;
}

/* Appends offsets to others: `count` of them, after the first, which is 0. Returns false if the
 * call was interrupted, as do the other functions that copy. */
static bool copy_offsets(const struct buffer *buffer, const struct buffer *part, uint64_t position,
                         uint64_t count, uint64_t shift, struct interrupt *interrupt) {
    enum { PIECE = 1 << 16 };
    int64_t *out = buffer_int64(buffer) + position + 1;
    const int64_t *offsets = buffer_int64(part) + 1;
    for (uint64_t i = 0; i < count;) {
        uint64_t begin = i, end = count - i < PIECE ? count : i + PIECE;
        for (; i < end; i++) out[i] = offsets[i] + (int64_t)shift;
        if (!interrupt_continues(interrupt, (end - begin) * sizeof *out)) return false;
    }
    return true;
}

/* ---- Reading a part. */

/* How many rows at the end of a part are read into the part's own memory and copied later. Wide
 * stores overrun the end of a row by up to BUFFER_SLACK bytes, which they may do because the rows
 * are written in ascending order and each row overwrites what the previous one left. The rows after
 * the last one of a part, however, belong to another thread, which may have written them
 * already. If rows may be left out, the places of rows are known only after all parts are read, and
 * all rows are copied; only exact ones, which are long, are read into the whole and moved there if
 * one was left out indeed. */
static size_t count_tail_rows(const struct columns_merge *merge, const struct slot *slot,
                              size_t row_count) {
    if (slot->is_exact) return 0;
    if (merge->leaves_out) return row_count;
    size_t row_size = (size_t)slot->count * recmap_element_size(slot->element);
    size_t tail = (BUFFER_SLACK + row_size - 1) / row_size;
    return tail < row_count ? tail : row_count;
}

/* Lets the sinks receive row `row` of the part in the right memory: in the whole's, or in the
 * part's own if the row is one of its last ones. Returns the row up to which this holds. */
static size_t aim_sinks(const struct columns_merge *merge, struct batch_memory *part,
                        size_t first_row, size_t row) {
    size_t end = part->row_count;
    for (size_t i = 0; i < part->sink_count; i++) {
        const struct slot *slot = batch_memory_slot(part->parser, i);
        if (!is_fixed(slot)) continue;
        size_t size = (size_t)slot->count * recmap_element_size(slot->element);
        size_t tail = part->row_count - count_tail_rows(merge, slot, part->row_count);
        part->sinks[i].values = part->private_values[i];
        if (row >= tail) continue;
        uint8_t *shared = merge->whole->batch->sinks[i].values.data + first_row * size;
        part->sinks[i].values = (struct buffer){.data = shared, .capacity = part->row_count * size};
        if (tail < end) end = tail;
    }
    return end;
}

static recmap_status read_part(const struct columns_merge *merge, recmap_columns *columns,
                               size_t first_row, const recmap_record *records,
                               recmap_parse_mode mode, recmap_error *error) {
    struct batch_memory *part = columns->batch;
    size_t count = part->row_count, end;
    recmap_status status = RECMAP_OK;
    for (size_t i = 0; i < part->sink_count; i++) part->private_values[i] = part->sinks[i].values;
    for (size_t row = 0; row < count && status == RECMAP_OK; row = end) {
        end = aim_sinks(merge, part, first_row, row);
        status = columns_read_rows(columns, records, row, end, mode, error);
    }
    /* Also after a failure, because the part frees its memory in the end. */
    aim_sinks(merge, part, first_row, count);
    return status;
}

static recmap_status begin_and_read(const struct columns_merge *merge, recmap_columns *columns,
                                    size_t first_row, const recmap_record *records,
                                    size_t record_count, recmap_parse_mode mode,
                                    recmap_error *error) {
    recmap_parser *parser = merge->whole->batch->parser;
    RETURN_IF_FAILED(columns_begin(columns, parser, record_count, error));
    if (!row_checks_begin(columns->batch)) return fail_memory(error);
    return read_part(merge, columns, first_row, records, mode, error);
}

recmap_status columns_merge_read(const struct columns_merge *merge, size_t part, size_t first_row,
                                 const recmap_record *records, size_t record_count,
                                 recmap_parse_mode mode, recmap_error *error) {
    recmap_columns *columns = merge->parts[part];
    recmap_status status =
        begin_and_read(merge, columns, first_row, records, record_count, mode, error);
    if (status == RECMAP_OK) columns->batch->row_count -= columns->left_out_count;
    else columns_clear(columns);
    return status;
}

/* ---- Sinks. */

/* Moves the rows that were read into the whole up to where they belong, after others were left out.
 */
static void close_gaps(const struct columns_merge *merge, size_t index) {
    const struct slot *slot = batch_memory_slot(merge->whole->batch->parser, index);
    const size_t row_size = (size_t)slot->count * recmap_element_size(slot->element);
    uint8_t *rows = merge->whole->batch->sinks[index].values.data, *end = rows;
    for (size_t i = 0; i < merge->part_count; i++) {
        const size_t count = merge->parts[i]->batch->row_count;
        if (rows != end) memmove(end, rows, count * row_size);
        end += count * row_size;
        rows += (count + merge->parts[i]->left_out_count) * row_size;
    }
}

static bool reserve_sink(uint64_t *copied_size, const struct columns_merge *merge, size_t index) {
    struct sink *whole = &merge->whole->batch->sinks[index];
    const struct slot *slot = batch_memory_slot(merge->whole->batch->parser, index);
    size_t size = recmap_element_size(slot->element);
    whole->value_count = sum_before(merge, merge->part_count, index, count_values);
    whole->step_count = sum_before(merge, merge->part_count, index, count_steps);
    if (is_fixed(slot)) {
        if (merge->leaves_out && slot->is_exact) close_gaps(merge, index);
        return true;
    }
    if (whole->value_count > SIZE_MAX / size || whole->step_count >= SIZE_MAX / sizeof(int64_t))
        return false;
    if (!buffer_reserve(&whole->values, 0, (size_t)whole->value_count * size)) return false;
    uint64_t offset_count = merge->whole->batch->row_count + whole->step_count;
    *copied_size += whole->value_count * size + offset_count * sizeof(int64_t);
    if (!slot->steps) return true;
    return buffer_reserve(&whole->steps, sizeof(int64_t),
                          (size_t)(whole->step_count + 1) * sizeof(int64_t));
}

static void merge_nulls(const struct columns_merge *merge, size_t index) {
    struct sink *whole = &merge->whole->batch->sinks[index];
    size_t first_row = 0;
    for (size_t i = 0; i < merge->part_count; i++) {
        const struct batch_memory *part = merge->parts[i]->batch;
        const struct sink *sink = &part->sinks[index];
        for (size_t row = 0; sink->null_count && row < part->row_count; row++)
            if (!(sink->validity.data[row >> 3] >> (row & 7) & 1))
                sink_set_null(whole, first_row + row);
        first_row += part->row_count;
    }
}

/* Copies one column of a part to its place in the whole. Rows, values and steps of the preceding
 * parts tell where that is; offsets are shifted by what precedes them. */
static bool copy_sink(const struct columns_merge *merge, size_t part_index, size_t index,
                      struct interrupt *interrupt) {
    const struct batch_memory *part = merge->parts[part_index]->batch;
    const struct sink *sink = &part->sinks[index];
    struct sink *whole = &merge->whole->batch->sinks[index];
    const struct slot *slot = batch_memory_slot(part->parser, index);
    size_t size = recmap_element_size(slot->element);
    uint64_t first_row = sum_before(merge, part_index, index, count_rows);
    if (is_fixed(slot)) {
        size_t row_size = (size_t)slot->count * size;
        /* The rows before the tail were read into the whole: see aim_sinks. */
        size_t tail = count_tail_rows(merge, slot, part->row_count), row = part->row_count - tail;
        return interrupt_copy(interrupt, whole->values.data + (first_row + row) * row_size,
                              sink->values.data + row * row_size, tail * row_size);
    }
    uint64_t value = sum_before(merge, part_index, index, count_values);
    uint64_t step = sum_before(merge, part_index, index, count_steps);
    if (sink->value_count && !interrupt_copy(interrupt, whole->values.data + value * size,
                                             sink->values.data, sink->value_count * size))
        return false;
    if (!copy_offsets(&whole->rows, &sink->rows, first_row, part->row_count,
                      slot->steps ? step : value, interrupt))
        return false;
    return !slot->steps ||
           copy_offsets(&whole->steps, &sink->steps, step, sink->step_count, value, interrupt);
}

/* ---- Levels of RAGGED columns: offsets into the next level, the last ones into the values. */

static const struct buffer *level_of(const struct batch_memory *memory, size_t column,
                                     size_t level) {
    return batch_memory_part((struct batch_memory *)memory, column, BATCH_PART_LEVELS + level);
}

/* How many rows a level has; level 0 has the rows of the batch. */
static uint64_t level_count(const struct batch_memory *memory, size_t column, size_t level) {
    uint64_t count = memory->row_count;
    for (size_t i = 0; i < level; i++)
        count = (uint64_t)buffer_int64(level_of(memory, column, i))[count];
    return count;
}

static uint64_t levels_before(const struct columns_merge *merge, size_t part, size_t column,
                              size_t level) {
    uint64_t sum = 0;
    for (size_t i = 0; i < part; i++) sum += level_count(merge->parts[i]->batch, column, level);
    return sum;
}

/* Levels of a column; 0 for all kinds but RAGGED. */
static size_t count_levels(const struct batch_memory *memory, size_t column) {
    const recmap_feature *feature = &memory->parser->columns[column].feature;
    if (feature->kind != RECMAP_FEATURE_RAGGED) return 0;
    return 1 + feature->partition_count - ragged_tail_count(feature);
}

static bool reserve_levels(const struct columns_merge *merge, size_t column) {
    struct batch_memory *whole = merge->whole->batch;
    for (size_t level = 0; level < count_levels(whole, column); level++) {
        uint64_t count = levels_before(merge, merge->part_count, column, level);
        if (count >= SIZE_MAX / sizeof(int64_t) - 1 ||
            !buffer_reserve(batch_memory_part(whole, column, BATCH_PART_LEVELS + level),
                            sizeof(int64_t), (size_t)(count + 1) * sizeof(int64_t)))
            return false;
    }
    return true;
}

static bool copy_levels(const struct columns_merge *merge, size_t part_index, size_t column,
                        struct interrupt *interrupt) {
    const struct batch_memory *part = merge->parts[part_index]->batch;
    const struct batch_memory *whole = merge->whole->batch;
    for (size_t level = 0; level < count_levels(whole, column); level++)
        if (!copy_offsets(level_of(whole, column, level), level_of(part, column, level),
                          levels_before(merge, part_index, column, level),
                          level_count(part, column, level),
                          levels_before(merge, part_index, column, level + 1), interrupt))
            return false;
    return true;
}

/* ---- All of a part. */

static bool merge_failures(const struct columns_merge *merge) {
    uint64_t first_row = 0;
    for (size_t i = 0; i < merge->part_count; i++) {
        const struct batch_memory *part = merge->parts[i]->batch;
        for (size_t f = 0; f < part->failure_count; f++) {
            struct failure_entry failure = part->failures[f];
            const char *message = part->failure_text + failure.message;
            failure.row += first_row;
            if (!batch_memory_add_failure(merge->whole->batch, &failure, message)) return false;
        }
        first_row += part->row_count;
    }
    return true;
}

bool columns_merge_start(const struct columns_merge *merge, const recmap_parser *parser,
                         size_t row_count) {
    /* A reference count does not change a parser. */
    if (columns_begin(merge->whole, (recmap_parser *)parser, row_count, NULL) != RECMAP_OK)
        return false;
    merge->whole->batch->defers_copies = true;
    return row_checks_begin(merge->whole->batch);
}

bool columns_merge_reserve(uint64_t *size, const struct columns_merge *merge) {
    struct batch_memory *whole = merge->whole->batch;
    *size = 0;
    for (size_t i = 0; i < merge->part_count; i++) {
        whole->row_count -= merge->parts[i]->left_out_count;
        reader_memory_join(&whole->texts, &merge->parts[i]->batch->texts);
    }
    for (size_t i = 0; i < whole->sink_count; i++) {
        if (!reserve_sink(size, merge, i)) return false;
        merge_nulls(merge, i);
    }
    for (size_t i = 0; i < whole->parser->column_count; i++)
        if (!reserve_levels(merge, i)) return false;
    return merge_failures(merge);
}

bool columns_merge_copy(const struct columns_merge *merge, size_t part,
                        struct interrupt *interrupt) {
    const struct batch_memory *whole = merge->whole->batch;
    for (size_t i = 0; i < whole->sink_count; i++)
        if (!copy_sink(merge, part, i, interrupt)) return false;
    for (size_t i = 0; i < whole->parser->column_count; i++)
        if (!copy_levels(merge, part, i, interrupt)) return false;
    return true;
}

bool columns_merge_finish(uint64_t *size, const struct columns_merge *merge,
                          struct interrupt *interrupt) {
    struct batch_memory *whole = merge->whole->batch;
    *size = 0;
    if (assemble_columns(whole, interrupt, NULL) != RECMAP_OK) return false;
    for (size_t i = 0; i < whole->copy_count; i++) *size += bytes_copy_size(&whole->copies[i]);
    return true;
}

bool columns_merge_share(const struct columns_merge *merge, size_t share, size_t share_count,
                         struct interrupt *interrupt) {
    const struct batch_memory *whole = merge->whole->batch;
    for (size_t i = 0; i < whole->copy_count; i++)
        if (!bytes_copy_do_share(&whole->copies[i], share, share_count, interrupt)) return false;
    return true;
}

/* Pictures that have no place in the whole before they are decoded were copied there. Parts are
 * used again, and their pixels would take as much memory as those of the whole batch. */
static void release_pixels(struct batch_memory *part) {
    const recmap_parser *parser = part->parser;
    for (size_t i = 0; i < parser->image_count; i++) {
        const size_t output = parser->images[i].pixels;
        if (!parser->outputs[output].count)
            buffer_release(&batch_memory_output(part, output)->values);
    }
}

void columns_merge_end(const struct columns_merge *merge, bool has_failed) {
    for (size_t i = 0; i < merge->part_count; i++) {
        if (merge->parts[i]->batch) release_pixels(merge->parts[i]->batch);
        columns_clear(merge->parts[i]);
    }
    if (has_failed) columns_clear(merge->whole);
}
