/* Options of a storage, the requests made with them, and when requests are repeated. */
#define _GNU_SOURCE
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "storage/credentials/storage_options.h"
#include "storage/protocol/profile.h"
#include "storage/remote/address.h"
#include "storage/remote/retry.h"
#include "storage/remote/storage.h"

static struct storage_options options_of(const char *const *pairs) {
    struct storage_options options = {0};
    for (; pairs && *pairs; pairs += 2)
        assert_int_equal(storage_options_set(&options, pairs[0], pairs[1], NULL), RECMAP_OK);
    return options;
}

static void check_refused(const char *name, const char *value, const char *message,
                          const char *advice) {
    struct storage_options options = {0};
    recmap_error error = RECMAP_ERROR_INIT;
    assert_int_equal(storage_options_set(&options, name, value, &error), RECMAP_INVALID);
    assert_string_equal(error.message, message);
    if (advice) assert_string_equal(error.advice, advice);
}

static void test_values_of_options_are_checked(void **state) {
    (void)state;
    struct storage_options options = options_of(
        (const char *const[]){"anon", "True", "endpoint_url", "http://a", "timeout", "7", NULL});
    assert_true(storage_options_is_on(&options, OPTION_ANONYMOUS));
    assert_false(storage_options_is_on(&options, OPTION_REQUESTER_PAYS));
    assert_string_equal(storage_options_get(&options, OPTION_ENDPOINT), "http://a");
    assert_string_equal(storage_options_get(&options, OPTION_KEY), "");
    assert_int_equal(storage_options_timeout(&options), 7);
    storage_options_deinit(&options);
    check_refused("regoin", "x", "there is no storage option \"regoin\"", "did you mean 'region'?");
    check_refused("anonymous", "secret", "the storage option anonymous must be true or false",
                  NULL);
    check_refused("timeout", "0",
                  "the storage option timeout must be a number of seconds from 1 "
                  "to 86400",
                  NULL);
    static const char *const wrong_gaps[] = {"",   "-1",      "1k",
                                             " 1", "8388609", "99999999999999999999"};
    for (size_t i = 0; i < sizeof wrong_gaps / sizeof *wrong_gaps; i++)
        check_refused("gap", wrong_gaps[i],
                      "the storage option gap must be a number of bytes from 0 to 8388608", NULL);
    check_refused("addressing", "dns", "the storage option addressing must be path or virtual",
                  NULL);
    check_refused("sas", "sv=1 HTTP/1.1",
                  "the storage option sas must be ASCII text without spaces", NULL);
    check_refused("region", "eu/west",
                  "the storage option region must be letters, digits, dashes and underscores",
                  NULL);
    check_refused("key", "a\r\nX-Evil: b",
                  "the storage option key must be text without control characters", NULL);
}

static void test_the_gap_is_measured_unless_it_is_set(void **state) {
    (void)state;
    recmap_storage *storage;
    assert_int_equal(recmap_storage_create(&storage, NULL), RECMAP_OK);
    assert_int_equal(storage_gap(storage), GAP_DEFAULT);
    for (size_t i = 0; i < 2 * GAP_SAMPLES; i++) {
        const struct answer_times times = {
            .size = (i % 3) << 20, .last_ns = 1000000, .is_undisturbed = true};
        storage_note_answer(storage, &times);
    }
    assert_in_range(storage_gap(storage), GAP_DEFAULT + 1, GAP_MEASURED_MAX);
    assert_int_equal(recmap_storage_set(storage, "gap", "0", NULL), RECMAP_OK);
    assert_int_equal(storage_gap(storage), 0);
    assert_int_equal(recmap_storage_set(storage, "gap", "8388608", NULL), RECMAP_OK);
    assert_int_equal(storage_gap(storage), GAP_SET_MAX);
    recmap_storage_release(storage);
}

static void clear_environment(void) {
    static const char *const names[] = {
        "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_PROFILE",
        "AWS_REGION",        "AWS_DEFAULT_REGION",    "AWS_ENDPOINT_URL",  "AWS_ENDPOINT_URL_S3"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) unsetenv(names[i]);
    setenv("AWS_SHARED_CREDENTIALS_FILE", "/does/not/exist", 1);
    setenv("AWS_CONFIG_FILE", "/does/not/exist", 1);
}

