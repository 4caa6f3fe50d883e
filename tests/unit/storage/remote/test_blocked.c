/* Addresses that are not connected to, in all their forms, and their neighbours, which are. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <arpa/inet.h>
#include <cmocka.h>
#include <netinet/in.h>

#include "storage/remote/blocked.h"

static bool is_blocked(const char *text) {
    struct sockaddr_in v4 = {.sin_family = AF_INET};
    struct sockaddr_in6 v6 = {.sin6_family = AF_INET6};
    if (inet_pton(AF_INET, text, &v4.sin_addr) == 1)
        return address_is_blocked((const struct sockaddr *)&v4);
    assert_int_equal(inet_pton(AF_INET6, text, &v6.sin6_addr), 1);
    return address_is_blocked((const struct sockaddr *)&v6);
}

static void test_link_local_addresses_are_blocked(void **state) {
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
    assert_true(is_blocked("::169.254.169.254"));
    assert_true(is_blocked("::ffff:0:169.254.169.254"));
    assert_true(is_blocked("64:ff9b:1::169.254.169.254"));
    assert_true(is_blocked("64:ff9b:1:a9fe:a9:fe00::"));
    assert_true(is_blocked("64:ff9b:1:1a9:fe:a9fe::"));
    assert_true(is_blocked("64:ff9b:1:2:a9:fea9:fe00:0"));
    assert_false(is_blocked("64:ff9b:1::8.8.8.8"));
    assert_true(is_blocked("2002:a9fe:a9fe::"));
    assert_true(is_blocked("2002:a9fe:a9fe:1:2:3:4:5"));
    assert_false(is_blocked("2002:a9fd:a9fe::"));
    assert_false(is_blocked("2003:a9fe:a9fe::"));
}

static void test_link_local_within_tunnel_addresses(void **state) {
    (void)state;
    /* Teredo inverts the bits of the IPv4 address. */
    assert_true(is_blocked("2001:0:808:808:8000:1234:5601:5601"));
    assert_true(is_blocked("2001::5601:5601"));
    assert_false(is_blocked("2001::a9fe:a9fe"));
    assert_false(is_blocked("2001::5602:5601"));
    assert_false(is_blocked("2001:1::5601:5601"));
    /* ISATAP, in any network. */
    assert_true(is_blocked("::5efe:169.254.169.254"));
    assert_true(is_blocked("2001:db8:1:2:0:5efe:a9fe:a9fe"));
    assert_true(is_blocked("2001:db8:1:2:200:5efe:169.254.169.254"));
    assert_true(is_blocked("fd00::200:5efe:a9fe:1"));
    assert_false(is_blocked("2001:db8:1:2:0:5efe:a9fd:a9fe"));
    assert_false(is_blocked("2001:db8:1:2:100:5efe:a9fe:a9fe"));
    assert_false(is_blocked("2001:db8:1:2:0:5eff:a9fe:a9fe"));
}

static void test_the_metadata_service_is_blocked(void **state) {
    (void)state;
    assert_true(is_blocked("fd00:ec2::254"));
    assert_false(is_blocked("fd00:ec2::255"));
    assert_false(is_blocked("fd00:ec3::254"));
}

static void test_other_families_are_not_blocked(void **state) {
    (void)state;
    struct sockaddr other = {.sa_family = AF_UNIX};
    assert_false(address_is_blocked(&other));
}

enum verdict { READ, LINK_LOCAL, NOT_PLAIN };

static void check_hosts(enum verdict expected, const char *const *hosts, size_t count) {
    for (size_t i = 0; i < count; i++) {
        const char *reason = host_refusal(hosts[i]);
        enum verdict verdict = !reason                                ? READ
                               : strstr(reason, "link-local") != NULL ? LINK_LOCAL
                                                                      : NOT_PLAIN;
        if (verdict != expected) fail_msg("%s: %s", hosts[i], reason ? reason : "read");
    }
}

