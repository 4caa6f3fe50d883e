/* Random files for the scan: records, records that hold records, headers that lie, junk, and damage
 * of every kind at every place. */
#ifndef RECMAP_TESTS_SUPPORT_SHARDS_LAYOUT_H
#define RECMAP_TESTS_SUPPORT_SHARDS_LAYOUT_H

#include "support/buffer.h"

/* Appends about `size` bytes of sound records, whose payloads may be anything. */
void layout_add_records(struct buffer *buffer, size_t size, struct rng *random);

/* A whole file of about `size` bytes: sound, damaged, or no TFRecord at all. */
void layout_generate(struct buffer *file, size_t size, struct rng *random);

/* Damages the file in one random way. */
void layout_damage(struct buffer *file, struct rng *random);

#endif