static void test_options_override_the_environment(void **state) {
    (void)state;
    clear_environment();
    setenv("AWS_ACCESS_KEY_ID", "environment", 1);
    setenv("AWS_SECRET_ACCESS_KEY", "environment's", 1);
    setenv("AWS_REGION", "eu-central-1", 1);
    struct storage_options options = options_of(NULL);
    assert_int_equal(storage_options_complete(&options, NULL), RECMAP_OK);
    assert_string_equal(storage_options_get(&options, OPTION_AMAZON_KEY), "environment");
    assert_string_equal(storage_options_get(&options, OPTION_AMAZON_SECRET), "environment's");
    assert_string_equal(storage_options_get(&options, OPTION_KEY), "");
    assert_string_equal(storage_options_get(&options, OPTION_REGION), "eu-central-1");
    storage_options_deinit(&options);
    /* Explicit keys are never mixed with others. */
    setenv("AWS_SESSION_TOKEN", "other", 1);
    options = options_of((const char *const[]){"key", "mine", "secret", "mine too", NULL});
    assert_int_equal(storage_options_complete(&options, NULL), RECMAP_OK);
    assert_string_equal(storage_options_get(&options, OPTION_KEY), "mine");
    assert_string_equal(storage_options_get(&options, OPTION_SECRET), "mine too");
    assert_string_equal(storage_options_get(&options, OPTION_TOKEN), "");
    assert_string_equal(storage_options_get(&options, OPTION_AMAZON_KEY), "");
    assert_string_equal(storage_options_get(&options, OPTION_AMAZON_TOKEN), "");
    storage_options_deinit(&options);
    /* A profile that does not exist is an error, whatever else is set. */
    recmap_error error = RECMAP_ERROR_INIT;
    options = options_of((const char *const[]){"profile", "nobody", NULL});
    assert_int_equal(storage_options_complete(&options, &error), RECMAP_INVALID);
    assert_string_equal(error.message, "there is no profile \"nobody\" in ~/.aws/credentials or "
                                       "~/.aws/config");
    storage_options_deinit(&options);
    setenv("AWS_REGION", "eu/west", 1);
    options = options_of(NULL);
    assert_int_equal(storage_options_complete(&options, &error), RECMAP_INVALID);
    assert_string_equal(error.message, "the environment variable AWS_REGION must be letters, "
                                       "digits, dashes and underscores");
    storage_options_deinit(&options);
    clear_environment();
}

/* The tools of AWS may have left the name of a profile that this machine lacks. */
static void test_the_profile_of_the_environment_concerns_amazon_only(void **state) {
    (void)state;
    struct url url;
    struct address address;
    struct authorization *authorization = malloc(sizeof *authorization);
    recmap_error error = RECMAP_ERROR_INIT;
    assert_non_null(authorization);
    clear_environment();
    setenv("AWS_PROFILE", "nobody", 1);
    struct storage_options options = options_of(NULL);
    assert_int_equal(storage_options_complete(&options, &error), RECMAP_OK);
    for (size_t i = 0; i < 2; i++) {
        assert_null(url_parse(&url, i ? "https://host/a" : "s3://bucket/a"));
        assert_int_equal(address_of_object(&address, &options, &url, &error), RECMAP_OK);
        assert_int_equal(address_authorize(authorization, &address, &options, NULL, 0, &error),
                         i ? RECMAP_OK : RECMAP_INVALID);
        assert_string_equal(error.message,
                            "no credentials are configured: there is no profile \"nobody\" with "
                            "keys or credential_process in ~/.aws");
    }
    storage_options_deinit(&options);
    setenv("AWS_ACCESS_KEY_ID", "whose secret is missing", 1);
    options = options_of(NULL);
    assert_int_equal(storage_options_complete(&options, &error), RECMAP_OK);
    assert_null(url_parse(&url, "s3://bucket/a"));
    assert_int_equal(address_of_object(&address, &options, &url, &error), RECMAP_OK);
    assert_int_equal(address_authorize(authorization, &address, &options, NULL, 0, &error),
                     RECMAP_INVALID);
    assert_string_equal(error.message, "no credentials are configured");
    free(authorization);
    storage_options_deinit(&options);
    clear_environment();
}

