#include <recmap/message.h>
#include <recmap/parser.h>
#include <recmap/table.h>

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/core/error.h"
#include "parse/columns/assemble.h"
#include "parse/columns/columns.h"
#include "parse/columns/custom_row.h"
#include "parse/columns/image_column.h"
#include "parse/columns/row_checks.h"
#include "parse/decode/read_lists.h"
#include "parse/decode/read_message.h"
#include "parse/decode/read_paths.h"
#include "parse/text/text_reader.h"

/* How many records ahead to prefetch; see docs/reference/benchmarks.md. */
enum { PREFETCH_DISTANCE = 8 };

/* The SLICED features as sequences without padding, in the same order; pictures as bytes. */
static size_t list_whole(recmap_feature *features, const recmap_parser *parser, bool is_list) {
    size_t count = 0;
    for (size_t i = 0; i < parser->slice_count; i++) {
        const struct column_plan *column = &parser->columns[parser->slices[i].column];
        if (column->is_list != is_list) continue;
        features[count] = column->feature;
        features[count].element = parser->slices[i].slot.element;
        if (column->is_output) features[count].dimension_count -= PIXEL_DIMENSIONS;
        features[count].kind = RECMAP_FEATURE_FIXED_LEN_SEQUENCE;
        features[count].unpadded = 1;
        features[count].bytes_mode = RECMAP_BYTES_VIEW;
        features[count].as_bits = 0; /* the element of the slot is INT64 already */
        features[count].default_count = features[count].prepend_count = 0;
        features[count].append_count = 0;
        features[count++].pad_edge = 0;
    }
    return count;
}

static recmap_status create(recmap_parser **parser, const recmap_feature *features,
                            size_t context_count, const recmap_feature *lists, size_t list_count,
                            bool is_sequence, recmap_error *error);

/* Makes messages about values of a slot speak of SLICED features. */
static void name_sliced(struct slot_set *set) {
    for (size_t i = 0; i < set->count; i++) set->slots[i].kind = RECMAP_FEATURE_SLICED;
}

/* Creates the parser that reads whole records for the SLICED features. Its columns are in the order
 * of `slices`, because features of the context come first in both. */
static recmap_status create_whole(recmap_parser *parser, recmap_error *error) {
    if (!parser->slice_count) return RECMAP_OK;
    recmap_feature *features = calloc(parser->slice_count, sizeof *features);
    if (!features) return fail_memory(error);
    size_t context_count = list_whole(features, parser, false);
    recmap_feature *lists = features + context_count;
    size_t list_count = list_whole(lists, parser, true);
    recmap_status status = create(&parser->whole, features, context_count, lists, list_count,
                                  parser->is_sequence, error);
    free(features);
    RETURN_IF_FAILED(status);
    name_sliced(&parser->whole->features);
    name_sliced(&parser->whole->lists);
    return RECMAP_OK;
}

static recmap_status compile(recmap_parser *parser, const recmap_feature *features,
                             size_t context_count, const recmap_feature *lists, size_t list_count,
                             recmap_error *error) {
    RETURN_IF_FAILED(plan_compile(parser, features, context_count, lists, list_count, error));
    return create_whole(parser, error);
}

static recmap_status create(recmap_parser **parser, const recmap_feature *features,
                            size_t context_count, const recmap_feature *lists, size_t list_count,
                            bool is_sequence, recmap_error *error) {
    recmap_parser *fresh = calloc(1, sizeof *fresh);
    if (!fresh) return fail_memory(error);
    static _Atomic(uint64_t) id_count;
    atomic_init(&fresh->users, 1);
    fresh->id = atomic_fetch_add(&id_count, 1);
    fresh->is_sequence = is_sequence;
    recmap_status status = compile(fresh, features, context_count, lists, list_count, error);
    if (status != RECMAP_OK) {
        recmap_parser_release(fresh);
        return status;
    }
    *parser = fresh;
    return RECMAP_OK;
}

recmap_status recmap_parser_create(recmap_parser **parser, const recmap_feature *features,
                                   size_t count, recmap_error *error) {
    return create(parser, features, count, NULL, 0, false, error);
}

recmap_status recmap_parser_create_sequence(recmap_parser **parser, const recmap_feature *context,
                                            size_t context_count, const recmap_feature *lists,
                                            size_t list_count, recmap_error *error) {
    return create(parser, context, context_count, lists, list_count, true, error);
}

recmap_status recmap_parser_create_custom(recmap_parser **parser, const recmap_feature *features,
                                          size_t count, recmap_parse_fn parse, void *context,
                                          recmap_error *error) {
    if (!parse) return fail(error, RECMAP_INVALID, "the parser has no function");
    if (features) RETURN_IF_FAILED(custom_row_check(features, count, error));
    RETURN_IF_FAILED(create(parser, features, count, NULL, 0, false, error));
    (*parser)->custom_parse = parse;
    (*parser)->custom_context = context;
    return RECMAP_OK;
}

