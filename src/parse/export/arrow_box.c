#include "parse/export/arrow_box.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/core/error.h"

struct arrow_box *arrow_box_create(struct batch_memory *memory) {
    struct arrow_box *box = calloc(1, sizeof *box);
    if (!box) return NULL;
    atomic_init(&box->users, 0);
    if (memory) box->batch = batch_memory_retain(memory);
    return box;
}

void arrow_box_destroy(struct arrow_box *box) {
    if (box->release) box->release(box->owner);
    if (box->batch) batch_memory_release(box->batch);
    arena_deinit(&box->memory);
    free(box);
}

/* Removes one array; the last one destroys the box. */
static void arrow_box_release(struct arrow_box *box) {
    assert(atomic_load(&box->users) > 0);
    if (atomic_fetch_sub_explicit(&box->users, 1, memory_order_acq_rel) == 1)
        arrow_box_destroy(box);
}

bool arrow_node_add_children(struct arrow_node *node, struct arrow_box *box, size_t count) {
    node->children = arena_allocate_zeros(&box->memory, count, sizeof *node->children);
    node->child_count = count;
    return node->children != NULL;
}

bool arrow_node_add_buffers(struct arrow_node *node, struct arrow_box *box, size_t count) {
    node->buffers = arena_allocate_zeros(&box->memory, count, sizeof *node->buffers);
    node->buffer_count = (int64_t)count;
    return node->buffers != NULL;
}

static uint8_t *put_text(uint8_t *out, const char *text) {
    int32_t size = (int32_t)strlen(text);
    memcpy(out, &size, sizeof size);
    memcpy(out + sizeof size, text, (size_t)size);
    return out + sizeof size + size;
}

/* Arrow's metadata format: the number of pairs, then each text preceded by its size, in native byte
 * order. */
bool arrow_node_add_metadata(struct arrow_node *node, struct arrow_box *box, const char *key,
                             const char *value) {
    int32_t count = 0;
    size_t used = node->metadata ? node->metadata_size : sizeof count;
    size_t size = used + 2 * sizeof count + strlen(key) + strlen(value);
    uint8_t *text = arena_allocate_zeros(&box->memory, size, 1);
    if (!text) return false;
    if (node->metadata) {
        memcpy(text, node->metadata, used);
        memcpy(&count, text, sizeof count);
    }
    count++;
    memcpy(text, &count, sizeof count);
    put_text(put_text(text + used, key), value);
    node->metadata = (const char *)text;
    node->metadata_size = size;
    return true;
}

/* Children that were moved elsewhere have no release callback any more. */
static void release_array(struct ArrowArray *array) {
    assert(array->release == release_array && array->private_data);
    for (int64_t i = 0; i < array->n_children; i++)
        if (array->children[i]->release) array->children[i]->release(array->children[i]);
    array->release = NULL;
    arrow_box_release(array->private_data);
}

static void release_schema(struct ArrowSchema *schema) {
    assert(schema->release == release_schema && schema->private_data);
    for (int64_t i = 0; i < schema->n_children; i++)
        if (schema->children[i]->release) schema->children[i]->release(schema->children[i]);
    schema->release = NULL;
    arrow_box_release(schema->private_data);
}

/* Builds the children first: if memory runs out halfway, nothing has been handed over, and
 * destroying the box frees everything. */
static bool make_array(struct ArrowArray *array, struct arrow_box *box,
                       const struct arrow_node *node) {
    size_t count = node->child_count;
    struct ArrowArray *child_arrays =
        arena_allocate_zeros(&box->memory, count, sizeof *child_arrays);
    struct ArrowArray **children = arena_allocate_zeros(&box->memory, count, sizeof *children);
    if (!child_arrays || !children) return false;
    for (size_t i = 0; i < count; i++) {
        children[i] = &child_arrays[i];
        if (!make_array(children[i], box, &node->children[i])) return false;
    }
    atomic_fetch_add_explicit(&box->users, 1, memory_order_relaxed);
    *array = (struct ArrowArray){.length = node->length,
                                 .null_count = node->null_count,
                                 .n_buffers = node->buffer_count,
                                 .n_children = (int64_t)count,
                                 .buffers = node->buffers,
                                 .children = count ? children : NULL,
                                 .release = release_array,
                                 .private_data = box};
    return true;
}

/* A schema gets a box of its own without a batch, because it may outlive the array. So all texts
 * are copied. */
static bool make_schema(struct ArrowSchema *schema, struct arrow_box *box,
                        const struct arrow_node *node) {
    size_t count = node->child_count;
    struct ArrowSchema *child_schemas =
        arena_allocate_zeros(&box->memory, count, sizeof *child_schemas);
    struct ArrowSchema **children = arena_allocate_zeros(&box->memory, count, sizeof *children);
    const char *format = arena_copy_text(&box->memory, node->format);
    const char *name = arena_copy_text(&box->memory, node->name);
    const char *metadata =
        node->metadata ? arena_copy(&box->memory, node->metadata, node->metadata_size) : NULL;
    if (!child_schemas || !children || !format || !name || (node->metadata && !metadata))
        return false;
    for (size_t i = 0; i < count; i++) {
        children[i] = &child_schemas[i];
        if (!make_schema(children[i], box, &node->children[i])) return false;
    }
    atomic_fetch_add_explicit(&box->users, 1, memory_order_relaxed);
    *schema = (struct ArrowSchema){.format = format,
                                   .name = name,
                                   .metadata = metadata,
                                   .flags = ARROW_FLAG_NULLABLE,
                                   .n_children = (int64_t)count,
                                   .children = count ? children : NULL,
                                   .release = release_schema,
                                   .private_data = box};
    return true;
}

/* Builds a schema in a new box. */
static bool box_schema(struct ArrowSchema *schema, const struct arrow_node *node) {
    struct arrow_box *box = arrow_box_create(NULL);
    if (!box) return false;
    if (make_schema(schema, box, node)) return true;
    arrow_box_destroy(box);
    return false;
}

recmap_status arrow_box_emit(struct ArrowArray *array, struct ArrowSchema *schema,
                             struct arrow_box *box, const struct arrow_node *node,
                             recmap_error *error) {
    struct ArrowSchema built_schema;
    struct ArrowArray built_array;
    /* If there is no memory for the schema, destroying the box frees the array too. */
    bool is_built = !array || make_array(&built_array, box, node);
    if (is_built && schema) is_built = box_schema(&built_schema, node);
    if (!is_built) {
        arrow_box_destroy(box);
        return fail_memory(error);
    }
    if (schema) *schema = built_schema;
    if (array) *array = built_array;
    else arrow_box_destroy(box);
    return RECMAP_OK;
}
