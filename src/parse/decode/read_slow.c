#include "parse/decode/list_decode.h"
#include "parse/decode/read_paths.h"
#include "parse/example/foreign.h"
#include "parse/example/reader.h"

static const char *message_name(const recmap_parser *parser) {
    return parser->is_sequence ? "tf.SequenceExample" : "tf.Example";
}

static bool tell_foreign(const recmap_parser *parser, const struct foreign *foreign,
                         struct read_fault *fault) {
    fault_set(fault, RECMAP_CORRUPT, 0, "not a %s, but %s", message_name(parser), foreign->name);
    fault_advise(fault, "%s", foreign->advice);
    return false;
}

static bool tell_fault(const recmap_parser *parser, const struct example_reader *reader,
                       const struct example_entry *entry, struct read_fault *fault) {
    struct example_fault found;
    const char *message = message_name(parser);
    example_reader_end(reader, &found);
    if (!entry->name)
        return fault_set(fault, RECMAP_CORRUPT, found.offset, "not a %s: %s", message,
                         found.reason);
    return fault_set(fault, RECMAP_CORRUPT, found.offset, "not a %s: feature '%.*s': %s", message,
                     entry->name_size < 200 ? (int)entry->name_size : 200,
                     (const char *)entry->name, found.reason);
}

/* Finds the last entry of each requested name, which is the one that counts. */
static bool find_features(struct example_feature *feature, const recmap_parser *parser,
                          const uint8_t *data, size_t size, struct read_fault *fault) {
    struct example_reader reader = example_reader_begin(data, size);
    struct example_entry entry;
    size_t index;
    for (size_t i = 0; i < parser->features.count; i++) feature[i] = (struct example_feature){0};
    while (example_reader_next_requested(&entry, &index, &reader, parser->features.names))
        feature[index] = entry.feature;
    if (example_reader_end(&reader, NULL)) return true;
    struct foreign foreign;
    return foreign_find(&foreign, data, size) ? tell_foreign(parser, &foreign, fault)
                                              : tell_fault(parser, &reader, &entry, fault);
}

/* Reads one feature of a record. A fixed number of values is written where the row begins. Any
 * other number is appended to the values of earlier rows, and the end of the row is noted. */
static bool read_slot(struct sink *sink, const struct slot *slot,
                      const struct example_feature *feature, const uint8_t *data, size_t row,
                      struct read_fault *fault) {
    bool is_fixed = slot->count > 0;
    uint64_t count;
    if (feature->kind == RECMAP_TYPE_NONE) {
        if (read_entry_missing(sink, slot, row)) return true;
        fault_set(fault, RECMAP_FEATURE, SIZE_MAX, "feature '%.200s' is missing and has no default",
                  slot->name);
        fault_advise(fault,
                     "check the name (`recmap schema` looks at 1,000 records, `recmap schema "
                     "--sample 0` at all), or give a default");
        return false;
    }
    if (!list_read(&count, sink, slot, is_fixed ? row * slot->count : sink->value_count, feature,
                   data, SIZE_MAX, fault))
        return false;
    if (is_fixed) return true;
    sink->value_count += count;
    ((int64_t *)(void *)sink->rows.data)[row + 1] = (int64_t)sink->value_count;
    return true;
}

/* Returns true if the record has none of the features. */
static bool has_none(const struct read_scratch *scratch, const struct slot_set *set) {
    for (size_t i = 0; i < set->count; i++)
        if (scratch->features[i].kind != RECMAP_TYPE_NONE) return false;
    return true;
}

/* Protobuf reads messages of other types as Examples without features. So a record that has nothing
 * of what is requested may be one, and is then refused even if all features may be missing. The
 * fast path accepts no such record: it stops at fields other than features and lists, and at
 * entries without a value. */
bool read_slow(struct sink *sinks, struct read_scratch *scratch, const recmap_parser *parser,
               const uint8_t *data, size_t size, size_t row, struct read_fault *fault) {
    const struct slot_set *set = &parser->features;
    struct foreign foreign;
    if (!find_features(scratch->features, parser, data, size, fault)) return false;
    if (has_none(scratch, set) && foreign_find(&foreign, data, size))
        return tell_foreign(parser, &foreign, fault);
    for (size_t i = 0; i < set->count; i++)
        if (!read_slot(&sinks[i], &set->slots[i],
                       &scratch->features[example_names_first(set->names, i)], data, row, fault))
            return false;
    return true;
}

size_t read_entry_offset(const recmap_parser *parser, size_t slot, const uint8_t *data,
                         size_t size) {
    const struct example_names *names = parser->features.names;
    struct example_reader reader = example_reader_begin(data, size);
    struct example_entry entry;
    size_t index, offset = SIZE_MAX;
    while (example_reader_next_requested(&entry, &index, &reader, names))
        if (index == example_names_first(names, slot))
            offset = (size_t)(entry.feature.entry.at - data);
    return offset;
}
