/* The hash over a file's content, as the seal has it: XXH3-128, its low 64 bits first, both halves
 * little-endian. */
#ifndef RECMAP_STORE_CONTENT_H
#define RECMAP_STORE_CONTENT_H

#include <stddef.h>
#include <stdint.h>

#include <recmap/status.h>

void content_hash(uint8_t hash[16], const void *data, size_t size);

/* Over the first `size` bytes of an open file, read in pieces. */
recmap_status content_hash_file(uint8_t hash[16], int fd, uint64_t size, const char *path,
                                recmap_error *error);

#endif
