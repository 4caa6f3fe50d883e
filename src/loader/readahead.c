#include "loader/readahead.h"

#include "base/array.h"
#include "base/bytes.h"
#include "dataset/advise.h"

enum {
    WINDOW_BYTES = 4 << 20, /* to begin with */
    WINDOW_BYTES_MAX = 16 << 20,
    WINDOW_MIN = 16, /* records */
    WINDOW_BEGIN_MAX = 1024,
    WINDOW_MAX = 2048,
    SAMPLE_STEP = 128,   /* one record of so many is looked at while nothing is known to miss */
    WARM_ENOUGH = 64,    /* batches; behind them */
    WARM_STEP = 1024,    /* one record of so many */
    SAMPLES_MAX = 1024,  /* of a epoch_step */
    QUIET_ENOUGH = 2048, /* records */
    CALM_ENOUGH = 65536, /* records */
    SURPRISES_MAX = 3,
    LATE_SHARE = 16, /* waits for one record of so many are too many */
};

static uint64_t clamp(uint64_t value, uint64_t least, uint64_t most) {
    return value < least ? least : min_u64(value, most);
}

void readahead_init(struct readahead_state *state, const recmap_dataset *dataset,
                    const recmap_order *order, const recmap_loader_options *options,
                    bool is_mapped) {
    const recmap_dataset_info *info = recmap_dataset_get_info(dataset);
    uint64_t record_size = info->record_count ? info->byte_count / info->record_count + 1 : 1;
    uint64_t batch_count = recmap_order_batch_count(order);
    *state = (struct readahead_state){
        .mode = options->readahead,
        .counts_sleeps = !is_mapped,
        .station_size = batch_count ? recmap_order_count(order) / batch_count + 1
                                    : options->batch_size,
        .window_least = WINDOW_MIN,
        .window_most = clamp(WINDOW_BYTES_MAX / record_size, WINDOW_MIN, WINDOW_MAX),
        .is_cold = options->readahead == RECMAP_READAHEAD_ON,
    };
    state->window = clamp(WINDOW_BYTES / record_size, WINDOW_MIN, WINDOW_BEGIN_MAX);
}

void readahead_begin(struct readahead_state *ahead, const struct epoch_cursor *cursor) {
    ahead->walk = *cursor;
    ahead->next_station = 0;
}

/* Samples of a epoch_step: by its place among all records, so that of small batches one in many is
 * looked at. */
static uint64_t samples_of(const struct readahead_state *ahead, uint64_t station_number) {
    uint64_t size = min_u64(ahead->station_size, UINT32_MAX);
    uint64_t first = (station_number & UINT32_MAX) * size, end = first + size;
    uint64_t step = ahead->warm_count < WARM_ENOUGH ? SAMPLE_STEP : WARM_STEP;
    return min_u64((end + step - 1) / step - (first + step - 1) / step, SAMPLES_MAX);
}

void readahead_plan_for(struct readahead_plan *plan, struct readahead_state *ahead,
                        uint64_t station_number) {
    plan->station_count = 0;
    plan->seen_count = plan->asked_count = 0;
    plan->is_measured = false;
    if (ahead->mode == RECMAP_READAHEAD_OFF) return;
    plan->is_cold = ahead->is_cold;
    plan->is_blind = ahead->is_blind;
    plan->is_measured = plan->is_cold;
    uint64_t stations = (ahead->window + ahead->station_size - 1) / ahead->station_size;
    while (ahead->next_station <= station_number + stations &&
           plan->station_count < READAHEAD_STATIONS_MAX) {
        struct epoch_step *at = &plan->stations[plan->station_count];
        if (epoch_cursor_next(at, &ahead->walk, NULL) != RECMAP_OK) break;
        uint64_t number = ahead->next_station++;
        if (at->is_end) continue;
        uint64_t samples = plan->is_cold ? 0 : samples_of(ahead, number);
        plan->is_measured |= samples > 0;
        plan->samples[plan->station_count++] = samples;
    }
}

