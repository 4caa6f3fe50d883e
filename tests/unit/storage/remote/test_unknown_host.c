/* Hosts that cannot be looked up: those that do not exist, and a resolver that cannot be reached.
 * The resolver is a function of this test, also for libcurl, so no network is used. */
#define _GNU_SOURCE
#include <netdb.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "storage/remote/transfer.h" /* declares `fail`, which is a macro of cmocka */

#include <cmocka.h>

static atomic_int resolver_code;

/* In place of the C library's function. libcurl calls it in another thread. */
int getaddrinfo(const char *host, const char *service, const struct addrinfo *hints,
                struct addrinfo **found) {
    (void)host;
    (void)service;
    (void)hints;
    *found = NULL;
    return atomic_load(&resolver_code);
}

/* The error of a request to a host that is not found for this reason. */
static recmap_error read_with(int code, const char *timeout) {
    uint8_t byte;
    size_t failed;
    recmap_storage *storage;
    recmap_error error = RECMAP_ERROR_INIT;
    const struct transfer_request request = {
        .name = "http://store.invalid/a", .range = {.size = 1, .etag = ""}, .data = &byte};
    atomic_store(&resolver_code, code);
    assert_int_equal(recmap_storage_create(&storage, &error), RECMAP_OK);
    assert_int_equal(recmap_storage_set(storage, "timeout", timeout, &error), RECMAP_OK);
    assert_int_equal(transfer_run(&failed, storage, &request, 1, NULL, &error), RECMAP_IO);
    recmap_storage_release(storage);
    return error;
}

static void test_a_host_that_does_not_exist_is_given_up_early(void **state) {
    (void)state;
    const int codes[] = {EAI_NONAME, EAI_NODATA};
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) {
        recmap_error error = read_with(codes[i], "3600");
        assert_non_null(strstr(error.message, "after 2 attempts"));
        assert_non_null(strstr(error.message, "store.invalid"));
        assert_non_null(strstr(error.advice, "check the host"));
    }
}

static void test_a_resolver_that_fails_is_asked_until_timeout(void **state) {
    (void)state;
    recmap_error error = read_with(EAI_AGAIN, "1");
    assert_null(strstr(error.message, "after 2 attempts"));
    assert_non_null(strstr(error.advice, "timeout"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_host_that_does_not_exist_is_given_up_early),
        cmocka_unit_test(test_a_resolver_that_fails_is_asked_until_timeout),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
