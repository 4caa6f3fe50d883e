/* Transfers from a server that accepts connections, but never answers, from one that is overloaded,
 * from hosts that are never asked, and with a libcurl that raises SIGPIPE. */
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

#include "storage/remote/curl_library.h"
#include "storage/remote/remote.h"
#include "storage/remote/transfer.h" /* declares `fail`, which is a macro of cmocka */
#include "support/broken_pipe.h"

#include <cmocka.h>

static int listen_on_loopback(uint16_t *port) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(fd >= 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&address, size), 0);
    assert_int_equal(listen(fd, 64), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&address, &size), 0);
    *port = ntohs(address.sin_port);
    return fd;
}

static int stop_at_once(void *context) {
    (*(int *)context)++;
    return 1;
}

/* A batch for which no interrupt was set has an interrupt without a function. */
static void test_the_interrupt_of_the_thread_is_asked(void **state) {
    (void)state;
    uint16_t port;
    char name[64];
    uint8_t byte;
    size_t failed;
    int asked_count = 0, fd = listen_on_loopback(&port);
    struct interrupt unset = {0};
    struct interrupt *const interrupts[] = {NULL, &unset};
    snprintf(name, sizeof name, "http://127.0.0.1:%u/a", (unsigned)port);
    struct transfer_request request = {
        .name = name, .range = {.size = 1, .etag = ""}, .data = &byte};
    recmap_thread_set_interrupt(stop_at_once, &asked_count);
    for (int i = 0; i < 2; i++) {
        recmap_storage *storage;
        recmap_error error = RECMAP_ERROR_INIT;
        assert_int_equal(recmap_storage_create(&storage, &error), RECMAP_OK);
        assert_int_equal(transfer_run(&failed, storage, &request, 1, interrupts[i], &error),
                         RECMAP_CANCELLED);
        assert_int_equal(asked_count, i + 1);
        recmap_storage_release(storage);
    }
    recmap_thread_set_interrupt(NULL, NULL);
    close(fd);
}

/* How many addresses with a token were erased. */
static size_t erased_count;

static bool has_text(const void *bytes, size_t size, const char *text) {
    return memmem(bytes, size, text, strlen(text)) != NULL;
}

/* In place of the C library's function, to see what is erased. The pointers are volatile, because
 * compilers know that the function reads nothing, and that memory on the stack is not read again.
 */
void explicit_bzero(void *bytes, size_t size) {
    static void *(*const volatile fill)(void *, int, size_t) = memset;
    const char *volatile text = bytes;
    bool is_address = size > 7 && !memcmp(text, "http://", 7);
    if (is_address && has_text(text, size, "=HIDDEN")) erased_count++;
    fill(bytes, 0, size);
}

static bool any_name(const char *name) {
    (void)name;
    return true;
}

/* Link-local hosts are refused after the address was written. */
static recmap_status read_object(recmap_storage *storage, recmap_error *error) {
    uint8_t byte;
    size_t failed;
    struct transfer_request request = {
        .name = "az://container/a", .range = {.size = 1, .etag = ""}, .data = &byte};
    return transfer_run(&failed, storage, &request, 1, NULL, error);
}

static recmap_status list_blobs(recmap_storage *storage, recmap_error *error) {
    struct path_list list = PATH_LIST_INIT;
    recmap_status status = remote_list(&list, storage, "az://container/", any_name, error);
    path_list_deinit(&list);
    return status;
}

/* After a failure, no address with a token stays on the stack, neither in the transfer nor in its
 * caller. */
static void test_addresses_with_tokens_are_erased(void **state) {
    (void)state;
    static const struct {
        recmap_status (*call)(recmap_storage *storage, recmap_error *error);
        size_t address_count;
    } cases[] = {{read_object, 1}, {list_blobs, 2}};
    recmap_storage *storage;
    recmap_error error = RECMAP_ERROR_INIT;
    assert_int_equal(recmap_storage_create(&storage, &error), RECMAP_OK);
    assert_int_equal(recmap_storage_set(storage, "sas", "sig=HIDDEN", &error), RECMAP_OK);
    assert_int_equal(recmap_storage_set(storage, "endpoint", "http://169.254.1.2", &error),
                     RECMAP_OK);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        erased_count = 0;
        assert_int_equal(cases[i].call(storage, &error), RECMAP_IO);
        assert_non_null(strstr(error.message, "its host is a link-local address"));
        assert_int_equal(erased_count, cases[i].address_count);
    }
    recmap_storage_release(storage);
}

/* ---- A server that is overloaded. */

enum { WINDOW_FIRST = 32 };

struct overloaded {
    int fd;
    int round_count; /* of windows that are refused */
};

/* Accepts a connection, and reads the head of a request. Returns -1 if none arrives. */
static int accept_request(int listening) {
    char text[4096];
    size_t size = 0;
    int fd = accept(listening, NULL, NULL);
    while (fd >= 0 && !has_text(text, size, "\r\n\r\n")) {
        ssize_t part = read(fd, text + size, sizeof text - size);
        assert_true(part > 0);
        size += (size_t)part;
    }
    return fd;
}

