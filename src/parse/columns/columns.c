#include "parse/columns/columns.h"

#include <stdlib.h>
#include <string.h>

#include "base/core/error.h"

recmap_status recmap_columns_create(recmap_columns **columns, recmap_error *error) {
    recmap_columns *fresh = calloc(1, sizeof *fresh);
    if (!fresh) return fail_memory(error);
    *columns = fresh;
    return RECMAP_OK;
}

void recmap_columns_destroy(recmap_columns *columns) {
    if (!columns) return;
    columns_clear(columns);
    for (size_t i = 0; i < COLUMNS_POOL_SIZE; i++)
        if (columns->pool[i]) batch_memory_release_hold(columns->pool[i]);
    read_scratch_destroy(columns->scratch);
    recmap_parser_release(columns->scratch_parser);
    image_scratch_deinit(&columns->image_scratch);
    free(columns);
}

void columns_set_interrupt(recmap_columns *columns, struct interrupt *interrupt) {
    columns->interrupt = interrupt;
}

void columns_set_allocator(recmap_columns *columns, const recmap_allocator *allocator) {
    columns->allocator = allocator;
}

void columns_set_draws(recmap_columns *columns, const recmap_draws *draws, size_t first) {
    columns->draws = draws;
    columns->first_draw = first;
}

void columns_set_image_counts(recmap_columns *columns, struct image_counts *counts) {
    columns->image_counts = counts;
}

void columns_set_lost(recmap_columns *columns, const struct lost_row *lost, size_t count) {
    columns->lost = lost;
    columns->lost_count = count;
}

void columns_set_repair(recmap_columns *columns, const struct row_repair *repair) {
    columns->repair = repair;
}

void columns_swap_scratch(recmap_columns *columns, recmap_columns *other) {
    const recmap_columns copy = *columns;
    columns->scratch = other->scratch;
    columns->scratch_parser = other->scratch_parser;
    columns->image_scratch = other->image_scratch;
    other->scratch = copy.scratch;
    other->scratch_parser = copy.scratch_parser;
    other->image_scratch = copy.image_scratch;
}

void columns_clear(recmap_columns *columns) {
    if (columns->batch) batch_memory_release(columns->batch);
    columns->batch = NULL;
}

void columns_clear_allocated(recmap_columns *columns) {
    if (columns->batch && columns->batch->allocator.allocate) columns_clear(columns);
}

/* Returns idle memory from the pool, or new memory. If every entry is in use by exports, replaces
 * the oldest one: its exports free it when they are done. Returns NULL if memory runs out. */
static struct batch_memory *find_memory(recmap_columns *columns) {
    size_t place = COLUMNS_POOL_SIZE;
    for (size_t i = 0; i < COLUMNS_POOL_SIZE; i++) {
        if (!columns->pool[i]) place = i;
        else if (batch_memory_is_idle(columns->pool[i])) return columns->pool[i];
    }
    struct batch_memory *memory = batch_memory_create();
    if (!memory) return NULL;
    if (place == COLUMNS_POOL_SIZE) {
        place = columns->oldest;
        columns->oldest = (columns->oldest + 1) % COLUMNS_POOL_SIZE;
        batch_memory_release_hold(columns->pool[place]);
    }
    columns->pool[place] = memory;
    return memory;
}

static bool begin_scratch(recmap_columns *columns, recmap_parser *parser) {
    if (columns->scratch && columns->scratch_parser == parser) return true;
    read_scratch_destroy(columns->scratch);
    recmap_parser_release(columns->scratch_parser);
    columns->scratch_parser = NULL;
    columns->scratch = read_scratch_create();
    if (!columns->scratch) return false;
    columns->scratch_parser = recmap_parser_retain(parser);
    return true;
}

recmap_status columns_begin(recmap_columns *columns, recmap_parser *parser, size_t row_count,
                            recmap_error *error) {
    columns_clear(columns);
    struct batch_memory *memory = find_memory(columns);
    if (!memory || !begin_scratch(columns, parser) ||
        !batch_memory_init(memory, parser, row_count, columns->allocator))
        return fail_memory(error);
    columns->batch = memory;
    columns->left_out_count = 0;
    return RECMAP_OK;
}

struct batch_memory *columns_memory(const recmap_columns *columns) {
    return columns->batch;
}

size_t recmap_columns_count(const recmap_columns *columns) {
    return columns->batch ? columns->batch->column_count : 0;
}

const recmap_column *recmap_columns_get(const recmap_columns *columns, size_t column_index) {
    return &columns->batch->columns[column_index];
}

const recmap_column *recmap_columns_find(const recmap_columns *columns, const char *name) {
    for (size_t i = 0; i < recmap_columns_count(columns); i++)
        if (strcmp(columns->batch->columns[i].name, name) == 0) return &columns->batch->columns[i];
    return NULL;
}

uint64_t recmap_columns_row_count(const recmap_columns *columns) {
    return columns->batch ? columns->batch->row_count : 0;
}

size_t recmap_columns_failure_count(const recmap_columns *columns) {
    return columns->batch ? columns->batch->failure_count : 0;
}

recmap_failure recmap_columns_failure(const recmap_columns *columns, size_t failure_index) {
    const struct failure_entry *entry = &columns->batch->failures[failure_index];
    return (recmap_failure){.row = entry->row,
                            .number = entry->number,
                            .offset = entry->offset,
                            .status = entry->status,
                            .message = columns->batch->failure_text + entry->message};
}

void recmap_columns_set_owner(recmap_columns *columns, void *owner, void (*release)(void *owner)) {
    if (!columns->batch) {
        release(owner);
        return;
    }
    columns->batch->owner = owner;
    columns->batch->release = release;
}
