/* A box owns everything that one Arrow export consists of, until the last of its arrays is
 * released. Arrays are first described as nodes, from which both schema and data are built. */
#ifndef RECMAP_PARSE_EXPORT_ARROW_BOX_H
#define RECMAP_PARSE_EXPORT_ARROW_BOX_H

#include <stdatomic.h>
#include <stdbool.h>

#include <recmap/arrow.h>

#include "parse/columns/batch_memory.h"
#include "parse/plan/arena.h"

struct arrow_box {
    atomic_uint users; /* arrays or schemas */
    struct arena memory;
    struct batch_memory *batch; /* or NULL */
    void *owner;
    void (*release)(void *owner); /* or NULL */
};

/* One array or field with its children. All memory belongs to the box or outlives it. */
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

/* Creates a box that retains the batch, which may be NULL. Returns NULL if memory runs out. */
struct arrow_box *arrow_box_create(struct batch_memory *memory);

/* Destroys a box that was not handed over yet, after a failure. */
void arrow_box_destroy(struct arrow_box *box);

/* Allocate the children and buffers of a node, zeroed. Return false if memory runs out. */
bool arrow_node_add_children(struct arrow_node *node, struct arrow_box *box, size_t count);
bool arrow_node_add_buffers(struct arrow_node *node, struct arrow_box *box, size_t count);

/* Adds a pair to the metadata. Returns false if memory runs out. */
bool arrow_node_add_metadata(struct arrow_node *node, struct arrow_box *box, const char *key,
                             const char *value);

/* Builds the array, the schema or both (NULL: not wanted) from a node and takes over the box, which
 * lives as long as the array. On failure the box is destroyed at once. */
recmap_status arrow_box_emit(struct ArrowArray *array, struct ArrowSchema *schema,
                             struct arrow_box *box, const struct arrow_node *node,
                             recmap_error *error);

#endif
