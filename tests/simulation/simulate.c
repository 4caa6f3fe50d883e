/* Runs the simulator: one seed after the other, each in a process of its own, until the time is
 * over or a run fails. */
#include <dlfcn.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "simulation/totals.h"
#include "simulation/world/model.h"
#include "simulation/world/process.h"
#include "simulation/world/reach.h"
#include "simulation/world/report.h"
#include "simulation/world/run.h"

enum { RUN_SECONDS = 60, TRACE_LINES = 60, RUNS_BETWEEN_TOTALS = 5000 };

struct settings {
    const char *program;
    const char *reached; /* the file for the places that ran, or NULL */
    uint64_t first_seed, run_limit;
    double seconds;
    bool prints_trace, prints_hash, is_brief;
};

static double seconds_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* ---- One run. */

/* Says where, as an offset in the program or in the simulator, for addr2line. */
static void die_of(int number, siginfo_t *signal_info, void *context) {
    static const char *const words[] = {[SIGSEGV] = "a segmentation fault",
                                        [SIGBUS] = "SIGBUS",
                                        [SIGABRT] = "abort, as of an assertion",
                                        [SIGFPE] = "a division by zero"};
    const ucontext_t *registers = context;
    uintptr_t place = (uintptr_t)registers->uc_mcontext.gregs[REG_RIP];
    Dl_info object = {.dli_fname = "?"};
    dladdr((const void *)place, &object);
    run_fail("the program dies of %s at %s+%#tx, for the address %p",
             words[number] ? words[number] : "a signal", object.dli_fname,
             place - (uintptr_t)object.dli_fbase, signal_info->si_addr);
}

static void catch_signals(void) {
    static uint8_t stack[64 << 10];
    static const int numbers[] = {SIGSEGV, SIGBUS, SIGABRT, SIGFPE};
    stack_t own = {.ss_sp = stack, .ss_size = sizeof stack};
    sigaltstack(&own, NULL);
    struct sigaction action = {.sa_sigaction = die_of,
                               .sa_flags = SA_ONSTACK | SA_NODEFER | SA_SIGINFO};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        sigaction(numbers[i], &action, NULL);
}

/* Returns true if the run failed. */
static bool run_child(uint64_t seed, const struct run_cuts *cuts) {
    memset(report, 0, offsetof(struct report, events));
    memset(&report->point_count, 0, sizeof *report - offsetof(struct report, point_count));
    pid_t child = fork();
    if (!child) {
        struct rlimit core = {0, 0}, cpu = {RUN_SECONDS, RUN_SECONDS};
        setrlimit(RLIMIT_CORE, &core);
        setrlimit(RLIMIT_CPU, &cpu);
        catch_signals();
        run_seed(seed, cuts);
        _exit(0);
    }
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) != child) {
        fprintf(stderr, "simulate: cannot start a run\n");
        exit(2);
    }
    if (report->is_finished && !report->failure[0]) return false;
    if (!report->failure[0])
        snprintf(report->failure, FAILURE_TEXT, "the run ends with status %d", status);
    return true;
}

/* ---- Shrinking: what a failure does not need is taken away. */

enum { WORDS_COMPARED = 24 };
static char first_failure[FAILURE_TEXT];

/* The first words of a failure name the process, which may be another one, so they are skipped. */
static const char *reason_of(const char *failure) {
    const char *space = strchr(failure, ' ');
    return space ? space : failure;
}

/* Another failure may be one of the simulator: it is not what was looked for. */
static bool still_fails(uint64_t seed, const struct run_cuts *cuts) {
    return run_child(seed, cuts) &&
           !strncmp(reason_of(report->failure), reason_of(first_failure), WORDS_COMPARED);
}

static void shrink_limit(struct run_cuts *cuts, uint64_t seed) {
    uint64_t low = 0, high = report->preemption_count + 1;
    while (low < high) {
        struct run_cuts attempt = *cuts;
        attempt.preemption_limit = (low + high) / 2;
        if (still_fails(seed, &attempt)) high = attempt.preemption_limit;
        else low = attempt.preemption_limit + 1;
    }
    struct run_cuts attempt = *cuts;
    attempt.preemption_limit = high;
    if (still_fails(seed, &attempt)) *cuts = attempt;
}

/* Leaves out groups of preemptions, then smaller groups. */
static void shrink_preemptions(struct run_cuts *cuts, uint64_t seed) {
    size_t count = cuts->preemption_limit < PREEMPTIONS_MAX ? (size_t)cuts->preemption_limit
                                                            : PREEMPTIONS_MAX;
    for (size_t size = count / 2; size; size /= 2)
        for (size_t at = 0; at < count; at += size) {
            struct run_cuts attempt = *cuts;
            for (size_t i = at; i < at + size && i < count; i++) attempt.preemptions[i] = true;
            if (memcmp(&attempt, cuts, sizeof *cuts) && still_fails(seed, &attempt))
                *cuts = attempt;
        }
}

static void try_cut(struct run_cuts *cuts, uint64_t seed, bool *part) {
    *part = true;
    if (!still_fails(seed, cuts)) *part = false;
}

