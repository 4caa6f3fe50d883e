#include "export/arrow_box.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"

struct arrow_box *arrow_box_create(struct batch_memory *batch) {
    struct arrow_box *made = calloc(1, sizeof *made);
    if (!made) return NULL;
    atomic_init(&made->users, 0);
    if (batch) made->batch = batch_memory_retain(batch);
    return made;
}

void arrow_box_destroy(struct arrow_box *box) {
    if (box->release) box->release(box->owner);
    if (box->batch) batch_memory_release(box->batch);
    arena_free(&box->memory);
    free(box);
}

/* One array less; the last one ends the box. */
static void drop(struct arrow_box *box) {
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

/* The number of pairs, then each text with its size before it, as the machine writes numbers. */
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

/* Children that were moved away have no release any more. */
static void release_array(struct ArrowArray *array) {
    for (int64_t i = 0; i < array->n_children; i++)
        if (array->children[i]->release) array->children[i]->release(array->children[i]);
    array->release = NULL;
    drop(array->private_data);
}

static void release_schema(struct ArrowSchema *schema) {
    for (int64_t i = 0; i < schema->n_children; i++)
        if (schema->children[i]->release) schema->children[i]->release(schema->children[i]);
    schema->release = NULL;
    drop(schema->private_data);
}

static bool make_array(struct ArrowArray *array, struct arrow_box *box,
                       const struct arrow_node *node) {
    size_t count = node->child_count;
    struct ArrowArray *made = arena_allocate_zeros(&box->memory, count, sizeof *made);
    struct ArrowArray **children = arena_allocate_zeros(&box->memory, count, sizeof *children);
    if (!made || !children) return false;
    for (size_t i = 0; i < count; i++) {
        children[i] = &made[i];
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

/* The schema's box is another one, which holds no batch: all texts are copied. */
static bool make_schema(struct ArrowSchema *schema, struct arrow_box *box,
                        const struct arrow_node *node) {
    size_t count = node->child_count;
    struct ArrowSchema *made = arena_allocate_zeros(&box->memory, count, sizeof *made);
    struct ArrowSchema **children = arena_allocate_zeros(&box->memory, count, sizeof *children);
    const char *format = arena_copy_text(&box->memory, node->format);
    const char *name = arena_copy_text(&box->memory, node->name);
    const char *metadata =
        node->metadata ? arena_copy(&box->memory, node->metadata, node->metadata_size) : NULL;
    if (!made || !children || !format || !name || (node->metadata && !metadata)) return false;
    for (size_t i = 0; i < count; i++) {
        children[i] = &made[i];
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

/* A schema in a box of its own. */
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
    struct ArrowSchema made_schema;
    struct ArrowArray made_array;
    /* The box ends the array, too, when there is no memory for the schema. */
    bool is_made = !array || make_array(&made_array, box, node);
    if (is_made && schema) is_made = box_schema(&made_schema, node);
    if (!is_made) {
        arrow_box_destroy(box);
        return fail_memory(error);
    }
    if (schema) *schema = made_schema;
    if (array) *array = made_array;
    else arrow_box_destroy(box);
    return RECMAP_OK;
}
