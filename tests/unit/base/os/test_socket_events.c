/* Waiting for sockets. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/os/socket_events.h"

struct pair {
    int set;
    int ends[2];
};

static struct pair open_pair(void) {
    struct pair pair = {.set = socket_events_open()};
    assert_true(pair.set >= 0);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair.ends), 0);
    return pair;
}

static void close_pair(const struct pair *pair) {
    close(pair->ends[0]);
    close(pair->ends[1]);
    socket_events_close(pair->set);
}

static size_t wait_now(struct socket_event events[SOCKET_EVENTS_MAX], const struct pair *pair) {
    return socket_events_wait(events, pair->set, 0);
}

static void test_what_is_waited_for_can_change(void **state) {
    (void)state;
    struct socket_event events[SOCKET_EVENTS_MAX];
    struct pair pair = open_pair();
    assert_int_equal(wait_now(events, &pair), 0);
    assert_true(socket_events_watch(pair.set, pair.ends[0], true, false));
    assert_int_equal(wait_now(events, &pair), 0); /* nothing to read yet */
    assert_true(socket_events_watch(pair.set, pair.ends[0], false, true));
    assert_int_equal(wait_now(events, &pair), 1);
    assert_int_equal(events[0].socket, pair.ends[0]);
    assert_true(events[0].can_write && !events[0].can_read && !events[0].has_failed);
    assert_true(socket_events_watch(pair.set, pair.ends[0], true, false));
    assert_int_equal(write(pair.ends[1], "x", 1), 1);
    assert_int_equal(wait_now(events, &pair), 1);
    assert_true(events[0].can_read && !events[0].can_write);
    close_pair(&pair);
}

static void test_end_of_stream_is_read(void **state) {
    (void)state;
    struct socket_event events[SOCKET_EVENTS_MAX];
    struct pair pair = open_pair();
    assert_true(socket_events_watch(pair.set, pair.ends[0], true, false));
    assert_int_equal(shutdown(pair.ends[1], SHUT_RDWR), 0);
    assert_int_equal(wait_now(events, &pair), 1);
    assert_true(events[0].can_read);
    close_pair(&pair);
}

/* A child, or a copy as here, keeps the socket open after it has been closed. */
static void test_forgotten_socket_is_silent(void **state) {
    (void)state;
    struct socket_event events[SOCKET_EVENTS_MAX];
    struct pair pair = open_pair();
    int copy = dup(pair.ends[0]);
    assert_true(copy >= 0);
    assert_true(socket_events_watch(pair.set, pair.ends[0], true, true));
    socket_events_forget(pair.set, pair.ends[0]);
    socket_events_forget(pair.set, pair.ends[0]);
    close(pair.ends[0]);
    assert_int_equal(wait_now(events, &pair), 0);
    pair.ends[0] = copy;
    close_pair(&pair);
}

static void test_closed_socket_is_refused(void **state) {
    (void)state;
    struct pair pair = open_pair();
    int closed = dup(pair.ends[0]);
    assert_true(closed >= 0);
    close(closed);
    assert_false(socket_events_watch(pair.set, closed, true, false));
    socket_events_close(-1);
    close_pair(&pair);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_is_waited_for_can_change),
        cmocka_unit_test(test_end_of_stream_is_read),
        cmocka_unit_test(test_forgotten_socket_is_silent),
        cmocka_unit_test(test_closed_socket_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
