#include "unit/parse/example/against.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/json.h"
#include "example.pb-c.h"
#include "parse/example/example.h"

/* ---- departures ---- */

enum level {
    LEVEL_EXAMPLE,
    LEVEL_SEQUENCE,
    LEVEL_FEATURES,
    LEVEL_LISTS,
    LEVEL_ENTRY,
    LEVEL_LIST_ENTRY,
    LEVEL_LIST,
    LEVEL_FEATURE,
    LEVEL_BYTES,
    LEVEL_FLOATS,
    LEVEL_INT64S,
    LEVEL_NONE,
};

struct span {
    const uint8_t *data;
    size_t size;
};

/* Takes a varint off the front. False when there is none. `overlong` is added to when it has more
 * bytes than it needs. */
static bool take_varint(uint64_t *value, struct span *s, unsigned *overlong) {
    *value = 0;
    for (unsigned i = 0; i < 10 && i < s->size; i++) {
        uint8_t byte = s->data[i];
        *value |= (uint64_t)(byte & 0x7f) << (7 * i);
        if (byte & 0x80) continue;
        if (i > 0 && byte == 0) *overlong |= DEPARTS_LENGTH;
        s->data += i + 1;
        s->size -= i + 1;
        return true;
    }
    return false;
}

static bool take(struct span *out, struct span *s, uint64_t size) {
    if (size > s->size) return false;
    *out = (struct span){s->data, (size_t)size};
    s->data += size;
    s->size -= (size_t)size;
    return true;
}

/* What lies in field `field` of a message of this level. */
static enum level inner_level(enum level outer, uint64_t field) {
    static const enum level lists[] = {LEVEL_NONE, LEVEL_BYTES, LEVEL_FLOATS, LEVEL_INT64S};
    if (outer <= LEVEL_SEQUENCE && field == 1) return LEVEL_FEATURES;
    if (outer == LEVEL_SEQUENCE && field == 2) return LEVEL_LISTS;
    if (outer == LEVEL_FEATURES && field == 1) return LEVEL_ENTRY;
    if (outer == LEVEL_LISTS && field == 1) return LEVEL_LIST_ENTRY;
    if (outer == LEVEL_ENTRY && field == 2) return LEVEL_FEATURE;
    if (outer == LEVEL_LIST_ENTRY && field == 2) return LEVEL_LIST;
    if (outer == LEVEL_LIST && field == 1) return LEVEL_FEATURE;
    if (outer == LEVEL_FEATURE && field >= 1 && field <= 3) return lists[field];
    return LEVEL_NONE;
}

static bool is_known(enum level outer, uint64_t field) {
    return field == 1 || inner_level(outer, field) != LEVEL_NONE;
}

static bool fits_type(enum level outer, unsigned type) {
    return type == 2 || (outer == LEVEL_FLOATS && type == 5) ||
           (outer == LEVEL_INT64S && type == 0);
}

static unsigned check_name(struct span name) {
    bool plain = utf8_valid(name.data, name.size) && !memchr(name.data, 0, name.size);
    return plain ? 0 : DEPARTS_NAME;
}

/* Takes one field off the front; returns false if the bytes are not a field. */
static bool take_field(unsigned *flags, unsigned *seen_fields, struct span *s, enum level outer) {
    uint64_t tag, value;
    struct span inner;
    if (!take_varint(&tag, s, flags)) return false;
    if (tag > UINT32_MAX) *flags |= DEPARTS_LENGTH;
    tag = (uint32_t)tag;
    uint64_t field = tag >> 3;
    unsigned type = tag & 7;
    if (field == 0) *flags |= DEPARTS_NUMBER;
    if (type == 3 || type == 4) *flags |= DEPARTS_GROUP;
    bool known = is_known(outer, field);
    if (known && !fits_type(outer, type)) *flags |= DEPARTS_TYPE;
    switch (type) {
    case 0: return take_varint(&value, s, &(unsigned){0});
    case 1: return take(&inner, s, 8);
    case 5: return take(&inner, s, 4);
    case 2: break;
    default: return false;
    }
    if (!take_varint(&value, s, flags)) return false;
    if (value > INT32_MAX) *flags |= DEPARTS_LENGTH;
    if (!take(&inner, s, value)) return false;
    bool is_entry = outer == LEVEL_ENTRY || outer == LEVEL_LIST_ENTRY;
    if (is_entry && field == 1) *flags |= check_name(inner);
    enum level next = inner_level(outer, field);
    if (next == LEVEL_NONE) return true;
    if (next >= LEVEL_LIST && outer != LEVEL_LIST && *seen_fields & 1u << next)
        *flags |= DEPARTS_MERGE;
    *seen_fields |= 1u << next;
    for (unsigned inner_seen = 0; inner.size > 0;)
        if (!take_field(flags, &inner_seen, &inner, next)) return false;
    return true;
}

