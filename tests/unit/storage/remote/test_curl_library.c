/* Loading libcurl at run time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "storage/remote/curl_library.h"

static void test_a_missing_library_is_reported(void **state) {
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
static void test_a_missing_function_is_reported(void **state) {
    (void)state;
    struct curl_library curl;
    recmap_error error = RECMAP_ERROR_INIT;
    assert_int_equal(curl_library_fill(&curl, "libm.so.6", &error), RECMAP_UNSUPPORTED);
    assert_non_null(error.message);
    assert_non_null(strstr(error.advice, "7.74 or later"));
}

static void test_the_library_is_loaded_once(void **state) {
    (void)state;
    recmap_error error = RECMAP_ERROR_INIT;
    assert_int_equal(curl_library_load(&error), RECMAP_OK);
    assert_int_equal(curl_library_load(&error), RECMAP_OK);
    void (*const functions[])(void) = {
        (void (*)(void))libcurl.easy_init,
        (void (*)(void))libcurl.easy_cleanup,
        (void (*)(void))libcurl.multi_socket_action,
        (void (*)(void))libcurl.slist_free_all,
    };
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) assert_non_null(functions[i]);
    CURL *easy = libcurl.easy_init();
    assert_non_null(easy);
    assert_int_equal(libcurl.easy_setopt(easy, CURLOPT_NOSIGNAL, 1L), CURLE_OK);
    libcurl.easy_cleanup(easy);
}

static curl_version_info_data fake_info;
static CURLcode init_result;

static curl_version_info_data *fake_version_info(CURLversion version) {
    (void)version;
    return &fake_info;
}

static CURLcode fake_global_init(long flags) {
    (void)flags;
    return init_result;
}

static recmap_status start(const char *version, unsigned number, CURLcode result,
                           recmap_error *error) {
    assert_int_equal(curl_library_load(error), RECMAP_OK);
    struct curl_library curl = libcurl;
    fake_info = (curl_version_info_data){.version = version, .version_num = number};
    init_result = result;
    curl.version_info = fake_version_info;
    curl.global_init = fake_global_init;
    return curl_library_start(&curl, error);
}

static void test_old_versions_of_libcurl_are_refused(void **state) {
    (void)state;
    recmap_error error = RECMAP_ERROR_INIT;
    assert_int_equal(start("7.74.0", 0x074a00, CURLE_OK, &error), RECMAP_OK);
    assert_int_equal(start("7.73.0", 0x074900, CURLE_OK, &error), RECMAP_UNSUPPORTED);
    assert_string_equal(error.message, "libcurl 7.73.0 is too old to read shards by URL");
    assert_non_null(strstr(error.advice, "install libcurl 7.74"));
    assert_int_equal(start("8.0.0", 0x080000, CURLE_FAILED_INIT, &error), RECMAP_UNSUPPORTED);
    assert_non_null(strstr(error.message, "libcurl cannot be initialized: "));
    assert_non_null(strstr(error.advice, "TLS library"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_missing_library_is_reported),
        cmocka_unit_test(test_a_missing_function_is_reported),
        cmocka_unit_test(test_the_library_is_loaded_once),
        cmocka_unit_test(test_old_versions_of_libcurl_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
