/* Bytes that are not a tf.Example with features, recognised as what they are.
 *
 * Protobuf reads many other messages as a tf.Example: what it does not know are unknown fields, and
 * nothing is left. So a record of another kind shows only as a record without features. */
#ifndef RECMAP_PARSE_EXAMPLE_FOREIGN_H
#define RECMAP_PARSE_EXAMPLE_FOREIGN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Static strings: what the bytes are, such as "an event of TensorBoard", and what to do, one line.
 */
struct foreign {
    const char *name;
    const char *advice;
};

/* Returns true and fills `foreign` if the bytes are of another kind: a kind that is known here, or
 * a message that has fields but neither features nor feature lists. Returns false for an Example or
 * a SequenceExample, for no bytes, and for bytes that are not protobuf and not known here. */
bool foreign_find(struct foreign *foreign, const uint8_t *data, size_t size);

/* The same, but only for bytes that cannot be a protobuf message. */
bool foreign_is_stream(struct foreign *foreign, const uint8_t *data, size_t size);

#endif