static unsigned find_below(enum level outer, const uint8_t *data, size_t size) {
    struct span s = {data, size};
    unsigned found = 0, seen = 0;
    while (s.size > 0)
        if (!take_field(&found, &seen, &s, outer)) break;
    return found;
}

unsigned find_departures(const uint8_t *data, size_t size) {
    return find_below(LEVEL_EXAMPLE, data, size);
}

unsigned find_sequence_departures(const uint8_t *data, size_t size) {
    return find_below(LEVEL_SEQUENCE, data, size);
}

/* ---- our own ways of reading, against each other ---- */

static bool same_value(const recmap_value *a, const recmap_value *b) {
    if (a->type != b->type) return false;
    switch (a->type) {
    case RECMAP_TYPE_INT64: return a->as.int64 == b->as.int64;
    case RECMAP_TYPE_FLOAT: return memcmp(&a->as.float32, &b->as.float32, 4) == 0;
    case RECMAP_TYPE_BYTES:
        return a->as.bytes.data == b->as.bytes.data && a->as.bytes.size == b->as.bytes.size;
    default: return true;
    }
}

static const char *check_values(const struct example_feature *feature) {
    struct example_values values = example_values_begin(feature);
    recmap_value value, first = example_feature_first(feature);
    uint64_t count = 0;
    for (; example_values_next(&value, &values); count++) {
        if (value.type != feature->kind) return "a value is of another kind than its feature";
        if (count == 0 && !same_value(&value, &first)) return "the first value is another";
    }
    return count == feature->count ? NULL : "the count of values is another";
}

/* Looks all names up that a C string can hold, and one that is not there. */
static const char *check_lookup(const struct example_features *features, const uint8_t *data,
                                size_t size) {
    const char **list = calloc(features->count + 1, sizeof *list);
    struct example_feature *actual = calloc(features->count + 1, sizeof *actual);
    recmap_text names = RECMAP_TEXT_INIT;
    struct example_names *compiled = NULL;
    const char *difference = NULL;
    size_t count = 0;
    for (size_t i = 0; i < features->count; i++) {
        const struct example_entry *entry = &features->entries[i];
        if (!text_append(&names, (const char *)entry->name, entry->name_size)) abort();
        if (!text_append(&names, "", 1)) abort();
    }
    for (size_t at = 0, i = 0; i < features->count; at += features->entries[i++].name_size + 1)
        if (strlen(names.data + at) == features->entries[i].name_size)
            list[count++] = names.data + at;
    list[count] = "a name that is not there";
    if (example_names_create(&compiled, list, count + 1, NULL) != RECMAP_OK) abort();
    if (!example_lookup(actual, compiled, data, size, NULL)) difference = "lookup refuses";
    if (actual[count].present) difference = "lookup finds what is not there";
    for (size_t i = 0, k = 0; i < features->count && k < count; i++) {
        const struct example_entry *entry = &features->entries[i];
        if (memchr(entry->name, 0, entry->name_size)) continue;
        recmap_value a = example_feature_first(&entry->feature);
        recmap_value b = example_feature_first(&actual[k]);
        if (!actual[k].present || actual[k].kind != entry->feature.kind ||
            actual[k].count != entry->feature.count || !same_value(&a, &b))
            difference = "lookup finds another feature";
        k++;
    }
    example_names_destroy(compiled);
    recmap_text_deinit(&names);
    free(actual);
    free(list);
    return difference;
}

/* ---- protobuf-c ---- */

/* protobuf-c keeps all entries: the last of a name is the one. */
static const Tensorflow__Feature *find_theirs(const Tensorflow__Example *theirs,
                                              const struct example_entry *entry, bool *present) {
    *present = false;
    if (!theirs->features) return NULL;
    for (size_t i = theirs->features->n_feature; i-- > 0;) {
        const Tensorflow__Features__FeatureEntry *other = theirs->features->feature[i];
        if (strlen(other->key) != entry->name_size) continue;
        if (memcmp(other->key, entry->name, entry->name_size) != 0) continue;
        *present = true;
        return other->value;
    }
    return NULL;
}

static const char *compare_int64s(struct example_values *ours,
                                  const Tensorflow__Int64List *theirs) {
    recmap_value value;
    for (size_t i = 0; i < theirs->n_value; i++)
        if (!example_values_next(&value, ours) || value.as.int64 != theirs->value[i])
            return "an int64 value is another";
    return example_values_next(&value, ours) ? "there are more int64 values" : NULL;
}

static const char *compare_floats(struct example_values *ours,
                                  const Tensorflow__FloatList *theirs) {
    recmap_value value;
    for (size_t i = 0; i < theirs->n_value; i++)
        if (!example_values_next(&value, ours) ||
            memcmp(&value.as.float32, &theirs->value[i], sizeof(float)) != 0)
            return "a float value is another";
    return example_values_next(&value, ours) ? "there are more float values" : NULL;
}

