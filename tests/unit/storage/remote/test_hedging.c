/* Requests that are sent a second time because the first answer is late. The server decides which
 * of two requests it answers, and in which order. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "storage/remote/transfer.h" /* declares `fail`, which is a macro of cmocka */
#include "storage/remote/transfer_hedge.h"

#include <cmocka.h>

#define MS 1000000ull

static int listen_on_loopback(uint16_t *port) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    const struct timeval limit = {.tv_sec = 20};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(fd >= 0);
    assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit), 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&address, size), 0);
    assert_int_equal(listen(fd, 64), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&address, &size), 0);
    *port = ntohs(address.sin_port);
    return fd;
}

/* Accepts a connection, and reads the head of a request. */
static int accept_request(int listening) {
    char text[4096];
    size_t size = 0;
    int fd = accept(listening, NULL, NULL);
    while (fd >= 0 && !memmem(text, size, "\r\n\r\n", 4)) {
        ssize_t part = read(fd, text + size, sizeof text - size);
        if (part <= 0) break;
        size += (size_t)part;
    }
    return fd;
}

/* The client may have closed the connection. */
static void send_text(int fd, const char *text) {
    (void)!send(fd, text, strlen(text), MSG_NOSIGNAL);
}

static void send_head(int fd) {
    send_text(fd, "HTTP/1.1 206 Partial Content\r\nContent-Range: bytes 0-1/2\r\n"
                  "Content-Length: 2\r\nConnection: close\r\n\r\n");
}

static void answer(int fd, const char *body) {
    send_head(fd);
    send_text(fd, body);
    close(fd);
}

