#include "storage/credentials/renewal.h"

#include "base/core/interrupt.h"
#include "base/os/process.h"
#include "base/os/thread.h"

#define NS_PER_MS 1000000ull

enum {
    WAIT_MS = 20,
    AHEAD_S = 300, /* a credential is renewed this long before it expires */
    AGAIN_S = 30,  /* after a renewal that failed */
};

enum turn { TURN_NONE, TURN_FETCH, TURN_WAIT, TURN_FAILED };

/* One call of renewal_prepare. */
struct visit {
    struct renewal *renewal;
    const struct renewal_kind *kind;
    void *context;
    bool has_waited;
    uint64_t seen_count; /* turns that had ended when it began to wait */
};

/* What the calling thread has to do. A failed fetch counts for the threads that waited for it, and
 * not for those that come later, which try again. The process of the thread that fetches is noted,
 * because after a fork the child does not have this thread. */
static enum turn choose_turn(struct visit *visit, int64_t now) {
    struct renewal *renewal = visit->renewal;
    if (!visit->kind->is_used(visit->context) || now < renewal->renew_at_s) return TURN_NONE;
    bool has_ended = visit->has_waited && renewal->turn_count != visit->seen_count;
    if (has_ended && renewal->failure.status != RECMAP_OK) return TURN_FAILED;
    if (renewal->fetching_process != process_id()) return TURN_FETCH;
    if (renewal->is_managed && now < renewal->expires_s) return TURN_NONE;
    return TURN_WAIT;
}

/* `failure` is set for TURN_FAILED. */
static enum turn take_turn(struct visit *visit, recmap_error *failure) {
    struct renewal *renewal = visit->renewal;
    int64_t now = clock_unix_s();
    process_lock();
    enum turn turn = choose_turn(visit, now);
    if (turn == TURN_FETCH) renewal->fetching_process = process_id();
    if (turn == TURN_FAILED) *failure = renewal->failure;
    if (turn == TURN_WAIT && !visit->has_waited) visit->seen_count = renewal->turn_count;
    visit->has_waited |= turn == TURN_WAIT;
    process_unlock();
    return turn;
}

/* Half of the time if there is little: a program may print the same credential until shortly before
 * it expires. */
static int64_t find_renewal(int64_t now, int64_t expires) {
    int64_t half = now + (expires - now) / 2, ahead = expires - AHEAD_S;
    int64_t renewal = ahead > half ? ahead : half;
    return renewal > now ? renewal : now + 1;
}

/* When to ask again if there was no new credential: at the latest when the present one expires. */
static int64_t find_retry(const struct renewal *renewal, int64_t now) {
    return renewal->expires_s < now + AGAIN_S ? renewal->expires_s : now + AGAIN_S;
}

/* Ends the turn. A fetch that was interrupted says nothing about its source, so the threads that
 * waited for it do not fail with it. */
static recmap_status end_turn(const struct visit *visit, int64_t expires_s,
                              const recmap_error *failure) {
    struct renewal *renewal = visit->renewal;
    recmap_status status = failure->status;
    int64_t now = clock_unix_s();
    process_lock();
    renewal->fetching_process = 0;
    if (status == RECMAP_OK) {
        renewal->is_managed = true;
        renewal->expires_s = expires_s;
        renewal->renew_at_s = find_renewal(now, expires_s);
    } else if (renewal->is_managed && now < renewal->expires_s) {
        renewal->renew_at_s = find_retry(renewal, now);
        if (status != RECMAP_CANCELLED) status = RECMAP_OK;
    }
    renewal->turn_count++;
    renewal->failure = *failure;
    if (status == RECMAP_OK || status == RECMAP_CANCELLED) renewal->failure.status = RECMAP_OK;
    process_unlock();
    return status;
}

static recmap_status run_turn(const struct visit *visit, recmap_error *error) {
    recmap_error failure = RECMAP_ERROR_INIT;
    int64_t expires_s = 0;
    failure.status = visit->kind->fetch(&expires_s, visit->context, &failure);
    recmap_status status = end_turn(visit, expires_s, &failure);
    if (status != RECMAP_OK && error) *error = failure;
    return status;
}

recmap_status renewal_prepare(struct renewal *renewal, const struct renewal_kind *kind,
                              void *context, recmap_error *error) {
    struct visit visit = {.renewal = renewal, .kind = kind, .context = context};
    recmap_error failure = RECMAP_ERROR_INIT;
    for (;;) {
        enum turn turn = take_turn(&visit, &failure);
        if (turn == TURN_NONE) return RECMAP_OK;
        if (turn == TURN_FETCH) return run_turn(&visit, error);
        if (turn == TURN_FAILED) break;
        if (!interrupt_continues(thread_interrupt(), INTERRUPT_WORK)) return interrupt_fail(error);
        sleep_ns(WAIT_MS * NS_PER_MS);
    }
    if (error) *error = failure;
    return failure.status;
}