/* As a token that was copied with its quotes. */
static void test_the_environment_of_azure_concerns_azure_only(void **state) {
    (void)state;
    struct url url;
    struct address address;
    recmap_error error = RECMAP_ERROR_INIT;
    clear_environment();
    setenv("AZURE_STORAGE_ACCOUNT", "account", 1);
    setenv("AZURE_STORAGE_SAS_TOKEN", "sv=1 hidden", 1);
    struct storage_options options = options_of(NULL);
    assert_int_equal(storage_options_complete(&options, &error), RECMAP_OK);
    assert_null(url_parse(&url, "s3://bucket/a"));
    assert_int_equal(address_of_object(&address, &options, &url, &error), RECMAP_OK);
    assert_null(url_parse(&url, "az://container/a"));
    assert_int_equal(address_of_object(&address, &options, &url, &error), RECMAP_INVALID);
    assert_string_equal(error.message, "the environment variable AZURE_STORAGE_SAS_TOKEN must be "
                                       "ASCII text without spaces");
    storage_options_deinit(&options);
    unsetenv("AZURE_STORAGE_ACCOUNT");
    unsetenv("AZURE_STORAGE_SAS_TOKEN");
}

static void test_profiles_are_read(void **state) {
    (void)state;
    const char *text = "[default]\nkey = a\n# key = c\n[profile work]\r\n key=b c \r\n[x]\nkey=d";
    size_t size;
    bool is_there;
    const char *value = profile_find(&size, &is_there, text, "work", "key");
    assert_true(value && is_there && size == 3 && !memcmp(value, "b c", 3));
    value = profile_find(&size, &is_there, text, "default", "key");
    assert_true(value && is_there && size == 1 && *value == 'a');
    assert_null(profile_find(&size, &is_there, text, "default", "other"));
    assert_true(is_there);
    assert_null(profile_find(&size, &is_there, text, "nobody", "key"));
    assert_false(is_there);
}

static void check_object(const char *text, const char *const *pairs, const char *url,
                         const char *host) {
    struct storage_options options = options_of(pairs);
    struct address address;
    struct url parsed;
    assert_null(url_parse(&parsed, text));
    assert_int_equal(address_of_object(&address, &options, &parsed, NULL), RECMAP_OK);
    assert_string_equal(address.url, url);
    assert_string_equal(address.host, host);
    storage_options_deinit(&options);
}

static void test_urls_of_objects_have_host_and_path(void **state) {
    (void)state;
    const char *const local[] = {"endpoint", "http://127.0.0.1:8333/", NULL};
    const char *const region[] = {"region", "eu-west-1", NULL};
    const char *const azure[] = {"account", "acc", "sas", "?sv=1&sig=x%3D", NULL};
    const char *const own_virtual[] = {"endpoint", "https://s3.example.org:443", "addressing",
                                       "virtual", NULL};
    check_object("s3://bucket/a b=c", NULL, "https://bucket.s3.us-east-1.amazonaws.com/a%20b%3Dc",
                 "bucket.s3.us-east-1.amazonaws.com");
    check_object("s3://my.bucket/a", region, "https://s3.eu-west-1.amazonaws.com/my.bucket/a",
                 "s3.eu-west-1.amazonaws.com");
    check_object("s3://bucket/a/b", local, "http://127.0.0.1:8333/bucket/a/b", "127.0.0.1:8333");
    check_object("s3://bucket/a", own_virtual, "https://bucket.s3.example.org:443/a",
                 "bucket.s3.example.org");
    check_object("gs://bucket/a", NULL, "https://storage.googleapis.com/bucket/a",
                 "storage.googleapis.com");
    check_object("az://box/a", azure, "https://acc.blob.core.windows.net/box/a?sv=1&sig=x%3D",
                 "acc.blob.core.windows.net");
    check_object("http://host:80/a%20b", NULL, "http://host:80/a%20b", "host");
}

