/* Mixtures: a blend assigns each position to a source, and every source continues through its own
 * epochs. */
#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/core/error.h"
#include "base/core/interrupt.h"
#include "base/core/search.h"
#include "order/kinds/blend.h"
#include "order/kinds/order.h"

struct mixture_order {
    recmap_order base;
    recmap_order **sources;
    uint64_t *first_number; /* of each source; the last entry is their total */
    uint64_t *first_record; /* the same for the records in pieces of rows */
    struct blend blend;
    recmap_mixture_options options;
};

enum { EPOCH_WORK = 64 /* for the interrupt, in bytes */ };

/* The position counted over all epochs stays below this. */
#define POSITION_MAX ((uint64_t)1 << 63)

static void mixture_destroy(recmap_order *order) {
    struct mixture_order *mixture = (struct mixture_order *)order;
    for (size_t i = 0; mixture->sources && i < mixture->blend.source_count; i++)
        recmap_order_release(mixture->sources[i]);
    free(mixture->sources);
    free(mixture->first_number);
    free(mixture->first_record);
    blend_deinit(&mixture->blend);
}

/* The first position of an epoch, counted over all epochs. */
static recmap_status epoch_start(uint64_t *start, const struct mixture_order *mixture,
                                 uint64_t epoch, recmap_error *error) {
    if (epoch >= POSITION_MAX / mixture->base.count)
        return fail(error, RECMAP_INVALID,
                    "epoch %" PRIu64 " is too large: with %" PRIu64
                    " positions in an epoch it exceeds 2^63",
                    epoch, mixture->base.count);
    *start = epoch * mixture->base.count;
    return RECMAP_OK;
}

/* One element taken from a source, as a position counted over all epochs of the source. */
struct draw {
    uint32_t source;
    uint32_t item; /* index of the requested position in the piece */
    uint64_t position;
};

/* Positions are processed in pieces, so that each source is asked for many numbers at once. */
enum { PIECE = 256 };

static struct draw draw_at(const struct blend_interval *interval, uint64_t position,
                           uint32_t item) {
    const struct schedule *schedule = &interval->schedule;
    uint64_t first = position - interval->start;
    struct schedule_slot slot = schedule->slots[first % schedule->period];
    uint64_t turns = first / schedule->period * schedule->shares[slot.source] + slot.turn;
    return (struct draw){slot.source, item, interval->drawn[slot.source] + turns};
}

/* Computes the draws of some positions, grouped by source. Never inlined: its arrays take 20 KiB of
 * stack, which must be free again when a source that is a mixture itself is asked. */
__attribute__((noinline)) static void draw_all(struct draw *groups, const struct blend *blend,
                                               uint64_t start, const uint64_t *positions,
                                               size_t count) {
    uint32_t places[RECMAP_MIXTURE_SOURCES_MAX + 1];
    struct draw draws[PIECE];
    memset(places, 0, (blend->source_count + 1) * sizeof *places);
    const struct blend_interval *interval = blend->intervals;
    for (size_t i = 0; i < count; i++) {
        uint64_t position = start + positions[i];
        if (!blend_contains(blend, interval, position))
            interval = blend_interval_at(blend, position);
        draws[i] = draw_at(interval, position, (uint32_t)i);
        places[draws[i].source + 1]++;
    }
    for (size_t i = 1; i <= blend->source_count; i++) places[i] += places[i - 1];
    for (size_t i = 0; i < count; i++) groups[places[draws[i].source]++] = draws[i];
}

/* Resolves draws that lie in one epoch of one source. */
static recmap_status take(uint64_t *numbers, const struct mixture_order *mixture, uint64_t epoch,
                          const struct draw *draws, size_t count, recmap_error *error) {
    const recmap_order *source = mixture->sources[draws->source];
    uint64_t values[PIECE];
    assert(draws[count - 1].position - epoch * source->count < source->count);
    for (size_t i = 0; i < count; i++) values[i] = draws[i].position - epoch * source->count;
    RETURN_IF_FAILED(source->kind->at(values, source, epoch, values, count, error));
    for (size_t i = 0; i < count; i++)
        numbers[draws[i].item] = mixture->first_number[draws->source] + values[i];
    return RECMAP_OK;
}

