/* Reading the entries of a serialized tf.Example, one by one in the order of the bytes, checking
 * everything that libprotobuf checks. Where names repeat, the last entry is the one that counts. */
#ifndef RECMAP_EXAMPLE_READER_H
#define RECMAP_EXAMPLE_READER_H

#include "example/feature.h"
#include "example/names.h"

/* Why bytes are no tf.Example. */
struct example_fault {
    size_t offset;      /* in the record: the byte at which reading stopped */
    const char *reason; /* a static string: short, lower case, no full stop */
};

struct example_reader {
    const uint8_t *data;
    struct wire record;   /* what is left of the Example */
    struct wire features; /* what is left of the message Features that is being read */
    bool has_features;    /* there was one, though perhaps an empty one */
    struct wire_trace trace;
};

/* One entry of the map of features. */
struct example_entry {
    const uint8_t *name; /* UTF-8, into the record; never NULL */
    size_t name_size;
    struct example_feature feature;
};

struct example_reader example_reader_begin(const uint8_t *data, size_t size);

/* The next entry. False behind the last one and at a fault; what came before a fault is then void,
 * since the whole record is no Example. */
bool example_reader_next(struct example_entry *entry, struct example_reader *reader);

/* The next entry whose name is among `names`, with the index of the name. What entries of other
 * names hold as their values is passed over by its length: it may be anything. At a fault within
 * the values of an entry, that entry's name is filled; else `name` is NULL when this returns false.
 */
bool example_reader_next_asked(struct example_entry *entry, size_t *index,
                               struct example_reader *reader, const struct example_names *names);

/* Whether bytes are UTF-8; quick for ASCII. */
bool example_name_is_utf8(const uint8_t *data, size_t size);

/* Whether all was read without a fault; if not, fills `fault` (which may be NULL). */
bool example_reader_end(const struct example_reader *reader, struct example_fault *fault);

#endif
