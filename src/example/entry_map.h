/* The entries of a protobuf map that is being built: names and bodies, brought into the order of
 * the names at the end. Memory is used again from record to record. */
#ifndef RECMAP_EXAMPLE_ENTRY_MAP_H
#define RECMAP_EXAMPLE_ENTRY_MAP_H

#include "example/message_writer.h"

/* Places of bytes in the arena that the map's user keeps. */
struct map_entry {
    size_t name;
    size_t name_size;
    size_t body;
    size_t body_size;
    size_t origin; /* where it comes from: a byte in a text, for errors */
};

/* All zeros is an empty one. */
struct entry_map {
    struct map_entry *entries;
    size_t count;
    size_t capacity;
    struct map_entry *scratch; /* as many as `entries` */
    size_t scratch_capacity;
    bool is_there;   /* the message that holds the map is written, even when the map is empty */
    size_t repeated; /* the origin of an entry that replaced another, when they were brought in
                        order; 0: there was none */
    uint64_t size;   /* bytes of all entries on the wire, counting those that share a name apart */
};

void entry_map_clear(struct entry_map *map);
void entry_map_free(struct entry_map *map);

/* Makes room for one entry more. False when memory is out. */
bool entry_map_reserve(struct entry_map *map);

/* Adds an entry, into room that was made. */
void entry_map_add(struct entry_map *map, const struct map_entry *entry);

/* Bytes of an entry on the wire whose body has this size. */
uint64_t map_entry_size(const struct map_entry *entry, uint64_t body_size);

/* Sorts by the bytes of names. Entries of one name stay in the order in which they were added.
 * Nothing is allocated. */
void entry_map_sort(struct entry_map *map, const uint8_t *arena);

/* The first entry of this name in a sorted map, or SIZE_MAX. */
size_t entry_map_find(const struct entry_map *map, const void *name, size_t name_size,
                      const uint8_t *arena);

/* How many entries from `first` on have its name, in a sorted map. */
size_t entry_map_run(const struct entry_map *map, size_t first, const uint8_t *arena);

/* Keeps the last of each name, in a sorted map. */
void entry_map_keep_last(struct entry_map *map, const uint8_t *arena);

#endif