static recmap_status take_all(uint64_t *numbers, const struct mixture_order *mixture,
                              const struct draw *draws, size_t count, recmap_error *error) {
    for (size_t i = 0; i < count;) {
        uint64_t size = mixture->sources[draws[i].source]->count;
        uint64_t epoch = draws[i].position / size, first = epoch * size;
        size_t end = i + 1;
        while (end < count && draws[end].source == draws[i].source &&
               draws[end].position - first < size)
            end++;
        RETURN_IF_FAILED(take(numbers, mixture, epoch, draws + i, end - i, error));
        i = end;
    }
    return RECMAP_OK;
}

static recmap_status mixture_at(uint64_t *numbers, const recmap_order *order, uint64_t epoch,
                                const uint64_t *positions, size_t count, recmap_error *error) {
    const struct mixture_order *mixture = (const struct mixture_order *)order;
    uint64_t start = 0;
    recmap_status status = epoch_start(&start, mixture, epoch, error);
    for (size_t done = 0; status == RECMAP_OK && done < count;) {
        struct draw draws[PIECE] = {{0}};
        size_t here = count - done < PIECE ? count - done : PIECE;
        draw_all(draws, &mixture->blend, start, positions + done, here);
        status = take_all(numbers + done, mixture, draws, here, error);
        done += here;
    }
    return status;
}

static uint32_t source_of(const struct mixture_order *mixture, uint64_t number) {
    const uint64_t *first_number = mixture->first_number;
    return (uint32_t)search_below(first_number + 1, sizeof *first_number,
                                  mixture->blend.source_count - 1, number + 1);
}

/* Inverts mixture_at: finds the place of the record in its source, in each epoch of the source, and
 * then the draw of the mixture that takes this place. */
static recmap_status mixture_position_of(uint64_t *position, const recmap_order *order,
                                         uint64_t epoch, uint64_t number, recmap_error *error) {
    const struct mixture_order *mixture = (const struct mixture_order *)order;
    const struct blend *blend = &mixture->blend;
    uint64_t start = 0, found = 0, count = 0;
    recmap_status status = epoch_start(&start, mixture, epoch, error);
    if (status != RECMAP_OK) return status;
    uint32_t source = source_of(mixture, number);
    const recmap_order *base = mixture->sources[source];
    uint64_t first = blend_draws_before(blend, source, start);
    uint64_t end = blend_draws_before(blend, source, start + order->count);
    /* Looks at every epoch of the source that overlaps this one. If the source is a mixture itself,
     * its epochs hold different records, and many of them may lack this one. */
    for (uint64_t e = first / base->count; e * base->count < end; e++) {
        uint64_t place;
        RETURN_IF_FAILED(interrupt_check(thread_interrupt(), EPOCH_WORK, error));
        status = recmap_order_position_of(&place, base, e, number - mixture->first_number[source],
                                          error);
        if (status == RECMAP_NOT_FOUND && !base->epochs_differ) break;
        if (status == RECMAP_NOT_FOUND) continue;
        if (status == RECMAP_INVALID)
            return fail(error, status,
                        "record %" PRIu64 " has no unique position in source %u of the mixture",
                        number, source);
        if (status != RECMAP_OK) return status;
        uint64_t drawn = e * base->count + place;
        if (drawn < first || drawn >= end) continue;
        found = blend_position_of(blend, source, drawn) - start;
        if (++count > 1) return fail_repeated(error, number);
    }
    if (!count) return fail_absent(error, number);
    *position = found;
    return RECMAP_OK;
}

/* Appends the pieces of one row of a source, with the record numbers of the mixture. */
static recmap_status append_row(recmap_pieces *pieces, const struct mixture_order *mixture,
                                const struct draw *drawn, recmap_error *error) {
    const recmap_order *source = mixture->sources[drawn->source];
    uint64_t epoch = drawn->position / source->count, position = drawn->position % source->count;
    size_t first = pieces->count;
    RETURN_IF_FAILED(source->kind->pieces(pieces, source, epoch, &position, 1, error));
    for (size_t i = first; i < pieces->count; i++)
        pieces->items[i].record += mixture->first_record[drawn->source];
    return RECMAP_OK;
}

