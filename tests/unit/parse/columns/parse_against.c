#define _POSIX_C_SOURCE 200809L
#include "unit/parse/columns/parse_against.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <recmap/parser.h>

#include "base/text/json.h"
#include "example.pb-c.h"
#include "parse/example/example.h"
#include "parse/example/foreign.h"
#include "unit/parse/example/against.h"
#include "unit/parse/example/build.h"

static void *must_have(void *memory) {
    if (!memory) abort();
    return memory;
}

/* ---- the record without what is not looked into ---- */

struct bytes {
    uint8_t *data;
    size_t size;
};

static void put(struct bytes *text, const void *data, size_t size) {
    memcpy(text->data + text->size, data, size);
    text->size += size;
}

static void put_message(struct bytes *text, const struct bytes *inner) {
    uint8_t head[11] = {10};
    size_t head_size = 1, left = inner->size;
    for (; left > 127; left >>= 7) head[head_size++] = (uint8_t)(left | 128);
    head[head_size++] = (uint8_t)left;
    put(text, head, head_size);
    put(text, inner->data, inner->size);
}

/* Each value of an entry that nobody asks for becomes an empty one. */
static void put_emptied(struct bytes *text, struct wire entry) {
    struct wire_trace trace = {0};
    uint32_t tag;
    struct wire skipped;
    struct bytes inner = {must_have(malloc(wire_left(&entry) + 1)), 0};
    while (!wire_done(&entry)) {
        const uint8_t *begin = entry.at;
        if (!wire_read_tag(&tag, &entry, &trace)) abort();
        if (tag == 10 || tag == 18) {
            if (!wire_read_bytes(&skipped, &entry, &trace)) abort();
        } else if (!wire_skip(&entry, tag, EXAMPLE_ENTRY_DEPTH, &trace)) {
            abort();
        }
        if (tag == 18) put(&inner, "\x12", 2);
        else put(&inner, begin, (size_t)(entry.at - begin));
    }
    put_message(text, &inner);
    free(inner.data);
}

/* False where fields are malformed at a level that everybody looks at. */
static bool put_cleaned_features(struct bytes *text, struct wire features,
                                 const struct asked_features *request) {
    struct wire_trace trace = {0};
    uint32_t tag;
    struct wire entry;
    struct bytes inner = {must_have(malloc(wire_left(&features) + 1)), 0};
    bool is_good = true;
    while (is_good && !wire_done(&features)) {
        const uint8_t *begin = features.at;
        struct entry_fields fields;
        is_good = wire_read_tag(&tag, &features, &trace) &&
                  (tag == 10 ? wire_read_bytes(&entry, &features, &trace)
                             : wire_skip(&features, tag, EXAMPLE_FEATURES_DEPTH, &trace));
        if (is_good && tag == 10) is_good = entry_fields_read(&fields, entry);
        if (!is_good) break;
        if (tag == 10 && !asked_find(request, &fields.name)) put_emptied(&inner, entry);
        else put(&inner, begin, (size_t)(features.at - begin));
    }
    if (is_good) put_message(text, &inner);
    free(inner.data);
    return is_good;
}

/* Returns the record as the parser may see it: bytes that are not an Example stay so, unless the
 * fault lies in a value that is not asked for. Never longer than the record. The caller frees it.
 */
static struct bytes clean(const uint8_t *data, size_t size, const struct asked_features *request) {
    struct wire_trace trace = {0};
    uint32_t tag;
    struct wire record = {data, data + size}, features;
    struct bytes made = {must_have(malloc(size + 1)), 0};
    bool is_good = true;
    while (is_good && !wire_done(&record)) {
        const uint8_t *begin = record.at;
        is_good = wire_read_tag(&tag, &record, &trace);
        if (is_good && tag == 10)
            is_good = wire_read_bytes(&features, &record, &trace) &&
                      put_cleaned_features(&made, features, request);
        else if (is_good) is_good = wire_skip(&record, tag, EXAMPLE_DEPTH, &trace);
        if (is_good && tag != 10) put(&made, begin, (size_t)(record.at - begin));
    }
    if (!is_good) {
        memcpy(made.data, data, size);
        made.size = size;
    }
    return made;
}

/* ---- what a record must give ---- */

struct model_feature {
    recmap_type kind; /* NONE: absent or unset */
    size_t count;
    recmap_value *values;
};

struct model {
    bool accepted;
    bool from_theirs;
    struct model_feature features[ASKED_MAX]; /* those asked for */
};

