/* The seal: everything in the sealed file that is not LMDB's. Pure: bytes to structs and back.
 *
 * The last 64 bytes of the file, after LMDB's last page, are the trailer. Numbers are
 * little-endian:
 *
 *    0  8  magic, the bytes "RMXseal\n"
 *    8  4  version of the seal: 1
 *   12  4  LMDB's file format (MDB_DATA_VERSION): 1 for LMDB 0.9
 *   16  4  page size of LMDB's file: a power of two, 4096 to 32768
 *   20  1  byte order of LMDB's numbers: 1 little-endian, 2 big-endian
 *   21  1  bytes of LMDB's page numbers: 8
 *   22  2  zero
 *   24  8  count of LMDB's pages
 *   32  8  size of the file: pages * page size + 64
 *   40 16  XXH3-128 of all bytes before the trailer: its low 64 bits, then its high 64 bits
 *   56  8  XXH3-64 of bytes 0 to 55 of the trailer
 *
 * Magic, version and the trailer's own hash keep their places in all later versions.
 *
 * Every value in LMDB starts with a prefix of 16 bytes, followed by the payload:
 *
 *    0  8  XXH3-64 of the payload, seeded with the XXH3-64 of these 24 bytes: the table's number
 *          (4 bytes, little-endian), the key as encoded in the file (12 bytes: chunk then series,
 *          big-endian), the size of the payload (8 bytes, little-endian)
 *    8  8  size of the payload
 *
 * Since table and key are hashed too, a value moved elsewhere does not match. */
#ifndef RECMAP_INDEX_STORE_SEAL_H
#define RECMAP_INDEX_STORE_SEAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <recmap/status.h>

#include "index/store/store.h"

enum {
    SEAL_SIZE = 64,
    SEAL_VERSION = 1,
    SEAL_LMDB_VERSION = 1,
    SEAL_WORD_SIZE = 8,
    SEAL_PAGE_SIZE_MIN = 4096,
    SEAL_PAGE_SIZE_MAX = 32768,
    VALUE_PREFIX_SIZE = 16,
};

/* The fields of a seal. Version, byte order and word size are not among them: seal_decode accepts
 * only this machine's. */
struct seal_fields {
    uint32_t page_size;
    uint64_t page_count;
    uint64_t file_size;
    uint8_t content_hash[16];
};

void seal_encode(uint8_t bytes[SEAL_SIZE], const struct seal_fields *seal);

/* Returns true if the bytes begin with a seal's magic. */
bool seal_is_present(const uint8_t bytes[SEAL_SIZE]);

/* Decodes the seal of a file of `file_size` bytes. On success it fits that size, and this machine
 * can read the LMDB pages. Errors: CORRUPT, UNSUPPORTED, with advice but without a path. */
recmap_status seal_decode(struct seal_fields *seal, const uint8_t bytes[SEAL_SIZE],
                          uint64_t file_size, recmap_error *error);

/* The error for a file without a seal: says what the file is, judging by its first `size` bytes.
 * Returns CORRUPT or UNSUPPORTED; the error has no path. */
recmap_status seal_fail_absent(const uint8_t *start, size_t size, recmap_error *error);

void key_encode(uint8_t bytes[STORE_KEY_SIZE], struct store_key key);
struct store_key key_decode(const uint8_t bytes[STORE_KEY_SIZE]);

/* The prefix of a value. */
void value_prefix_encode(uint8_t prefix[VALUE_PREFIX_SIZE], enum store_table table,
                         struct store_key key, const uint8_t *payload, size_t size);

/* Returns true if the prefix matches the payload, at this table and key. */
bool value_prefix_matches(const uint8_t prefix[VALUE_PREFIX_SIZE], enum store_table table,
                          struct store_key key, const uint8_t *payload, size_t size);

#endif