static recmap_status mixture_pieces(recmap_pieces *pieces, const recmap_order *order,
                                    uint64_t epoch, const uint64_t *positions, size_t count,
                                    recmap_error *error) {
    const struct mixture_order *mixture = (const struct mixture_order *)order;
    uint64_t start = 0;
    recmap_status status = epoch_start(&start, mixture, epoch, error);
    for (size_t i = 0; status == RECMAP_OK && i < count; i++) {
        uint64_t position = start + positions[i];
        struct draw drawn = draw_at(blend_interval_at(&mixture->blend, position), position, 0);
        status = append_row(pieces, mixture, &drawn, error);
    }
    return status;
}

/* The epoch of each source in which this epoch of the mixture begins. */
static recmap_status mixture_prepare(const recmap_order *order, uint64_t epoch,
                                     recmap_error *error) {
    const struct mixture_order *mixture = (const struct mixture_order *)order;
    uint64_t start = 0;
    recmap_status status = epoch_start(&start, mixture, epoch, error);
    for (uint32_t i = 0; status == RECMAP_OK && i < mixture->blend.source_count; i++) {
        const recmap_order *source = mixture->sources[i];
        uint64_t drawn = blend_draws_before(&mixture->blend, i, start);
        status = recmap_order_prepare(source, drawn / source->count, error);
    }
    return status;
}

static void describe_shares(struct json_writer *json, const struct schedule *schedule) {
    json_key(json, "shares");
    json_open(json, '[');
    for (size_t i = 0; i < schedule->source_count; i++) json_uint64(json, schedule->shares[i]);
    json_close(json, ']');
}

static void describe_changes(struct json_writer *json, const struct blend *blend) {
    if (blend->interval_count == 1) return;
    json_key(json, "changes");
    json_open(json, '[');
    for (size_t i = 1; i < blend->interval_count; i++) {
        json_open(json, '{');
        describe_number(json, "position", blend->intervals[i].start);
        describe_shares(json, &blend->intervals[i].schedule);
        json_close(json, '}');
    }
    json_close(json, ']');
}

static void describe_stop(struct json_writer *json, const recmap_mixture_options *options) {
    json_key(json, "stop");
    if (options->length) json_uint64(json, options->length);
    else json_text(json, options->stop == RECMAP_STOP_FIRST ? "first" : "last");
}

static void mixture_describe(struct json_writer *json, const recmap_order *order) {
    const struct mixture_order *mixture = (const struct mixture_order *)order;
    json_key(json, "sources");
    json_open(json, '[');
    for (size_t i = 0; i < mixture->blend.source_count; i++)
        order_describe(json, mixture->sources[i]);
    json_close(json, ']');
    describe_shares(json, &mixture->blend.intervals[0].schedule);
    describe_changes(json, &mixture->blend);
    describe_stop(json, &mixture->options);
}

static const struct order_kind mixture_kind = {
    .name = "mixture",
    .destroy = mixture_destroy,
    .at = mixture_at,
    .position_of = mixture_position_of,
    .pieces = mixture_pieces,
    .prepare = mixture_prepare,
    .describe = mixture_describe,
};

/* All sources have rows of one width, or none has rows. */
static recmap_status check_width(const recmap_order *order, const recmap_order *first, size_t i,
                                 recmap_error *error) {
    if (order->rows.width == first->rows.width) return RECMAP_OK;
    if (!order->rows.width || !first->rows.width)
        return fail(error, RECMAP_INVALID,
                    "source %zu of the mixture gives %s, source 0 gives %s: a mixture has one or "
                    "the other",
                    i, order->rows.width ? "rows" : "records",
                    first->rows.width ? "rows" : "records");
    return fail(error, RECMAP_INVALID,
                "rows of source %zu of the mixture have up to %" PRIu64
                " elements, but rows of source 0 up to %" PRIu64
                ": the rows of a mixture have one width",
                i, order->rows.width, first->rows.width);
}

static recmap_status check_sources(recmap_order *const *sources, size_t count,
                                   recmap_error *error) {
    if (!count) return fail(error, RECMAP_INVALID, "a mixture needs at least one source");
    if (count > RECMAP_MIXTURE_SOURCES_MAX)
        return fail(error, RECMAP_INVALID, "too many sources: %zu; a mixture has at most %d", count,
                    RECMAP_MIXTURE_SOURCES_MAX);
    for (size_t i = 0; i < count; i++) {
        if (!sources[i]->count)
            return fail(error, RECMAP_INVALID, "source %zu of the mixture is empty", i);
        RETURN_IF_FAILED(check_width(sources[i], sources[0], i, error));
    }
    return RECMAP_OK;
}

