/* A record as a tf.Example: requested features looked up by name, or all features sorted.
 *
 * The result is what libprotobuf would decode. The last of several entries with one name wins;
 * several `features` messages are merged; fields that are unknown or have an unexpected wire type
 * are skipped. A name that is not UTF-8 or a malformed byte anywhere, even in something replaced or
 * skipped, means that the record is not an Example. */
#ifndef RECMAP_PARSE_EXAMPLE_EXAMPLE_H
#define RECMAP_PARSE_EXAMPLE_EXAMPLE_H

#include "parse/example/names.h"
#include "parse/example/reader.h"

/* Looks up all names: feature[i] receives the feature with name i. Returns false if the record is
 * not an Example; `fault` (unless NULL) then says why and `feature` is undefined. Takes one pass
 * over the record and allocates nothing. */
bool example_lookup(struct example_feature *feature, const struct example_names *names,
                    const uint8_t *data, size_t size, struct example_fault *fault);

/* All features of a record, each name once, sorted by the bytes of their names. Entries point into
 * the record. Reusable from record to record. */
struct example_features {
    struct example_entry *entries;
    size_t count;
    size_t capacity;
    bool has_features; /* the record has a `features` message, possibly empty */
    bool saw_unknown;  /* the record has fields unknown to tf.Example */
};

#define EXAMPLE_FEATURES_INIT                                                                      \
    { NULL, 0, 0, false, false }

/* Replaces the contents of `features`. Returns RECMAP_CORRUPT if the record is not an Example and
 * sets `fault` unless it is NULL, or RECMAP_NO_MEMORY; `features` is then empty. */
recmap_status example_features_read(struct example_features *features, const uint8_t *data,
                                    size_t size, struct example_fault *fault);
/* The same, but as in the record: in any order, and maybe with names that repeat. Takes less time;
 * example_features_settle can follow. */
recmap_status example_features_read_stored(struct example_features *features, const uint8_t *data,
                                           size_t size, struct example_fault *fault);

void example_features_deinit(struct example_features *features);

/* The two halves of example_features_read: add the entries left in a reader up to its end or to a
 * fault (returns false if memory runs out), then sort them and remove duplicates. */
bool example_features_take(struct example_features *features, struct example_reader *reader);
void example_features_settle(struct example_features *features);

#endif
