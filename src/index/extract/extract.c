#include "index/extract/extract.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <recmap/message.h>

#include "base/core/error.h"
#include "base/text/json.h"
#include "format/framing/lines.h"
#include "index/extract/counting.h"
#include "index/extract/missing_advice.h"
#include "index/tables/ids.h"
#include "index/tables/lifted.h"
#include "parse/example/example.h"
#include "parse/example/foreign.h"
#include "parse/example/single_value.h"
#include "parse/text/text_lookup.h"

/* Columns of one index. The values of one record fit on the stack. */
enum { COLUMNS_MAX = 64 };

struct extractor {
    bool reads_records; /* false: there are no ids, columns or counts */
    bool has_ids;
    size_t column_count;
    recmap_lift_fn lift; /* NULL: features of tf.Example */
    void *context;
    bool *are_required; /* whether a column has no default */
    char **names;       /* of the id, if there is one, then of the columns */
    size_t name_count;
    size_t plain_id_size; /* of the name of the id if it is a feature, else 0 */
    struct counting *counting;
    struct text_source *text;       /* NULL: records are not text */
    recmap_type *text_types;        /* in the order of the names */
    struct example_names *compiled; /* what is looked up in a tf.Example: `names`, unless there is a
                                       callback; then the counted features */
};

/* The features of one record, in the order of the names. */
struct looked_up {
    struct example_feature features[1 + COLUMNS_MAX + COUNTED_FEATURES_MAX];
};

static recmap_status copy_names(struct extractor *extractor, const recmap_index_options *options,
                                recmap_error *error) {
    const char *id = options->id_feature;
    extractor->names = calloc(extractor->column_count + 1, sizeof *extractor->names);
    extractor->are_required = calloc(extractor->column_count + 1, sizeof *extractor->are_required);
    extractor->text_types =
        calloc(extractor->column_count + 1 + (id != NULL), sizeof *extractor->text_types);
    if (!extractor->names || !extractor->are_required || !extractor->text_types)
        return fail_memory(error);
    if (id) extractor->names[extractor->name_count++] = strdup(id);
    for (size_t i = 0; i < extractor->column_count; i++) {
        if (options->lift_types)
            extractor->text_types[extractor->name_count] = options->lift_types[i];
        extractor->names[extractor->name_count++] = strdup(options->lifts[i].name);
        extractor->are_required[i] = !options->lifts[i].default_value &&
                                     !options->lifts[i].is_nullable;
    }
    for (size_t i = 0; i < extractor->name_count; i++)
        if (!extractor->names[i]) return fail_memory(error);
    if (id && !extractor->lift) extractor->plain_id_size = strlen(id);
    return RECMAP_OK;
}

/* Ids, columns and counts are looked up together, in one pass over the record. */
static recmap_status compile_names(struct extractor *extractor, recmap_error *error) {
    const char *looked_up[1 + COLUMNS_MAX + COUNTED_FEATURES_MAX];
    size_t count = 0, counted_count = counting_feature_count(extractor->counting);
    for (size_t i = 0; !extractor->lift && i < extractor->name_count; i++)
        looked_up[count++] = extractor->names[i];
    for (size_t i = 0; i < counted_count; i++)
        looked_up[count++] = counting_name(extractor->counting, i);
    return example_names_create(&extractor->compiled, looked_up, count, error);
}

static bool is_utf8(const char *text) {
    return utf8_valid((const uint8_t *)text, strlen(text));
}

/* Names that begin with @ are reserved. The search for duplicates is quadratic, in at most
 * COLUMNS_MAX names. */
