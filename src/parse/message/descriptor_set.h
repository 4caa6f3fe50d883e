/* Reads the bytes of a descriptor set, which are hostile, and checks what needs no types: its size,
 * its nesting, and the imports of its files. */
#ifndef RECMAP_PARSE_MESSAGE_DESCRIPTOR_SET_H
#define RECMAP_PARSE_MESSAGE_DESCRIPTOR_SET_H

#include <recmap/message.h>

#include "descriptor.pb-c.h"

/* protobuf-c reads messages recursively, so the nesting of types is limited before it does. */
enum { DESCRIPTOR_SIZE_MAX = 64 << 20, DESCRIPTOR_DEPTH_MAX = 64 };

/* Reads the set, which the caller frees with descriptor_set_free. Errors: INVALID for bytes that
 * are not a descriptor set or larger than the limits, for a file that is missing, there twice, or
 * imports itself; NO_MEMORY. */
recmap_status descriptor_set_read(Recmap__Descriptor__FileSet **set, const uint8_t *data,
                                  size_t size, recmap_error *error);

/* NULL may be freed. */
void descriptor_set_free(Recmap__Descriptor__FileSet *set);

#endif
