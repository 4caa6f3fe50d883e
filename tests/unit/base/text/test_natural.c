/* Natural order: what comes before what, and that it is an order. */
#include "base/text/natural.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

static int sign(int value) {
    return (value > 0) - (value < 0);
}

/* Every pair of a sorted list is compared both ways. */
static void test_names_in_order(void **state) {
    (void)state;
    static const char *const ordered[] = {
        "",
        "1",
        "2",
        "10",
        "010",
        "18446744073709551615",
        "18446744073709551616",
        "100000000000000000000000000000000000000000000",
        "part",
        "part-0",
        "part-00",
        "part-2",
        "part-2-1",
        "part-2.a",
        "part-02",
        "part-10",
        "part-10-2",
        "part-10-10",
        "part-a",
        "part.1",
        "part1",
        "part1x",
        "part2",
        "parts",
        "\xc3\xa9",
        "\xff",
    };
    for (size_t i = 0; i < COUNT(ordered); i++)
        for (size_t j = 0; j < COUNT(ordered); j++)
            if (sign(natural_compare(ordered[i], ordered[j])) != (i > j) - (i < j))
                fail_msg("'%s' against '%s'", ordered[i], ordered[j]);
}

static void make_name(char name[8], uint64_t *random) {
    static const char letters[] = "00123-9a";
    *random = *random * 6364136223846793005u + 1442695040888963407u;
    uint64_t bits = *random >> 32;
    size_t size = bits % 7;
    for (size_t i = 0; i < size; i++) name[i] = letters[(bits >> (3 + 3 * i)) % 8];
    name[size] = 0;
}

static void test_is_a_total_order(void **state) {
    (void)state;
    uint64_t random = 7;
    for (int round = 0; round < 200000; round++) {
        char a[8], b[8], c[8];
        make_name(a, &random);
        make_name(b, &random);
        make_name(c, &random);
        int ab = sign(natural_compare(a, b));
        assert_int_equal(ab, -sign(natural_compare(b, a)));
        assert_int_equal(ab == 0, strcmp(a, b) == 0);
        if (ab <= 0 && natural_compare(b, c) <= 0) assert_true(natural_compare(a, c) <= 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names_in_order),
        cmocka_unit_test(test_is_a_total_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
