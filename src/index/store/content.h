/* The hash over a file's content that the seal stores: XXH3-128, low 64 bits first, both halves
 * little-endian. */
#ifndef RECMAP_INDEX_STORE_CONTENT_H
#define RECMAP_INDEX_STORE_CONTENT_H

#include <stddef.h>
#include <stdint.h>

#include <recmap/status.h>

void content_hash(uint8_t hash[16], const void *data, size_t size);

/* Hashes the first `size` bytes of an open file, read in pieces of bounded size. */
recmap_status content_hash_file(uint8_t hash[16], int fd, uint64_t size, const char *path,
                                recmap_error *error);

#endif