/* Keeps a parser if its reader was created. */
static recmap_status keep(recmap_parser **parser, recmap_parser *fresh, recmap_status status) {
    if (status == RECMAP_OK) *parser = fresh;
    else recmap_parser_release(fresh);
    return status;
}

recmap_status recmap_parser_create_message(recmap_parser **parser, recmap_message_type *type,
                                           const recmap_feature *features, size_t count,
                                           recmap_error *error) {
    struct arena memory = {NULL};
    recmap_feature *expanded;
    recmap_parser *fresh = NULL;
    recmap_status status =
        message_features_expand(&expanded, &memory, type, features, count, error);
    if (status == RECMAP_OK) status = create(&fresh, expanded, count, NULL, 0, false, error);
    if (status == RECMAP_OK) status = message_reader_create(&fresh->reader, fresh, type, error);
    arena_deinit(&memory);
    return keep(parser, fresh, status);
}

static recmap_status create_text(recmap_parser **parser, const recmap_feature *features,
                                 size_t count, const struct text_format *format,
                                 const char *missing, char separator, recmap_error *error) {
    recmap_parser *fresh = NULL;
    if (features) RETURN_IF_FAILED(text_reader_check(features, count, error));
    RETURN_IF_FAILED(create(&fresh, features, count, NULL, 0, false, error));
    recmap_status status =
        text_reader_create(&fresh->reader, fresh, format, missing, separator, error);
    return keep(parser, fresh, status);
}

static bool is_separator(char character) {
    return character && !strchr("\"\r\n", character);
}

recmap_status recmap_parser_create_csv(recmap_parser **parser, const recmap_feature *features,
                                       size_t count, const recmap_csv_options *options,
                                       recmap_error *error) {
    static const recmap_csv_options defaults = RECMAP_CSV_OPTIONS_INIT;
    if (!options) options = &defaults;
    if (options->version != RECMAP_CSV_OPTIONS_VERSION)
        return fail(error, RECMAP_INVALID, "recmap_csv_options has version %" PRIu32 ", not %d",
                    options->version, RECMAP_CSV_OPTIONS_VERSION);
    if (!is_separator(options->delimiter) || !is_separator(options->separator))
        return fail(error, RECMAP_INVALID,
                    "a delimiter or separator is a quote, the end of a line or NUL");
    struct text_format format = {.separator = options->delimiter,
                                 .has_quotes = !options->no_quotes,
                                 .header = options->header,
                                 .header_size = options->header_size,
                                 .header_file = options->header_file};
    return create_text(parser, features, count, &format, options->na, options->separator, error);
}

recmap_status recmap_parser_create_json(recmap_parser **parser, const recmap_feature *features,
                                        size_t count, recmap_error *error) {
    static const struct text_format format;
    return create_text(parser, features, count, &format, NULL, ' ', error);
}

size_t recmap_parser_column_count(const recmap_parser *parser) {
    return parser->column_count;
}

size_t recmap_parser_context_count(const recmap_parser *parser) {
    return parser->context_count;
}

static const char *advice_for(const struct read_fault *fault) {
    recmap_status status = fault->status;
    if (fault->advice[0]) return fault->advice;
    if (status == RECMAP_CORRUPT)
        return "the record is damaged or not a tf.train.Example: skip or collect bad records; read "
               "rows of CSV with `recmap.Csv`, JSON lines with `recmap.JsonLines`, other messages "
               "with `recmap.Message`, and WebDataset samples with `recmap.webdataset.sample`";
    if (status == RECMAP_FEATURE)
        return "`recmap schema` shows what 1,000 records contain, `recmap schema --sample 0` what "
               "all do; request that";
    return "";
}

recmap_status columns_raise(recmap_error *error, const recmap_record *record,
                            const struct read_fault *fault) {
    if (fault->status == RECMAP_NO_MEMORY) return fail_memory(error);
    if (fault->status == RECMAP_CANCELLED) return interrupt_fail(error);
    fail(error, fault->status, "%s", fault->message);
    fail_at(error, NULL, record->number,
            fault->offset == SIZE_MAX ? RECMAP_NO_OFFSET : fault->offset);
    fail_advise(error, "%s", advice_for(fault));
    return fault->status;
}

static bool collect(struct batch_memory *memory, const recmap_record *record, size_t row,
                    const struct read_fault *fault) {
    struct failure_entry failure = {.row = row,
                                    .number = record->number,
                                    .offset = fault->offset == SIZE_MAX ? RECMAP_NO_OFFSET
                                                                        : fault->offset,
                                    .status = fault->status};
    if (!batch_memory_add_failure(memory, &failure, fault->message)) return false;
    read_nothing(memory->sinks, memory->parser, row);
    image_columns_nothing(memory, row);
    return row_checks_nothing(memory, row);
}

