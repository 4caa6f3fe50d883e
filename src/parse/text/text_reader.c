#include "parse/text/text_reader.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/core/error.h"
#include "base/core/plural.h"
#include "base/text/json_reader.h"
#include "base/text/plain_number.h"
#include "base/text/short_number.h"
#include "parse/decode/read_fault.h"
#include "parse/decode/read_paths.h"
#include "parse/plan/plan.h"
#include "parse/text/json_gather.h"
#include "parse/text/text_value.h"

/* The slots of rows that put_plain fills, by their elements. */
enum plain_kind { PLAIN_NONE, PLAIN_INT64, PLAIN_FLOAT32, PLAIN_BYTES };

struct text_reader {
    struct record_reader base;
    struct text_source source;
    const recmap_feature **features; /* the first one of each slot */
    enum plain_kind *kinds;          /* of each slot */
    char *missing;
    size_t missing_size;
    char separator;
};

/* A slot of the row that is read. */
struct target {
    const struct text_reader *reader;
    struct sink *sink;
    const struct slot *slot;
    const recmap_feature *feature;
    size_t row;
    const char *record;
    size_t record_size;
    const char *place; /* of the piece in the record */
    struct reader_memory *memory;
    struct read_fault *fault;
};

recmap_status text_reader_check(const recmap_feature *features, size_t count, recmap_error *error) {
    for (size_t i = 0; i < count; i++) {
        const char *name = features[i].name ? features[i].name : "";
        bool is_plain = !features[i].raw && !features[i].image && !features[i].as_bits;
        if (is_plain && (features[i].kind == RECMAP_FEATURE_FIXED_LEN ||
                         features[i].kind == RECMAP_FEATURE_VAR_LEN))
            continue;
        return fail(error, RECMAP_INVALID,
                    "feature '%.200s': CSV and JSON lines have only FIXED_LEN and VAR_LEN, which "
                    "are not raw, have no as_bits and hold no pictures",
                    name);
    }
    return RECMAP_OK;
}

/* The byte of the record at which the text begins; for a text in the batch's memory, the byte at
 * which its piece begins. */
static size_t offset_of(const struct target *target, const char *text) {
    uintptr_t record = (uintptr_t)target->record, at = (uintptr_t)text;
    bool is_inside = at >= record && at <= record + target->record_size;
    if (!is_inside) text = target->place;
    return text ? (size_t)(text - target->record) : SIZE_MAX;
}

static bool fail_string(const struct target *target, const struct text_piece *piece) {
    fault_set(
        target->fault, RECMAP_FEATURE, offset_of(target, piece->data),
        "feature '%.200s': the string has half of a surrogate pair, or bytes that are not UTF-8",
        target->slot->name);
    fault_advise(target->fault, "write the file as UTF-8, or correct or skip the record");
    return false;
}

/* Says what the piece is, in its first bytes, and where. */
static bool fail_piece(const struct target *target, const struct text_piece *piece,
                       enum text_verdict verdict) {
    enum { SHOWN_MAX = 40 };
    const char *element = recmap_element_name(target->slot->element);
    int size = (int)(piece->size < SHOWN_MAX ? piece->size : SHOWN_MAX);
    if (verdict == TEXT_NO_MEMORY) return fault_memory(target->fault);
    if (verdict == TEXT_BAD_STRING) return fail_string(target, piece);
    fault_set(target->fault, RECMAP_FEATURE, offset_of(target, piece->data),
              verdict == TEXT_OUT_OF_RANGE ? "feature '%.200s': %s cannot hold `%.*s`%s"
                                           : "feature '%.200s': not of type %s: `%.*s`%s",
              target->slot->name, element, size, piece->data, piece->size > SHOWN_MAX ? "..." : "");
    fault_advise(target->fault, "request it with another dtype, or correct or skip the record");
    return false;
}

static bool fail_amount(const struct target *target, const struct text_piece *piece,
                        uint64_t count) {
    return fault_set(target->fault, RECMAP_FEATURE, offset_of(target, piece->data),
                     "feature '%.200s' has %" PRIu64 " value%s, but its shape is %s",
                     target->slot->name, count, plural(count), target->slot->shape);
}