static recmap_status check_lifts(const recmap_lift *lifts, size_t count, recmap_error *error) {
    if (count > COLUMNS_MAX)
        return fail(error, RECMAP_INVALID, "%zu columns to lift; the maximum is %d", count,
                    (int)COLUMNS_MAX);
    for (size_t i = 0; i < count; i++) {
        if (!lifts[i].name || !lifts[i].name[0] || lifts[i].name[0] == '@' ||
            !is_utf8(lifts[i].name))
            return fail(
                error, RECMAP_INVALID,
                "\"%s\" cannot be the name of a column: it is empty, begins with @ or is not UTF-8",
                lifts[i].name ? lifts[i].name : "");
        if (lifts[i].default_value && !is_utf8(lifts[i].default_value))
            return fail(error, RECMAP_INVALID, "the default of the column \"%s\" is not UTF-8",
                        lifts[i].name);
        for (size_t j = 0; j < i; j++)
            if (!strcmp(lifts[i].name, lifts[j].name))
                return fail(error, RECMAP_INVALID, "column \"%s\" is lifted twice", lifts[i].name);
    }
    return RECMAP_OK;
}

static recmap_status set_names(struct extractor *extractor, const recmap_index_options *options,
                               recmap_error *error) {
    RETURN_IF_FAILED(copy_names(extractor, options, error));
    RETURN_IF_FAILED(counting_create(&extractor->counting, options, error));
    return compile_names(extractor, error);
}

static recmap_status fail_counts(const char *records, recmap_error *error) {
    fail(error, RECMAP_INVALID, "elements are counted only in tf.Examples, not in %s", records);
    fail_advise(error,
                "index the files without `--count`; for rows of tokens or windows, write the "
                "records as tf.Examples");
    return RECMAP_INVALID;
}

recmap_status extractor_create(struct extractor **extractor, const recmap_index_options *options,
                               recmap_error *error) {
    static const recmap_index_options nothing = RECMAP_INDEX_OPTIONS_INIT;
    if (!options) options = &nothing;
    RETURN_IF_FAILED(check_lifts(options->lifts, options->lift_count, error));
    if (options->lift == recmap_message_lift_read && options->counted_feature_count)
        return fail_counts("messages of other types", error);
    struct extractor *fresh = calloc(1, sizeof *fresh);
    if (!fresh) return fail_memory(error);
    fresh->has_ids = options->id_feature != NULL;
    fresh->column_count = options->lift_count;
    fresh->lift = options->lift;
    fresh->context = options->lift_context;
    recmap_status status = set_names(fresh, options, error);
    fresh->reads_records = fresh->has_ids || fresh->column_count || options->counted_feature_count;
    if (status == RECMAP_OK) *extractor = fresh;
    else extractor_destroy(fresh);
    return status;
}

void extractor_destroy(struct extractor *extractor) {
    if (!extractor) return;
    for (size_t i = 0; extractor->names && i < extractor->name_count; i++)
        free(extractor->names[i]);
    free(extractor->names);
    free(extractor->are_required);
    free(extractor->text_types);
    if (extractor->text) text_source_deinit(extractor->text);
    free(extractor->text);
    counting_destroy(extractor->counting);
    example_names_destroy(extractor->compiled);
    free(extractor);
}

static recmap_status compile_text(struct extractor *extractor, const struct text_format *format,
                                  recmap_error *error) {
    extractor->text = calloc(1, sizeof *extractor->text);
    if (!extractor->text) return fail_memory(error);
    return text_source_init(extractor->text, format, (const char *const *)extractor->names,
                            extractor->name_count, error);
}

bool extractor_may_read_text(const struct extractor *extractor, const struct framing *framing) {
    bool is_text = framing->separator || framing->parse == lines_framing.parse;
    return is_text && !extractor->lift && extractor->reads_records;
}

bool extractor_reads_text(const struct extractor *extractor) {
    return extractor->text != NULL;
}

/* Ids in rows are texts: 007 is not 7. In JSON, values have types. */
recmap_status extractor_use_text(struct extractor *extractor, const struct framing *framing,
                                 const char *header, size_t header_size, recmap_error *error) {
    if (!extractor_may_read_text(extractor, framing)) return RECMAP_OK;
    if (extractor_counted_count(extractor)) return fail_counts("CSV or JSON lines", error);
    struct text_format format = text_format_of(framing, header, header_size);
    if (extractor->has_ids && framing->separator) extractor->text_types[0] = RECMAP_TYPE_BYTES;
    extractor->plain_id_size = 0;
    return compile_text(extractor, &format, error);
}

