/* Our reading of an Example against protobuf-c's, which is the same but for a written list. */
#ifndef RECMAP_TESTS_UNIT_PARSE_EXAMPLE_AGAINST_H
#define RECMAP_TESTS_UNIT_PARSE_EXAMPLE_AGAINST_H

#include <stddef.h>
#include <stdint.h>

/* Where protobuf-c departs from libprotobuf, whose verdicts count. */
enum departure {
    DEPARTS_GROUP = 1, /* it refuses groups, which libprotobuf skips */
    DEPARTS_TYPE = 2,  /* it refuses a known field of another wire type, which is an unknown one */
    DEPARTS_NAME = 4,  /* it takes names that are not UTF-8, and ends a name at a NUL */
    DEPARTS_MERGE = 8, /* a feature or list that comes twice: it merges otherwise, or refuses */
    DEPARTS_NUMBER = 16, /* it takes field number 0 */
    DEPARTS_LENGTH = 32, /* it reads overlong tags and lengths otherwise */
};

/* Which of these the bytes hold, as far as they are well-formed; a reader of its own. */
unsigned find_departures(const uint8_t *data, size_t size);

/* The same for a SequenceExample. */
unsigned find_sequence_departures(const uint8_t *data, size_t size);

/* NULL when all ways of reading the bytes agree: lookup by name, all features, value by value, and
 * protobuf-c outside its departures. Else what differs. */
const char *find_difference(const uint8_t *data, size_t size);

#endif