/* Each weight is a number from 0 on. Schedules check that some weight of each change is above 0. */
static recmap_status check_weights_of(size_t source, const recmap_mixture_change *changes,
                                      size_t change_count, recmap_error *error) {
    for (size_t i = 0; i < change_count; i++) {
        double weight = changes[i].weights[source];
        if (weight >= 0 && !isinf(weight)) continue;
        return fail(error, RECMAP_INVALID,
                    "the weight of source %zu of the mixture is %g: it must be finite and not "
                    "negative",
                    source, weight);
    }
    return RECMAP_OK;
}

static recmap_status check_weights(const recmap_mixture_change *changes, size_t change_count,
                                   size_t source_count, recmap_error *error) {
    for (size_t i = 0; i < source_count; i++)
        RETURN_IF_FAILED(check_weights_of(i, changes, change_count, error));
    return RECMAP_OK;
}

static recmap_status check_options(const recmap_mixture_options *options, recmap_error *error) {
    if (options->version != RECMAP_MIXTURE_OPTIONS_VERSION)
        return fail(error, RECMAP_INVALID, "recmap_mixture_options has version %u, expected %d",
                    options->version, RECMAP_MIXTURE_OPTIONS_VERSION);
    if (options->stop != RECMAP_STOP_FIRST && options->stop != RECMAP_STOP_LAST)
        return fail(error, RECMAP_INVALID, "invalid stop policy of a mixture: %d",
                    (int)options->stop);
    return RECMAP_OK;
}

/* A source must be completed, but has weight 0 from some position on, before it is. */
static recmap_status fail_incomplete(const struct blend *blend, size_t source,
                                     recmap_error *error) {
    size_t first = blend->interval_count; /* of the intervals at the end that leave it out */
    while (first > 1 && !blend->intervals[first - 1].schedule.shares[source]) first--;
    fail(error, RECMAP_INVALID,
         "source %zu of the mixture has weight 0 from position %" PRIu64
         " on, before all of its records were used",
         source, blend->intervals[first].start);
    fail_advise(error,
                "with stop \"last\" every source must be completed: let its weight be 0 from "
                "a later position on, or say after how many positions to stop");
    return RECMAP_INVALID;
}

/* Sets the epoch's length: the shortest or the longest that a source implies.
 *
 * A source that always has weight 0 implies none. A source may also have weight 0 from some
 * position on. It then implies a length only if it was completed before. */
static recmap_status set_length(struct mixture_order *mixture, recmap_error *error) {
    bool is_last = mixture->options.stop == RECMAP_STOP_LAST;
    uint64_t length = is_last ? 0 : UINT64_MAX;
    const struct blend_interval *last =
        &mixture->blend.intervals[mixture->blend.interval_count - 1];
    for (size_t i = 0; i < mixture->blend.source_count; i++) {
        if (!blend_uses(&mixture->blend, i)) continue;
        uint64_t own = blend_length(&mixture->blend, i, mixture->sources[i]->count, is_last);
        if (is_last && own == UINT64_MAX && !mixture->options.length && !last->schedule.shares[i])
            return fail_incomplete(&mixture->blend, i, error);
        if (is_last ? own > length : own < length) length = own;
    }
    mixture->base.count = mixture->options.length ? mixture->options.length : length;
    if (mixture->base.count <= RECMAP_ORDER_COUNT_MAX) return RECMAP_OK;
    /* The length saturates if it does not fit into 64 bits, so the message does not name it. */
    fail(error, RECMAP_INVALID, "an epoch of this mixture would have more than 2^62 positions");
    fail_advise(error, "use weights closer to the ratio of the sources' sizes");
    return RECMAP_INVALID;
}

/* The numbers of all sources follow one another: source i has those from first_number[i] on. The
 * sources were checked to have rows of one width. Sources are retained last, when nothing can fail
 * any more, so destroying a half-made mixture releases none. */
