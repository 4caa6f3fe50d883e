/* The copy past the caches is a copy: every size, wherever source and target begin, and nothing
 * outside. */
#include "parse/columns/bulk_copy.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "unit/parse/example/random_example.h"

enum { LIMIT = 70000, GUARD = 64 };

static void check(const uint8_t *bytes, size_t source, size_t target, size_t size) {
    static uint8_t made[LIMIT + 3 * GUARD], wanted[LIMIT + 3 * GUARD];
    uint8_t *exact = copy_exact(bytes + source, size);
    memset(made, 0x55, sizeof made);
    memset(wanted, 0x55, sizeof wanted);
    memcpy(wanted + GUARD + target, exact, size);
    bulk_copy(made + GUARD + target, exact, size);
    bulk_copy_end();
    assert_memory_equal(made, wanted, size + target + 2 * GUARD);
    free(exact);
}

static void test_every_size_and_place(void **state) {
    (void)state;
    static uint8_t bytes[LIMIT + GUARD];
    struct random_state random = {1};
    for (size_t i = 0; i < sizeof bytes; i++) bytes[i] = (uint8_t)random_next(&random);
    for (size_t size = 0; size <= 700; size++)
        for (size_t to = 0; to < GUARD; to += 1 + draw_below(&random, 5))
            check(bytes, draw_below(&random, GUARD), to, size);
    for (int i = 0; i < 300; i++)
        check(bytes, draw_below(&random, GUARD), draw_below(&random, GUARD),
              draw_below(&random, LIMIT));
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_every_size_and_place)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
