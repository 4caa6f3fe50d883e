/* Protocols and redirects that are not followed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "storage/remote/redirect.h"

/* For the leak sanitizer, whose library calls it: libcurl 7.88 leaks when it converts an
 * international host. */
__attribute__((visibility("default"))) const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void) {
    return "leak:libcurl.so";
}

static bool is_blocked(const char *line) {
    recmap_error error = RECMAP_ERROR_INIT;
    assert_int_equal(curl_library_load(&error), RECMAP_OK);
    CURL *easy = libcurl.easy_init();
    assert_int_equal(libcurl.easy_setopt(easy, CURLOPT_URL, "https://host/a/b"), CURLE_OK);
    bool result = redirect_is_blocked(easy, line, strlen(line));
    libcurl.easy_cleanup(easy);
    return result;
}

static void test_targets_of_redirects_are_checked(void **state) {
    (void)state;
    static const char *const followed[] = {"Location: https://host.example/a\r\n",
                                           "location:c?d=e\r\n",
                                           "Location: /c\r\n",
                                           "Location: //127.0.0.1/\r\n",
                                           "Location: http://[::1]:80/\r\n",
                                           "Location: \\\\169.254.169.254\\\r\n", /* a path */
                                           "Location: http://xn--bcher-kva.example/\r\n",
                                           "Location:\r\n",
                                           "Content-Location: http://169.254.1.1/\r\n",
                                           "Location",
                                           "",
                                           "ETag: \"http://169.254.169.254/\"\r\n"};
    static const char *const refused[] = {"Location: http://169.254.169.254/a\r\n",
                                          "location:\t//169.254.169.254\r\n",
                                          "LOCATION:http://user:word@169.254.169.254:80/\r\n",
                                          "Location: http://2852039166/",
                                          "Location: http://0xa9fea9fe/a\r\n",
                                          "Location: http://[fe80::1]/\r\n",
                                          "Location: http://[::ffff:169.254.169.254]:80/\r\n",
                                          "Location: http:/169.254.169.254/a\r\n",
                                          "Location: http://025177524776/\r\n",
                                          "Location: http://0251.0376.0251.0376/\r\n",
                                          "Location: http://169.16689918/\r\n",
                                          "Location: http://169.254.169.254./\r\n",
                                          "Location: http://169.254.169.254../\r\n",
                                          "Location: http://2852039166./\r\n",
                                          "Location: http://%31%36%39.254.169.254/\r\n",
                                          "Location: http://169%2e254%2e169%2e254/\r\n",
                                          "Location: http://１６９.２５４.１６９.２５４/\r\n",
                                          "Location: http://①⑥⑨.254.169.254/\r\n",
                                          "Location: http://２８５２０３９１６６/\r\n",
                                          "Location: http://０ｘａ９ｆｅａ９ｆｅ/\r\n",
                                          "Location: http://169。254。169。254/\r\n",
                                          "Location: http://169．254．169．254/\r\n",
                                          "Location: http://169｡254｡169｡254/\r\n",
                                          "Location: http://169.254.169\u00ad.254/\r\n",
                                          "Location: http://169.254.169.254\u200b/\r\n",
                                          "Location: http://169.254.169.254。/\r\n",
                                          "Location: http://[fe80::1%25eth0]/\r\n",
                                          "Location: http://[::ffff:a9fe:a9fe]/\r\n",
                                          "Location: http://[::a9fe:a9fe]/\r\n",
                                          "Location: http://[64:ff9b::a9fe:a9fe]/\r\n",
                                          "Location: http://[2002:a9fe:a9fe::]/\r\n",
                                          "Location: http:\\\\169.254.169.254/\r\n",
                                          "Location: http://\xff.example/\r\n",
                                          "Location: http://[/\r\n"};
    for (size_t i = 0; i < sizeof followed / sizeof *followed; i++)
        if (is_blocked(followed[i])) fail_msg("refused: %s", followed[i]);
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        if (!is_blocked(refused[i])) fail_msg("followed: %s", refused[i]);
}

/* ---- A libcurl that may be older than its headers. */

static CURLcode (*set_option)(CURL *easy, CURLoption option, ...);
static unsigned set_count;
static long protocols, redirect_protocols;

/* The options with texts are those that libcurl 7.85 added. */
static CURLcode set_old_option(CURL *easy, CURLoption option, ...) {
    va_list arguments;
    set_count++;
    if ((int)option >= CURLOPTTYPE_OBJECTPOINT) return CURLE_UNKNOWN_OPTION;
    va_start(arguments, option);
    long value = va_arg(arguments, long);
    va_end(arguments);
    *(set_count == 1 ? &protocols : &redirect_protocols) = value;
    return set_option(easy, option, value);
}

static void test_an_old_libcurl_is_limited_too(void **state) {
    (void)state;
    recmap_error error = RECMAP_ERROR_INIT;
    assert_int_equal(curl_library_load(&error), RECMAP_OK);
    CURL *easy = libcurl.easy_init();
    set_option = libcurl.easy_setopt;
    libcurl.easy_setopt = set_old_option;
    redirect_limit_protocols(easy, true);
    assert_int_equal(protocols, CURLPROTO_HTTP | CURLPROTO_HTTPS);
    assert_int_equal(redirect_protocols, CURLPROTO_HTTPS);
    set_count = 0;
    redirect_limit_protocols(easy, false);
    assert_int_equal(redirect_protocols, CURLPROTO_HTTP | CURLPROTO_HTTPS);
    libcurl.easy_setopt = set_option;
    libcurl.easy_cleanup(easy);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_targets_of_redirects_are_checked),
        cmocka_unit_test(test_an_old_libcurl_is_limited_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
