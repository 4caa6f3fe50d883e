#include "order/kinds/blend.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/core/bytes.h"
#include "base/core/error.h"
#include "base/core/search.h"
#include "base/permutation/wide.h"

/* A slot takes 12 bytes, so the schedules of a blend take up to 200 MB. */
enum { SLOTS_MAX = 1 << 24 };

/* ---- Looking up. */

bool blend_contains(const struct blend *blend, const struct blend_interval *interval,
                    uint64_t position) {
    bool is_last = interval + 1 == blend->intervals + blend->interval_count;
    return interval->start <= position && (is_last || position < interval[1].start);
}

const struct blend_interval *blend_interval_at(const struct blend *blend, uint64_t position) {
    const struct blend_interval *intervals = blend->intervals;
    return intervals + search_below(&intervals[1].start, sizeof *intervals,
                                    blend->interval_count - 1, position + 1);
}

struct draw_search {
    const struct blend *blend;
    size_t source;
    uint64_t drawn;
};

static bool next_starts_with_draw(const void *context, size_t i) {
    const struct draw_search *search = context;
    return search->blend->intervals[i + 1].drawn[search->source] <= search->drawn;
}

/* The interval that contains a draw: the last one that starts with no more draws. */
static const struct blend_interval *interval_of_draw(const struct blend *blend, size_t source,
                                                     uint64_t drawn) {
    struct draw_search search = {blend, source, drawn};
    return blend->intervals +
           search_first(next_starts_with_draw, &search, blend->interval_count - 1);
}

/* The number of draws of a source before a position of the interval, or before its end. */
static uint64_t draws_in(const struct blend_interval *interval, size_t source, uint64_t position) {
    const struct schedule *schedule = &interval->schedule;
    assert(position >= interval->start);
    uint64_t slot = position - interval->start;
    return interval->drawn[source] + slot / schedule->period * schedule->shares[source] +
           schedule_turns_before(schedule, source, (uint32_t)(slot % schedule->period));
}

uint64_t blend_draws_before(const struct blend *blend, size_t source, uint64_t position) {
    return draws_in(blend_interval_at(blend, position), source, position);
}

uint64_t blend_position_of(const struct blend *blend, size_t source, uint64_t drawn) {
    const struct blend_interval *interval = interval_of_draw(blend, source, drawn);
    const struct schedule *schedule = &interval->schedule;
    uint64_t turn = drawn - interval->drawn[source];
    uint32_t share = schedule->shares[source];
    return interval->start + turn / share * schedule->period +
           schedule->places[schedule->first_turn[source] + turn % share];
}

bool blend_uses(const struct blend *blend, size_t source) {
    for (size_t i = 0; i < blend->interval_count; i++)
        if (blend->intervals[i].schedule.shares[source]) return true;
    return false;
}

uint64_t blend_length(const struct blend *blend, size_t source, uint64_t drawn, bool is_upper) {
    const struct blend_interval *interval = interval_of_draw(blend, source, drawn - is_upper);
    const struct schedule *schedule = &interval->schedule;
    uint64_t left = drawn - interval->drawn[source], share = schedule->shares[source];
    if (!share) return UINT64_MAX;
    uint64_t length = is_upper ? scale_up(left, schedule->period, share)
                               : scale_down(left, schedule->period, share);
    length += min_u64(interval->start, UINT64_MAX - length);
    bool is_last = interval + 1 == blend->intervals + blend->interval_count;
    return is_last ? length : min_u64(length, interval[1].start);
}

/* ---- Creating. */

/* Positions are at most 2^62, so sums of two of them do not overflow. */
recmap_status blend_check_changes(const recmap_mixture_change *changes, size_t change_count,
                                  recmap_error *error) {
    if (!change_count || changes[0].position)
        return fail(error, RECMAP_INVALID, "the first weights of a mixture must be at position 0");
    if (change_count > RECMAP_MIXTURE_CHANGES_MAX)
        return fail(error, RECMAP_INVALID,
                    "too many changes of weights: %zu; a mixture has at most %d", change_count,
                    RECMAP_MIXTURE_CHANGES_MAX);
    for (size_t i = 1; i < change_count; i++) {
        if (changes[i].position <= changes[i - 1].position)
            return fail(error, RECMAP_INVALID,
                        "positions of changes must ascend: %" PRIu64 " follows %" PRIu64,
                        changes[i].position, changes[i - 1].position);
        if (changes[i].position > RECMAP_ORDER_COUNT_MAX)
            return fail(error, RECMAP_INVALID,
                        "the weights change at position %" PRIu64 ": above 2^62",
                        changes[i].position);
    }
    return RECMAP_OK;
}

static recmap_status check_slots(const struct blend *blend, recmap_error *error) {
    uint64_t slots = 0;
    for (size_t i = 0; i < blend->interval_count; i++) slots += blend->intervals[i].schedule.period;
    if (slots <= SLOTS_MAX) return RECMAP_OK;
    fail(error, RECMAP_INVALID, "the weights of a mixture with %zu changes are too precise",
         blend->interval_count);
    fail_advise(error, "round the weights, for example to multiples of 0.001");
    return RECMAP_INVALID;
}

static void count_draws(struct blend_interval *interval, const struct blend_interval *previous,
                        size_t source_count) {
    for (size_t i = 0; i < source_count; i++)
        interval->drawn[i] = draws_in(previous, i, interval->start);
}

/* Adds an interval to the blend. */
static recmap_status add_interval(struct blend *blend, const recmap_mixture_change *change,
                                  recmap_error *error) {
    struct blend_interval *interval = &blend->intervals[blend->interval_count];
    interval->start = change->position;
    interval->drawn = calloc(blend->source_count, sizeof *interval->drawn);
    if (!interval->drawn) return fail_memory(error);
    blend->interval_count++;
    RETURN_IF_FAILED(
        schedule_init(&interval->schedule, change->weights, blend->source_count, error));
    RETURN_IF_FAILED(check_slots(blend, error));
    if (interval != blend->intervals) count_draws(interval, interval - 1, blend->source_count);
    return RECMAP_OK;
}

recmap_status blend_init(struct blend *blend, size_t source_count,
                         const recmap_mixture_change *changes, size_t change_count,
                         recmap_error *error) {
    *blend = (struct blend){source_count, 0, NULL};
    recmap_status status = RECMAP_OK;
    blend->intervals = calloc(change_count, sizeof *blend->intervals);
    if (!blend->intervals) return fail_memory(error);
    for (size_t i = 0; status == RECMAP_OK && i < change_count; i++)
        status = add_interval(blend, &changes[i], error);
    if (status != RECMAP_OK) blend_deinit(blend);
    return status;
}

void blend_deinit(struct blend *blend) {
    for (size_t i = 0; i < blend->interval_count; i++) {
        free(blend->intervals[i].drawn);
        schedule_deinit(&blend->intervals[i].schedule);
    }
    free(blend->intervals);
    *blend = (struct blend){0, 0, NULL};
}