void extractor_set_type(struct extractor *extractor, size_t column, recmap_type type) {
    recmap_type *known = &extractor->text_types[column + extractor->has_ids];
    if (*known == RECMAP_TYPE_NONE) *known = type;
}

/* Of JSON, a number is never a text: one of the two records is at fault. */
static recmap_type widen(recmap_type type, recmap_type other, bool is_json) {
    if (type == RECMAP_TYPE_NONE || type == other) return other;
    if (other == RECMAP_TYPE_NONE) return type;
    bool has_text = type == RECMAP_TYPE_BYTES || other == RECMAP_TYPE_BYTES;
    if (has_text) return is_json ? type : RECMAP_TYPE_BYTES;
    return RECMAP_TYPE_FLOAT64;
}

void extractor_widen_types(recmap_type *types, const struct extractor *extractor,
                           const uint8_t *data, size_t size) {
    static const recmap_type unknown[1 + COLUMNS_MAX];
    recmap_value values[1 + COLUMNS_MAX];
    struct reader_memory memory = {.blocks = NULL};
    struct read_fault fault;
    bool is_json = !extractor->text->format.separator;
    bool is_read = text_lookup(values, extractor->text, unknown, data, size, &memory, &fault);
    for (size_t i = 0; is_read && i < extractor->column_count; i++)
        types[i] = widen(types[i], values[i + extractor->has_ids].type, is_json);
    reader_memory_deinit(&memory);
}

bool extractor_has_ids(const struct extractor *extractor) {
    return extractor->has_ids;
}

size_t extractor_column_count(const struct extractor *extractor) {
    return extractor->column_count;
}

size_t extractor_counted_count(const struct extractor *extractor) {
    return counting_feature_count(extractor->counting);
}

/* The single value of a feature; type NONE if it has none. */
static recmap_status single_value(recmap_value *value, const struct example_feature *feature,
                                  const char *name, const char *use, recmap_error *error) {
    if (feature->count > 1) {
        fail(error, RECMAP_FEATURE, "feature \"%s\" has %" PRIu64 " values; %s takes exactly one",
             name, feature->count, use);
        fail_advise(error, "choose another feature");
        return RECMAP_FEATURE;
    }
    *value = example_feature_first(feature);
    return RECMAP_OK;
}

static bool is_id_type(recmap_type type) {
    return type != RECMAP_TYPE_FLOAT && type != RECMAP_TYPE_FLOAT64;
}

static recmap_status fail_id_type(const char *name, recmap_error *error) {
    fail(error, RECMAP_FEATURE, "feature \"%s\" holds floats; an id is bytes or int64", name);
    fail_advise(error, "choose another feature for --id");
    return RECMAP_FEATURE;
}

/* Returns true if the record has none of the features that are looked up. */
static bool has_none(const struct looked_up *target, const struct extractor *extractor) {
    for (size_t i = 0; i < example_names_count(extractor->compiled); i++)
        if (target->features[i].kind != RECMAP_TYPE_NONE) return false;
    return true;
}

static recmap_status fail_example(const struct extractor *extractor, const struct foreign *foreign,
                                  const struct example_fault *fault, recmap_error *error) {
    if (foreign) fail(error, RECMAP_FEATURE, "is not a tf.Example, but %s", foreign->name);
    else
        fail(error, RECMAP_FEATURE, "is not a tf.Example: %s at byte %" PRIu64 " of its data",
             fault->reason, fault->offset);
    fail_advise(error, "%s",
                extractor->lift
                    ? "index such records without --count"
                    : "index such records without --id, --lift and --count; of other protobuf "
                      "messages, name the id with --descriptor FILE --id TYPE:PATH");
    return RECMAP_FEATURE;
}

