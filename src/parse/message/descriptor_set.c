#include "parse/message/descriptor_set.h"

#include <stdlib.h>
#include <string.h>

#include "base/core/error.h"
#include "base/core/proto.h"
#include "parse/example/wire.h"

typedef Recmap__Descriptor__FileSet pb_set;
typedef Recmap__Descriptor__File pb_file;

enum {
    FILE_TAG = 1 << 3 | WIRE_BYTES,   /* of a set */
    TYPE_TAG = 4 << 3 | WIRE_BYTES,   /* of a file */
    NESTED_TAG = 3 << 3 | WIRE_BYTES, /* of a type */
    MEMORY_GROWTH = 40,               /* structs and strings take more memory than their bytes */
};

static recmap_status fail_bytes(recmap_error *error, const char *why) {
    fail(error, RECMAP_INVALID, "the bytes are not a descriptor set: %s", why);
    fail_advise(error, "write one with protoc --include_imports --descriptor_set_out=FILE");
    return RECMAP_INVALID;
}

/* Returns the tag of the field that contains types at this depth. */
static uint32_t nesting_tag(size_t depth) {
    return depth == 0 ? FILE_TAG : depth == 1 ? TYPE_TAG : NESTED_TAG;
}

/* Follows the types that types contain, without recursion. Everything else is skipped. */
static recmap_status check_depth(const uint8_t *data, size_t size, recmap_error *error) {
    struct wire open[DESCRIPTOR_DEPTH_MAX + 2] = {{data, data + size}};
    struct wire_trace trace = {0};
    size_t depth = 0;
    for (;;) {
        struct wire *wire = &open[depth];
        uint32_t tag;
        if (wire_done(wire)) {
            if (depth-- == 0) return RECMAP_OK;
            continue;
        }
        if (!wire_read_tag(&tag, wire, &trace)) return fail_bytes(error, trace.reason);
        if (tag != nesting_tag(depth)) {
            if (!wire_skip(wire, tag, 0, &trace)) return fail_bytes(error, trace.reason);
            continue;
        }
        if (depth == DESCRIPTOR_DEPTH_MAX + 1)
            return fail(error, RECMAP_INVALID,
                        "the message types of the descriptor set are nested deeper than %d levels",
                        (int)DESCRIPTOR_DEPTH_MAX);
        if (!wire_read_bytes(&open[depth + 1], wire, &trace))
            return fail_bytes(error, trace.reason);
        depth++;
    }
}

static const char *name_of(const pb_file *file) {
    return file->name ? file->name : "";
}

static int compare_files(const void *a, const void *b) {
    return strcmp(name_of(*(pb_file *const *)a), name_of(*(pb_file *const *)b));
}

/* The files of a set by name, and how far following their imports got. */
struct file_table {
    pb_file **files;
    size_t count;
    size_t *next;  /* the import to follow next */
    size_t *stack; /* files whose imports are being followed */
    bool *is_open; /* they are in the stack */
};

static size_t find_file(const struct file_table *table, const char *name) {
    size_t low = 0, high = table->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = strcmp(name_of(table->files[middle]), name);
        if (order == 0) return middle;
        if (order < 0) low = middle + 1;
        else high = middle;
    }
    return SIZE_MAX;
}

static recmap_status fail_missing(recmap_error *error, const pb_file *importing, const char *name) {
    fail(error, RECMAP_INVALID, "'%.200s' imports '%.200s', which the descriptor set lacks",
         name_of(importing), name);
    fail_advise(error, "write it with protoc --include_imports --descriptor_set_out=FILE");
    return RECMAP_INVALID;
}

/* Follows imports depth first, without recursion, since files may import each other in a long
 * chain.
 */
static recmap_status check_imports_of(struct file_table *table, size_t first, recmap_error *error) {
    size_t depth = 1;
    table->stack[0] = first;
    table->is_open[first] = true;
    while (depth > 0) {
        size_t index = table->stack[depth - 1];
        const pb_file *importing = table->files[index];
        if (table->next[index] == importing->n_dependency) {
            table->is_open[index] = false;
            depth--;
            continue;
        }
        const char *name = importing->dependency[table->next[index]++];
        size_t imported = find_file(table, name);
        if (imported == SIZE_MAX) return fail_missing(error, importing, name);
        if (table->is_open[imported])
            return fail(error, RECMAP_INVALID, "'%.200s' imports '%.200s', which imports it again",
                        name_of(importing), name);
        if (table->next[imported] > 0 || !table->files[imported]->n_dependency) continue;
        table->stack[depth++] = imported;
        table->is_open[imported] = true;
    }
    return RECMAP_OK;
}

static recmap_status check_table(struct file_table *table, recmap_error *error) {
    qsort(table->files, table->count, sizeof(pb_file *), compare_files);
    for (size_t i = 1; i < table->count; i++)
        if (!compare_files(&table->files[i - 1], &table->files[i]))
            return fail(error, RECMAP_INVALID, "the descriptor set has the file '%.200s' twice",
                        name_of(table->files[i]));
    for (size_t i = 0; i < table->count; i++)
        if (table->next[i] == 0) RETURN_IF_FAILED(check_imports_of(table, i, error));
    return RECMAP_OK;
}

static recmap_status check_files(const pb_set *set, recmap_error *error) {
    struct file_table table = {.count = set->n_file};
    table.files = malloc((set->n_file + 1) * sizeof(pb_file *));
    table.next = calloc(set->n_file + 1, sizeof *table.next);
    table.stack = calloc(set->n_file + 1, sizeof *table.stack);
    table.is_open = calloc(set->n_file + 1, sizeof *table.is_open);
    recmap_status status = RECMAP_NO_MEMORY;
    if (table.files && table.next && table.stack && table.is_open) {
        if (set->n_file) memcpy(table.files, set->file, set->n_file * sizeof(pb_file *));
        status = check_table(&table, error);
    } else {
        fail_memory(error);
    }
    free(table.files);
    free(table.next);
    free(table.stack);
    free(table.is_open);
    return status;
}

recmap_status descriptor_set_read(pb_set **set, const uint8_t *data, size_t size,
                                  recmap_error *error) {
    bool is_out;
    if (size > DESCRIPTOR_SIZE_MAX)
        return fail(error, RECMAP_INVALID, "the descriptor set is larger than %d MiB",
                    (int)DESCRIPTOR_SIZE_MAX >> 20);
    RETURN_IF_FAILED(check_depth(data, size, error));
    pb_set *unpacked = proto_unpack_limited(&is_out, &recmap__descriptor__file_set__descriptor,
                                            data, size, MEMORY_GROWTH);
    if (!unpacked) return is_out ? fail_memory(error) : fail_bytes(error, "it is malformed");
    recmap_status status = unpacked->n_file ? check_files(unpacked, error)
                                            : fail_bytes(error, "it has no files");
    if (status == RECMAP_OK) *set = unpacked;
    else descriptor_set_free(unpacked);
    return status;
}

void descriptor_set_free(pb_set *set) {
    if (set) recmap__descriptor__file_set__free_unpacked(set, NULL);
}
