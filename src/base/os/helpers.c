#include "base/os/helpers.h"

#include <stdlib.h>

#include "base/os/thread.h"

enum { HELPERS_MAX = 256 };

struct helper {
    struct worker_group thread;
    bool is_busy;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards everything below */
static pthread_cond_t asked = PTHREAD_COND_INITIALIZER;
static pthread_cond_t returned = PTHREAD_COND_INITIALIZER;
static struct help_request *requests; /* that need more helpers */
static struct helper helpers[HELPERS_MAX];
static unsigned helper_count;
static unsigned busy_count;   /* helpers that help */
static unsigned needed_count; /* in all requests */
static bool must_end;

static void hold(void) {
    pthread_mutex_lock(&lock);
}

static void release(void) {
    pthread_mutex_unlock(&lock);
}

/* The child has only the thread that forked. Its conditions are initialised again, because they
 * may count waiters that do not exist there. */
static void start_anew(void) {
    pthread_cond_init(&asked, NULL);
    pthread_cond_init(&returned, NULL);
    requests = NULL;
    helper_count = busy_count = needed_count = 0;
    pthread_mutex_unlock(&lock);
}

/* When the library is loaded: see thread.c. */
__attribute__((constructor)) static void watch_forks(void) {
    pthread_atfork(hold, release, start_anew);
}

/* Called with the lock held. */
static void unlist(struct help_request *request) {
    struct help_request **link = &requests;
    while (*link && *link != request) link = &(*link)->next;
    if (*link) *link = request->next;
    needed_count -= request->needed;
    request->needed = 0;
}

/* Called with the lock held, which is released meanwhile. */
static void help_with(struct help_request *request) {
    request->active++;
    busy_count++;
    needed_count--;
    if (!--request->needed) unlist(request);
    pthread_mutex_unlock(&lock);
    request->help(request->context);
    pthread_mutex_lock(&lock);
    busy_count--;
    if (!--request->active) pthread_cond_broadcast(&returned);
}

static void *work(void *context) {
    struct helper *helper = context;
    pthread_mutex_lock(&lock);
    while (!must_end) {
        if (!requests) {
            pthread_cond_wait(&asked, &lock);
            continue;
        }
        helper->is_busy = true;
        help_with(requests);
        helper->is_busy = false;
    }
    pthread_mutex_unlock(&lock);
    return NULL;
}

/* Called with the lock held. Returns whether there is one more helper. */
static bool start_helper(void) {
    struct helper *helper = &helpers[helper_count];
    if (must_end || helper_count == HELPERS_MAX) return false;
    free(helper->thread.threads); /* of the parent process's helper, in a child of fork */
    *helper = (struct helper){.thread = WORKER_GROUP_INIT};
    if (workers_start(&helper->thread, 1, work, helper, NULL) != RECMAP_OK) return false;
    helper_count++;
    return true;
}

/* Called with the lock held. Lists the request, and starts helpers if there are too few for all
 * requests. */
static void list(struct help_request *request, unsigned needed) {
    unlist(request);
    if (!needed) return;
    request->needed = needed;
    needed_count += needed;
    request->next = requests;
    requests = request;
    while (helper_count < busy_count + needed_count && start_helper()) continue;
}

/* Helpers are woken after the lock is released, because they need it first of all. */
void helpers_ask(struct help_request *request, unsigned count) {
    pthread_mutex_lock(&lock);
    unsigned needed = count > request->active ? count - request->active : 0;
    list(request, needed);
    pthread_mutex_unlock(&lock);
    for (unsigned i = 0; i < needed; i++) pthread_cond_signal(&asked);
}

void helpers_dismiss(struct help_request *request) {
    pthread_mutex_lock(&lock);
    unlist(request);
    while (request->active) pthread_cond_wait(&returned, &lock);
    pthread_mutex_unlock(&lock);
}

/* At exit, or when the library is unloaded. A helper that is busy belongs to a call that is still
 * running, which can be so only at exit; it is not waited for. */
__attribute__((destructor)) static void end_helpers(void) {
    pthread_mutex_lock(&lock);
    must_end = true;
    pthread_cond_broadcast(&asked);
    unsigned count = helper_count;
    helper_count = 0;
    bool is_busy[HELPERS_MAX];
    for (unsigned i = 0; i < count; i++) is_busy[i] = helpers[i].is_busy;
    pthread_mutex_unlock(&lock);
    for (unsigned i = 0; i < count; i++)
        if (!is_busy[i]) workers_join(&helpers[i].thread);
}