/* Looks up all features in one pass over the record. Protobuf reads messages of other types as
 * Examples without features. So a record that has none may be one, and is then refused even if all
 * features may be missing, as a parser refuses it. */
static recmap_status look_up(struct looked_up *target, const struct extractor *extractor,
                             const uint8_t *data, size_t size, recmap_error *error) {
    struct example_fault fault;
    struct foreign foreign;
    bool is_read = example_lookup(target->features, extractor->compiled, data, size, &fault);
    if (is_read && !has_none(target, extractor)) return RECMAP_OK;
    bool is_foreign = foreign_find(&foreign, data, size);
    if (is_read && !is_foreign) return RECMAP_OK;
    return fail_example(extractor, is_foreign ? &foreign : NULL, &fault, error);
}

/* The features are in the order of the names: the id first, if there is one, then the columns. */
static recmap_status read_example(recmap_value *id, recmap_value *columns,
                                  const struct extractor *extractor, const struct looked_up *target,
                                  recmap_error *error) {
    const struct example_feature *next = target->features;
    char *const *name = extractor->names;
    if (extractor->has_ids) {
        RETURN_IF_FAILED(single_value(id, next, *name, "an id", error));
        if (!is_id_type(id->type)) return fail_id_type(*name, error);
        next++, name++;
    }
    for (size_t i = 0; i < extractor->column_count; i++, next++, name++)
        RETURN_IF_FAILED(single_value(&columns[i], next, *name, "a column", error));
    return RECMAP_OK;
}

static bool is_type(recmap_type type) {
    return type == RECMAP_TYPE_NONE || type == RECMAP_TYPE_INT64 || type == RECMAP_TYPE_FLOAT ||
           type == RECMAP_TYPE_BYTES || type == RECMAP_TYPE_FLOAT64;
}

/* Asks the application's callback for the id and the columns of a record, and checks what it
 * returned. */
static recmap_status call_callback(recmap_value *id, recmap_value *columns,
                                   const struct extractor *extractor, const uint8_t *data,
                                   size_t size, recmap_error *error) {
    recmap_record record = {data, size, RECMAP_NO_RECORD, NULL};
    char message[256] = "";
    recmap_status status = extractor->lift(&record, extractor->has_ids ? id : NULL, columns,
                                           extractor->column_count, message, sizeof message,
                                           extractor->context);
    message[sizeof message - 1] = 0;
    /* The callback belongs to the application: its results are checked like bytes from a file. */
    if (recmap_status_name(status)[0] == '?') status = RECMAP_INVALID;
    if (status != RECMAP_OK && extractor->lift == recmap_message_lift_read)
        return fail(error, status, "%s", message);
    if (status != RECMAP_OK)
        return fail(error, status, "the callback that reads ids and columns failed: %s",
                    message[0] ? message : recmap_status_text(status));
    bool has_types = is_type(id->type);
    for (size_t i = 0; i < extractor->column_count; i++) has_types &= is_type(columns[i].type);
    if (!has_types)
        return fail(error, RECMAP_INVALID,
                    "the callback that reads ids and columns returned a value of unknown type");
    return is_id_type(id->type) ? RECMAP_OK : fail_id_type("id", error);
}

/* Reads the id and the columns of a record of text. */
static recmap_status read_text(recmap_value *id, recmap_value *columns,
                               const struct extractor *extractor, const uint8_t *data, size_t size,
                               struct reader_memory *memory, recmap_error *error) {
    recmap_value values[1 + COLUMNS_MAX];
    struct read_fault fault;
    if (text_lookup(values, extractor->text, extractor->text_types, data, size, memory, &fault)) {
        if (extractor->has_ids) *id = values[0];
        memcpy(columns, values + extractor->has_ids, extractor->column_count * sizeof *columns);
        return is_id_type(id->type) ? RECMAP_OK : fail_id_type(extractor->names[0], error);
    }
    if (fault.status == RECMAP_NO_MEMORY) return fail_memory(error);
    if (fault.offset == SIZE_MAX) fail(error, RECMAP_FEATURE, "%s", fault.message);
    else fail(error, RECMAP_FEATURE, "%s, at byte %zu of the record", fault.message, fault.offset);
    fail_advise(error,
                "correct the record, give the column another type, index with `--on-bad-record "
                "skip`, or index the files without ids and lifted columns");
    return RECMAP_FEATURE;
}