static recmap_value *room_for(struct model_feature *feature, recmap_type kind, size_t count) {
    feature->kind = kind;
    feature->count = count;
    feature->values = must_have(calloc(count + 1, sizeof *feature->values));
    return feature->values;
}

static void take_ours(struct model_feature *out, const struct example_feature *feature) {
    struct example_values values = example_values_begin(feature);
    recmap_value *value = room_for(out, feature->kind, feature->count);
    for (size_t i = 0; i < out->count; i++)
        if (!example_values_next(&value[i], &values)) abort();
}

/* Copies a feature decoded by protobuf-c into the model. */
static void take_theirs(struct model_feature *out, const Tensorflow__Feature *feature) {
    switch (feature ? feature->kind_case : TENSORFLOW__FEATURE__KIND__NOT_SET) {
    case TENSORFLOW__FEATURE__KIND_INT64_LIST: {
        const Tensorflow__Int64List *list = feature->int64_list;
        recmap_value *values = room_for(out, RECMAP_TYPE_INT64, list->n_value);
        for (size_t i = 0; i < out->count; i++) values[i].as.int64 = list->value[i];
        break;
    }
    case TENSORFLOW__FEATURE__KIND_FLOAT_LIST: {
        const Tensorflow__FloatList *list = feature->float_list;
        recmap_value *values = room_for(out, RECMAP_TYPE_FLOAT, list->n_value);
        for (size_t i = 0; i < out->count; i++) values[i].as.float32 = list->value[i];
        break;
    }
    case TENSORFLOW__FEATURE__KIND_BYTES_LIST: {
        const Tensorflow__BytesList *list = feature->bytes_list;
        recmap_value *values = room_for(out, RECMAP_TYPE_BYTES, list->n_value);
        for (size_t i = 0; i < out->count; i++) {
            values[i].as.bytes.data = list->value[i].data;
            values[i].as.bytes.size = list->value[i].len;
        }
        break;
    }
    default: room_for(out, RECMAP_TYPE_NONE, 0);
    }
}

static void model_from_theirs(struct model *model, const struct asked_features *request,
                              const Tensorflow__Example *theirs) {
    model->from_theirs = true;
    for (size_t i = 0; i < request->count; i++) {
        const Tensorflow__Feature *last = NULL;
        for (size_t k = 0; theirs->features && k < theirs->features->n_feature; k++)
            if (!strcmp(theirs->features->feature[k]->key, request->features[i].name))
                last = theirs->features->feature[k]->value;
        take_theirs(&model->features[i], last);
    }
}

static void model_from_ours(struct model *model, const struct asked_features *request,
                            const struct example_features *features) {
    for (size_t i = 0; i < features->count; i++) {
        const struct example_entry *entry = &features->entries[i];
        struct wire name = {entry->name, entry->name + entry->name_size};
        const struct asked_feature *feature = asked_find(request, &name);
        if (feature) take_ours(&model->features[feature - request->features], &entry->feature);
    }
}

static void model_deinit(struct model *model) {
    for (size_t i = 0; i < ASKED_MAX; i++) free(model->features[i].values);
}

/* ---- the parser ---- */

struct checked_record {
    struct bytes whole;   /* memory of exactly its size */
    struct bytes cleaned; /* what the model's values point into, unless they point into `theirs` */
    Tensorflow__Example *theirs;
    struct model model;
};

/* Says what the record must give; NULL, or in what even the readers of whole records differ. */
static const char *checked_record_init(struct checked_record *record,
                                       const struct asked_features *request, const uint8_t *data,
                                       size_t size) {
    *record = (struct checked_record){.whole = {copy_exact(data, size), size}};
    record->cleaned = clean(data, size, request);
    const struct bytes *cleaned = &record->cleaned;
    const char *difference = find_difference(cleaned->data, cleaned->size);
    struct example_features features = EXAMPLE_FEATURES_INIT;
    recmap_status status = example_features_read(&features, cleaned->data, cleaned->size, NULL);
    if (status == RECMAP_NO_MEMORY) abort();
    /* Messages of other types are Examples for protobuf. */
    struct foreign foreign;
    record->model.accepted = status == RECMAP_OK && !foreign_find(&foreign, data, size);
    if (record->model.accepted && !find_departures(cleaned->data, cleaned->size)) {
        record->theirs = tensorflow__example__unpack(NULL, cleaned->size, cleaned->data);
        if (record->theirs) model_from_theirs(&record->model, request, record->theirs);
        else difference = "protobuf-c refuses";
    } else if (record->model.accepted) {
        model_from_ours(&record->model, request, &features);
    }
    example_features_deinit(&features);
    return difference;
}