/* The domains are as in botocore's endpoints.json. */
static void test_domains_of_regions(void **state) {
    (void)state;
    static const char *const hosts[][2] = {
        {"eu-central-1", "s3.eu-central-1.amazonaws.com"},
        {"us-gov-west-1", "s3.us-gov-west-1.amazonaws.com"},
        {"cn-northwest-1", "s3.cn-northwest-1.amazonaws.com.cn"},
        {"eusc-de-east-1", "s3.eusc-de-east-1.amazonaws.eu"},
        {"us-iso-east-1", "s3.us-iso-east-1.c2s.ic.gov"},
        {"us-isob-east-1", "s3.us-isob-east-1.sc2s.sgov.gov"},
        {"eu-isoe-west-1", "s3.eu-isoe-west-1.cloud.adc-e.uk"},
        {"us-isof-south-1", "s3.us-isof-south-1.csp.hci.ic.gov"},
    };
    for (size_t i = 0; i < sizeof hosts / sizeof *hosts; i++) {
        const char *const region[] = {"region", hosts[i][0], NULL};
        char url[256];
        snprintf(url, sizeof url, "https://%s/my.bucket/a", hosts[i][1]);
        check_object("s3://my.bucket/a", region, url, hosts[i][1]);
    }
}

static void test_urls_of_listings_have_their_query(void **state) {
    (void)state;
    struct storage_options options =
        options_of((const char *const[]){"endpoint", "http://h:1", NULL});
    struct address address;
    struct url url;
    assert_null(url_parse(&url, "s3://bucket/a/b*"));
    assert_int_equal(address_of_listing(&address, &options, &url, url.key, 3, true, "t=", NULL),
                     RECMAP_OK);
    assert_string_equal(address.url, "http://h:1/bucket?continuation-token=t%3D&delimiter=%2F&"
                                     "list-type=2&prefix=a%2Fb");
    storage_options_deinit(&options);
}

static recmap_status authorize(struct authorization *authorization, const char *text,
                               const char *const *pairs) {
    struct storage_options options = options_of(pairs);
    struct address address;
    struct url url;
    assert_null(url_parse(&url, text));
    assert_int_equal(address_of_object(&address, &options, &url, NULL), RECMAP_OK);
    recmap_status status = address_authorize(authorization, &address, &options, NULL, 0, NULL);
    storage_options_deinit(&options);
    return status;
}

static void test_authorization_depends_on_store_and_keys(void **state) {
    (void)state;
    struct authorization found;
    const char *const keys[] = {"key", "k", "secret", "s", "token", "t", NULL};
    const char *const anonymous[] = {"key", "k", "secret", "s", "anon", "true", NULL};
    assert_int_equal(authorize(&found, "s3://bucket/a", NULL), RECMAP_INVALID);
    assert_int_equal(authorize(&found, "s3://bucket/a", anonymous), RECMAP_OK);
    assert_int_equal(found.count, 0);
    assert_int_equal(authorize(&found, "https://host/a", keys), RECMAP_OK);
    assert_int_equal(found.count, 0); /* other hosts get no credentials */
    assert_int_equal(authorize(&found, "s3://bucket/a", keys), RECMAP_OK);
    assert_int_equal(found.count, 4);
    assert_non_null(strstr(found.lines[0], "Authorization: AWS4-HMAC-SHA256 Credential=k/19700101/"
                                           "us-east-1/s3/aws4_request,SignedHeaders=host;"
                                           "x-amz-content-sha256;x-amz-date;x-amz-security-token"));
    assert_string_equal(found.lines[3], "x-amz-security-token: t");
    const char *const token[] = {"account", "a", "token", "t", NULL};
    const char *const signature[] = {"account", "a", "token", "t", "sas", "s", NULL};
    assert_int_equal(authorize(&found, "az://box/a", token), RECMAP_OK);
    assert_int_equal(found.count, 3);
    assert_string_equal(found.lines[1], "x-ms-date: Thu, 01 Jan 1970 00:00:00 GMT");
    assert_string_equal(found.lines[2], "Authorization: Bearer t");
    assert_int_equal(authorize(&found, "az://box/a", signature), RECMAP_OK);
    assert_int_equal(found.count, 1); /* a signature that was passed is enough */
    const char *const payer[] = {"key", "k", "secret", "s", "requester_pays", "true", NULL};
    assert_int_equal(authorize(&found, "s3://bucket/a", payer), RECMAP_OK);
    assert_int_equal(found.count, 4);
    assert_non_null(strstr(found.lines[0], "x-amz-date;x-amz-request-payer"));
    assert_string_equal(found.lines[3], "x-amz-request-payer: requester");
    const char *const bearer[] = {"token", "t", NULL};
    assert_int_equal(authorize(&found, "gs://bucket/a", bearer), RECMAP_OK);
    assert_string_equal(found.lines[0], "Authorization: Bearer t");
}

