/* The digest of an array. It represents the array in the description of an order. */
#ifndef RECMAP_ORDER_KINDS_DIGEST_H
#define RECMAP_ORDER_KINDS_DIGEST_H

#include <stddef.h>
#include <stdint.h>

#include <recmap/status.h>

enum { DIGEST_SIZE = 16 };

/* XXH3-128 in canonical form over the array's items as little-endian 64-bit words.
 * Asks the thread's interrupt. Errors: NO_MEMORY; CANCELLED. */
recmap_status digest_words(uint8_t digest[DIGEST_SIZE], const uint64_t *words, size_t count,
                           recmap_error *error);

#endif