static recmap_status read_values(recmap_value *id, recmap_value *columns,
                                 const struct extractor *extractor, const struct looked_up *target,
                                 const uint8_t *data, size_t size, struct reader_memory *memory,
                                 recmap_error *error) {
    id->type = RECMAP_TYPE_NONE;
    for (size_t i = 0; i < extractor->column_count; i++) columns[i].type = RECMAP_TYPE_NONE;
    if (extractor->text) return read_text(id, columns, extractor, data, size, memory, error);
    return extractor->lift ? call_callback(id, columns, extractor, data, size, error)
                           : read_example(id, columns, extractor, target, error);
}

static recmap_status fail_verdict(enum run_verdict verdict, const char *name, recmap_type type,
                                  recmap_type before, recmap_error *error) {
    switch (verdict) {
    case RUN_OK: return RECMAP_OK;
    case RUN_NO_MEMORY: return fail_memory(error);
    case RUN_OTHER_TYPE:
        fail(error, RECMAP_FEATURE,
             "feature \"%s\" is of type %s here and of type %s in earlier records", name,
             recmap_type_name(type), recmap_type_name(before));
        fail_advise(error, "a lifted feature must have one type in all records");
        break;
    case RUN_TOO_LONG:
        fail(error, RECMAP_FEATURE, "feature \"%s\" is longer than %d bytes", name,
             (int)COLUMN_BYTES_MAX);
        fail_advise(error, "lift short values only; read long ones from the records");
        break;
    }
    return RECMAP_FEATURE;
}

/* The packer finds out whether a missing value is an error. As it does not have the record, the
 * advice is written here, once per run. */
static void advise_missing(const struct extractor *extractor, struct record_run *run,
                           const recmap_value *columns, const uint8_t *data, size_t size) {
    if (extractor->lift || extractor->text || run->advice[0]) return;
    for (size_t i = 0; i < extractor->column_count; i++) {
        if (columns[i].type != RECMAP_TYPE_NONE || !extractor->are_required[i]) continue;
        missing_advice_write(run->advice, sizeof run->advice,
                             extractor->names[i + extractor->has_ids], data, size);
        run->advised = run->count - 1;
        return;
    }
}

/* An index of which no record has the id is an error, whose advice is about its first record. Which
 * run has that one is not known here. */
static void advise_id(const struct extractor *extractor, struct record_run *run,
                      const recmap_value *id, const uint8_t *data, size_t size) {
    bool is_missing = extractor->plain_id_size && id->type == RECMAP_TYPE_NONE;
    if (is_missing && run->count == 1)
        missing_id_advice_write(run->id_advice, sizeof run->id_advice, extractor->names[0], data,
                                size);
}

static recmap_status take_values(const struct extractor *extractor, struct record_run *run,
                                 const struct looked_up *target, const uint8_t *data, size_t size,
                                 struct reader_memory *memory, recmap_error *error) {
    recmap_value id, columns[COLUMNS_MAX];
    recmap_status status = read_values(&id, columns, extractor, target, data, size, memory, error);
    run->is_malformed = extractor->text && status == RECMAP_FEATURE;
    if (status != RECMAP_OK) return status;
    if (id.type != RECMAP_TYPE_NONE) run_set_id(run, id_hash(&id));
    for (size_t i = 0; i < extractor->column_count; i++) {
        enum run_verdict verdict = run_set_column(run, i, &columns[i]);
        if (verdict != RUN_OK)
            return fail_verdict(verdict, extractor->names[i + extractor->has_ids], columns[i].type,
                                run->columns[i].type, error);
    }
    advise_missing(extractor, run, columns, data, size);
    advise_id(extractor, run, &id, data, size);
    return RECMAP_OK;
}

