/* Transfers from a server that accepts connections, but never answers. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_interrupt_of_the_thread_is_asked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
