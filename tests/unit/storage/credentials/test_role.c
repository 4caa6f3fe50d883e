/* Which services are asked for the credentials of a role: their domain is that of the region. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "storage/credentials/role.h"
#include "support/folder.h"

static char asked[512]; /* the URL of the last request */

/* Refuses each request. */
static recmap_status refuse(struct exchange_reply *reply, const struct exchange_request *request,
                            const struct storage_options *options, recmap_error *error) {
    (void)options;
    (void)error;
    snprintf(asked, sizeof asked, "%s", request->url);
    *reply = (struct exchange_reply){.status = 403};
    return RECMAP_OK;
}

static void check_asked(const char *region, const char *begin) {
    struct storage_options options = {0};
    struct identity_share share = {0};
    asked[0] = 0;
    if (region) assert_int_equal(storage_options_set(&options, "region", region, NULL), RECMAP_OK);
    assert_int_equal(storage_options_complete(&options, NULL), RECMAP_OK);
    assert_int_equal(identity_prepare(&share, &role_identity, &options, refuse, NULL), RECMAP_IO);
    assert_true(!strncmp(asked, begin, strlen(begin)));
    storage_options_deinit(&options);
}

static int enter(void **state) {
    static const char *const cleared[] = {
        "AWS_ACCESS_KEY_ID",  "AWS_SECRET_ACCESS_KEY", "AWS_PROFILE",         "AWS_REGION",
        "AWS_DEFAULT_REGION", "AWS_ENDPOINT_URL_STS",  "AWS_ENDPOINT_URL_SSO"};
    for (size_t i = 0; i < sizeof cleared / sizeof *cleared; i++) unsetenv(cleared[i]);
    setenv("AWS_SHARED_CREDENTIALS_FILE", "none", 1);
    setenv("AWS_CONFIG_FILE", "config", 1);
    setenv("HOME", ".", 1);
    return folder_enter(state);
}

static void write_text(const char *path, const char *text) {
    file_write(path, text, strlen(text));
}

static void test_security_token_service(void **state) {
    (void)state;
    write_text("token", "a.b.c");
    setenv("AWS_WEB_IDENTITY_TOKEN_FILE", "token", 1);
    setenv("AWS_ROLE_ARN", "arn:aws:iam::1:role/r", 1);
    check_asked(NULL, "https://sts.amazonaws.com/");
    check_asked("eu-west-1", "https://sts.eu-west-1.amazonaws.com/");
    check_asked("cn-north-1", "https://sts.cn-north-1.amazonaws.com.cn/");
    unsetenv("AWS_WEB_IDENTITY_TOKEN_FILE");
    unsetenv("AWS_ROLE_ARN");
}

static void write_login(const char *region) {
    char config[512];
    snprintf(config, sizeof config,
             "[default]\nsso_start_url = https://start\nsso_region = %s\nsso_account_id = 1\n"
             "sso_role_name = r\n",
             region);
    write_text("config", config);
    assert_int_equal(system("mkdir -p .aws/sso/cache"), 0);
    write_text(".aws/sso/cache/6ad0e7e61d1f47e491ea32c2031add41ef92e07d.json",
               "{\"accessToken\": \"t\", \"expiresAt\": \"2999-01-01T00:00:00Z\"}");
}

static void test_identity_center(void **state) {
    (void)state;
    write_login("eu-west-1");
    check_asked("us-east-1", "https://portal.sso.eu-west-1.amazonaws.com/federation/credentials?");
    write_login("cn-north-1");
    check_asked("us-east-1",
                "https://portal.sso.cn-north-1.amazonaws.com.cn/federation/credentials?");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_security_token_service, enter, folder_leave),
        cmocka_unit_test_setup_teardown(test_identity_center, enter, folder_leave),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
