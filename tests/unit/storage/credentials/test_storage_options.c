/* What the options of a storage take from the files of the AWS command line tools. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "storage/credentials/storage_options.h"
#include "support/folder.h"

/* With credentials that must not be mixed with others. */
static const char config[] = "[default]\n"
                             "region = eu-west-1\n"
                             "endpoint_url = http://default\n"
                             "role_arn = arn:aws:iam::1:role/r\n"
                             "[profile work]\n"
                             "region = eu-west-2\n"
                             "aws_access_key_id = work\n"
                             "aws_secret_access_key = s\n"
                             "aws_session_token = t\n";

static int enter(void **state) {
    static const char *const cleared[] = {
        "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_PROFILE",
        "AWS_REGION",        "AWS_DEFAULT_REGION",    "AWS_ENDPOINT_URL",  "AWS_ENDPOINT_URL_S3"};
    for (size_t i = 0; i < sizeof cleared / sizeof *cleared; i++) unsetenv(cleared[i]);
    setenv("AWS_SHARED_CREDENTIALS_FILE", "none", 1);
    setenv("AWS_CONFIG_FILE", "config", 1);
    int result = folder_enter(state);
    file_write("config", config, strlen(config));
    return result;
}

static recmap_status complete(struct storage_options *options, const char *const *pairs,
                              recmap_error *error) {
    *options = (struct storage_options){0};
    for (; *pairs; pairs += 2)
        assert_int_equal(storage_options_set(options, pairs[0], pairs[1], NULL), RECMAP_OK);
    return storage_options_complete(options, error);
}

static void check_place(const struct storage_options *options, const char *region,
                        const char *endpoint) {
    assert_string_equal(storage_options_get(options, OPTION_REGION), region);
    assert_string_equal(storage_options_get(options, OPTION_ENDPOINT), endpoint);
}

static void check_amazon(const struct storage_options *options, const char *key, const char *token,
                         const char *other) {
    assert_string_equal(storage_options_get(options, OPTION_AMAZON_KEY), key);
    assert_string_equal(storage_options_get(options, OPTION_AMAZON_TOKEN), token);
    assert_string_equal(storage_options_get(options, OPTION_OTHER_PROFILE), other);
}

static const char *const nothing[] = {NULL};

static void test_the_place_is_that_of_the_profile_whatever_the_keys(void **state) {
    (void)state;
    static const char *const anonymous[] = {"anonymous", "true", NULL};
    static const char *const passed[] = {"key", "k", "secret", "s", "profile", "work", NULL};
    struct storage_options options;
    assert_int_equal(complete(&options, anonymous, NULL), RECMAP_OK);
    check_place(&options, "eu-west-1", "http://default");
    check_amazon(&options, "", "", "");
    storage_options_deinit(&options);
    assert_int_equal(complete(&options, passed, NULL), RECMAP_OK);
    check_place(&options, "eu-west-2", "");
    check_amazon(&options, "", "", "");
    storage_options_deinit(&options);
    assert_int_equal(complete(&options, nothing, NULL), RECMAP_OK);
    check_place(&options, "eu-west-1", "http://default");
    check_amazon(&options, "", "", "default");
    storage_options_deinit(&options);
}

static void test_the_place_is_that_of_the_profile_with_keys_of_the_environment(void **state) {
    (void)state;
    struct storage_options options;
    setenv("AWS_ACCESS_KEY_ID", "environment", 1);
    setenv("AWS_SECRET_ACCESS_KEY", "s", 1);
    setenv("AWS_PROFILE", "work", 1);
    assert_int_equal(complete(&options, nothing, NULL), RECMAP_OK);
    check_place(&options, "eu-west-2", "");
    check_amazon(&options, "environment", "", "");
    storage_options_deinit(&options);
    setenv("AWS_REGION", "us-west-1", 1);
    setenv("AWS_ENDPOINT_URL", "http://environment", 1);
    assert_int_equal(complete(&options, nothing, NULL), RECMAP_OK);
    check_place(&options, "us-west-1", "http://environment");
    storage_options_deinit(&options);
}

