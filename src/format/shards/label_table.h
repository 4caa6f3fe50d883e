/* A hash table of the first path of a list for each set, or for each file. */
#ifndef RECMAP_FORMAT_SHARDS_LABEL_TABLE_H
#define RECMAP_FORMAT_SHARDS_LABEL_TABLE_H

#include <recmap/status.h>

#include "format/shards/set_label.h"

enum label_key {
    LABEL_KEY_NAME, /* set_label_compare_names */
    LABEL_KEY_FILE  /* set_label_compare_originals */
};

struct label_table {
    enum label_key key;
    size_t *slots; /* indexes in the list, plus 1; 0: empty */
    size_t capacity;
    size_t slot_count;
    size_t registered; /* the first paths of the list */
};

#define LABEL_TABLE_INIT(key)                                                                      \
    { key, NULL, 0, 0, 0 }

/* Registers the paths up to `end`. Errors: NO_MEMORY; CANCELLED. */
recmap_status label_table_fill(struct label_table *table, char *const *paths, size_t end,
                               recmap_error *error);

/* The index of the registered path with the key of the label, plus 1; 0: none has it. */
size_t label_table_find(const struct label_table *table, char *const *paths,
                        const struct set_label *label);

void label_table_deinit(struct label_table *table);

#endif
