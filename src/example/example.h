/* A record as a tf.Example: wanted features looked up by name, or all of them in one order.
 *
 * What counts is what libprotobuf makes of the bytes: of several entries with one name the last one
 * replaces those before; several `features` messages are one; fields that are unknown, or that have
 * another wire type than theirs, are passed over; a name that is not UTF-8 or a malformed byte
 * anywhere, even in what is replaced or passed over, makes the record no Example. */
#ifndef RECMAP_EXAMPLE_EXAMPLE_H
#define RECMAP_EXAMPLE_EXAMPLE_H

#include "example/names.h"
#include "example/reader.h"

/* Looks the names up: found[i] tells of name i; there is room for all. False when the record is no
 * Example; `fault` (or NULL) then says why, and `found` holds nothing of use.
 * Cost: one pass over the record; nothing is allocated. */
bool example_lookup(struct example_feature *feature, const struct example_names *names,
                    const uint8_t *data, size_t size, struct example_fault *fault);

/* All features of a record, sorted by the bytes of their names, each name once. To be used again
 * from record to record. Entries point into the record. */
struct example_features {
    struct example_entry *entries;
    size_t count;
    size_t capacity;
    bool has_features; /* the record has the message `features`, though perhaps an empty one */
    bool saw_unknown;  /* the record has fields that tf.Example does not know */
};

#define EXAMPLE_FEATURES_INIT                                                                      \
    { NULL, 0, 0, false, false }

/* Replaces what `features` held. Returns CORRUPT when the record is no Example, with `fault` (or
 * NULL) saying why, or NO_MEMORY; `features` is then empty. */
recmap_status example_features_read(struct example_features *features, const uint8_t *data,
                                    size_t size, struct example_fault *fault);
void example_features_free(struct example_features *features);

/* The two halves of that: adds the entries that are left in a reader, up to its end or a fault
 * (false when memory is out), and brings what was added into order. */
bool example_features_take(struct example_features *features, struct example_reader *reader);
void example_features_settle(struct example_features *features);

#endif
