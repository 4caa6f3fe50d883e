#include "unit/parse/example/visit_against.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <recmap/example.h>

#include "base/text/json.h"
#include "example.pb-c.h"
#include "unit/parse/example/against.h"

typedef Tensorflow__Feature feature;
typedef Tensorflow__SequenceExample sequence;

/* ---- parts as bytes, which are equal if and only if the parts are ---- */

static void put(recmap_text *text, const void *data, size_t size) {
    if (size && !text_append(text, data, size)) abort();
}

static void put_number(recmap_text *text, uint64_t number) {
    put(text, &number, sizeof number);
}

static void put_bytes_value(recmap_text *text, const void *data, size_t size) {
    put_number(text, size);
    put(text, data, size);
}

static void put_part(recmap_text *text, recmap_example_part_kind kind, const char *name,
                     size_t name_size, recmap_type type, size_t count) {
    put_number(text, kind);
    put_bytes_value(text, name, name_size);
    put_number(text, type);
    put_number(text, count);
}

/* ---- ours ---- */

struct recorder {
    const uint8_t *data; /* the record */
    size_t size;
    recmap_text parts;
    recmap_text name; /* of the last feature or list */
    bool has_name;
    bool has_lists;
    size_t steps_left; /* of the last list */
    const char *wrong;
};

static int compare_names(const char *a, size_t a_size, const char *b, size_t b_size) {
    size_t common = a_size < b_size ? a_size : b_size;
    int order = common ? memcmp(a, b, common) : 0;
    return order ? order : (a_size > b_size) - (a_size < b_size);
}

static void check_name(struct recorder *recorder, const recmap_example_part *part) {
    const recmap_text *last = &recorder->name;
    int order = compare_names(last->data, last->size, part->name, part->name_size);
    if (part->kind == RECMAP_EXAMPLE_PART_STEP) {
        if (order) recorder->wrong = "a step has another name than its list";
        return;
    }
    if (recorder->has_name && order >= 0) recorder->wrong = "the names are not sorted";
    recorder->name.size = 0;
    put(&recorder->name, part->name, part->name_size);
    recorder->has_name = true;
}

/* Features come first, then lists; after a list come its steps. */
static void check_sequence(struct recorder *recorder, const recmap_example_part *part) {
    bool is_step = part->kind == RECMAP_EXAMPLE_PART_STEP;
    if (is_step != (recorder->steps_left > 0)) recorder->wrong = "the count of steps is another";
    if (is_step) recorder->steps_left--;
    if (part->kind == RECMAP_EXAMPLE_PART_FEATURE && recorder->has_lists)
        recorder->wrong = "a feature follows a list";
    if (part->kind != RECMAP_EXAMPLE_PART_LIST) return;
    if (!recorder->has_lists) recorder->has_name = false;
    recorder->has_lists = true;
    recorder->steps_left = part->count;
}

static bool is_inside(const struct recorder *recorder, const recmap_bytes *value) {
    const uint8_t *data = value->data;
    if (!value->size) return true;
    return data >= recorder->data && data <= recorder->data + recorder->size &&
           value->size <= (size_t)(recorder->data + recorder->size - data);
}

static void check_values(struct recorder *recorder, const recmap_example_part *part) {
    if ((part->int64s != NULL) != (part->type == RECMAP_TYPE_INT64) ||
        (part->floats != NULL) != (part->type == RECMAP_TYPE_FLOAT) ||
        (part->bytes != NULL) != (part->type == RECMAP_TYPE_BYTES))
        recorder->wrong = "the arrays do not fit the type";
    for (size_t i = 0; part->bytes && i < part->count; i++)
        if (!is_inside(recorder, &part->bytes[i])) recorder->wrong = "bytes outside the record";
}

static recmap_status record_part(const recmap_example_part *part, void *context) {
    struct recorder *recorder = context;
    check_sequence(recorder, part);
    check_name(recorder, part);
    check_values(recorder, part);
    put_part(&recorder->parts, part->kind, part->name, part->name_size, part->type, part->count);
    if (part->int64s) put(&recorder->parts, part->int64s, part->count * sizeof(int64_t));
    if (part->floats) put(&recorder->parts, part->floats, part->count * sizeof(float));
    for (size_t i = 0; part->bytes && i < part->count && !recorder->wrong; i++)
        put_bytes_value(&recorder->parts, part->bytes[i].data, part->bytes[i].size);
    /* Any status but OK stops the visit and is returned. */
    return recorder->wrong ? RECMAP_INVALID : RECMAP_OK;
}

/* ---- theirs ---- */

/* Writes what the visitor should report for a feature that protobuf-c decoded: the part, then its
 * values in order. */
