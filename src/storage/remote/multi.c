#include "storage/remote/multi.h"

#include "base/os/broken_pipe_guard.h"
#include "base/os/process.h"
#include "base/os/socket_events.h"

#define NS_PER_MS 1000000ull

/* ---- Callbacks of libcurl. */

static int on_interest(CURL *easy, curl_socket_t socket, int interest, void *context,
                       void *unused) {
    const struct multi *multi = context;
    (void)easy;
    (void)unused;
    if (interest == CURL_POLL_REMOVE) {
        socket_events_forget(multi->sockets, socket);
        return 0;
    }
    bool to_read = interest == CURL_POLL_IN || interest == CURL_POLL_INOUT;
    bool to_write = interest == CURL_POLL_OUT || interest == CURL_POLL_INOUT;
    return socket_events_watch(multi->sockets, socket, to_read, to_write) ? 0 : -1;
}

static int on_timer(CURLM *curl, long timeout_ms, void *context) {
    struct multi *multi = context;
    (void)curl;
    multi->due_ns = timeout_ms < 0 ? UINT64_MAX : clock_ns() + (uint64_t)timeout_ms * NS_PER_MS;
    return 0;
}

/* ---- Creating and ending. */

static void set_callbacks(struct multi *multi) {
    libcurl.multi_setopt(multi->curl, CURLMOPT_SOCKETFUNCTION, on_interest);
    libcurl.multi_setopt(multi->curl, CURLMOPT_SOCKETDATA, multi);
    libcurl.multi_setopt(multi->curl, CURLMOPT_TIMERFUNCTION, on_timer);
    libcurl.multi_setopt(multi->curl, CURLMOPT_TIMERDATA, multi);
}

bool multi_init(struct multi *multi) {
    *multi = (struct multi){
        .curl = libcurl.multi_init(), .sockets = socket_events_open(), .due_ns = UINT64_MAX};
    if (!multi->curl || multi->sockets < 0) {
        multi_deinit(multi);
        return false;
    }
    set_callbacks(multi);
    return true;
}

void multi_deinit(struct multi *multi) {
    struct broken_pipe_guard guard;
    broken_pipe_guard_init(&guard);
    libcurl.multi_cleanup(multi->curl);
    broken_pipe_guard_deinit(&guard);
    multi_abandon(multi);
}

void multi_abandon(struct multi *multi) {
    socket_events_close(multi->sockets);
    *multi = (struct multi){.sockets = -1, .due_ns = UINT64_MAX};
}

void multi_remove(struct multi *multi, CURL *easy) {
    struct broken_pipe_guard guard;
    broken_pipe_guard_init(&guard);
    libcurl.multi_remove_handle(multi->curl, easy);
    broken_pipe_guard_deinit(&guard);
}

/* ---- Driving. */

static void act(struct multi *multi, curl_socket_t socket, int events) {
    struct broken_pipe_guard guard;
    int running;
    broken_pipe_guard_init(&guard);
    libcurl.multi_socket_action(multi->curl, socket, events, &running);
    broken_pipe_guard_deinit(&guard);
}

void multi_expire(struct multi *multi) {
    if (multi->due_ns > clock_ns()) return;
    multi->due_ns = UINT64_MAX;
    act(multi, CURL_SOCKET_TIMEOUT, 0);
}

/* Rounds up: a wait that ends before its timer would only be repeated. */
static unsigned limit_wait(const struct multi *multi, unsigned timeout_ms) {
    if (multi->due_ns == UINT64_MAX) return timeout_ms;
    uint64_t now = clock_ns();
    uint64_t left_ns = multi->due_ns > now ? multi->due_ns - now : 0;
    uint64_t left_ms = (left_ns + NS_PER_MS - 1) / NS_PER_MS;
    return left_ms < timeout_ms ? (unsigned)left_ms : timeout_ms;
}

void multi_wait(struct multi *multi, unsigned timeout_ms) {
    struct socket_event events[SOCKET_EVENTS_MAX];
    int limit_ms = (int)limit_wait(multi, timeout_ms);
    size_t count = socket_events_wait(events, multi->sockets, limit_ms);
    for (size_t i = 0; i < count; i++)
        act(multi, events[i].socket,
            (events[i].can_read ? CURL_CSELECT_IN : 0) |
                (events[i].can_write ? CURL_CSELECT_OUT : 0) |
                (events[i].has_failed ? CURL_CSELECT_ERR : 0));
}
