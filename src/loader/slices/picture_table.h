/* Which pictures of a batch were decoded already, so that rows that share one copy it. */
#ifndef RECMAP_LOADER_SLICES_PICTURE_TABLE_H
#define RECMAP_LOADER_SLICES_PICTURE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What the pixels of a picture depend on. Each record is in a batch once, so equal bytes are those
 * at the same address. The draw is that of the row, and zeros if nothing is random. */
struct picture_key {
    const uint8_t *data;
    size_t size;
    uint64_t number;
    uint64_t position;
};

struct picture_table {
    struct picture_entry *entries;
    size_t mask; /* their number, which is a power of two, less 1 */
};

/* Makes room for `count` pictures. Returns false without memory. */
bool picture_table_init(struct picture_table *table, size_t count);
void picture_table_deinit(struct picture_table *table);

/* Returns the index of the first picture with this key. If there is none, keeps `index` for the key
 * and returns it. */
size_t picture_table_add(struct picture_table *table, const struct picture_key *key, size_t index);

#endif
