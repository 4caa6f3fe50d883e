/* Reads the entries of a serialized tf.Example one by one in stored order and checks everything
 * that libprotobuf checks. If names repeat, the last entry wins. */
#ifndef RECMAP_PARSE_EXAMPLE_READER_H
#define RECMAP_PARSE_EXAMPLE_READER_H

#include "parse/example/feature.h"
#include "parse/example/names.h"

/* Why bytes are not a tf.Example. */
struct example_fault {
    size_t offset;      /* in the record: the byte at which reading stopped */
    const char *reason; /* a static string: short, lower case, no full stop */
};

struct example_reader {
    const uint8_t *data;
    struct wire record;   /* what is left of the Example */
    struct wire features; /* what is left of the current Features message */
    bool has_features;    /* there was one, possibly empty */
    struct wire_trace trace;
};

/* One entry of the feature map. */
struct example_entry {
    const uint8_t *name; /* UTF-8, in the record; never NULL */
    size_t name_size;
    struct example_feature feature;
};

struct example_reader example_reader_begin(const uint8_t *data, size_t size);

/* Advances to the next entry. Returns false after the last one and on a fault. A fault invalidates
 * the entries before it too, because the whole record is then not an Example. */
bool example_reader_next(struct example_entry *entry, struct example_reader *reader);

/* Advances to the next entry whose name is in `names` and sets `index` to the name's index. The
 * values of all other entries are skipped by their length without being validated. On a fault in an
 * entry's values, the entry's name is set; otherwise the name is NULL when this returns false. */
bool example_reader_next_requested(struct example_entry *entry, size_t *index,
                                   struct example_reader *reader,
                                   const struct example_names *names);

/* Returns whether bytes are UTF-8; fast for ASCII. */
bool example_name_is_utf8(const uint8_t *data, size_t size);

/* Returns whether everything was read without a fault. Otherwise sets `fault`, unless it is NULL.
 */
bool example_reader_end(const struct example_reader *reader, struct example_fault *fault);

#endif
