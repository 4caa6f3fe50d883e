/* A box: what one Arrow export consists of, until the last of its arrays is released. Arrays are
 * first described as nodes, which tell schema and data at once. */
#ifndef RECMAP_EXPORT_ARROW_BOX_H
#define RECMAP_EXPORT_ARROW_BOX_H

#include <stdatomic.h>
#include <stdbool.h>

#include <recmap/arrow.h>

#include "columns/batch_memory.h"
#include "plan/arena.h"

struct arrow_box {
    atomic_uint users; /* arrays, or schemas */
    struct arena memory;
    struct batch_memory *batch; /* or NULL */
    void *owner;
    void (*release)(void *owner); /* or NULL */
};

/* One array, or field, with those in it. All memory is the box's or outlives it. */
struct arrow_node {
    const char *format;
    const char *name;
    const char *metadata;
    size_t metadata_size;
    int64_t length, null_count;
    const void **buffers;
    int64_t buffer_count;
    struct arrow_node *children;
    size_t child_count;
};

/* A box that holds the batch, which may be NULL. NULL when memory is out. */
struct arrow_box *arrow_box_create(struct batch_memory *batch);

/* Ends the box whoever may use it: for a failure before anything was given away. */
void arrow_box_destroy(struct arrow_box *box);

/* Memory for the parts of a node, all zeros. False when memory is out. */
bool arrow_node_add_children(struct arrow_node *node, struct arrow_box *box, size_t count);
bool arrow_node_add_buffers(struct arrow_node *node, struct arrow_box *box, size_t count);

/* Adds a pair to the metadata. False when memory is out. */
bool arrow_node_add_metadata(struct arrow_node *node, struct arrow_box *box, const char *key,
                             const char *value);

/* Makes what is wanted of the node (NULL: not), and gives the box up to it: it
 * ends with the last array, and at once after a failure. */
recmap_status arrow_box_emit(struct ArrowArray *array, struct ArrowSchema *schema,
                             struct arrow_box *box, const struct arrow_node *node,
                             recmap_error *error);

#endif