/* Reads the features of a record with what the parser has for its kind. Returns false, fills
 * `fault` and rolls the row back on failure. */
static bool read_features(recmap_columns *columns, const recmap_record *record, size_t row,
                          struct read_fault *fault) {
    struct batch_memory *memory = columns->batch;
    const recmap_parser *parser = memory->parser;
    const struct record_reader *reader = parser->reader;
    if (!parser->custom_parse && !reader)
        return read_record(memory->sinks, columns->scratch, parser, record->data, record->size, row,
                           fault);
    bool is_read = reader ? reader->read(reader, memory->sinks, &memory->texts, parser,
                                         record->data, record->size, row, fault)
                          : custom_row_read(memory, record, row, fault);
    if (!is_read) read_roll_back(memory->sinks, parser, row);
    return is_read;
}

/* Reads all columns of one row. Returns false, fills `fault` and rolls the row back on failure. */
static bool read_row(recmap_columns *columns, const recmap_record *record, size_t row,
                     struct read_fault *fault) {
    struct batch_memory *memory = columns->batch;
    const recmap_parser *parser = memory->parser;
    if (!read_features(columns, record, row, fault)) return false;
    if (!parser->is_sequence && !parser->needs_checks && !parser->image_count) return true;
    struct sink *lists = memory->sinks + parser->features.count;
    if ((!parser->is_sequence ||
         read_lists(lists, memory->list_entries, parser, record->data, record->size, row, fault)) &&
        (!parser->needs_checks || row_checks(memory, row, fault)) &&
        (!parser->image_count || image_columns_read(columns, record, row, fault)))
        return true;
    if (fault->slot != SIZE_MAX && !parser->reader)
        fault->offset = read_entry_offset(parser, fault->slot, record->data, record->size);
    read_roll_back(memory->sinks, parser, row);
    image_columns_roll_back(memory, row);
    return false;
}

static recmap_status ask_interrupt(recmap_columns *columns, const recmap_record *record,
                                   recmap_error *error) {
    if (!columns->interrupt) return RECMAP_OK;
    return interrupt_check(columns->interrupt, record->size + INTERRUPT_RECORD_WORK, error);
}

/* Makes the row a failure if its record could not be read. */
static bool take_lost(struct read_fault *fault, const recmap_columns *columns, size_t *next_lost,
                      size_t row) {
    while (*next_lost < columns->lost_count && columns->lost[*next_lost].row < row) ++*next_lost;
    if (*next_lost == columns->lost_count || columns->lost[*next_lost].row != row) return false;
    const struct lost_row *lost = &columns->lost[*next_lost];
    fault_set(fault, lost->status, SIZE_MAX, "%s", lost->message);
    return true;
}

/* Only faults of a record itself are collected or repaired. */
static bool is_of_record(const struct read_fault *fault) {
    return fault->status != RECMAP_NO_MEMORY && fault->status != RECMAP_CANCELLED;
}

/* Reads replacements into the row of the record at `index` until one is good or the row is left
 * out. */
static recmap_status repair_row(recmap_columns *columns, const recmap_record *records, size_t index,
                                const struct read_fault *fault, recmap_error *error) {
    const struct row_repair *repair = columns->repair;
    const recmap_record failed = records[index];
    recmap_record replacement;
    struct read_fault other;
    for (;;) {
        enum row_choice choice;
        RETURN_IF_FAILED(repair->choose(&choice, &replacement, repair->context, index, error));
        if (choice == ROW_RAISED) return columns_raise(error, &failed, fault);
        if (choice == ROW_LEFT_OUT) {
            columns->left_out_count++;
            return RECMAP_OK;
        }
        RETURN_IF_FAILED(ask_interrupt(columns, &replacement, error));
        if (read_row(columns, &replacement, index - columns->left_out_count, &other))
            return RECMAP_OK;
        if (!is_of_record(&other)) return columns_raise(error, &replacement, &other);
    }
}

static recmap_status settle_failure(recmap_columns *columns, const recmap_record *records,
                                    size_t index, recmap_parse_mode mode,
                                    const struct read_fault *fault, recmap_error *error) {
    if (!is_of_record(fault)) return columns_raise(error, &records[index], fault);
    if (columns->repair) return repair_row(columns, records, index, fault, error);
    if (mode != RECMAP_PARSE_COLLECT) return columns_raise(error, &records[index], fault);
    return collect(columns->batch, &records[index], index, fault) ? RECMAP_OK : fail_memory(error);
}