/* Whether all of some records of a share, spread over it, are in memory. */
static bool sample(const struct epoch_step *at, const recmap_share *share, uint64_t samples,
                   recmap_dataset *dataset) {
    for (uint64_t i = 0; i < samples && i < share->count; i++) {
        recmap_share one = {share->first + i * share->count / samples, 1};
        uint64_t number;
        if (recmap_deal_numbers(&number, &at->deal, &one, NULL) != RECMAP_OK) return true;
        if (!dataset_is_resident(dataset, number)) return false;
    }
    return true;
}

static void ask(struct readahead_plan *plan, struct readahead_room *room,
                const struct epoch_step *at, const recmap_share *share, recmap_dataset *dataset) {
    size_t count = (size_t)share->count;
    if (!array_reserve(&room->numbers, &room->capacity, count, sizeof *room->numbers) ||
        recmap_deal_numbers(room->numbers, &at->deal, share, NULL) != RECMAP_OK)
        return;
    plan->seen_count += count;
    plan->asked_count += dataset_will_need(dataset, room->numbers, count, !plan->is_blind);
}

void readahead_do(struct readahead_plan *plan, struct readahead_room *room, recmap_dataset *dataset,
                  uint32_t rank) {
    for (unsigned i = 0; i < plan->station_count; i++) {
        const struct epoch_step *at = &plan->stations[i];
        recmap_share share;
        if (recmap_deal_share(&share, &at->deal, at->step, rank, NULL) != RECMAP_OK) return;
        if (!plan->is_cold && !sample(at, &share, plan->samples[i], dataset)) plan->is_cold = true;
        if (plan->is_cold) ask(plan, room, at, &share, dataset);
    }
}

/* What was passed without a look, and no worker has taken on yet, is looked at now. */
static void turn_cold(struct readahead_state *ahead, const struct epoch_cursor *cursor,
                      uint64_t issued_count) {
    ahead->quiet_count = ahead->warm_count = 0;
    if (ahead->is_cold) return;
    ahead->is_cold = true;
    ahead->walk = *cursor;
    ahead->next_station = issued_count;
}

void readahead_learn_missing(struct readahead_state *ahead, const struct readahead_plan *plan,
                             const struct epoch_cursor *cursor, uint64_t issued_count) {
    if (plan->is_blind || !plan->asked_count) return;
    ahead->surprises = 0;
    turn_cold(ahead, cursor, issued_count);
}

/* Whether nothing is missing any more, or something is after all. */
static void learn_temperature(struct readahead_state *ahead, const struct readahead_plan *plan,
                              bool has_waited, const struct epoch_cursor *cursor,
                              uint64_t issued_count) {
    if (!plan->is_blind && plan->asked_count) return;
    ahead->quiet_count += plan->seen_count;
    if (ahead->is_cold && ahead->mode == RECMAP_READAHEAD_AUTO &&
        ahead->quiet_count >= QUIET_ENOUGH)
        ahead->is_cold = false;
    ahead->warm_count += !plan->is_cold && !has_waited;
    if (!has_waited || plan->is_cold || ahead->is_cold) return;
    turn_cold(ahead, cursor, issued_count);
    if (++ahead->surprises >= SURPRISES_MAX) ahead->is_blind = true;
}

static void learn_window(struct readahead_state *ahead, uint64_t waits, uint64_t record_count) {
    if (waits * LATE_SHARE > record_count) {
        ahead->calm_count = 0;
        ahead->window = min_u64(ahead->window + ahead->window / 8 + 1, ahead->window_most);
        return;
    }
    ahead->calm_count += record_count;
    if (ahead->calm_count < CALM_ENOUGH) return;
    ahead->calm_count = 0;
    ahead->window =
        clamp(ahead->window - ahead->window / 8, ahead->window_least, ahead->window_most);
}

void readahead_learn_waits(struct readahead_state *ahead, const struct readahead_plan *plan,
                           const struct thread_waits *after, uint64_t record_count,
                           const struct epoch_cursor *cursor, uint64_t issued_count) {
    if (ahead->mode == RECMAP_READAHEAD_OFF) return;
    uint64_t faults = after->faults - plan->before.faults;
    uint64_t sleeps = after->sleeps - plan->before.sleeps;
    learn_temperature(ahead, plan, ahead->counts_sleeps ? sleeps > 0 : faults > 0, cursor,
                      issued_count);
    if (plan->is_cold) learn_window(ahead, faults + sleeps, record_count);
}
