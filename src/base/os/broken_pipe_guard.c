#include "base/os/broken_pipe_guard.h"

#include <pthread.h>
#include <signal.h>
#include <time.h>

static bool is_pending(void) {
    sigset_t pending;
    sigpending(&pending);
    return sigismember(&pending, SIGPIPE) == 1;
}

static sigset_t only_pipe(void) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGPIPE);
    return set;
}

/* A signal that is pending already is blocked, and is another's: it is left alone. */
void broken_pipe_guard_init(struct broken_pipe_guard *guard) {
    sigset_t pipe = only_pipe(), before;
    *guard = (struct broken_pipe_guard){.was_pending = is_pending()};
    if (guard->was_pending) return;
    pthread_sigmask(SIG_BLOCK, &pipe, &before);
    guard->was_blocked = sigismember(&before, SIGPIPE) == 1;
}

void broken_pipe_guard_deinit(const struct broken_pipe_guard *guard) {
    const struct timespec at_once = {0};
    sigset_t pipe = only_pipe();
    if (guard->was_pending) return;
    sigtimedwait(&pipe, NULL, &at_once);
    if (!guard->was_blocked) pthread_sigmask(SIG_UNBLOCK, &pipe, NULL);
}