static recmap_status set_sources(struct mixture_order *mixture, recmap_order *const *sources,
                                 size_t count, recmap_error *error) {
    mixture->sources = calloc(count, sizeof *mixture->sources);
    mixture->first_number = calloc(count + 1, sizeof *mixture->first_number);
    mixture->first_record = calloc(count + 1, sizeof *mixture->first_record);
    if (!mixture->sources || !mixture->first_number || !mixture->first_record)
        return fail_memory(error);
    for (size_t i = 0; i < count; i++) {
        mixture->first_number[i + 1] = mixture->first_number[i] + sources[i]->limit;
        mixture->first_record[i + 1] = mixture->first_record[i] + sources[i]->record_limit;
        RETURN_IF_FAILED(check_count(mixture->first_number[i + 1], "records", error));
        RETURN_IF_FAILED(check_count(mixture->first_record[i + 1], "records", error));
    }
    for (size_t i = 0; i < count; i++) mixture->sources[i] = recmap_order_retain(sources[i]);
    mixture->base.limit = mixture->first_number[count];
    mixture->base.record_limit = mixture->first_record[count];
    struct order_rows *rows = &mixture->base.rows;
    *rows = (struct order_rows){.width = sources[0]->rows.width,
                                .add = sources[0]->rows.add,
                                .has_windows = sources[0]->rows.has_windows};
    for (size_t i = 1; i < count; i++) {
        rows->has_windows &= sources[i]->rows.has_windows;
        if (sources[i]->rows.add != rows->add) rows->add = ROW_ADD_MIXED;
    }
    return RECMAP_OK;
}

/* An upper bound of what a mixture adds to the descriptions of its sources. A share has up to 10
 * digits and a comma; keys, names, brackets and a position take less than 100 bytes. */
static size_t own_description_size(size_t source_count, size_t change_count) {
    return change_count * (100 + 12 * source_count);
}

static recmap_status set_parts(struct mixture_order *mixture, recmap_order *const *sources,
                               size_t source_count, const recmap_mixture_change *changes,
                               size_t change_count, recmap_error *error) {
    RETURN_IF_FAILED(blend_init(&mixture->blend, source_count, changes, change_count, error));
    RETURN_IF_FAILED(set_sources(mixture, sources, source_count, error));
    return set_length(mixture, error);
}

/* Arguments are checked before anything is allocated. From order_allocate on, releasing the order
 * undoes all that was done. */
recmap_status recmap_order_blended(recmap_order **order, recmap_order *const *sources,
                                   size_t source_count, const recmap_mixture_change *changes,
                                   size_t change_count, const recmap_mixture_options *options,
                                   recmap_error *error) {
    static const recmap_mixture_options defaults = RECMAP_MIXTURE_OPTIONS_INIT;
    if (!options) options = &defaults;
    struct order_nesting nesting;
    RETURN_IF_FAILED(check_options(options, error));
    RETURN_IF_FAILED(check_sources(sources, source_count, error));
    RETURN_IF_FAILED(blend_check_changes(changes, change_count, error));
    RETURN_IF_FAILED(check_weights(changes, change_count, source_count, error));
    RETURN_IF_FAILED(order_nest(&nesting, sources, source_count,
                                own_description_size(source_count, change_count), error));
    struct mixture_order *fresh = order_allocate(sizeof *fresh, &mixture_kind, 0, 0, error);
    if (!fresh) return RECMAP_NO_MEMORY;
    fresh->base.nesting = nesting;
    fresh->options = *options;
    fresh->base.epochs_differ = true;
    fresh->base.repeats = true;
    recmap_status status = set_parts(fresh, sources, source_count, changes, change_count, error);
    if (status != RECMAP_OK) {
        recmap_order_release(&fresh->base);
        return status;
    }
    *order = &fresh->base;
    return RECMAP_OK;
}

recmap_status recmap_order_mixture(recmap_order **order, recmap_order *const *sources,
                                   const double *weights, size_t source_count, recmap_stop stop,
                                   recmap_error *error) {
    recmap_mixture_options options = RECMAP_MIXTURE_OPTIONS_INIT;
    recmap_mixture_change first = {0, weights};
    options.stop = stop;
    return recmap_order_blended(order, sources, source_count, &first, 1, &options, error);
}
