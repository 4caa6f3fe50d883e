/* Transfers from a server that accepts connections, but never answers, and from hosts that are
 * never asked. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "net/hdfs.h"
#include "net/remote.h"
#include "net/transfer.h" /* declares `fail`, which is a macro of cmocka */

#include <cmocka.h>

static int listen_on_loopback(uint16_t *port) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(fd >= 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&address, size), 0);
    assert_int_equal(listen(fd, 4), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&address, &size), 0);
    *port = ntohs(address.sin_port);
    return fd;
}

static int stop_at_once(void *context) {
    (*(int *)context)++;
    return 1;
}

/* An interrupt without a function is that of a batch for which none was set. */
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
        .name = "webhdfs://169.254.1.2:9870/a", .range = {.size = 1, .etag = ""}, .data = &byte};
    return transfer_run(&failed, storage, &request, 1, NULL, error);
}

static recmap_status read_state(recmap_storage *storage, recmap_error *error) {
    struct file_stat stat;
    return hdfs_stat(&stat, storage, "webhdfs://169.254.1.2:9870/a", error);
}

static recmap_status list_blobs(recmap_storage *storage, recmap_error *error) {
    struct path_list list = PATH_LIST_INIT;
    recmap_status status = remote_list(&list, storage, "az://container/", any_name, error);
    path_list_deinit(&list);
    return status;
}

/* After a failure, no address with a token stays on the stack: neither that of the transfer nor
 * that of its caller. */
static void test_addresses_with_tokens_are_erased(void **state) {
    (void)state;
    static const struct {
        recmap_status (*call)(recmap_storage *storage, recmap_error *error);
        size_t address_count;
    } cases[] = {{read_object, 1}, {read_state, 2}, {list_blobs, 2}};
    recmap_storage *storage;
    recmap_error error = RECMAP_ERROR_INIT;
    assert_int_equal(recmap_storage_create(&storage, &error), RECMAP_OK);
    assert_int_equal(recmap_storage_set(storage, "delegation", "HIDDEN", &error), RECMAP_OK);
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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_interrupt_of_the_thread_is_asked),
        cmocka_unit_test(test_addresses_with_tokens_are_erased),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