static void authorize_with_environment(struct authorization *authorization, const char *text,
                                       const char *const *pairs, recmap_status expected) {
    struct storage_options options = options_of(pairs);
    struct address address;
    struct url url;
    assert_int_equal(storage_options_complete(&options, NULL), RECMAP_OK);
    assert_null(url_parse(&url, text));
    assert_int_equal(address_of_object(&address, &options, &url, NULL), RECMAP_OK);
    assert_int_equal(address_authorize(authorization, &address, &options, NULL, 0, NULL), expected);
    storage_options_deinit(&options);
}

/* Keys, secrets and tokens from different places are never combined, nor sent to another store. */
static void test_credentials_are_not_mixed(void **state) {
    (void)state;
    struct authorization found;
    const char *const token[] = {"token", "of-google", NULL};
    const char *const secret[] = {"secret", "mine", NULL};
    const char *const keys[] = {"key", "mine", "secret", "s", NULL};
    clear_environment();
    setenv("AWS_ACCESS_KEY_ID", "environment", 1);
    setenv("AWS_SECRET_ACCESS_KEY", "s", 1);
    authorize_with_environment(&found, "s3://bucket/a", token, RECMAP_OK);
    assert_non_null(strstr(found.lines[0], "Credential=environment/"));
    assert_int_equal(found.count, 3); /* no token */
    authorize_with_environment(&found, "gs://bucket/a", token, RECMAP_OK);
    assert_string_equal(found.lines[0], "Authorization: Bearer of-google");
    setenv("AWS_SESSION_TOKEN", "of-amazon", 1);
    authorize_with_environment(&found, "s3://bucket/a", token, RECMAP_OK);
    assert_string_equal(found.lines[3], "x-amz-security-token: of-amazon");
    authorize_with_environment(&found, "gs://bucket/a", token, RECMAP_OK);
    assert_string_equal(found.lines[0], "Authorization: Bearer of-google");
    authorize_with_environment(&found, "s3://bucket/a", keys, RECMAP_OK);
    assert_non_null(strstr(found.lines[0], "Credential=mine/"));
    assert_int_equal(found.count, 3);
    authorize_with_environment(&found, "s3://bucket/a", secret, RECMAP_INVALID);
    authorize_with_environment(&found, "gs://bucket/a", NULL, RECMAP_INVALID);
    clear_environment();
}

/* A copy of the options is renewed when they changed, and only then. */
static void test_options_are_copied_only_after_a_change(void **state) {
    (void)state;
    recmap_storage *storage;
    struct storage_options copy = {0};
    assert_int_equal(recmap_storage_create(&storage, NULL), RECMAP_OK);
    assert_int_equal(recmap_storage_set(storage, "key", "k", NULL), RECMAP_OK);
    assert_int_equal(recmap_storage_set(storage, "secret", "first", NULL), RECMAP_OK);
    assert_int_equal(storage_refresh_options(&copy, storage, NULL), RECMAP_OK);
    const char *value = copy.values[OPTION_SECRET];
    assert_string_equal(value, "first");
    assert_int_equal(storage_refresh_options(&copy, storage, NULL), RECMAP_OK);
    assert_ptr_equal(copy.values[OPTION_SECRET], value);
    const recmap_credentials renewed = {.key = "k", .secret = "second"};
    assert_int_equal(recmap_storage_renew(storage, &renewed, NULL), RECMAP_OK);
    assert_int_equal(storage_refresh_options(&copy, storage, NULL), RECMAP_OK);
    assert_string_equal(copy.values[OPTION_SECRET], "second");
    storage_options_deinit(&copy);
    recmap_storage_release(storage);
}