/* The run copies the values, so that the memory of texts is needed only here. */
static recmap_status add_values(const struct extractor *extractor, struct record_run *run,
                                const struct looked_up *target, const uint8_t *data, size_t size,
                                recmap_error *error) {
    struct reader_memory memory = {.blocks = NULL};
    recmap_status status = take_values(extractor, run, target, data, size, &memory, error);
    reader_memory_deinit(&memory);
    return status;
}

/* The counted features follow the id and the columns, which with a callback are not looked up. */
static recmap_status add_counts(const struct extractor *extractor, struct record_run *run,
                                const struct looked_up *target, const uint8_t *data, size_t size,
                                recmap_error *error) {
    uint64_t counts[COUNTED_FEATURES_MAX];
    size_t count = counting_feature_count(extractor->counting);
    const struct example_feature *features = target->features +
                                             (extractor->lift ? 0 : extractor->name_count);
    if (!count) return RECMAP_OK;
    RETURN_IF_FAILED(counting_read(counts, extractor->counting, features, data, size, error));
    for (size_t i = 0; i < count; i++)
        if (!run_set_count(run, i, counts[i])) return fail_memory(error);
    return RECMAP_OK;
}

/* A function of its own, because the room for all features is too large to reserve for records of
 * which nothing is read. */
static recmap_status lift_values(const struct extractor *extractor, struct record_run *run,
                                 const uint8_t *data, size_t size, recmap_error *error) {
    struct looked_up value;
    if (!extractor->text && example_names_count(extractor->compiled))
        RETURN_IF_FAILED(look_up(&value, extractor, data, size, error));
    if (extractor->has_ids || extractor->column_count)
        RETURN_IF_FAILED(add_values(extractor, run, &value, data, size, error));
    return add_counts(extractor, run, &value, data, size, error);
}

recmap_status extractor_lift(const struct extractor *extractor, struct record_run *run,
                             const uint8_t *data, size_t size, recmap_error *error) {
    if (!extractor->reads_records) return RECMAP_OK;
    return lift_values(extractor, run, data, size, error);
}

/* Keeps the bytes of an id that the record does not contain as they are. */
static recmap_status keep_text(recmap_value *id, struct id_room *room, const uint8_t *data,
                               size_t size, recmap_error *error) {
    const uint8_t *bytes = id->as.bytes.data;
    if (id->type != RECMAP_TYPE_BYTES || !id->as.bytes.size) return RECMAP_OK;
    if ((uintptr_t)bytes >= (uintptr_t)data && (uintptr_t)bytes < (uintptr_t)data + size)
        return RECMAP_OK;
    if (id->as.bytes.size > sizeof room->bytes)
        return fail(error, RECMAP_FEATURE,
                    "the id is longer than %zu bytes, and is written with escapes",
                    sizeof room->bytes);
    memcpy(room->bytes, bytes, id->as.bytes.size);
    id->as.bytes.data = room->bytes;
    return RECMAP_OK;
}

recmap_status extractor_read_id(recmap_value *id, struct id_room *room,
                                const struct extractor *extractor, const uint8_t *data, size_t size,
                                recmap_error *error) {
    recmap_value columns[COLUMNS_MAX];
    struct looked_up value;
    struct reader_memory memory = {.blocks = NULL};
    if (extractor->plain_id_size &&
        example_single_value(id, extractor->names[0], extractor->plain_id_size, data, size) &&
        is_id_type(id->type))
        return RECMAP_OK;
    if (!extractor->lift && !extractor->text)
        RETURN_IF_FAILED(look_up(&value, extractor, data, size, error));
    recmap_status status = read_values(id, columns, extractor, &value, data, size, &memory, error);
    if (status == RECMAP_OK && extractor->text) status = keep_text(id, room, data, size, error);
    reader_memory_deinit(&memory);
    return status;
}