static const char *compare_bytes(struct example_values *ours, const Tensorflow__BytesList *theirs) {
    recmap_value value;
    for (size_t i = 0; i < theirs->n_value; i++) {
        if (!example_values_next(&value, ours)) return "there are fewer bytes values";
        if (value.as.bytes.size != theirs->value[i].len) return "a bytes value has another size";
        if (value.as.bytes.size &&
            memcmp(value.as.bytes.data, theirs->value[i].data, value.as.bytes.size) != 0)
            return "a bytes value is another";
    }
    return example_values_next(&value, ours) ? "there are more bytes values" : NULL;
}

static const char *compare_feature(const struct example_feature *ours,
                                   const Tensorflow__Feature *theirs) {
    struct example_values values = example_values_begin(ours);
    switch (theirs ? theirs->kind_case : TENSORFLOW__FEATURE__KIND__NOT_SET) {
    case TENSORFLOW__FEATURE__KIND_INT64_LIST:
        if (ours->kind != RECMAP_TYPE_INT64) return "it is of kind int64";
        return compare_int64s(&values, theirs->int64_list);
    case TENSORFLOW__FEATURE__KIND_FLOAT_LIST:
        if (ours->kind != RECMAP_TYPE_FLOAT) return "it is of kind float";
        return compare_floats(&values, theirs->float_list);
    case TENSORFLOW__FEATURE__KIND_BYTES_LIST:
        if (ours->kind != RECMAP_TYPE_BYTES) return "it is of kind bytes";
        return compare_bytes(&values, theirs->bytes_list);
    default: return ours->kind == RECMAP_TYPE_NONE ? NULL : "it is unset";
    }
}

/* Returns true if each of our names is theirs, and each of theirs is one of ours. */
static const char *compare_examples(const struct example_features *ours,
                                    const Tensorflow__Example *theirs) {
    if (ours->has_features != (theirs->features != NULL)) return "the message features";
    for (size_t i = 0; i < ours->count; i++) {
        bool present;
        const struct example_entry *entry = &ours->entries[i];
        const Tensorflow__Feature *other = find_theirs(theirs, entry, &present);
        if (!present) return "a feature is missing there";
        const char *difference = compare_feature(&entry->feature, other);
        if (difference) return difference;
    }
    for (size_t i = 0; theirs->features && i < theirs->features->n_feature; i++) {
        const char *name = theirs->features->feature[i]->key;
        bool found = false;
        for (size_t k = 0; k < ours->count && !found; k++)
            found = ours->entries[k].name_size == strlen(name) &&
                    memcmp(ours->entries[k].name, name, strlen(name)) == 0;
        if (!found) return "a feature is missing here";
    }
    return NULL;
}

static const char *compare_with_theirs(const struct example_features *ours, bool accepted,
                                       const uint8_t *data, size_t size) {
    unsigned departures = find_departures(data, size);
    Tensorflow__Example *theirs = tensorflow__example__unpack(NULL, size, data);
    const char *difference = NULL;
    if (accepted && !theirs) {
        if (!(departures & (DEPARTS_GROUP | DEPARTS_TYPE | DEPARTS_MERGE | DEPARTS_LENGTH)))
            difference = "protobuf-c refuses";
    } else if (!accepted && theirs) {
        if (!(departures & (DEPARTS_NAME | DEPARTS_NUMBER | DEPARTS_LENGTH)))
            difference = "protobuf-c accepts";
    } else if (theirs && !departures) {
        difference = compare_examples(ours, theirs);
    }
    if (theirs) tensorflow__example__free_unpacked(theirs, NULL);
    return difference;
}

/* Reads the bytes with each reader of the library and compares their results. Returns the first
 * difference, or NULL if they agree. */
const char *find_difference(const uint8_t *data, size_t size) {
    struct example_features features = EXAMPLE_FEATURES_INIT;
    struct example_fault fault = {SIZE_MAX, NULL};
    struct example_feature unused;
    recmap_status status = example_features_read(&features, data, size, &fault);
    if (status == RECMAP_NO_MEMORY) abort();
    bool accepted = status == RECMAP_OK;
    const char *difference = NULL;
    if (!accepted && (fault.offset > size || !fault.reason)) difference = "the fault has no place";
    struct example_names *none = NULL;
    if (example_names_create(&none, NULL, 0, NULL) != RECMAP_OK) abort();
    if (example_lookup(&unused, none, data, size, NULL) != accepted)
        difference = "lookup and reading all do not agree";
    example_names_destroy(none);
    for (size_t i = 0; i < features.count && !difference; i++)
        difference = check_values(&features.entries[i].feature);
    if (!difference && accepted) difference = check_lookup(&features, data, size);
    if (!difference) difference = compare_with_theirs(&features, accepted, data, size);
    example_features_deinit(&features);
    return difference;
}
