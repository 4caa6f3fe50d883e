#define _GNU_SOURCE
#include "fault/cases.h"

#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fault/fixture.h"
#include "fault/interpose.h"

extern int __lsan_do_recoverable_leak_check(void) __attribute__((weak));
extern void __asan_init(void) __attribute__((weak));
extern void __tsan_init(void) __attribute__((weak));

bool test_is_sanitized(void) {
    return __asan_init || __tsan_init;
}

/* What a child tells its parent. */
struct board {
    size_t current;
    size_t failed_count;
};

static char message[2048];

const char *case_says(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    return message;
}

void child_prepare(void) {
    static const int signals[] = {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL, SIGSYS, SIGALRM};
    struct rlimit none = {0, 0};
    /* A sanitizer's report is worth more than the bare signal. */
    for (size_t i = 0; !test_is_sanitized() && i < sizeof signals / sizeof *signals; i++)
        signal(signals[i], SIG_DFL);
    signal(SIGBUS, SIG_DFL);
    setrlimit(RLIMIT_CORE, &none);
    alarm(CASE_SECONDS);
}

/* The cases of one child, from board->current on. */
static void run_child(struct board *shared, const char *name, size_t count, size_t step,
                      case_fn run, void *context) {
    child_prepare();
    for (; shared->current < count; shared->current += step) {
        alarm(CASE_SECONDS);
        const char *wrong = run(context, shared->current);
        if (!wrong) continue;
        printf("%s: case %zu: %s\n", name, shared->current, wrong);
        shared->failed_count++;
    }
    alarm(0);
    bool leaks = __lsan_do_recoverable_leak_check && __lsan_do_recoverable_leak_check();
    fflush(stdout);
    _exit(leaks ? 1 : 0);
}

/* For a debugger: RECMAP_TEST_CASE=N runs case N alone, and in this process. */
static bool run_single(const char *name, size_t count, case_fn run, void *context,
                       size_t *failed_count) {
    const char *chosen = getenv("RECMAP_TEST_CASE");
    size_t number = chosen ? strtoull(chosen, NULL, 10) : 0;
    if (!chosen || number >= count) return false;
    const char *wrong = run(context, number);
    printf("%s: case %zu: %s\n", name, number, wrong ? wrong : "passed");
    *failed_count = wrong != NULL;
    return true;
}

/* A child process runs the cases one after another and counts in shared memory. If it dies, its
 * current case has failed and a new child continues with the next one. */
size_t cases_run(const char *name, size_t count, size_t step, case_fn run, void *context) {
    size_t failed;
    if (run_single(name, count, run, context, &failed)) return failed;
    struct board *shared =
        mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    require(shared != MAP_FAILED, "a shared page");
    *shared = (struct board){0, 0};
    while (shared->current < count) {
        fflush(stdout);
        pid_t pid = fork();
        require(pid >= 0, "fork");
        if (!pid) run_child(shared, name, count, step, run, context);
        int ended;
        require(waitpid(pid, &ended, 0) == pid, "waitpid");
        if (WIFEXITED(ended) && !WEXITSTATUS(ended)) break;
        size_t at = shared->current;
        if (WIFSIGNALED(ended)) printf("%s: case %zu: %s\n", name, at, strsignal(WTERMSIG(ended)));
        else printf("%s: case %zu: exit status %d\n", name, at, WEXITSTATUS(ended));
        shared->failed_count++;
        shared->current += step;
    }
    failed = shared->failed_count;
    munmap(shared, sizeof *shared);
    printf("%s: %zu cases, %zu failed\n", name, (count + step - 1) / step, failed);
    fflush(stdout);
    return failed;
}

enum child_end child_run(case_fn run, void *context, size_t number) {
    fflush(stdout);
    pid_t pid = fork();
    require(pid >= 0, "fork");
    if (!pid) {
        child_prepare();
        const char *wrong = run(context, number);
        if (wrong) printf("case %zu: %s\n", number, wrong);
        fflush(stdout);
        _exit(wrong != NULL);
    }
    int ended;
    require(waitpid(pid, &ended, 0) == pid, "waitpid");
    if (WIFEXITED(ended)) return WEXITSTATUS(ended) ? CHILD_FAILED : CHILD_PASSED;
    if (WTERMSIG(ended) == SIGKILL) return CHILD_KILLED;
    printf("case %zu: %s\n", number, strsignal(WTERMSIG(ended)));
    return CHILD_CRASHED;
}

static int count_descriptors(void) {
    int count = 0;
    for (int fd = 0; fd < 256; fd++) count += fcntl(fd, F_GETFD) >= 0;
    return count;
}

struct holdings holdings_now(void) {
    return (struct holdings){count_descriptors(), interpose_allocations(), interpose_maps()};
}

const char *holdings_check(const struct holdings *earlier_holdings) {
    struct holdings now = holdings_now();
    if (now.descriptors != earlier_holdings->descriptors)
        return case_says("%d descriptors leak", now.descriptors - earlier_holdings->descriptors);
    if (now.maps != earlier_holdings->maps)
        return case_says("%d maps leak", (int)(now.maps - earlier_holdings->maps));
    /* Sanitizers copy strings without asking malloc; they look for leaks themselves. */
    if (!test_is_sanitized() && now.allocations != earlier_holdings->allocations)
        return case_says("%d allocations leak",
                         (int)(now.allocations - earlier_holdings->allocations));
    return NULL;
}
