/* Telling what a file is that is no TFRecord file, so that the error can say it. */
#ifndef RECMAP_FORMAT_SNIFF_H
#define RECMAP_FORMAT_SNIFF_H

#include <stdint.h>

struct file_kind {
    const char *name;   /* "a Git LFS pointer" */
    const char *advice; /* what to do about it */
};

/* The kind of a file that begins so, or NULL when it is none that is known. */
const struct file_kind *sniff_file(const uint8_t *bytes, uint64_t size);

#endif