/* Record i becomes row i, less the rows that were left out before it. */
recmap_status columns_read_rows(recmap_columns *columns, const recmap_record *records, size_t first,
                                size_t end, recmap_parse_mode mode, recmap_error *error) {
    struct read_fault fault;
    size_t next_lost = 0;
    for (size_t i = first; i < end; i++) {
        if (i + PREFETCH_DISTANCE < end)
            read_prefetch(records[i + PREFETCH_DISTANCE].data, records[i + PREFETCH_DISTANCE].size);
        recmap_status status = ask_interrupt(columns, &records[i], error);
        if (status != RECMAP_OK) return status;
        bool is_lost = columns->lost_count && take_lost(&fault, columns, &next_lost, i);
        if (!is_lost && read_row(columns, &records[i], i - columns->left_out_count, &fault))
            continue;
        status = settle_failure(columns, records, i, mode, &fault, error);
        if (status != RECMAP_OK) return status;
    }
    return RECMAP_OK;
}

recmap_status columns_check_records(const recmap_parser *parser, recmap_error *error) {
    if (!parser->slice_count) return RECMAP_OK;
    fail(error, RECMAP_INVALID, "feature '%.200s' is sliced: rows are cut from it, not records",
         parser->columns[parser->slices[0].column].feature.name);
    fail_advise(error, "use a loader with a chunked, packed or windows order");
    return RECMAP_INVALID;
}

static recmap_status parse(recmap_columns *columns, const recmap_parser *parser,
                           const recmap_record *records, size_t record_count,
                           recmap_parse_mode mode, recmap_error *error) {
    RETURN_IF_FAILED(columns_check_records(parser, error));
    RETURN_IF_FAILED(columns_check_draws(parser, columns->draws, error));
    /* Only the reference count of the parser changes, which is not visible to the caller. */
    RETURN_IF_FAILED(columns_begin(columns, (recmap_parser *)parser, record_count, error));
    if (!row_checks_begin(columns->batch)) return fail_memory(error);
    RETURN_IF_FAILED(columns_read_rows(columns, records, 0, record_count, mode, error));
    columns->batch->row_count -= columns->left_out_count;
    return assemble_columns(columns->batch, columns->interrupt, error);
}

recmap_status recmap_parser_parse(recmap_columns *columns, const recmap_parser *parser,
                                  const recmap_record *records, size_t record_count,
                                  recmap_parse_mode mode, recmap_error *error) {
    recmap_status status = parse(columns, parser, records, record_count, mode, error);
    if (status != RECMAP_OK) columns_clear(columns);
    return status;
}

/* Reserves room for the elements of all rows, of `stride` values each. */
static bool reserve_elements(struct sink *sink, const struct batch_memory *memory, uint64_t stride,
                             recmap_element element) {
    size_t size;
    return !__builtin_mul_overflow(memory->row_count, memory->row_width, &size) &&
           !__builtin_mul_overflow(size, stride, &size) &&
           !__builtin_mul_overflow(size, recmap_element_size(element), &size) &&
           buffer_reserve(&sink->values, 0, size);
}

static bool reserve_slices(struct batch_memory *memory) {
    const recmap_parser *parser = memory->parser;
    for (size_t i = 0; i < parser->slice_count; i++) {
        const struct slice_plan *slice = &parser->slices[i];
        if (!reserve_elements(batch_memory_slice(memory, i), memory, slice->stride,
                              slice->slot.element))
            return false;
    }
    return true;
}

/* Room for the pixels of the pictures in rows. */
static bool reserve_pictures(struct batch_memory *memory) {
    const recmap_parser *parser = memory->parser;
    for (size_t i = 0; i < parser->image_count; i++) {
        const struct slot *pixels = &parser->outputs[parser->images[i].pixels];
        if (!parser->images[i].is_sliced) continue;
        if (!reserve_elements(batch_memory_output(memory, parser->images[i].pixels), memory,
                              pixels->multiple, pixels->element))
            return false;
    }
    return true;
}

recmap_status columns_begin_rows(recmap_columns *columns, const recmap_parser *parser,
                                 size_t row_count, uint64_t row_width, recmap_error *error) {
    RETURN_IF_FAILED(columns_begin(columns, (recmap_parser *)parser, row_count, error));
    columns->batch->row_width = row_width;
    if (row_checks_begin(columns->batch) && reserve_slices(columns->batch) &&
        reserve_pictures(columns->batch))
        return RECMAP_OK;
    columns_clear(columns);
    return fail_memory(error);
}

recmap_status columns_read_row(recmap_columns *columns, const recmap_record *record, size_t row,
                               recmap_error *error) {
    struct read_fault fault;
    return read_row(columns, record, row, &fault) ? RECMAP_OK
                                                  : columns_raise(error, record, &fault);
}