/* Unlike one that the environment names: the tools of AWS may have left it there. */
static void test_a_missing_profile_is_an_error_if_it_was_passed(void **state) {
    (void)state;
    static const char *const cases[][7] = {
        {"profile", "nobody", NULL},
        {"profile", "nobody", "anonymous", "true", NULL},
        {"profile", "nobody", "key", "k", "secret", "s", NULL},
    };
    struct storage_options options;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        recmap_error error = RECMAP_ERROR_INIT;
        assert_int_equal(complete(&options, cases[i], &error), RECMAP_INVALID);
        assert_string_equal(error.message, "there is no profile \"nobody\" in ~/.aws/credentials "
                                           "or ~/.aws/config");
        storage_options_deinit(&options);
    }
    setenv("AWS_PROFILE", "nobody", 1);
    assert_int_equal(complete(&options, cases[2] + 2, NULL), RECMAP_OK);
    check_place(&options, "", "");
    storage_options_deinit(&options);
}

static void test_the_files_may_be_missing(void **state) {
    (void)state;
    static const char *const passed[] = {"key", "k", "secret", "s", NULL};
    struct storage_options options;
    setenv("AWS_CONFIG_FILE", "none", 1);
    assert_int_equal(complete(&options, passed, NULL), RECMAP_OK);
    check_place(&options, "", "");
    storage_options_deinit(&options);
}

static void check_program(const char *profile, const char *program) {
    const char *const pairs[] = {"profile", profile, NULL};
    struct storage_options options;
    assert_int_equal(complete(&options, pairs, NULL), RECMAP_OK);
    assert_string_equal(storage_options_get(&options, OPTION_PROFILE_PROCESS), program);
    assert_null(options.values[OPTION_CREDENTIAL_PROCESS]); /* which is for other stores as well */
    storage_options_deinit(&options);
}

static void test_the_program_of_a_profile(void **state) {
    (void)state;
    static const char *const anonymous[] = {"profile", "p", "anonymous", "true", NULL};
    static const char programs[] = "[profile p]\ncredential_process = a \"b c\"\n"
                                   "[profile q]\ncredential_process = a\nrole_arn = r\n";
    struct storage_options options;
    file_write("config", programs, strlen(programs));
    check_program("p", "a \"b c\"");
    check_program("q", "");
    assert_int_equal(complete(&options, anonymous, NULL), RECMAP_OK);
    assert_null(options.values[OPTION_PROFILE_PROCESS]);
    storage_options_deinit(&options);
}

static void test_files_that_cannot_be_read_do_not_matter_with_keys(void **state) {
    (void)state;
    static const char *const passed[] = {"key", "k", "secret", "s", NULL};
    static const char *const named[] = {"key", "k", "secret", "s", "profile", "work", NULL};
    struct storage_options options;
    assert_int_equal(mkdir("folder", 0700), 0);
    setenv("AWS_CONFIG_FILE", "folder", 1);
    assert_int_equal(complete(&options, passed, NULL), RECMAP_OK);
    check_place(&options, "", "");
    storage_options_deinit(&options);
    assert_int_equal(complete(&options, named, NULL), RECMAP_IO);
    storage_options_deinit(&options);
    assert_int_equal(complete(&options, nothing, NULL), RECMAP_IO);
    storage_options_deinit(&options);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_the_place_is_that_of_the_profile_whatever_the_keys,
                                        enter, folder_leave),
        cmocka_unit_test_setup_teardown(
            test_the_place_is_that_of_the_profile_with_keys_of_the_environment, enter,
            folder_leave),
        cmocka_unit_test_setup_teardown(test_a_missing_profile_is_an_error_if_it_was_passed, enter,
                                        folder_leave),
        cmocka_unit_test_setup_teardown(test_the_files_may_be_missing, enter, folder_leave),
        cmocka_unit_test_setup_teardown(test_the_program_of_a_profile, enter, folder_leave),
        cmocka_unit_test_setup_teardown(test_files_that_cannot_be_read_do_not_matter_with_keys,
                                        enter, folder_leave),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
