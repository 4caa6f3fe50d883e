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
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/os/team.h"
#include "base/os/thread.h"
#include "support/sanitizers.h"

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

/* ---- Helpers stay. */

enum { HELPED_JOBS = 100, HELPED_PARTS = 8, IDS_MAX = 64 };

/* The threads that did parts of a job. All of them are in the job at the same time. */
struct meeting {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    unsigned size; /* threads that must meet */
    unsigned count;
    pid_t ids[IDS_MAX];
    unsigned id_count;
};

static void note_thread(struct meeting *meeting) {
    pid_t id = (pid_t)syscall(SYS_gettid);
    unsigned i = 0;
    while (i < meeting->id_count && meeting->ids[i] != id) i++;
    assert_true(i < IDS_MAX);
    meeting->ids[i] = id;
    if (i == meeting->id_count) meeting->id_count++;
}

/* Each part is done by another thread, because no part ends before all have begun. */
static void meet(void *context, unsigned phase, unsigned part, bool is_caller) {
    struct meeting *meeting = context;
    (void)phase, (void)part, (void)is_caller;
    pthread_mutex_lock(&meeting->lock);
    note_thread(meeting);
    if (++meeting->count == meeting->size) pthread_cond_broadcast(&meeting->changed);
    while (meeting->count < meeting->size) pthread_cond_wait(&meeting->changed, &meeting->lock);
    pthread_mutex_unlock(&meeting->lock);
}

static unsigned end_at_once(void *context, unsigned phase, bool is_caller) {
    (void)context, (void)is_caller;
    return phase + 1;
}

static void hold_meeting(struct meeting *meeting, unsigned thread_count) {
    const struct team_job job = {1, thread_count, meeting, meet, end_at_once, NULL};
    meeting->size = thread_count;
    meeting->count = 0;
    team_run(&job, thread_count);
    assert_int_equal(meeting->count, thread_count);
}

/* A job is helped by the threads that helped with earlier ones. */
static void test_helpers_stay(void **state) {
    (void)state;
    struct meeting meeting = {.lock = PTHREAD_MUTEX_INITIALIZER,
                              .changed = PTHREAD_COND_INITIALIZER};
    hold_meeting(&meeting, HELPED_PARTS + 1);
    for (unsigned i = 0; i < HELPED_JOBS; i++) hold_meeting(&meeting, 3);
    assert_int_equal(meeting.id_count, HELPED_PARTS + 1);
}

static void *hold_meetings(void *unused) {
    (void)unused;
    struct meeting meeting = {.lock = PTHREAD_MUTEX_INITIALIZER,
                              .changed = PTHREAD_COND_INITIALIZER};
    for (unsigned i = 0; i < HELPED_JOBS; i++) hold_meeting(&meeting, 3);
    return NULL;
}

static void test_callers_share_helpers(void **state) {
    (void)state;
    enum { CALLERS = 4 };
    pthread_t callers[CALLERS];
    for (unsigned i = 0; i < CALLERS; i++)
        assert_int_equal(pthread_create(&callers[i], NULL, hold_meetings, NULL), 0);
    for (unsigned i = 0; i < CALLERS; i++) pthread_join(callers[i], NULL);
}

/* Runs a function in a child, which must end with `status` within a minute. */
static void check_child(void (*run)(void), int status) {
    if (has_thread_sanitizer) skip(); /* it allows no threads in the child */
    pid_t child = fork();
    assert_true(child >= 0);
    if (!child) {
        alarm(60);
        run();
        _exit(99);
    }
    int ended;
    assert_int_equal(waitpid(child, &ended, 0), child);
    assert_true(WIFEXITED(ended));
    assert_int_equal(WEXITSTATUS(ended), status);
}

/* exit, unlike _exit, ends the helpers. */
static void use_helpers_and_exit(void) {
    hold_meetings(NULL);
    exit(7);
}

static void fork_again(void) {
    hold_meetings(NULL);
    check_child(use_helpers_and_exit, 7);
    exit(8);
}

/* A child of fork has none of its parent's helpers, and starts its own. */
static void test_a_forked_child_starts_its_own_helpers(void **state) {
    (void)state;
    hold_meetings(NULL);
    check_child(use_helpers_and_exit, 7);
    check_child(fork_again, 8);
    hold_meetings(NULL);
}

static void *wait_in_job(void *context) {
    hold_meeting(context, 2);
    return NULL;
}

/* A call that never ends, as if it waited for a network, does not keep the process from ending. */
static void exit_during_job(void) {
    static struct meeting meeting = {.lock = PTHREAD_MUTEX_INITIALIZER,
                                     .changed = PTHREAD_COND_INITIALIZER};
    pthread_t caller;
    hold_meetings(NULL);
    pthread_mutex_lock(&meeting.lock); /* which both threads of the job wait for */
    if (pthread_create(&caller, NULL, wait_in_job, &meeting)) _exit(98);
    usleep(20000); /* until the helper has begun, usually */
    exit(9);
}

static void test_exit_during_a_job(void **state) {
    (void)state;
    check_child(exit_during_job, 9);
}

/* ---- Groups. */

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
        cmocka_unit_test(test_helpers_stay),
        cmocka_unit_test(test_callers_share_helpers),
        cmocka_unit_test(test_a_forked_child_starts_its_own_helpers),
        cmocka_unit_test(test_exit_during_a_job),
        cmocka_unit_test(test_workers_block_signals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