#define CHECK_HOSTS(expected, ...)                                                                 \
    do {                                                                                           \
        static const char *const hosts[] = {__VA_ARGS__};                                          \
        check_hosts(expected, hosts, sizeof hosts / sizeof *hosts);                                \
    } while (0)

static void test_hosts_that_are_read(void **state) {
    (void)state;
    CHECK_HOSTS(READ, "127.0.0.1/169.254.169.254", "10.0.0.7:9000", "169.254.169.254.example.org",
                "example.org", "example.org.", "a_b-c.example:80?x", "localhost", "node7",
                "s3.us-east-1.amazonaws.com", "a9fea9fe", "0xyz", "1password", "xn--bcher-kva.de",
                "[::1]", "[::1]:80/x", "[fd00::7]/", "[::ffff:10.0.0.7]", "[64:ff9b::8.8.8.8]");
}

static void test_link_local_hosts(void **state) {
    (void)state;
    CHECK_HOSTS(LINK_LOCAL, "169.254.169.254", "169.254.169.254:80/x", "169.254.0.1?x",
                "[fe80::1]:80/x", "[FE80::1]", "[::ffff:169.254.169.254]", "[::ffff:a9fe:a9fe]",
                "[0:0:0:0:0:FFFF:A9FE:A9FE]", "[::169.254.169.254]", "[::a9fe:a9fe]",
                "[64:ff9b::a9fe:a9fe]", "[64:ff9b:1::a9fe:a9fe]", "[2002:a9fe:a9fe::1]",
                "[2001::5601:5601]:80/x", "[2001:db8::200:5efe:a9fe:a9fe]", "[fd00:ec2::254]");
}

/* Spellings of 169.254.169.254, of addresses that other readers take for it, and what is no host.
 */
static void test_hosts_in_other_notations(void **state) {
    (void)state;
    CHECK_HOSTS(NOT_PLAIN, "2852039166", "0xa9fea9fe/x", "0XA9FEA9FE", "025177524776",
                "0xa9.0xfe.0xa9.0xfe", "0251.0376.0251.0376", "169.16689918", "169.254.43518",
                "169.0254.169.254", "0169.254.169.254", "00000251.254.169.254", "7147006462",
                "169.254.169.254.", "169.254.169.254..", "2852039166.", "169.254.169.0xfe.",
                "169.254.169.510", "169.254.169.254.0", "1.169.254.169.254", "0x", "127.1", ".",
                "..", "169.254.169.254%00.example.org", "%31%36%39.254.169.254",
                "169。254。169。254", "169.254.169.254。", "１６９.２５４.１６９.２５４",
                "169.254.169\u00ad.254", "169.254.169.254 ", "169.254.169.254\t",
                "169.254.169.254\\x", "u@169.254.169.254", "[fe80::1%25eth0]", "[fe80::1%eth0]",
                "[::ffff:169.254.43518]", "[::ffff:0xa9.254.169.254]", "[169.254.169.254]",
                "[v1.a]", "[::1", "[]", "", "/x", ":80");
}

static void test_a_long_host(void **state) {
    (void)state;
    char host[300];
    memset(host, 'a', sizeof host);
    host[255] = 0;
    assert_null(host_refusal(host));
    host[255] = 'a';
    host[256] = 0;
    assert_non_null(host_refusal(host));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_link_local_addresses_are_blocked),
        cmocka_unit_test(test_link_local_within_other_addresses),
        cmocka_unit_test(test_link_local_within_tunnel_addresses),
        cmocka_unit_test(test_the_metadata_service_is_blocked),
        cmocka_unit_test(test_other_families_are_not_blocked),
        cmocka_unit_test(test_hosts_that_are_read),
        cmocka_unit_test(test_link_local_hosts),
        cmocka_unit_test(test_hosts_in_other_notations),
        cmocka_unit_test(test_a_long_host),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
