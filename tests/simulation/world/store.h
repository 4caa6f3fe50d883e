/* A remote store that has the shards as objects: it answers late, drops connections, and fails. */
#ifndef RECMAP_TESTS_SIMULATION_WORLD_STORE_H
#define RECMAP_TESTS_SIMULATION_WORLD_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "simulation/world/random.h"

#define STORE_URL "store://bucket/"

/* What the store says about an object. Returns false if it fails. */
bool store_stat(uint64_t *size, char *etag, size_t etag_size, const char *url);

/* Puts other bytes in the place of an object, of another size and with another ETag. From then on
 * all reads of the store may fail. */
void store_change(struct random_stream *choices);

bool store_read(void *data, size_t size, uint64_t offset, const char *url);

#endif