static void checked_record_deinit(struct checked_record *record) {
    model_deinit(&record->model);
    if (record->theirs) tensorflow__example__free_unpacked(record->theirs, NULL);
    free(record->whole.data);
    free(record->cleaned.data);
}

/* Two columns of each feature asked for at most: the second is FIXED_LEN. */
struct parse_check {
    struct asked_features asked;
    recmap_parser *parser;
    recmap_columns *columns;
    struct checked_record between;
};

static recmap_element element_of(recmap_type kind) {
    return kind == RECMAP_TYPE_BYTES   ? RECMAP_ELEMENT_BYTES
           : kind == RECMAP_TYPE_FLOAT ? RECMAP_ELEMENT_FLOAT32
                                       : RECMAP_ELEMENT_INT64;
}

static recmap_element converted_element_of(recmap_type kind) {
    return kind == RECMAP_TYPE_FLOAT ? RECMAP_ELEMENT_FLOAT64 : RECMAP_ELEMENT_INT32;
}

enum { NAME_SIZE = 24, COLUMNS_MAX = 2 * ASKED_MAX };

static void column_name(char name[NAME_SIZE], char kind, size_t index) {
    snprintf(name, NAME_SIZE, "%c%zu", kind, index);
}

/* Asks for each feature as a variable-length column, and as a fixed-length one if its length is
 * known. Some of the fixed columns copy or convert their values. */
static recmap_parser *make_parser(const struct asked_features *request) {
    static char names[COLUMNS_MAX][NAME_SIZE];
    recmap_feature features[COLUMNS_MAX];
    recmap_parser *parser = NULL;
    recmap_error error = RECMAP_ERROR_INIT;
    size_t count = 0;
    for (size_t i = 0; i < request->count; i++) {
        const struct asked_feature *feature = &request->features[i];
        column_name(names[count], 'v', i);
        features[count] = (recmap_feature){.name = names[count],
                                           .key = feature->name,
                                           .kind = RECMAP_FEATURE_VAR_LEN,
                                           .element = element_of(feature->kind)};
        count++;
        if (!feature->fixed) continue;
        column_name(names[count], 'f', i);
        features[count] = features[count - 1];
        features[count].name = names[count];
        features[count].kind = RECMAP_FEATURE_FIXED_LEN;
        if (feature->kind == RECMAP_TYPE_BYTES) features[count].bytes_mode = RECMAP_BYTES_COPY;
        if (feature->is_converted) features[count].element = converted_element_of(feature->kind);
        features[count].shape = &feature->fixed;
        features[count].dimension_count = feature->fixed > 1 ? 1 : 0;
        count++;
    }
    if (recmap_parser_create(&parser, features, count, &error) != RECMAP_OK) {
        recmap_error_print(&error, stderr);
        abort();
    }
    return parser;
}

struct parse_check *parse_check_create(const struct asked_features *request, const uint8_t *data,
                                       size_t size) {
    struct parse_check *check = must_have(calloc(1, sizeof *check));
    for (size_t i = 0; i < request->count; i++) {
        check->asked.features[i] = request->features[i];
        check->asked.features[i].name = must_have(strdup(request->features[i].name));
    }
    check->asked.count = request->count;
    check->parser = make_parser(&check->asked);
    if (recmap_columns_create(&check->columns, NULL) != RECMAP_OK) abort();
    checked_record_init(&check->between, &check->asked, data, size);
    return check;
}

void parse_check_destroy(struct parse_check *check) {
    checked_record_deinit(&check->between);
    recmap_columns_destroy(check->columns);
    recmap_parser_release(check->parser);
    asked_deinit(&check->asked);
    free(check);
}

/* ---- columns against the model ---- */

/* Returns true if the record has what is asked for. */
static bool fits(const struct asked_features *request, const struct model *model) {
    for (size_t i = 0; i < request->count && model->accepted; i++) {
        const struct model_feature *there = &model->features[i];
        recmap_type kind = request->features[i].kind ? request->features[i].kind
                                                     : RECMAP_TYPE_INT64;
        if (there->count && there->kind != kind) return false;
        if (!request->features[i].fixed) continue;
        if (there->count != request->features[i].fixed) return false;
        if (!request->features[i].is_converted || kind != RECMAP_TYPE_INT64) continue;
        for (size_t k = 0; k < there->count; k++)
            if (!is_int32(&there->values[k])) return false;
    }
    return model->accepted;
}