static void test_delays_double_up_to_a_limit(void **state) {
    (void)state;
    assert_int_equal(retry_delay_ms(1, 0, 0), 0);
    assert_int_equal(retry_delay_ms(1, 100, 0), 100);
    assert_int_equal(retry_delay_ms(1, 101, 0), 0);
    assert_int_equal(retry_delay_ms(3, 400, 0), 400);
    assert_int_equal(retry_delay_ms(100, RETRY_MAX_MS, 0), RETRY_MAX_MS);
    assert_int_equal(retry_delay_ms(100, RETRY_MAX_MS + 1, 0), 0);
    assert_int_equal(retry_delay_ms(1, 0, 7), 7000);
    assert_int_equal(retry_delay_ms(1, 0, 120), 120000);
    assert_int_equal(retry_delay_ms(1, 0, 3600), 3600000);
    assert_int_equal(retry_delay_ms(1, 0, UINT64_MAX), 86400000);
}

enum { SECOND = 1000000000 };

/* The bytes of a healthy transfer move the start of the limit to now, fewer bytes only a little. */
static void test_the_limit_begins_after_a_healthy_transfer(void **state) {
    (void)state;
    const uint64_t start = 5ull * SECOND, now = start + 200ull * SECOND;
    assert_int_equal(retry_limit_start(start, 0, now), start);
    assert_int_equal(retry_limit_start(start, 1, now), start + SECOND / RETRY_BYTES_PER_S);
    assert_int_equal(retry_limit_start(start, 199 * RETRY_BYTES_PER_S, now), now - SECOND);
    assert_int_equal(retry_limit_start(start, 200 * RETRY_BYTES_PER_S, now), now);
    assert_int_equal(retry_limit_start(start, UINT64_MAX, now), now);
    assert_int_equal(retry_limit_start(start, 7, start), start);
}

static void test_the_window_grows_and_shrinks(void **state) {
    (void)state;
    struct request_window window;
    window_init(&window, 4, 8);
    window_shrink(&window, 0);
    assert_int_equal(window_size(&window), 2);
    for (uint64_t i = 1; i < 10; i++) window_shrink(&window, i);
    assert_int_equal(window_size(&window), 1);
    for (int i = 0; i < 1000; i++) window_grow(&window);
    assert_int_equal(window_size(&window), 8);
}

/* A window of requests that all fail halves it once; those that were started after that halve it
 * again. */
static void test_window_is_halved_once_per_round_trip(void **state) {
    (void)state;
    struct request_window window;
    window_init(&window, 32, 128);
    for (int i = 0; i < 32; i++) window_shrink(&window, 0);
    assert_int_equal(window_size(&window), 16);
    for (int i = 0; i < 16; i++) window_shrink(&window, 1);
    assert_int_equal(window_size(&window), 8);
    window_shrink(&window, 0); /* one that took very long */
    assert_int_equal(window_size(&window), 8);
}

/* It doubles with each window of replies until a server is overloaded, and never again after. */
static void test_window_doubles_at_first(void **state) {
    (void)state;
    struct request_window window;
    window_init(&window, 4, 128);
    for (int i = 0; i < 4 + 8 + 16; i++) window_grow(&window);
    assert_int_equal(window_size(&window), 32);
    window_shrink(&window, 0);
    for (int i = 0; i < 17; i++) window_grow(&window);
    assert_int_equal(window_size(&window), 17);
    window_init(&window, 4, 128);
    for (int i = 0; i < 1000; i++) window_grow(&window);
    assert_int_equal(window_size(&window), 128);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values_of_options_are_checked),
        cmocka_unit_test(test_the_gap_is_measured_unless_it_is_set),
        cmocka_unit_test(test_options_override_the_environment),
        cmocka_unit_test(test_the_profile_of_the_environment_concerns_amazon_only),
        cmocka_unit_test(test_the_environment_of_azure_concerns_azure_only),
        cmocka_unit_test(test_profiles_are_read),
        cmocka_unit_test(test_urls_of_objects_have_host_and_path),
        cmocka_unit_test(test_domains_of_regions),
        cmocka_unit_test(test_urls_of_listings_have_their_query),
        cmocka_unit_test(test_authorization_depends_on_store_and_keys),
        cmocka_unit_test(test_credentials_are_not_mixed),
        cmocka_unit_test(test_options_are_copied_only_after_a_change),
        cmocka_unit_test(test_delays_double_up_to_a_limit),
        cmocka_unit_test(test_the_limit_begins_after_a_healthy_transfer),
        cmocka_unit_test(test_the_window_grows_and_shrinks),
        cmocka_unit_test(test_window_is_halved_once_per_round_trip),
        cmocka_unit_test(test_window_doubles_at_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
