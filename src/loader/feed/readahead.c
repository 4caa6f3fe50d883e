#include "loader/feed/readahead.h"

#include <assert.h>

#include "base/core/bytes.h"
#include "dataset/batch/advise.h"

enum {
    WINDOW_BYTES = 4 << 20, /* to begin with */
    WINDOW_BYTES_MAX = 16 << 20,
    WINDOW_MIN = 16, /* records */
    WINDOW_BEGIN_MAX = 1024,
    WINDOW_MAX = 2048,
    SAMPLE_STEP = 128,   /* while warm, one record in this many is checked */
    WARM_ENOUGH = 64,    /* after this many warm batches ... */
    WARM_STEP = 1024,    /* ... one record in this many */
    SAMPLES_MAX = 1024,  /* in one step */
    QUIET_ENOUGH = 2048, /* records */
    CALM_ENOUGH = 65536, /* records */
    SURPRISES_MAX = 3,
    LATE_SHARE = 16, /* the window grows if more than one record in this many was waited for */
};

static uint64_t clamp(uint64_t value, uint64_t min, uint64_t max) {
    return value < min ? min : min_u64(value, max);
}

void readahead_init(struct readahead_state *readahead, const recmap_dataset *dataset,
                    const recmap_order *order, const recmap_loader_options *options,
                    bool is_mapped) {
    const recmap_dataset_info *info = recmap_dataset_get_info(dataset);
    uint64_t record_size = info->record_count ? info->byte_count / info->record_count + 1 : 1;
    uint64_t batch_count = recmap_order_batch_count(order);
    *readahead = (struct readahead_state){
        .mode = options->readahead,
        .counts_sleeps = !is_mapped,
        .step_size = batch_count ? recmap_order_count(order) / batch_count + 1
                                 : options->batch_size,
        .window_min = WINDOW_MIN,
        .window_max = clamp(WINDOW_BYTES_MAX / record_size, WINDOW_MIN, WINDOW_MAX),
        .is_cold = options->readahead == RECMAP_READAHEAD_ON,
        .epoch_limit = options->batches_ahead_epoch_limit ? options->batches_ahead_epoch_limit
                                                          : UINT64_MAX,
    };
    readahead->window = clamp(WINDOW_BYTES / record_size, WINDOW_MIN, WINDOW_BEGIN_MAX);
}

void readahead_restart(struct readahead_state *readahead, const struct epoch_cursor *cursor) {
    readahead->cursor = *cursor;
    readahead->next_step = 0;
}

/* The number of samples in a step. It depends on the step's place among all records, so that small
 * batches are sampled at the same rate: most of them not at all. */
static uint64_t samples_of(const struct readahead_state *readahead, uint64_t step_number) {
    uint64_t size = min_u64(readahead->step_size, UINT32_MAX);
    uint64_t first = (step_number & UINT32_MAX) * size, end = first + size;
    uint64_t step = readahead->warm_count < WARM_ENOUGH ? SAMPLE_STEP : WARM_STEP;
    return min_u64((end + step - 1) / step - (first + step - 1) / step, SAMPLES_MAX);
}

/* Moves the readahead cursor up to the window after `step_number`, and puts the steps that it
 * passes into the plan. */
void readahead_plan_for(struct readahead_plan *plan, struct readahead_state *readahead,
                        uint64_t step_number) {
    assert(readahead->window >= readahead->window_min &&
           readahead->window <= readahead->window_max);
    plan->step_count = 0;
    plan->seen_count = plan->asked_count = 0;
    plan->is_measured = false;
    if (readahead->mode == RECMAP_READAHEAD_OFF) return;
    plan->is_cold = readahead->is_cold;
    plan->is_blind = readahead->is_blind;
    plan->is_measured = plan->is_cold;
    uint64_t steps = (readahead->window + readahead->step_size - 1) / readahead->step_size;
    /* A step that a full plan has no room for is left to the next plan. */
    while (readahead->next_step <= step_number + steps && plan->step_count < READAHEAD_STEPS_MAX &&
           epoch_cursor_epoch(&readahead->cursor) < readahead->epoch_limit) {
        struct epoch_step *step = &plan->steps[plan->step_count];
        if (epoch_cursor_next(step, &readahead->cursor, NULL) != RECMAP_OK) break;
        uint64_t number = readahead->next_step++;
        /* The end of an epoch is numbered as a step, but has no records. */
        if (step->is_end) continue;
        uint64_t samples = plan->is_cold ? 0 : samples_of(readahead, number);
        plan->is_measured |= samples > 0;
        plan->samples[plan->step_count++] = samples;
    }
}