static recmap_bytes bytes_at(const recmap_column *column, size_t index) {
    if (column->views) return column->views[index];
    int64_t begin = column->bytes_offsets[index], end = column->bytes_offsets[index + 1];
    return (recmap_bytes){(const uint8_t *)column->values + begin, (size_t)(end - begin)};
}

static bool same_value(const recmap_column *column, size_t index, const recmap_value *value) {
    switch (column->element) {
    case RECMAP_ELEMENT_INT64: return ((const int64_t *)column->values)[index] == value->as.int64;
    case RECMAP_ELEMENT_FLOAT32:
        return memcmp((const float *)column->values + index, &value->as.float32, 4) == 0;
    case RECMAP_ELEMENT_INT32: return ((const int32_t *)column->values)[index] == value->as.int64;
    case RECMAP_ELEMENT_FLOAT64: {
        double wanted = value->as.float32;
        return memcmp((const double *)column->values + index, &wanted, sizeof wanted) == 0;
    }
    default: break;
    }
    recmap_bytes held = bytes_at(column, index);
    return held.data && held.size == value->as.bytes.size &&
           (!held.size || memcmp(held.data, value->as.bytes.data, held.size) == 0);
}

static bool is_valid(const recmap_column *column, size_t row) {
    return !column->validity || (column->validity[row / 8] >> row % 8 & 1);
}

/* A row whose record could not be read: `there` is NULL. */
static const char *compare_var(const recmap_column *column, const struct model_feature *there,
                               size_t row) {
    int64_t begin = column->offsets[0][row], end = column->offsets[0][row + 1];
    size_t count = there ? there->count : 0;
    if (is_valid(column, row) != (there && there->kind != RECMAP_TYPE_NONE))
        return "VAR_LEN: the validity is another";
    if (begin < 0 || end < begin || (uint64_t)(end - begin) != count)
        return "VAR_LEN: the count is another";
    for (size_t i = 0; i < count; i++)
        if (!same_value(column, (size_t)begin + i, &there->values[i]))
            return "VAR_LEN: a value is another";
    return NULL;
}

static const char *compare_fixed(const recmap_column *column, const struct model_feature *there,
                                 size_t count, size_t row) {
    static const recmap_value zero;
    if (is_valid(column, row) != (there != NULL)) return "FIXED_LEN: the validity is another";
    for (size_t i = 0; i < count; i++)
        if (!same_value(column, row * count + i, there ? &there->values[i] : &zero))
            return "FIXED_LEN: a value is another";
    return NULL;
}

static const char *compare_row(const struct parse_check *check, const struct model *model,
                               size_t row) {
    bool is_there = fits(&check->asked, model);
    const char *difference = NULL;
    char name[NAME_SIZE];
    for (size_t i = 0; i < check->asked.count && !difference; i++) {
        const struct model_feature *there = is_there ? &model->features[i] : NULL;
        column_name(name, 'v', i);
        difference = compare_var(recmap_columns_find(check->columns, name), there, row);
        if (difference || !check->asked.features[i].fixed) continue;
        column_name(name, 'f', i);
        difference = compare_fixed(recmap_columns_find(check->columns, name), there,
                                   (size_t)check->asked.features[i].fixed, row);
    }
    return difference;
}

/* ---- errors ---- */

enum { FIRST_NUMBER = 1000 };

/* Names that are long are cut in messages, and what is not plain ASCII may be escaped. */
static bool is_written_out(const char *name) {
    size_t size = strlen(name);
    for (size_t i = 0; i < size; i++)
        if (name[i] < ' ' || name[i] > '~') return false;
    return size <= 30;
}

/* Checks the error's record number, the byte if the record is not an Example, and the name of the
 * feature if that is at fault. */
static const char *check_error(const struct asked_features *request, recmap_status status,
                               uint64_t number, uint64_t wanted_number, uint64_t offset,
                               const char *message, size_t size) {
    if (number != wanted_number) return "the error has the number of another record";
    if (offset != RECMAP_NO_OFFSET && offset > size) return "the error lies outside the record";
    if (status == RECMAP_CORRUPT)
        return offset == RECMAP_NO_OFFSET ? "the error has no place" : NULL;
    if (status != RECMAP_FEATURE) return "the error is of another status";
    for (size_t i = 0; i < request->count; i++)
        if (strstr(message, request->features[i].name) ||
            !is_written_out(request->features[i].name))
            return NULL;
    return "the error does not name the feature";
}

