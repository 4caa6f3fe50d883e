/* Teams and groups of threads: every part of every phase is done once, and phases do not overlap.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "os/team.h"
#include "os/thread.h"

enum { PHASES = 6, PARTS = 50 };

struct run {
    pthread_t caller;
    atomic_uint done[PHASES][PARTS];
    atomic_uint running;
    unsigned ended[PHASES];
    atomic_bool is_wrong;
    bool skips; /* every other phase */
};

static void require(struct run *run, bool holds) {
    if (!holds) atomic_store(&run->is_wrong, true);
}

static void do_part(void *context, unsigned phase, unsigned part, bool is_caller) {
    struct run *run = context;
    atomic_fetch_add(&run->running, 1);
    require(run, phase < PHASES && part < PARTS && !run->ended[phase]);
    require(run, is_caller == !!pthread_equal(pthread_self(), run->caller));
    atomic_fetch_add(&run->done[phase][part], 1);
    atomic_fetch_sub(&run->running, 1);
}

static unsigned end_phase(void *context, unsigned phase, bool is_caller) {
    struct run *run = context;
    require(run, atomic_load(&run->running) == 0);
    require(run, is_caller == !!pthread_equal(pthread_self(), run->caller));
    for (unsigned part = 0; part < PARTS; part++)
        require(run, atomic_load(&run->done[phase][part]) == 1);
    run->ended[phase]++;
    return phase + (run->skips ? 2 : 1);
}

static void check_team(unsigned thread_count, bool skips) {
    static struct run run;
    memset(&run, 0, sizeof run);
    run.caller = pthread_self();
    run.skips = skips;
    const struct team_job job = {PHASES, PARTS, &run, do_part, end_phase, NULL};
    team_run(&job, thread_count);
    assert_false(run.is_wrong);
    for (unsigned phase = 0; phase < PHASES; phase++)
        assert_int_equal(run.ended[phase], !skips || phase % 2 == 0);
}

static void test_every_part_is_done_once(void **state) {
    (void)state;
    for (unsigned thread_count = 0; thread_count < 9; thread_count++)
        for (int repeat = 0; repeat < 20; repeat++) check_team(thread_count, repeat % 2);
}

struct group {
    atomic_uint count;
    atomic_bool takes_signals;
};

static void *work(void *context) {
    struct group *group = context;
    sigset_t blocked;
    if (pthread_sigmask(SIG_BLOCK, NULL, &blocked) || !sigismember(&blocked, SIGINT) ||
        !sigismember(&blocked, SIGALRM) || sigismember(&blocked, SIGBUS))
        atomic_store(&group->takes_signals, true);
    atomic_fetch_add(&group->count, 1);
    return NULL;
}

/* Signals are for the application's threads, except SIGBUS, which the guard of maps handles. */
static void test_workers_block_signals(void **state) {
    (void)state;
    struct group group = {0};
    struct worker_group workers = WORKER_GROUP_INIT;
    recmap_error error = RECMAP_ERROR_INIT;
    assert_int_equal(workers_start(&workers, 5, work, &group, &error), RECMAP_OK);
    workers_join(&workers);
    assert_int_equal(group.count, 5);
    assert_false(group.takes_signals);
    sigset_t blocked;
    assert_int_equal(pthread_sigmask(SIG_BLOCK, NULL, &blocked), 0);
    assert_false(sigismember(&blocked, SIGINT));
    assert_true(core_count() >= 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_part_is_done_once),
        cmocka_unit_test(test_workers_block_signals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