/* Returns true if all sampled records of a share, spread evenly over it, are in memory. */
static bool sample(struct step_records *list, const struct epoch_step *step,
                   const recmap_share *share, uint64_t samples, recmap_dataset *dataset) {
    for (uint64_t i = 0; i < samples && i < share->count; i++) {
        recmap_share one = {share->first + i * share->count / samples, 1};
        if (step_records_fill(list, &step->deal, &one, NULL) != RECMAP_OK || !list->count)
            return true;
        if (!dataset_is_resident(dataset, list->numbers[0])) return false;
    }
    return true;
}

static void ask(struct readahead_plan *plan, struct step_records *list,
                const struct epoch_step *step, const recmap_share *share, recmap_dataset *dataset) {
    if (step_records_fill(list, &step->deal, share, NULL) != RECMAP_OK || !list->count) return;
    plan->seen_count += list->count;
    plan->asked_count += dataset_will_need(dataset, list->numbers, list->count, !plan->is_blind);
}

void readahead_do(struct readahead_plan *plan, struct step_records *list, recmap_dataset *dataset,
                  uint32_t rank) {
    for (unsigned i = 0; i < plan->step_count; i++) {
        const struct epoch_step *step = &plan->steps[i];
        recmap_share share;
        if (recmap_deal_share(&share, &step->deal, step->step, rank, NULL) != RECMAP_OK) return;
        if (!plan->is_cold && !sample(list, step, &share, plan->samples[i], dataset))
            plan->is_cold = true;
        if (plan->is_cold) ask(plan, list, step, &share, dataset);
    }
}

/* Turns cold. The readahead cursor has passed steps that were only sampled; it moves back to the
 * first step that no worker has started, so that the steps from there on are checked completely. */
static void turn_cold(struct readahead_state *readahead, const struct epoch_cursor *cursor,
                      uint64_t issued_count) {
    readahead->quiet_count = readahead->warm_count = 0;
    if (readahead->is_cold) return;
    readahead->is_cold = true;
    readahead->cursor = *cursor;
    readahead->next_step = issued_count;
}

void readahead_learn_missing(struct readahead_state *readahead, const struct readahead_plan *plan,
                             const struct epoch_cursor *cursor, uint64_t issued_count) {
    if (plan->is_blind || !plan->asked_count) return;
    readahead->surprises = 0;
    turn_cold(readahead, cursor, issued_count);
}

/* Decides whether the data is warm or cold. After waits that residency does not explain, in several
 * batches, the kernel's answers are not trusted any more (blind). */
static void learn_temperature(struct readahead_state *readahead, const struct readahead_plan *plan,
                              bool has_waited, const struct epoch_cursor *cursor,
                              uint64_t issued_count) {
    if (!plan->is_blind && plan->asked_count) return;
    readahead->quiet_count += plan->seen_count;
    if (readahead->is_cold && readahead->mode == RECMAP_READAHEAD_AUTO &&
        readahead->quiet_count >= QUIET_ENOUGH)
        readahead->is_cold = false;
    readahead->warm_count += !plan->is_cold && !has_waited;
    if (!has_waited || plan->is_cold || readahead->is_cold) return;
    turn_cold(readahead, cursor, issued_count);
    if (++readahead->surprises >= SURPRISES_MAX) readahead->is_blind = true;
}

static void learn_window(struct readahead_state *readahead, uint64_t waits, uint64_t record_count) {
    if (waits * LATE_SHARE > record_count) {
        readahead->calm_count = 0;
        readahead->window =
            min_u64(readahead->window + readahead->window / 8 + 1, readahead->window_max);
        return;
    }
    readahead->calm_count += record_count;
    if (readahead->calm_count < CALM_ENOUGH) return;
    readahead->calm_count = 0;
    readahead->window = clamp(readahead->window - readahead->window / 8, readahead->window_min,
                              readahead->window_max);
}

void readahead_learn_waits(struct readahead_state *readahead, const struct readahead_plan *plan,
                           const struct thread_waits *after, uint64_t record_count,
                           const struct epoch_cursor *cursor, uint64_t issued_count) {
    if (readahead->mode == RECMAP_READAHEAD_OFF) return;
    uint64_t faults = after->faults - plan->before.faults;
    uint64_t sleeps = after->sleeps - plan->before.sleeps;
    learn_temperature(readahead, plan, readahead->counts_sleeps ? sleeps > 0 : faults > 0, cursor,
                      issued_count);
    if (plan->is_cold) learn_window(readahead, faults + sleeps, record_count);
}