static void answer(int fd, const char *reply) {
    if (fd < 0) return;
    assert_int_equal(write(fd, reply, strlen(reply)), strlen(reply));
    close(fd);
}

/* Refuses a window of requests, which are all in flight at once. */
static void refuse_window(int listening, int size) {
    int connections[WINDOW_FIRST];
    for (int i = 0; i < size; i++) connections[i] = accept_request(listening);
    for (int i = 0; i < size; i++)
        answer(connections[i], "HTTP/1.1 503 Slow Down\r\nContent-Length: 0\r\n"
                               "Connection: close\r\n\r\n");
}

static void *serve(void *context) {
    const struct overloaded *server = context;
    for (int i = 0; i < server->round_count; i++) refuse_window(server->fd, WINDOW_FIRST >> i);
    for (int i = 0; i < WINDOW_FIRST; i++)
        answer(accept_request(server->fd),
               "HTTP/1.1 206 Partial Content\r\nContent-Range: bytes 0-0/1\r\n"
               "Content-Length: 1\r\nConnection: close\r\n\r\nx");
    return NULL;
}

static recmap_status read_bytes(recmap_storage *storage, const char *name, recmap_error *error) {
    uint8_t bytes[WINDOW_FIRST];
    size_t failed;
    struct transfer_request requests[WINDOW_FIRST];
    for (int i = 0; i < WINDOW_FIRST; i++)
        requests[i] = (struct transfer_request){
            .name = name,
            .range = {.size = 1, .object_size = 1, .etag = "", .modified = REPLY_NO_TIME},
            .data = &bytes[i]};
    return transfer_run(&failed, storage, requests, WINDOW_FIRST, NULL, error);
}

/* The size of the window after some windows of requests were refused. */
static unsigned window_after(int round_count) {
    uint16_t port;
    char name[64];
    pthread_t thread;
    recmap_storage *storage;
    recmap_error error = RECMAP_ERROR_INIT;
    const struct timeval limit = {.tv_sec = 10};
    struct overloaded server = {listen_on_loopback(&port), round_count};
    assert_int_equal(setsockopt(server.fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit), 0);
    snprintf(name, sizeof name, "http://127.0.0.1:%u/a", (unsigned)port);
    assert_int_equal(recmap_storage_create(&storage, &error), RECMAP_OK);
    assert_int_equal(window_size(&storage->window), WINDOW_FIRST);
    assert_int_equal(pthread_create(&thread, NULL, serve, &server), 0);
    assert_int_equal(read_bytes(storage, name, &error), RECMAP_OK);
    pthread_join(thread, NULL);
    unsigned size = window_size(&storage->window);
    recmap_storage_release(storage);
    close(server.fd);
    return size;
}

/* The good replies that follow make the window a little larger, but not twice as large. */
static void test_an_overloaded_server_halves_the_window_once_per_round_trip(void **state) {
    (void)state;
    assert_in_range(window_after(1), WINDOW_FIRST / 2, WINDOW_FIRST - 1);
    assert_in_range(window_after(2), WINDOW_FIRST / 4, WINDOW_FIRST / 2 - 1);
}

/* ---- A libcurl whose connections are broken whenever it writes. */

static struct curl_library usual;
static int write_count;

static void write_to_broken_pipe(void) {
    broken_pipe_write();
    write_count++;
}

static CURLMcode act(CURLM *curl, curl_socket_t socket, int events, int *running) {
    write_to_broken_pipe();
    return usual.multi_socket_action(curl, socket, events, running);
}

static CURLMcode remove_handle(CURLM *curl, CURL *easy) {
    write_to_broken_pipe();
    return usual.multi_remove_handle(curl, easy);
}

static CURLMcode clean_up(CURLM *curl) {
    write_to_broken_pipe();
    return usual.multi_cleanup(curl);
}

/* As OpenSSL does under libcurl before 7.88. */
static void test_broken_connections_raise_no_signal(void **state) {
    (void)state;
    assert_int_equal(curl_library_load(NULL), RECMAP_OK);
    usual = libcurl;
    libcurl.multi_socket_action = act;
    libcurl.multi_remove_handle = remove_handle;
    libcurl.multi_cleanup = clean_up;
    broken_pipe_count_signals();
    window_after(0);
    broken_pipe_stop_counting();
    libcurl = usual;
    assert_true(write_count > WINDOW_FIRST);
    assert_int_equal(broken_pipe_signal_count(), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_interrupt_of_the_thread_is_asked),
        cmocka_unit_test(test_addresses_with_tokens_are_erased),
        cmocka_unit_test(test_an_overloaded_server_halves_the_window_once_per_round_trip),
        cmocka_unit_test(test_broken_connections_raise_no_signal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
