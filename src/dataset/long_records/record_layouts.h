/* Layouts: where the lists that rows are cut from are in long records. A layout is kept when a
 * record was read as a whole and checked. The next rows read only the bytes that they need of it.
 */
#ifndef RECMAP_DATASET_LONG_RECORDS_RECORD_LAYOUTS_H
#define RECMAP_DATASET_LONG_RECORDS_RECORD_LAYOUTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Shorter records are read as a whole each time. */
enum { LAYOUT_MIN_SIZE = 1 << 17 };

/* Where the values of a list are. */
struct list_place {
    uint64_t offset; /* in the payload */
    uint64_t size;
    bool is_found;
};

/* A record, as rows of one parser see it. */
struct record_layout {
    uint64_t record;
    uint64_t parser_id;
    uint64_t payload_offset; /* in the frame */
    uint64_t payload_size;
};

/* The layouts of a data set's records. Any thread may use them. Creating them returns NULL if
 * memory runs out. */
struct record_layouts;
struct record_layouts *record_layouts_create(void);
void record_layouts_destroy(struct record_layouts *layouts);

/* Keeps a layout and its lists. Does nothing if memory runs out. */
void record_layouts_keep(struct record_layouts *layouts, const struct record_layout *layout,
                         const struct list_place *lists, size_t list_count);

/* Copies the layout of record layout->record for layout->parser_id, and its lists. Returns false if
 * it is not kept. */
bool record_layouts_find(struct record_layout *layout, struct list_place *lists, size_t list_count,
                         struct record_layouts *layouts);

/* Forgets the layout of a record, whose bytes turned out to be others. */
void record_layouts_forget(struct record_layouts *layouts, uint64_t record);

#endif
