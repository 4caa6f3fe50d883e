#include "order/kinds/schedule.h"

#include <assert.h>
#include <stdlib.h>

#include "base/core/error.h"
#include "base/core/interrupt.h"
#include "base/core/search.h"
#include "order/kinds/slack.h"
#include "order/kinds/weights.h"

enum { SOURCE_WORK = 8 }; /* of a source in a slot, for the interrupt, in bytes */

/* Each turn of a source has a window: turn j is scheduled at slot floor(j * period / share) or
 * later, and before its deadline, slot ceil((j + 1) * period / share). */
static uint32_t release_of(const struct schedule *schedule, size_t source, uint32_t turn) {
    return (uint32_t)((uint64_t)turn * schedule->period / schedule->shares[source]);
}

static uint32_t deadline_of(const struct schedule *schedule, size_t source, uint32_t turn) {
    uint64_t product = ((uint64_t)turn + 1) * schedule->period;
    return (uint32_t)((product + schedule->shares[source] - 1) / schedule->shares[source]);
}

/* For each d: the number of slots before d that turns with a deadline of at most d do not need. */
static bool make_slack(struct slack_tree *tree, const struct schedule *schedule) {
    int32_t *numbers = calloc((size_t)schedule->period + 1, sizeof *numbers);
    if (!numbers) return false;
    for (size_t source = 0; source < schedule->source_count; source++)
        for (uint32_t turn = 0; turn < schedule->shares[source]; turn++)
            numbers[deadline_of(schedule, source, turn)]++;
    int32_t needed = 0;
    for (uint32_t d = 0; d <= schedule->period; d++) {
        needed += numbers[d];
        numbers[d] = (int32_t)d - needed;
    }
    numbers[0] = 1; /* no slot precedes it */
    bool is_made = slack_init(tree, numbers, (size_t)schedule->period + 1);
    free(numbers);
    return is_made;
}

/* The first source that may take the slot: its next turn is released, and due no later than the
 * first deadline before which every slot is needed. */
static size_t choose(const struct schedule *schedule, const uint32_t *turns, uint32_t slot,
                     size_t tight) {
    for (size_t source = 0; source < schedule->source_count; source++)
        if (turns[source] < schedule->shares[source] &&
            release_of(schedule, source, turns[source]) <= slot &&
            deadline_of(schedule, source, turns[source]) <= tight)
            return source;
    assert(!"the turns that are left always fit");
    return 0;
}

static recmap_status fill(struct schedule *schedule, struct slack_tree *tree, uint32_t *turns,
                          recmap_error *error) {
    const uint64_t work = schedule->source_count * SOURCE_WORK;
    for (uint32_t slot = 0; slot < schedule->period; slot++) {
        RETURN_IF_FAILED(interrupt_check(thread_interrupt(), work, error));
        size_t source = choose(schedule, turns, slot, slack_first_zero(tree));
        uint32_t turn = turns[source]++;
        assert(turn < schedule->shares[source]);
        schedule->slots[slot] = (struct schedule_slot){(uint32_t)source, turn};
        schedule->places[schedule->first_turn[source] + turn] = slot;
        /* A used slot is missing for all later deadlines; a placed turn is not needed from its
         * deadline on. */
        slack_add(tree, slot + 2, deadline_of(schedule, source, turn), -1);
        slack_add(tree, slot + 1, slot + 2, schedule->period + 1);
    }
    return RECMAP_OK;
}

/* What shares are computed from. There are as many places as sources, but only sources with
 * positive weights use one. */
struct share_memory {
    double *positive;
    uint64_t *integers;
    uint32_t *shares;
};

/* Computes the shares of the sources with positive weights; the others keep 0. */
static recmap_status find_shares_in(struct schedule *schedule, const struct share_memory *memory,
                                    const double *weights, recmap_error *error) {
    size_t count = 0, used = 0;
    uint64_t sum;
    for (size_t i = 0; i < schedule->source_count; i++)
        if (weights[i] != 0) memory->positive[count++] = weights[i];
    RETURN_IF_FAILED(
        weights_to_integers(memory->integers, &sum, memory->positive, count, "source", error));
    RETURN_IF_FAILED(weights_to_proportions(memory->shares, &schedule->period, memory->integers,
                                            sum, count, error));
    for (size_t i = 0; i < schedule->source_count; i++)
        if (weights[i] != 0) schedule->shares[i] = memory->shares[used++];
    return RECMAP_OK;
}

static recmap_status find_shares(struct schedule *schedule, const double *weights,
                                 recmap_error *error) {
    struct share_memory memory = {calloc(schedule->source_count, sizeof *memory.positive),
                                  calloc(schedule->source_count, sizeof *memory.integers),
                                  calloc(schedule->source_count, sizeof *memory.shares)};
    bool is_complete = memory.positive && memory.integers && memory.shares;
    recmap_status status = is_complete ? find_shares_in(schedule, &memory, weights, error)
                                       : fail_memory(error);
    free(memory.positive);
    free(memory.integers);
    free(memory.shares);
    return status;
}

static recmap_status allocate(struct schedule *schedule, const double *weights,
                              recmap_error *error) {
    schedule->shares = calloc(schedule->source_count, sizeof *schedule->shares);
    schedule->first_turn = calloc(schedule->source_count, sizeof *schedule->first_turn);
    if (!schedule->shares || !schedule->first_turn) return fail_memory(error);
    RETURN_IF_FAILED(find_shares(schedule, weights, error));
    for (size_t i = 1; i < schedule->source_count; i++)
        schedule->first_turn[i] = schedule->first_turn[i - 1] + schedule->shares[i - 1];
    schedule->slots = calloc(schedule->period, sizeof *schedule->slots);
    schedule->places = calloc(schedule->period, sizeof *schedule->places);
    return schedule->slots && schedule->places ? RECMAP_OK : fail_memory(error);
}

recmap_status schedule_init(struct schedule *schedule, const double *weights, size_t source_count,
                            recmap_error *error) {
    struct schedule s = SCHEDULE_INIT;
    s.source_count = source_count;
    struct slack_tree tree = {0, NULL, NULL};
    uint32_t *turns = calloc(source_count, sizeof *turns);
    recmap_status status = turns ? allocate(&s, weights, error) : fail_memory(error);
    if (status == RECMAP_OK && !make_slack(&tree, &s)) status = fail_memory(error);
    if (status == RECMAP_OK) status = fill(&s, &tree, turns, error);
    if (status == RECMAP_OK) *schedule = s;
    else schedule_deinit(&s);
    slack_deinit(&tree);
    free(turns);
    return status;
}

uint32_t schedule_turns_before(const struct schedule *schedule, size_t source, uint32_t slot) {
    return search_below32(schedule->places + schedule->first_turn[source], schedule->shares[source],
                          slot);
}

void schedule_deinit(struct schedule *schedule) {
    free(schedule->shares);
    free(schedule->first_turn);
    free(schedule->slots);
    free(schedule->places);
}
