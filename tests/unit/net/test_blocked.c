/* Addresses that are not connected to, in all their forms, and their neighbours, which are. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <arpa/inet.h>
#include <cmocka.h>
#include <netinet/in.h>

#include "net/blocked.h"

static bool is_blocked(const char *text) {
    struct sockaddr_in v4 = {.sin_family = AF_INET};
    struct sockaddr_in6 v6 = {.sin6_family = AF_INET6};
    if (inet_pton(AF_INET, text, &v4.sin_addr) == 1)
        return address_is_blocked((const struct sockaddr *)&v4);
    assert_int_equal(inet_pton(AF_INET6, text, &v6.sin6_addr), 1);
    return address_is_blocked((const struct sockaddr *)&v6);
}

static void test_link_local(void **state) {
    (void)state;
    assert_true(is_blocked("169.254.0.0"));
    assert_true(is_blocked("169.254.169.254"));
    assert_false(is_blocked("169.253.255.255"));
    assert_false(is_blocked("169.255.0.0"));
    assert_false(is_blocked("127.0.0.1"));
    assert_true(is_blocked("fe80::1"));
    assert_true(is_blocked("febf::1"));
    assert_false(is_blocked("fec0::1"));
    assert_false(is_blocked("::1"));
}

static void test_link_local_within_other_addresses(void **state) {
    (void)state;
    assert_true(is_blocked("::ffff:169.254.169.254"));
    assert_false(is_blocked("::ffff:169.253.169.254"));
    assert_true(is_blocked("64:ff9b::169.254.169.254"));
    assert_false(is_blocked("64:ff9b::8.8.8.8"));
    assert_false(is_blocked("2001:db8::169.254.169.254"));
}

static void test_metadata_service(void **state) {
    (void)state;
    assert_true(is_blocked("fd00:ec2::254"));
    assert_false(is_blocked("fd00:ec2::255"));
    assert_false(is_blocked("fd00:ec3::254"));
}

static void test_other_families(void **state) {
    (void)state;
    struct sockaddr other = {.sa_family = AF_UNIX};
    assert_false(address_is_blocked(&other));
}

static void test_hosts(void **state) {
    (void)state;
    assert_true(host_is_blocked("169.254.169.254"));
    assert_true(host_is_blocked("169.254.169.254:80/x"));
    assert_true(host_is_blocked("0xa9fea9fe/x"));
    assert_true(host_is_blocked("[fe80::1]:80/x"));
    assert_false(host_is_blocked("127.0.0.1/169.254.169.254"));
    assert_false(host_is_blocked("169.254.169.254.example.org"));
    assert_false(host_is_blocked("example.org"));
    assert_false(host_is_blocked(""));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_link_local),
        cmocka_unit_test(test_link_local_within_other_addresses),
        cmocka_unit_test(test_metadata_service),
        cmocka_unit_test(test_other_families),
        cmocka_unit_test(test_hosts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