static void put_feature(recmap_text *text, recmap_example_part_kind kind, const char *name,
                        const feature *f) {
    size_t name_size = strlen(name);
    switch (f ? f->kind_case : TENSORFLOW__FEATURE__KIND__NOT_SET) {
    case TENSORFLOW__FEATURE__KIND_INT64_LIST:
        put_part(text, kind, name, name_size, RECMAP_TYPE_INT64, f->int64_list->n_value);
        put(text, f->int64_list->value, f->int64_list->n_value * sizeof(int64_t));
        break;
    case TENSORFLOW__FEATURE__KIND_FLOAT_LIST:
        put_part(text, kind, name, name_size, RECMAP_TYPE_FLOAT, f->float_list->n_value);
        put(text, f->float_list->value, f->float_list->n_value * sizeof(float));
        break;
    case TENSORFLOW__FEATURE__KIND_BYTES_LIST:
        put_part(text, kind, name, name_size, RECMAP_TYPE_BYTES, f->bytes_list->n_value);
        for (size_t i = 0; i < f->bytes_list->n_value; i++)
            put_bytes_value(text, f->bytes_list->value[i].data, f->bytes_list->value[i].len);
        break;
    default: put_part(text, kind, name, name_size, RECMAP_TYPE_NONE, 0);
    }
}

static void put_list(recmap_text *text, const char *name, const Tensorflow__FeatureList *list) {
    size_t count = list ? list->n_feature : 0;
    put_part(text, RECMAP_EXAMPLE_PART_LIST, name, strlen(name), RECMAP_TYPE_NONE, count);
    for (size_t i = 0; i < count; i++)
        put_feature(text, RECMAP_EXAMPLE_PART_STEP, name, list->feature[i]);
}

/* An entry of either map of protobuf-c: both begin with these members. */
struct map_entry {
    ProtobufCMessage base;
    char *name;
    void *value;
};

/* Returns the entry with the lowest name above `name` (NULL: the lowest of all). Of several with
 * that name, protobuf reads the last. */
static const struct map_entry *find_next(struct map_entry *const *entries, size_t count,
                                         const char *name) {
    const struct map_entry *winner = NULL;
    for (size_t i = 0; i < count; i++) {
        if (name && strcmp(entries[i]->name, name) <= 0) continue;
        if (!winner || strcmp(entries[i]->name, winner->name) <= 0) winner = entries[i];
    }
    return winner;
}

static void put_sequence(recmap_text *text, const sequence *theirs) {
    const struct map_entry *entry = NULL;
    const Tensorflow__Features *context = theirs->context;
    const Tensorflow__FeatureLists *lists = theirs->feature_lists;
    while (context && (entry = find_next((struct map_entry *const *)context->feature,
                                         context->n_feature, entry ? entry->name : NULL)))
        put_feature(text, RECMAP_EXAMPLE_PART_FEATURE, entry->name, entry->value);
    entry = NULL;
    while (lists && (entry = find_next((struct map_entry *const *)lists->feature_list,
                                       lists->n_feature_list, entry ? entry->name : NULL)))
        put_list(text, entry->name, entry->value);
}

/* A SequenceExample without feature lists has the bytes of an Example with the same features, so
 * that both are read as the former. */
static const char *compare_parts(const recmap_text *parts, bool is_accepted, const uint8_t *data,
                                 size_t size) {
    if (find_sequence_departures(data, size)) return NULL;
    sequence *theirs = tensorflow__sequence_example__unpack(NULL, size, data);
    const char *difference = NULL;
    if (is_accepted != (theirs != NULL))
        difference = theirs ? "protobuf-c accepts" : "protobuf-c refuses";
    if (is_accepted && theirs) {
        recmap_text expected = RECMAP_TEXT_INIT;
        put_sequence(&expected, theirs);
        if (expected.size != parts->size ||
            (parts->size && memcmp(expected.data, parts->data, parts->size) != 0))
            difference = "protobuf-c reads other parts";
        recmap_text_deinit(&expected);
    }
    if (theirs) tensorflow__sequence_example__free_unpacked(theirs, NULL);
    return difference;
}

static const char *check_status(const struct recorder *recorder, recmap_status status,
                                const recmap_error *error) {
    if (recorder->wrong) return recorder->wrong;
    if (status == RECMAP_OK) return recorder->steps_left ? "steps are missing" : NULL;
    if (status != RECMAP_CORRUPT) return "the status is another";
    if (error->offset > recorder->size) return "the error is outside the record";
    return recorder->parts.size ? "a refused record was visited" : NULL;
}

const char *find_visit_difference(const uint8_t *data, size_t size) {
    struct recorder recorder = {
        .data = data, .size = size, .parts = RECMAP_TEXT_INIT, .name = RECMAP_TEXT_INIT};
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_status status = recmap_example_visit(record_part, &recorder, data, size, &error);
    const char *difference = check_status(&recorder, status, &error);
    if (!difference) difference = compare_parts(&recorder.parts, status == RECMAP_OK, data, size);
    recmap_text_deinit(&recorder.parts);
    recmap_text_deinit(&recorder.name);
    return difference;
}
