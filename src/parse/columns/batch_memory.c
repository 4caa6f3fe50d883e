#include "parse/columns/batch_memory.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/core/array.h"

struct batch_memory *batch_memory_create(void) {
    struct batch_memory *memory = calloc(1, sizeof *memory);
    if (!memory) return NULL;
    atomic_init(&memory->users, 0);
    atomic_init(&memory->holders, 1);
    return memory;
}

const struct slot *batch_memory_slot(const recmap_parser *parser, size_t sink_index) {
    if (sink_index < parser->features.count) return &parser->features.slots[sink_index];
    sink_index -= parser->features.count;
    if (sink_index < parser->lists.count) return &parser->lists.slots[sink_index];
    sink_index -= parser->lists.count;
    if (sink_index < parser->slice_count) return &parser->slices[sink_index].slot;
    return &parser->outputs[sink_index - parser->slice_count];
}

static void free_buffers(struct batch_memory *memory) {
    for (size_t i = 0; i < memory->sink_count; i++) sink_deinit(&memory->sinks[i]);
    for (size_t i = 0; i < memory->part_count; i++) buffer_release(&memory->parts[i]);
    free(memory->sinks);
    free(memory->parts);
    free(memory->list_entries);
    free(memory->is_set);
    free(memory->private_values);
    free(memory->columns);
    memory->sinks = NULL;
    memory->parts = NULL;
    memory->list_entries = NULL;
    memory->is_set = NULL;
    memory->private_values = NULL;
    memory->columns = NULL;
    memory->sink_count = memory->part_count = memory->column_count = 0;
}

/* Returns true if a part of a column is exported as an array of numbers. */
static bool is_numbers(const struct column_plan *column, size_t part) {
    switch (part) {
    case BATCH_PART_VALUES: return column->feature.element != RECMAP_ELEMENT_BYTES;
    case BATCH_PART_SHAPE:
    case BATCH_PART_STRIDES:
    case BATCH_PART_DENSE_SHAPE:
    case BATCH_PART_OFFSETS:
    case BATCH_PART_ORDER: return false;
    default: return true;
    }
}

/* Lets the buffers that exports show use the allocator. */
static void use_allocator(struct batch_memory *memory) {
    for (size_t i = 0; i < memory->sink_count; i++) {
        struct sink *sink = &memory->sinks[i];
        bool has_views = batch_memory_slot(memory->parser, i)->element == RECMAP_ELEMENT_BYTES;
        sink->values.allocator = has_views ? NULL : &memory->allocator;
        sink->rows.allocator = sink->steps.allocator = &memory->allocator;
    }
    for (size_t i = 0; i < memory->part_count; i++) {
        const struct column_plan *column =
            &memory->parser->columns[i / memory->parser->part_stride];
        if (is_numbers(column, i % memory->parser->part_stride))
            memory->parts[i].allocator = &memory->allocator;
    }
}

/* Releases what came from the allocator. The next batch allocates other buffers. */
static void release_allocated(struct batch_memory *memory) {
    if (!memory->allocator.allocate) return;
    for (size_t i = 0; i < memory->sink_count; i++) {
        struct sink *sink = &memory->sinks[i];
        if (sink->values.allocator) buffer_release(&sink->values);
        buffer_release(&sink->rows);
        buffer_release(&sink->steps);
    }
    for (size_t i = 0; i < memory->part_count; i++)
        if (memory->parts[i].allocator) buffer_release(&memory->parts[i]);
}

/* Replaces all sinks and parts, since their types and numbers depend on the parser. */
static bool change_parser(struct batch_memory *memory, recmap_parser *parser,
                          const recmap_allocator *allocator) {
    free_buffers(memory);
    recmap_parser_release(memory->parser);
    memory->parser = NULL;
    size_t sink_count = parser->features.count + parser->lists.count + parser->slice_count +
                        parser->output_count;
    size_t part_count = parser->column_count * parser->part_stride;
    memory->sinks = calloc(sink_count + 1, sizeof *memory->sinks);
    memory->list_entries = calloc(parser->lists.count + 1, sizeof *memory->list_entries);
    memory->is_set = calloc(sink_count + 1, sizeof *memory->is_set);
    memory->private_values = calloc(sink_count + 1, sizeof *memory->private_values);
    memory->parts = calloc(part_count + 1, sizeof *memory->parts);
    memory->columns = calloc(parser->column_count + 1, sizeof *memory->columns);
    if (!memory->sinks || !memory->list_entries || !memory->is_set || !memory->private_values ||
        !memory->parts || !memory->columns) {
        free_buffers(memory);
        return false;
    }
    memory->sink_count = sink_count;
    memory->part_count = part_count;
    memory->parser = recmap_parser_retain(parser);
    memory->allocator = allocator ? *allocator : (recmap_allocator){.allocate = NULL};
    if (memory->allocator.allocate) use_allocator(memory);
    return true;
}

