#include "dataset/batch/parse_parts.h"

#include "base/core/bytes.h"
#include "base/core/error.h"
#include "dataset/batch/batch.h"
#include "dataset/batch/parse.h"

/* A part takes about 10 to 50 ms: a thread seldom waits long for the last part of a batch, and what
 * a part costs besides does not count. Large pictures take longer, so a part has fewer of them. */
enum { PART_BYTES = 256 << 10 };

size_t part_size_of(uint64_t byte_count, size_t count, size_t max) {
    const uint64_t item_bytes = count ? byte_count / count + 1 : 1;
    const size_t size = (size_t)min_u64(PART_BYTES / item_bytes, max);
    return size ? size : 1;
}

/* The pictures of a record, as far as the parser determines them: of a list of any number, one. */
static uint64_t count_pictures(const recmap_parser *parser) {
    uint64_t count = 0;
    for (size_t i = 0; i < parser->image_count; i++) {
        const struct image_plan *plan = &parser->images[i].plan;
        const uint64_t values = parser->outputs[parser->images[i].pixels].count;
        const uint64_t picture = (uint64_t)plan->image.height * plan->image.width * plan->channels;
        count += values ? values / picture : 1;
    }
    return count;
}

size_t parse_parts_size(const recmap_batch *batch, const recmap_parser *parser) {
    const uint64_t pictures = count_pictures(parser);
    uint64_t byte_count = 0;
    for (size_t i = 0; i < batch->count; i++) byte_count += batch->records[i].size;
    return part_size_of(byte_count, batch->count,
                        pictures ? (size_t)(PART_PICTURES / pictures) : batch->count);
}

size_t parse_parts_count(const struct parse_parts *parts) {
    return parts->columns.part_count;
}

size_t parse_parts_first(const struct parse_parts *parts, size_t part) {
    return (size_t)min_u64((uint64_t)part * parts->part_size, parts->batch->count);
}

recmap_batch *parse_parts_memory(const struct parse_parts *parts, size_t part) {
    return parts->batch->parts[part];
}

recmap_status parse_parts_start(struct parse_parts *parts, recmap_batch *batch,
                                recmap_dataset *dataset, const recmap_parser *parser,
                                bool leaves_out, recmap_error *error) {
    RETURN_IF_FAILED(columns_check_draws(parser, batch_draws(batch), error));
    *parts = (struct parse_parts){.batch = batch,
                                  .dataset = dataset,
                                  .parser = parser,
                                  .part_size = parse_parts_size(batch, parser)};
    size_t count = batch->count / parts->part_size + (batch->count % parts->part_size > 0);
    if (!batch->columns) RETURN_IF_FAILED(recmap_columns_create(&batch->columns, error));
    if (!batch_reserve_parts(batch, count) || !batch_reserve_part_columns(batch, count))
        return fail_memory(error);
    parts->columns = (struct columns_merge){batch->columns, batch->part_columns, count, leaves_out};
    columns_set_allocator(batch->columns, batch->allocator);
    bool is_started = columns_merge_start(&parts->columns, parser, batch->count);
    columns_set_allocator(batch->columns, NULL);
    if (is_started) return RECMAP_OK;
    parse_parts_cancel(parts);
    return fail_memory(error);
}

/* Sets what the columns of a part need, or with NULL for `options` resets that. */
static void set_up(recmap_columns *columns, const struct part_options *options,
                   struct interrupt *interrupt) {
    static const struct part_options none;
    if (!options) options = &none;
    columns_set_interrupt(columns, interrupt);
    columns_set_image_counts(columns, options->image_counts);
    columns_set_repair(columns, options->repair);
    columns_set_lost(columns, options->lost, options->lost_count);
}

recmap_status parse_parts_read(const struct parse_parts *parts, size_t part,
                               const struct part_options *options, recmap_error *error) {
    const recmap_batch *batch = parts->batch;
    recmap_batch *own = batch->parts[part];
    size_t first = parse_parts_first(parts, part);
    recmap_batch_set_interrupt(own, batch->interrupt.function, batch->interrupt.context);
    set_up(own->columns, options, &own->interrupt);
    columns_set_draws(own->columns, batch_draws(batch), first);
    columns_swap_scratch(own->columns, options->scratch);
    recmap_status status = columns_merge_read(&parts->columns, part, first, batch->records + first,
                                              parse_parts_first(parts, part + 1) - first,
                                              RECMAP_PARSE_RAISE, error);
    columns_swap_scratch(own->columns, options->scratch);
    set_up(own->columns, NULL, NULL);
    columns_set_draws(own->columns, NULL, 0);
    recmap_batch_set_interrupt(own, NULL, NULL);
    if (status == RECMAP_CORRUPT || status == RECMAP_FEATURE)
        dataset_place_error(parts->dataset, error);
    return status;
}

static bool merge(const struct parse_parts *parts, struct interrupt *interrupt) {
    uint64_t size;
    if (!columns_merge_reserve(&size, &parts->columns)) return false;
    for (size_t i = 0; i < parts->columns.part_count; i++)
        if (!columns_merge_copy(&parts->columns, i, interrupt)) return false;
    return columns_merge_finish(&size, &parts->columns, interrupt) &&
           columns_merge_share(&parts->columns, 0, 1, interrupt);
}

recmap_status parse_parts_finish(const struct parse_parts *parts, recmap_error *error) {
    struct interrupt *interrupt = &parts->batch->interrupt;
    interrupt->is_stopped = false; /* by an earlier call */
    bool is_merged = merge(parts, interrupt);
    columns_merge_end(&parts->columns, !is_merged);
    parts->batch->is_parsed = is_merged;
    if (is_merged) return RECMAP_OK;
    return interrupt->is_stopped ? interrupt_fail(error) : fail_memory(error);
}

void parse_parts_cancel(const struct parse_parts *parts) {
    columns_merge_end(&parts->columns, true);
}