static struct run_cuts shrink(uint64_t seed) {
    struct run_cuts cuts = RUN_CUTS_INIT;
    try_cut(&cuts, seed, &cuts.kills);
    try_cut(&cuts, seed, &cuts.lateness);
    for (int i = 0; i < FAULTS_MAX; i++) try_cut(&cuts, seed, &cuts.faults[i]);
    still_fails(seed, &cuts);
    shrink_limit(&cuts, seed);
    shrink_preemptions(&cuts, seed);
    return cuts;
}

static void print_trace(uint64_t lines) {
    uint64_t first = report->event_count > lines ? report->event_count - lines : 0;
    if (report->event_count - first > EVENTS_KEPT) first = report->event_count - EVENTS_KEPT;
    for (uint64_t i = first; i < report->event_count; i++) {
        const struct event *event = &report->events[i % EVENTS_KEPT];
        printf("  %12.6f ms  %-14s %s\n", (double)event->time_ns / 1e6, event->who, event->text);
    }
}

static void print_failure(uint64_t seed, const struct settings *settings) {
    printf("seed %" PRIu64 ": %s\n", seed, report->failure);
    fflush(stdout);
    if (settings->is_brief) return;
    snprintf(first_failure, sizeof first_failure, "%s", report->failure);
    struct run_cuts cuts = shrink(seed);
    if (!run_child(seed, &cuts)) {
        struct run_cuts none = RUN_CUTS_INIT;
        run_child(seed, &none);
    }
    printf("shortest schedule found: %" PRIu64 " preemptions, %" PRIu64 " failing calls, %" PRIu64
           " kills, %" PRIu64 " crashes\n%s\n",
           report->preemption_count, report->fault_count, report->kill_count, report->crash_count,
           report->failure);
    print_trace(settings->prints_trace ? EVENTS_KEPT : TRACE_LINES);
    printf("Run it again with: tests/simulate --seed %" PRIu64 "\n", seed);
}

/* ---- Many runs. */

static int run_all(const struct settings *settings) {
    struct totals totals = {0};
    struct run_cuts cuts = RUN_CUTS_INIT;
    double started = seconds_now();
    for (uint64_t i = 0; i < settings->run_limit; i++) {
        uint64_t seed = settings->first_seed + i;
        if (settings->seconds > 0 && seconds_now() - started > settings->seconds) break;
        if (run_child(seed, &cuts)) {
            printf("run %" PRIu64 " failed after %.1f s\n", i + 1, seconds_now() - started);
            print_failure(seed, settings);
            totals_print(&totals, settings->first_seed, seconds_now() - started);
            return 1;
        }
        if (settings->prints_hash) printf("%" PRIu64 " %016" PRIx64 "\n", seed, report->hash);
        totals_add(&totals, seed);
        if (settings->is_brief && totals.runs % RUNS_BETWEEN_TOTALS == 0)
            totals_print(&totals, settings->first_seed, seconds_now() - started);
    }
    if (settings->prints_trace) print_trace(EVENTS_KEPT);
    if (!settings->is_brief || totals.runs % RUNS_BETWEEN_TOTALS)
        totals_print(&totals, settings->first_seed, seconds_now() - started);
    return 0;
}

static int fail_usage(void) {
    fprintf(stderr, "usage: simulate [--seed S [--runs N] | --seconds N [--from S]] [--trace] "
                    "[--hash] [--brief] [--reached FILE] --program FILE\n");
    return 2;
}

static bool read_settings(struct settings *settings, int argc, char **argv) {
    *settings = (struct settings){.first_seed = 1, .run_limit = UINT64_MAX};
    for (int i = 1; i < argc; i++) {
        bool has_value = i + 1 < argc;
        if (!strcmp(argv[i], "--trace")) settings->prints_trace = true;
        else if (!strcmp(argv[i], "--hash")) settings->prints_hash = true;
        else if (!strcmp(argv[i], "--brief")) settings->is_brief = true;
        else if (!has_value) return false;
        else if (!strcmp(argv[i], "--program")) settings->program = argv[++i];
        else if (!strcmp(argv[i], "--reached")) settings->reached = argv[++i];
        else if (!strcmp(argv[i], "--seconds")) settings->seconds = strtod(argv[++i], NULL);
        else if (!strcmp(argv[i], "--from")) settings->first_seed = strtoull(argv[++i], NULL, 10);
        else if (!strcmp(argv[i], "--runs")) settings->run_limit = strtoull(argv[++i], NULL, 10);
        else if (!strcmp(argv[i], "--seed")) {
            settings->first_seed = strtoull(argv[++i], NULL, 10);
            if (settings->run_limit == UINT64_MAX) settings->run_limit = 1;
        } else return false;
    }
    return settings->program != NULL;
}

/* Addresses must be the same in each run. */
static void fix_addresses(char **argv) {
    if (personality(0xffffffff) & ADDR_NO_RANDOMIZE) return;
    if (personality(ADDR_NO_RANDOMIZE) != -1) execv("/proc/self/exe", argv);
}

int main(int argc, char **argv) {
    struct settings settings;
    if (!read_settings(&settings, argc, argv)) return fail_usage();
    fix_addresses(argv);
    report = mmap(NULL, sizeof *report, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (report == MAP_FAILED) return fail_usage();
    model_prepare();
    if (settings.reached && !reach_start()) return fail_usage();
    programs_load(settings.program, COPIES_MAX);
    int failed = run_all(&settings);
    if (settings.reached && !reach_write(settings.reached)) return 2;
    return failed;
}
