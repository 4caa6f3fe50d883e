/* Where certificate authorities are looked for. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "storage/remote/certificates.h"

static void test_the_first_existing_file_is_found(void **state) {
    (void)state;
    char path[] = "/tmp/recmap-certificates-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    const char *const places[] = {"/nonexistent/a.pem", path, "/dev/null", NULL};
    assert_string_equal(certificates_find(places), path);
    assert_int_equal(unlink(path), 0);
    assert_string_equal(certificates_find(places), "/dev/null");
}

static void test_no_file_is_found(void **state) {
    (void)state;
    const char *const places[] = {"/nonexistent/a.pem", NULL};
    assert_null(certificates_find(places));
    assert_non_null(certificates_places[0]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_first_existing_file_is_found),
        cmocka_unit_test(test_no_file_is_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
