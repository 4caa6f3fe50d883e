/* Recognizes common file types other than TFRecord, so that an error can name them. */
#ifndef RECMAP_FORMAT_FRAMING_SNIFF_H
#define RECMAP_FORMAT_FRAMING_SNIFF_H

#include <stdint.h>

#include "format/framing/framing.h"

struct file_kind {
    const char *name;   /* "a Git LFS pointer" */
    const char *advice; /* what the user can do about it */
};

/* Returns the kind of a file that starts with these bytes, or NULL if it is unknown. */
const struct file_kind *sniff_file(const uint8_t *bytes, uint64_t size);

/* The same for files of other built-in framings than `framing`, as far as their start leaves no
 * doubt: TFRecord, whose first header has a checksum, and tar. */
const struct file_kind *sniff_records(const uint8_t *bytes, uint64_t size,
                                      const struct framing *framing);

#endif
