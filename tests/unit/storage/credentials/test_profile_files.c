/* Profiles of the files of AWS: where credentials come from if a profile has several sources. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "storage/credentials/profile_files.h"

#define KEYS "aws_access_key_id = a\naws_secret_access_key = b\n"
#define PROCESS "credential_process = p\n"
#define ROLE "role_arn = r\n"
#define SSO "sso_account_id = 1\nsso_role_name = r\n"

static enum profile_source find(const char *credentials, const char *config) {
    char first[512], second[512];
    struct profile_files files = {first, second};
    strncpy(first, credentials, sizeof first - 1);
    strncpy(second, config, sizeof second - 1);
    first[sizeof first - 1] = second[sizeof second - 1] = 0;
    return profile_files_source(&files, "p");
}

/* The order in which the tools of AWS document theirs. */
static void test_sources_count_in_the_order_of_aws(void **state) {
    (void)state;
    assert_int_equal(find("", ""), PROFILE_NOTHING);
    assert_int_equal(find("[q]\n" KEYS, "[profile q]\n" SSO PROCESS), PROFILE_NOTHING);
    assert_int_equal(find("[p]\n" KEYS, ""), PROFILE_KEYS);
    assert_int_equal(find("", "[profile p]\n" KEYS), PROFILE_KEYS);
    assert_int_equal(find("", "[profile p]\n" PROCESS), PROFILE_PROCESS);
    assert_int_equal(find("[p]\n" PROCESS, ""), PROFILE_PROCESS);
    assert_int_equal(find("", "[profile p]\n" SSO), PROFILE_OTHER);
    assert_int_equal(find("[p]\n" KEYS, "[profile p]\n" SSO PROCESS), PROFILE_OTHER);
    assert_int_equal(find("[p]\n" KEYS, "[profile p]\n" PROCESS), PROFILE_KEYS);
    assert_int_equal(find("", "[profile p]\n" KEYS PROCESS), PROFILE_PROCESS);
    assert_int_equal(find("", "[profile p]\nsso_role_name = r\n"), PROFILE_OTHER);
    assert_int_equal(find("", "[profile p]\nsso_session = s\n"), PROFILE_OTHER);
    assert_int_equal(find("", "[profile p]\nsso_session = s\n" KEYS), PROFILE_KEYS);
    assert_int_equal(find("", "[profile p]\ncredential_process =\n"), PROFILE_NOTHING);
    assert_int_equal(find("[p]\n" KEYS, "[profile p]\n" ROLE PROCESS), PROFILE_OTHER);
    assert_int_equal(find("", "[profile p]\nrole_arn =\n" PROCESS), PROFILE_PROCESS);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sources_count_in_the_order_of_aws),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