static const char *check_failures(const struct parse_check *check,
                                  const struct checked_record *const *records, size_t count) {
    size_t failed = 0;
    for (size_t row = 0; row < count; row++) {
        if (fits(&check->asked, &records[row]->model)) continue;
        if (failed == recmap_columns_failure_count(check->columns)) return "a failure is missing";
        recmap_failure failure = recmap_columns_failure(check->columns, failed++);
        if (failure.row != row) return "a failure is of another row";
        const char *difference = check_error(&check->asked, failure.status, failure.number,
                                             FIRST_NUMBER + row, failure.offset, failure.message,
                                             records[row]->whole.size);
        if (difference) return difference;
    }
    return failed == recmap_columns_failure_count(check->columns) ? NULL
                                                                  : "there are more failures";
}

/* ---- all of it ---- */

/* The record alone, where it is the error of the batch. */
static const char *run_alone(struct parse_check *check, const struct checked_record *record) {
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_record rows[] = {{record->whole.data, record->whole.size, FIRST_NUMBER, NULL}};
    recmap_status status =
        recmap_parser_parse(check->columns, check->parser, rows, 1, RECMAP_PARSE_RAISE, &error);
    bool is_there = fits(&check->asked, &record->model);
    if (is_there && status != RECMAP_OK) {
        recmap_error_print(&error, stderr);
        return "the parser refuses";
    }
    if (!is_there && status == RECMAP_OK) return "the parser accepts";
    if (is_there) return compare_row(check, &record->model, 0);
    return check_error(&check->asked, status, error.record, FIRST_NUMBER, error.offset,
                       error.message, record->whole.size);
}

/* Between others, none of which it may spoil. */
static const char *run_between(struct parse_check *check, const struct checked_record *record) {
    const struct checked_record *const all[] = {&check->between, record, &check->between, record};
    enum { COUNT = sizeof all / sizeof *all };
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_record rows[COUNT];
    for (size_t i = 0; i < COUNT; i++)
        rows[i] = (recmap_record){all[i]->whole.data, all[i]->whole.size, FIRST_NUMBER + i, NULL};
    if (recmap_parser_parse(check->columns, check->parser, rows, COUNT, RECMAP_PARSE_COLLECT,
                            &error) != RECMAP_OK)
        return "collecting failures fails";
    const char *difference = check_failures(check, all, COUNT);
    for (size_t i = 0; i < COUNT && !difference; i++)
        difference = compare_row(check, &all[i]->model, i);
    return difference;
}

const char *parse_check_run(struct parse_check *check, struct parse_tally *tally,
                            const uint8_t *data, size_t size) {
    struct checked_record record;
    const char *difference = checked_record_init(&record, &check->asked, data, size);
    if (!difference) difference = run_alone(check, &record);
    if (!difference) difference = run_between(check, &record);
    bool is_there = fits(&check->asked, &record.model);
    tally->parsed += is_there;
    tally->compared += is_there && record.model.from_theirs;
    tally->refused += !is_there;
    checked_record_deinit(&record);
    return difference;
}

/* One value more or less than there are: an error, and nothing written out of bounds. */
static const char *check_counts(struct parse_tally *tally, struct asked_features *request,
                                const uint8_t *data, size_t size) {
    const char *difference = NULL;
    for (size_t i = 0; i < request->count && !difference; i++) {
        uint64_t fixed = request->features[i].fixed;
        if (fixed < 2) continue;
        for (int more = -1; more <= 1 && !difference; more += 2) {
            request->features[i].fixed = fixed + (uint64_t)more;
            struct parse_check *check = parse_check_create(request, data, size);
            difference = parse_check_run(check, tally, data, size);
            parse_check_destroy(check);
        }
        request->features[i].fixed = fixed;
        break;
    }
    return difference;
}

const char *find_parse_difference(struct parse_tally *tally, const uint8_t *data, size_t size,
                                  unsigned leave_out) {
    struct asked_features asked;
    struct parse_tally unused = {0, 0, 0};
    asked_infer(&asked, data, size, leave_out);
    struct parse_check *check = parse_check_create(&asked, data, size);
    const char *difference = parse_check_run(check, tally, data, size);
    if (!difference) difference = check_counts(&unused, &asked, data, size);
    parse_check_destroy(check);
    asked_deinit(&asked);
    return difference;
}