static bool put(const struct target *target, void *element, const struct text_piece *piece) {
    bool is_json = !target->reader->source.format.separator;
    enum text_verdict verdict =
        text_value_put(element, target->slot->element, piece, is_json, target->memory);
    return verdict == TEXT_OK || fail_piece(target, piece, verdict);
}

/* Where `count` values of the row go. NULL, and a fault, without memory or if they are not as many
 * as the shape has. */
static uint8_t *find_elements(const struct target *target, const struct text_piece *piece,
                              uint64_t count) {
    const struct slot *slot = target->slot;
    if (!slot->count) {
        uint8_t *elements = sink_extend(target->sink, slot, target->row, count);
        if (!elements) fault_memory(target->fault);
        return elements;
    }
    if (count != slot->count) {
        fail_amount(target, piece, count);
        return NULL;
    }
    return target->sink->values.data +
           target->row * slot->count * recmap_element_size(slot->element);
}

/* ---- Rows: values between separators. */

/* Takes the next value off the list. Several spaces are one separator. */
static bool take_value(struct text_piece *value, struct text_piece *list, char separator) {
    if (!list->data) return false;
    const char *end = memchr(list->data, separator, list->size);
    *value = *list;
    if (!end) {
        list->data = NULL;
        return true;
    }
    value->size = (size_t)(end - list->data);
    list->size -= value->size + 1;
    list->data = end + 1;
    while (separator == ' ' && list->size && *list->data == ' ') list->data++, list->size--;
    return true;
}

static bool put_list(const struct target *target, const struct text_piece *piece) {
    char separator = target->reader->separator;
    struct text_piece list = separator == ' ' ? text_piece_trim(*piece) : *piece, rest = list,
                      value;
    uint64_t count = 0;
    while (take_value(&value, &rest, separator)) count++;
    uint8_t *elements = find_elements(target, piece, count);
    if (!elements) return false;
    size_t size = recmap_element_size(target->slot->element);
    for (; take_value(&value, &list, separator); elements += size)
        if (!put(target, elements, &value)) return false;
    return true;
}

/* ---- JSON: values in arrays, which may be nested. */

/* How many arrays begin before value `index`, and end before it: as many as dimensions whose
 * sizes, multiplied from the last one on, divide the index. */
static size_t count_brackets(const recmap_feature *feature, bool is_fixed, uint64_t index) {
    uint64_t product = 1;
    size_t count = 0;
    if (!is_fixed) return index == 0;
    for (size_t i = feature->dimension_count; i-- > 0 && index % product == 0;) {
        product *= feature->shape[i];
        if (index % product == 0) count++;
    }
    return count;
}

static bool fail_shape(const struct target *target, const struct json_reader *reader) {
    const char *what = target->slot->count ? "is not an array of the shape" : "is not an array";
    fault_set(target->fault, RECMAP_FEATURE, offset_of(target, reader->at),
              "feature '%.200s' %s %s", target->slot->name, what,
              target->slot->count ? target->slot->shape : "of values");
    return false;
}

static bool take_all(struct json_reader *reader, char bracket, size_t count) {
    while (count && json_take(reader, bracket)) count--;
    return !count;
}

/* Reads values up to the closing bracket. The syntax is known to be right. */
static bool put_values(const struct target *target, struct json_reader *reader, uint8_t *elements,
                       uint64_t count) {
    size_t size = recmap_element_size(target->slot->element);
    bool is_fixed = target->slot->count != 0;
    for (uint64_t i = 0; i < count; i++, elements += size) {
        if (!take_all(reader, '[', count_brackets(target->feature, is_fixed, i)))
            return fail_shape(target, reader);
        json_peek(reader);
        struct text_piece value = {.data = reader->at};
        if (!json_check_value(reader)) return fail_shape(target, reader);
        value.size = (size_t)(reader->at - value.data);
        if (!put(target, elements, &value)) return false;
        size_t ends = is_fixed ? count_brackets(target->feature, true, i + 1) : i + 1 == count;
        if (!take_all(reader, ']', ends) || (i + 1 < count && !json_take(reader, ',')))
            return fail_shape(target, reader);
    }
    return json_at_end(reader) || fail_shape(target, reader);
}