static bool uses(const struct batch_memory *memory, const recmap_parser *parser,
                 const recmap_allocator *allocator) {
    static const recmap_allocator none;
    if (!allocator) allocator = &none;
    return memory->parser == parser && memory->allocator.allocate == allocator->allocate &&
           memory->allocator.release == allocator->release &&
           memory->allocator.context == allocator->context;
}

static bool init_sinks(struct batch_memory *memory, size_t row_count) {
    for (size_t i = 0; i < memory->sink_count; i++)
        if (!sink_init(&memory->sinks[i], batch_memory_slot(memory->parser, i), row_count))
            return false;
    return true;
}

bool batch_memory_init(struct batch_memory *memory, recmap_parser *parser, size_t row_count,
                       const recmap_allocator *allocator) {
    assert(batch_memory_is_idle(memory));
    memory->column_count = 0;
    memory->failure_count = memory->failure_text_size = 0;
    memory->row_count = row_count;
    memory->defers_copies = false;
    memory->copy_count = 0;
    reader_memory_clear(&memory->texts);
    if (!uses(memory, parser, allocator) && !change_parser(memory, parser, allocator)) return false;
    if (!init_sinks(memory, row_count)) {
        release_allocated(memory);
        return false;
    }
    atomic_fetch_add_explicit(&memory->holders, 1, memory_order_relaxed);
    atomic_store_explicit(&memory->users, 1, memory_order_relaxed);
    return true;
}

bool batch_memory_is_idle(struct batch_memory *memory) {
    return atomic_load_explicit(&memory->holders, memory_order_acquire) == 1;
}

struct batch_memory *batch_memory_retain(struct batch_memory *memory) {
    atomic_fetch_add_explicit(&memory->users, 1, memory_order_relaxed);
    return memory;
}

void batch_memory_release(struct batch_memory *memory) {
    if (atomic_fetch_sub_explicit(&memory->users, 1, memory_order_acq_rel) != 1) return;
    /* First, because the owner may keep the allocator's context. */
    release_allocated(memory);
    if (memory->release) memory->release(memory->owner);
    memory->release = NULL;
    batch_memory_release_hold(memory);
}

void batch_memory_release_hold(struct batch_memory *memory) {
    if (atomic_fetch_sub_explicit(&memory->holders, 1, memory_order_acq_rel) != 1) return;
    free_buffers(memory);
    recmap_parser_release(memory->parser);
    reader_memory_deinit(&memory->texts);
    free(memory->copies);
    free(memory->failures);
    free(memory->failure_text);
    free(memory);
}

struct buffer *batch_memory_part(struct batch_memory *memory, size_t column_index, size_t part) {
    return &memory->parts[column_index * memory->parser->part_stride + part];
}

struct sink *batch_memory_sink(struct batch_memory *memory, bool is_list, size_t slot_index) {
    return &memory->sinks[is_list ? memory->parser->features.count + slot_index : slot_index];
}

struct sink *batch_memory_slice(struct batch_memory *memory, size_t slice_index) {
    return &memory
                ->sinks[memory->parser->features.count + memory->parser->lists.count + slice_index];
}

struct sink *batch_memory_output(struct batch_memory *memory, size_t output_index) {
    return batch_memory_slice(memory, memory->parser->slice_count + output_index);
}

struct sink *batch_memory_values(struct batch_memory *memory, const struct column_plan *column) {
    if (column->is_output) return batch_memory_output(memory, column->values_slot);
    if (column->feature.kind == RECMAP_FEATURE_SLICED)
        return batch_memory_slice(memory, column->values_slot);
    return batch_memory_sink(memory, column->is_list, column->values_slot);
}

bool batch_memory_copy_bytes(struct batch_memory *memory, const struct bytes_copy *copy,
                             struct interrupt *interrupt) {
    if (!memory->defers_copies) return bytes_copy_do(copy, interrupt);
    if (!array_reserve(&memory->copies, &memory->copy_capacity, memory->copy_count + 1,
                       sizeof *memory->copies))
        return false;
    memory->copies[memory->copy_count++] = *copy;
    return true;
}

bool batch_memory_add_failure(struct batch_memory *memory, const struct failure_entry *failure,
                              const char *message) {
    size_t size = strlen(message) + 1;
    if (!array_reserve(&memory->failures, &memory->failure_capacity, memory->failure_count + 1,
                       sizeof *memory->failures) ||
        !array_reserve(&memory->failure_text, &memory->failure_text_capacity,
                       memory->failure_text_size + size, 1))
        return false;
    memcpy(memory->failure_text + memory->failure_text_size, message, size);
    memory->failures[memory->failure_count] = *failure;
    memory->failures[memory->failure_count++].message = memory->failure_text_size;
    memory->failure_text_size += size;
    return true;
}
