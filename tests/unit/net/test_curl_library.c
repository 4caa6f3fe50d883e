/* Loading libcurl at run time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "net/curl_library.h"

static void test_missing_library(void **state) {
    (void)state;
    struct curl_library curl;
    recmap_error error = RECMAP_ERROR_INIT;
    assert_int_equal(curl_library_fill(&curl, "libmissing-of-recmap.so.1", &error),
                     RECMAP_UNSUPPORTED);
    assert_string_equal(error.message, "shards are read by URL with libcurl, which is missing");
    assert_string_equal(error.path, "libmissing-of-recmap.so.1");
    assert_non_null(strstr(error.advice, "install libcurl"));
}

/* Any other library stands in for a libcurl that is too old. */
static void test_missing_function(void **state) {
    (void)state;
    struct curl_library curl;
    recmap_error error = RECMAP_ERROR_INIT;
    assert_int_equal(curl_library_fill(&curl, "libm.so.6", &error), RECMAP_UNSUPPORTED);
    assert_non_null(error.message);
    assert_non_null(strstr(error.advice, "7.74 or later"));
}

static void test_load(void **state) {
    (void)state;
    recmap_error error = RECMAP_ERROR_INIT;
    assert_int_equal(curl_library_load(&error), RECMAP_OK);
    assert_int_equal(curl_library_load(&error), RECMAP_OK);
    void (*const functions[])(void) = {
        (void (*)(void))libcurl.easy_init,
        (void (*)(void))libcurl.easy_cleanup,
        (void (*)(void))libcurl.multi_poll,
        (void (*)(void))libcurl.slist_free_all,
    };
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) assert_non_null(functions[i]);
    CURL *easy = libcurl.easy_init();
    assert_non_null(easy);
    assert_int_equal(libcurl.easy_setopt(easy, CURLOPT_NOSIGNAL, 1L), CURLE_OK);
    libcurl.easy_cleanup(easy);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_missing_library),
        cmocka_unit_test(test_missing_function),
        cmocka_unit_test(test_load),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