/* Counts the values of an array that is not nested. */
static bool count_values(uint64_t *count, struct json_reader reader) {
    *count = 0;
    if (!json_take(&reader, '[')) return false;
    if (json_take(&reader, ']')) return true;
    do {
        if (!json_check_value(&reader)) return false;
        ++*count;
    } while (json_take(&reader, ','));
    return true;
}

static bool put_array(const struct target *target, const struct text_piece *piece) {
    struct json_reader reader = {piece->data, piece->data + piece->size};
    uint64_t count = target->slot->count;
    if (!count && !count_values(&count, reader)) return fail_shape(target, &reader);
    uint8_t *elements = find_elements(target, piece, count);
    if (!elements) return false;
    return !count || put_values(target, &reader, elements, count);
}

static bool fail_path(const struct target *target, const struct json_fault *fault) {
    enum { SHOWN_MAX = 40 };
    const char *end = target->record + target->record_size;
    int size = (int)(end - fault->at < SHOWN_MAX ? end - fault->at : SHOWN_MAX);
    if (!fault->what) return fault_memory(target->fault);
    fault_set(target->fault, RECMAP_FEATURE, offset_of(target, fault->at),
              "feature '%.200s': a value on the path %s: `%.*s`", target->slot->name, fault->what,
              size, fault->at);
    fault_advise(target->fault, "each part of the path but the last must lead to an object, or to "
                                "an array of objects that all have the member");
    return false;
}

/* Puts the values that a path leads to through an array. */
static bool put_path(const struct target *target, struct text_piece *piece) {
    struct json_fault fault;
    uint64_t count;
    if (!json_gather(piece, target->memory, &fault)) return fail_path(target, &fault);
    if (target->feature->dimension_count || !target->slot->count) return put_array(target, piece);
    struct json_reader reader = {piece->data, piece->data + piece->size};
    if (!count_values(&count, reader)) return fail_shape(target, &reader);
    uint8_t *element = find_elements(target, piece, count);
    struct text_piece value = {.data = piece->data + 1, .size = piece->size - 2};
    return element && put(target, element, &value);
}

/* ---- Records. */

static bool is_missing(const struct text_reader *reader, const struct text_piece *piece) {
    if (!piece->data) return true;
    if (!reader->source.format.separator) return false;
    return !piece->size || (piece->size == reader->missing_size &&
                            !memcmp(piece->data, reader->missing, piece->size));
}

static bool fail_missing(const struct target *target) {
    fault_set(target->fault, RECMAP_FEATURE, offset_of(target, target->place),
              "feature '%.200s' is missing and has no default", target->slot->name);
    fault_advise(target->fault, "give the feature a default, or skip bad records");
    return false;
}

static bool put_piece(const struct target *target, struct text_piece *piece) {
    bool is_json = !target->reader->source.format.separator;
    if (!is_json && !text_piece_unquote(piece, target->memory)) return fault_memory(target->fault);
    if (is_missing(target->reader, piece))
        return read_entry_missing(target->sink, target->slot, target->row) || fail_missing(target);
    if (piece->path) return put_path(target, piece);
    bool is_scalar = target->slot->count && !target->feature->dimension_count;
    if (!is_scalar) return is_json ? put_array(target, piece) : put_list(target, piece);
    uint8_t *element = find_elements(target, piece, 1);
    return element && put(target, element, piece);
}

/* Puts a scalar that is written plainly, as most are. Returns false for anything else, which
 * put_piece reads or refuses. `end` is that of the record. */
static bool put_plain(enum plain_kind kind, void *values, size_t row,
                      const struct text_piece *piece, const char *end) {
    if (piece->has_quotes) return false;
    if (kind == PLAIN_INT64) {
        int64_t *value = (int64_t *)values + row;
        return short_int64(value, piece->data, piece->size, end) ||
               plain_int64(value, piece->data, piece->size);
    }
    if (kind == PLAIN_FLOAT32) {
        float *value = (float *)values + row;
        return plain_float_within(value, piece->data, piece->size, end) && isfinite(*value);
    }
    recmap_bytes *value = (recmap_bytes *)values + row;
    value->data = (const uint8_t *)piece->data;
    value->size = piece->size;
    return piece->size <= INT32_MAX;
}

