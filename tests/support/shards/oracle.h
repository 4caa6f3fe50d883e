/* A second opinion on TFRecord files: a reader and a writer in the plainest C, with a CRC of its
 * own, which share nothing with the library. What it says about damage is the rule of the interface
 * word by word. */
#ifndef RECMAP_TESTS_SUPPORT_SHARDS_ORACLE_H
#define RECMAP_TESTS_SUPPORT_SHARDS_ORACLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "support/buffer.h"

uint32_t oracle_masked_crc(const void *data, size_t size);

/* Appends a record, or only its header with a right CRC and whatever length. */
void oracle_add_record(struct buffer *buffer, const void *data, size_t size);
void oracle_add_header(struct buffer *buffer, uint64_t length);

struct oracle_record {
    uint64_t offset; /* of the frame */
    uint64_t size;   /* of the payload, 12 bytes after the offset */
    uint32_t check;  /* as stored in the file */
};

struct oracle_damage {
    uint64_t offset;
    uint64_t length;
};

struct oracle_file {
    struct oracle_record *records;
    size_t record_count;
    struct oracle_damage *damages;
    size_t damage_count;
};

/* All records and, between them, all damage. With `stops` it ends at the first damage, which is
 * then the only one and has no length. */
struct oracle_file oracle_read(const uint8_t *bytes, size_t size, bool stops);
void oracle_deinit(struct oracle_file *file);

#endif
