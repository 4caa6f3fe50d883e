/* Tar archives read once more, plainly: where the sample at a place ends. And headers written. */
#ifndef RECMAP_TESTS_SUPPORT_SHARDS_PLAIN_TAR_H
#define RECMAP_TESTS_SUPPORT_SHARDS_PLAIN_TAR_H

#include <stddef.h>
#include <stdint.h>

enum plain_tar_answer { PLAIN_SAMPLE, PLAIN_END, PLAIN_BAD };

/* Sets `*size` to the size of the sample at data[0], of whose bytes `end` are there. */
enum plain_tar_answer plain_tar_sample(uint64_t *size, const uint8_t *data, uint64_t end);

/* Writes the checksum of the header of 512 bytes. */
void plain_tar_sum(uint8_t *header);

#endif