/* Advises what to do with a record that is not text of the reader's kind. */
static bool advise(const struct text_reader *reader, struct read_fault *fault) {
    if (fault->status != RECMAP_CORRUPT || fault->advice[0]) return false;
    fault_advise(fault, reader->source.format.separator
                            ? "the record is not a row of CSV: correct it, or skip bad records"
                            : "each line must be a JSON object: correct it, or skip bad records");
    return false;
}

static bool read(const struct record_reader *base, struct sink *sinks, struct reader_memory *memory,
                 const recmap_parser *parser, const uint8_t *data, size_t size, size_t row,
                 struct read_fault *fault) {
    const struct text_reader *reader = (const struct text_reader *)base;
    const char *record = (const char *)data;
    size_t count = parser->features.count;
    struct text_piece *pieces = reader_memory_scratch(memory, (count + 1) * sizeof *pieces);
    if (!pieces) return fault_memory(fault);
    if (!text_source_find(pieces, &reader->source, data, size, fault)) return advise(reader, fault);
    for (size_t i = 0; i < count; i++) {
        void *values = sinks[i].values.data;
        if (reader->kinds[i] != PLAIN_NONE && !is_missing(reader, &pieces[i]) &&
            put_plain(reader->kinds[i], values, row, &pieces[i], record + size))
            continue;
        struct target target = {.reader = reader,
                                .sink = &sinks[i],
                                .slot = &parser->features.slots[i],
                                .feature = reader->features[i],
                                .row = row,
                                .record = record,
                                .record_size = size,
                                .place = pieces[i].data,
                                .memory = memory,
                                .fault = fault};
        if (!put_piece(&target, &pieces[i])) return false;
    }
    return true;
}

static void destroy(struct record_reader *base) {
    struct text_reader *reader = (struct text_reader *)base;
    text_source_deinit(&reader->source);
    free(reader->features);
    free(reader->kinds);
    free(reader->missing);
    free(reader);
}

static enum plain_kind plain_kind_of(const struct slot *slot, const recmap_feature *feature) {
    if (slot->count != 1 || feature->dimension_count) return PLAIN_NONE;
    switch (slot->element) {
    case RECMAP_ELEMENT_INT64: return PLAIN_INT64;
    case RECMAP_ELEMENT_FLOAT32: return PLAIN_FLOAT32;
    case RECMAP_ELEMENT_BYTES: return PLAIN_BYTES;
    default: return PLAIN_NONE;
    }
}

static recmap_status prepare(struct text_reader *reader, const recmap_parser *parser,
                             const struct text_format *format, recmap_error *error) {
    size_t count = parser->features.count;
    reader->features = calloc(count + 1, sizeof *reader->features);
    reader->kinds = calloc(count + 1, sizeof *reader->kinds);
    const char **keys = calloc(count + 1, sizeof *keys);
    bool has_memory = keys && reader->features && reader->kinds && reader->missing;
    recmap_status status = has_memory ? RECMAP_OK : fail_memory(error);
    for (size_t i = parser->column_count; status == RECMAP_OK && i-- > 0;)
        reader->features[parser->columns[i].values_slot] = &parser->columns[i].feature;
    for (size_t i = 0; status == RECMAP_OK && i < count; i++) {
        const struct slot *slot = &parser->features.slots[i];
        keys[i] = slot->name;
        if (format->separator) reader->kinds[i] = plain_kind_of(slot, reader->features[i]);
    }
    if (status == RECMAP_OK) status = text_source_init(&reader->source, format, keys, count, error);
    free(keys);
    return status;
}

recmap_status text_reader_create(struct record_reader **reader, const recmap_parser *parser,
                                 const struct text_format *format, const char *missing,
                                 char separator, recmap_error *error) {
    struct text_reader *fresh = calloc(1, sizeof *fresh);
    if (!fresh) return fail_memory(error);
    fresh->base.read = read;
    fresh->base.destroy = destroy;
    fresh->missing = strdup(missing ? missing : "");
    fresh->missing_size = missing ? strlen(missing) : 0;
    fresh->separator = separator;
    recmap_status status = prepare(fresh, parser, format, error);
    if (status == RECMAP_OK) *reader = &fresh->base;
    else destroy(&fresh->base);
    return status;
}