static void refuse(int fd) {
    send_text(fd, "HTTP/1.1 503 Slow Down\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
    close(fd);
}

/* ---- What the server does with the first request and with the second one. */

/* Returns when the client has dropped the request. An answer before that could still be the first
 * one that the client sees. */
static void wait_for_drop(int fd) {
    char byte;
    (void)!recv(fd, &byte, 1, 0);
}

static void answer_the_second(int first, int second, int listening) {
    (void)listening;
    answer(second, "22");
    wait_for_drop(first);
    answer(first, "11");
}

static void answer_the_first(int first, int second, int listening) {
    (void)listening;
    answer(first, "11");
    wait_for_drop(second);
    answer(second, "22");
}

static void refuse_the_second(int first, int second, int listening) {
    (void)listening;
    refuse(second);
    answer(first, "11");
}

static void reset_the_first(int first, int second, int listening) {
    (void)listening;
    close(first);
    answer(second, "22");
}

static void fail_both(int first, int second, int listening) {
    close(first);
    refuse(second);
    answer(accept_request(listening), "33");
}

/* The first answer arrives as a whole in the middle of the second one. */
static void interleave(int first, int second, int listening) {
    (void)listening;
    send_head(second);
    send_text(second, "2");
    wait_for_drop(first);
    answer(first, "11");
    send_text(second, "2");
    close(second);
}

/* The second answer breaks off after it has won. The rest is requested once more. */
static void break_the_second(int first, int second, int listening) {
    send_head(second);
    send_text(second, "2");
    wait_for_drop(first);
    close(second);
    answer(first, "11");
    answer(accept_request(listening), "33");
}

struct server {
    int fd;
    void (*act)(int first, int second, int listening);
};

static void *serve(void *context) {
    const struct server *server = context;
    int first = accept_request(server->fd);
    server->act(first, accept_request(server->fd), server->fd);
    return NULL;
}

/* As after many requests that were answered within a millisecond. */
static recmap_storage *create_storage(void) {
    recmap_storage *storage;
    const struct answer_times times = {.size = 2, .first_ns = MS, .last_ns = MS};
    assert_int_equal(recmap_storage_create(&storage, NULL), RECMAP_OK);
    for (size_t i = 0; i < HEDGE_SAMPLES; i++) {
        storage_count_request(storage, REQUEST_FIRST);
        storage_note_answer(storage, &times);
    }
    return storage;
}

/* Reads an object of two bytes, and compares them, and how often a request was repeated. */
static void check(void (*act)(int, int, int), const char *expected, uint64_t retry_count) {
    uint16_t port;
    char name[64], bytes[3] = "";
    size_t failed;
    pthread_t thread;
    recmap_error error = RECMAP_ERROR_INIT;
    struct server server = {listen_on_loopback(&port), act};
    recmap_storage *storage = create_storage();
    snprintf(name, sizeof name, "http://127.0.0.1:%u/a", (unsigned)port);
    const struct transfer_request request = {
        .name = name,
        .range = {.size = 2, .object_size = 2, .etag = "", .modified = REPLY_NO_TIME},
        .data = (uint8_t *)bytes};
    assert_int_equal(pthread_create(&thread, NULL, serve, &server), 0);
    recmap_status status = transfer_run(&failed, storage, &request, 1, NULL, &error);
    pthread_join(thread, NULL);
    if (status != RECMAP_OK) print_message("%s\n", error.message);
    assert_int_equal(status, RECMAP_OK);
    assert_string_equal(bytes, expected);
    assert_int_equal(storage->figures.hedge_count, 1);
    assert_int_equal(storage->figures.retry_count, retry_count);
    assert_int_equal(storage->figures.request_count, HEDGE_SAMPLES + 2 + retry_count);
    recmap_storage_release(storage);
    close(server.fd);
}

static void test_the_first_of_two_answers_is_used(void **state) {
    (void)state;
    check(answer_the_second, "22", 0);
    check(answer_the_first, "11", 0);
}

static void test_if_one_of_two_requests_fails_the_other_is_used(void **state) {
    (void)state;
    check(refuse_the_second, "11", 0);
    check(reset_the_first, "22", 0);
}

static void test_if_both_fail_the_request_is_repeated_and_not_hedged_again(void **state) {
    (void)state;
    check(fail_both, "33", 1);
}

static void test_a_late_answer_changes_no_byte(void **state) {
    (void)state;
    check(interleave, "22", 0);
}

static void test_an_answer_that_breaks_off_after_it_has_won_is_repeated(void **state) {
    (void)state;
    check(break_the_second, "33", 1);
}

/* ---- When. */

static void test_hedging_needs_many_samples(void **state) {
    (void)state;
    recmap_storage *storage;
    const struct answer_times times = {.first_ns = 40 * MS, .last_ns = 40 * MS};
    assert_int_equal(recmap_storage_create(&storage, NULL), RECMAP_OK);
    for (size_t i = 0; i < 10 * HEDGE_SAMPLES; i++) storage_count_request(storage, REQUEST_FIRST);
    for (size_t i = 0; i < HEDGE_SAMPLES; i++) {
        assert_true(hedge_delay_ns(storage) == UINT64_MAX);
        storage_note_answer(storage, &times);
    }
    assert_in_range(hedge_delay_ns(storage), 40 * MS, 45 * MS);
    recmap_storage_release(storage);
}

static void test_answers_of_a_store_nearby_are_waited_for(void **state) {
    (void)state;
    recmap_storage *storage = create_storage();
    assert_int_equal(hedge_delay_ns(storage), HEDGE_MIN_MS * MS);
    recmap_storage_release(storage);
}

static void test_only_a_small_share_of_the_requests_is_hedged(void **state) {
    (void)state;
    recmap_storage *storage = create_storage();
    size_t hedge_count = 0;
    for (size_t i = 0; i < 10000; i++) {
        bool is_hedged = hedge_delay_ns(storage) != UINT64_MAX;
        storage_count_request(storage, is_hedged ? REQUEST_HEDGED : REQUEST_FIRST);
        hedge_count += is_hedged;
    }
    const size_t share = (size_t)storage->figures.request_count / HEDGE_SHARE;
    assert_in_range(hedge_count, share - 1, share);
    recmap_storage_release(storage);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_first_of_two_answers_is_used),
        cmocka_unit_test(test_if_one_of_two_requests_fails_the_other_is_used),
        cmocka_unit_test(test_if_both_fail_the_request_is_repeated_and_not_hedged_again),
        cmocka_unit_test(test_a_late_answer_changes_no_byte),
        cmocka_unit_test(test_an_answer_that_breaks_off_after_it_has_won_is_repeated),
        cmocka_unit_test(test_hedging_needs_many_samples),
        cmocka_unit_test(test_answers_of_a_store_nearby_are_waited_for),
        cmocka_unit_test(test_only_a_small_share_of_the_requests_is_hedged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
