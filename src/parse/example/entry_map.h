/* The entries of a protobuf map under construction: names and bodies, sorted by name at the end.
 * Memory is reused from record to record. */
#ifndef RECMAP_PARSE_EXAMPLE_ENTRY_MAP_H
#define RECMAP_PARSE_EXAMPLE_ENTRY_MAP_H

#include "parse/varints/message_writer.h"

/* Offsets into an arena owned by the map's user. */
struct map_entry {
    size_t name;
    size_t name_size;
    size_t body;
    size_t body_size;
    size_t origin; /* its source, such as a byte of a JSON text, for errors */
};

/* Zero-initialized, a map is empty. */
struct entry_map {
    struct map_entry *entries;
    size_t count;
    size_t capacity;
    struct map_entry *scratch; /* as many as `entries` */
    size_t scratch_capacity;
    bool is_there;   /* the message that contains the map is written even if the map is empty */
    size_t repeated; /* the origin of an entry that replaced another one in entry_map_keep_last, or
                        0 if there was none */
    uint64_t size; /* encoded size of all entries, counting entries with the same name separately */
};

void entry_map_clear(struct entry_map *map);
void entry_map_deinit(struct entry_map *map);

/* Reserves room for one more entry. Returns false if memory runs out. */
bool entry_map_reserve(struct entry_map *map);

/* Adds an entry. Room for it must be reserved. */
void entry_map_add(struct entry_map *map, const struct map_entry *entry);

/* Returns the encoded size of an entry with a body of `body_size` bytes. */
uint64_t map_entry_size(const struct map_entry *entry, uint64_t body_size);

/* Sorts by the bytes of the names. Entries with the same name keep the order in which they were
 * added. Allocates nothing. */
void entry_map_sort(struct entry_map *map, const uint8_t *arena);

/* Returns the first entry with this name in a sorted map, or SIZE_MAX. */
size_t entry_map_find(const struct entry_map *map, const void *name, size_t name_size,
                      const uint8_t *arena);

/* Returns the number of consecutive entries from `first` on with the same name in a sorted map. */
size_t entry_map_run(const struct entry_map *map, size_t first, const uint8_t *arena);

/* Keeps only the last entry of each name. The map must be sorted. */
void entry_map_keep_last(struct entry_map *map, const uint8_t *arena);

#endif
