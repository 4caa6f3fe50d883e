#include "parse/decode/read_record.h"

#include <stdlib.h>

#include "parse/decode/read_paths.h"

struct read_scratch *read_scratch_create(void) {
    void *memory = NULL;
    if (posix_memalign(&memory, 64, sizeof(struct read_scratch)) != 0) return NULL;
    memset(memory, 0, sizeof(struct read_scratch));
    return memory;
}

static void empty(struct read_scratch *scratch) {
    free(scratch->features);
    free(scratch->places);
    free(scratch->order);
    memset(scratch, 0, sizeof *scratch);
}

void read_scratch_destroy(struct read_scratch *scratch) {
    if (!scratch) return;
    empty(scratch);
    free(scratch);
}

bool read_scratch_fit(struct read_scratch *scratch, const recmap_parser *parser) {
    size_t count = parser->features.count, entries_max = count + UNASKED_FIRST;
    if (scratch->plan == parser && scratch->slot_count == count) return true;
    empty(scratch);
    scratch->features = calloc(count + 1, sizeof *scratch->features);
    scratch->places = calloc(count + entries_max, sizeof *scratch->places);
    scratch->order = calloc(entries_max, sizeof *scratch->order);
    if (!scratch->features || !scratch->places || !scratch->order) {
        empty(scratch);
        return false;
    }
    scratch->plan = parser;
    scratch->entries_max = entries_max;
    scratch->slot_count = count;
    scratch->fast = read_fast_best();
    return true;
}

bool read_scratch_grow(struct read_scratch *scratch) {
    size_t slots = scratch->slot_count, before = scratch->entries_max, after = 2 * before;
    if (after > slots + UNASKED_MAX) after = slots + UNASKED_MAX;
    if (after <= before) return false;
    const uint8_t **places = realloc(scratch->places, (slots + after) * sizeof *places);
    if (places) scratch->places = places;
    uint32_t *order = realloc(scratch->order, after * sizeof *order);
    if (order) scratch->order = order;
    if (!places || !order) return false;
    memset(order + before, 0, (after - before) * sizeof *order);
    scratch->entries_max = after;
    return true;
}

read_fast_function *read_fast_best(void) {
#ifdef READ_FAST_X86
    /* On Zen 1 and 2, pext is implemented as a slow loop in microcode. */
    bool has_slow_pext = __builtin_cpu_is("znver1") || __builtin_cpu_is("znver2");
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") &&
        __builtin_cpu_supports("bmi2") && !has_slow_pext)
        return read_fast_avx2;
#endif
    return read_fast_portable;
}

bool read_record(struct sink *sinks, struct read_scratch *scratch, const recmap_parser *parser,
                 const uint8_t *data, size_t size, size_t row, struct read_fault *fault) {
    static const uint8_t nothing[1];
    if (!read_scratch_fit(scratch, parser)) return fault_memory(fault);
    if (size == 0) data = nothing;
    if (scratch->fast(sinks, scratch, parser, data, size, row)) return true;
    if (read_slow(sinks, scratch, parser, data, size, row, fault)) return true;
    for (size_t i = 0; i < parser->features.count; i++)
        sink_roll_back(&sinks[i], &parser->features.slots[i], row);
    return false;
}

void read_roll_back(struct sink *sinks, const recmap_parser *parser, size_t row) {
    for (size_t i = 0; i < parser->features.count; i++)
        sink_roll_back(&sinks[i], &parser->features.slots[i], row);
    for (size_t i = 0; i < parser->lists.count; i++)
        sink_roll_back(&sinks[parser->features.count + i], &parser->lists.slots[i], row);
}

void read_nothing(struct sink *sinks, const recmap_parser *parser, size_t row) {
    for (size_t i = 0; i < parser->features.count; i++)
        sink_put_null(&sinks[i], &parser->features.slots[i], row);
    for (size_t i = 0; i < parser->lists.count; i++)
        sink_put_null(&sinks[parser->features.count + i], &parser->lists.slots[i], row);
}

void read_prefetch(const uint8_t *data, size_t size) {
    enum { LINE = 64, WHOLE_MAX = 4096, BEGIN = 512 };
    size_t wanted = size <= WHOLE_MAX ? size : BEGIN;
    for (size_t i = 0; i < wanted; i += LINE) {
        if (i < BEGIN) __builtin_prefetch(data + i, 0, 3);
        else __builtin_prefetch(data + i, 0, 2);
    }
    /* The last entry usually starts near the end, so the end is always read. */
    if (size > WHOLE_MAX) __builtin_prefetch(data + size - 1);
}
