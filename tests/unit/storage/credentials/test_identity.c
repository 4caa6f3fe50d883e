/* Credentials that storages share: who fetches them, who gets them, and what a caller's replace. */
#define _GNU_SOURCE
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/os/process.h"
#include "storage/credentials/identity.h"
#include "storage/credentials/renewal.h"
#include "storage/remote/storage.h"

/* The source of the tests, which does what the fields say. */
static struct {
    atomic_uint fetch_count;
    int64_t lifetime_s;
    recmap_status status;
    recmap_storage *renewed; /* gets keys of the caller during a fetch */
} source;

static char command[32]; /* of the test's storages */

static bool is_used(const struct storage_options *options) {
    return !options->values[OPTION_KEY];
}

static const recmap_credentials given = {.key = "GIVEN", .secret = "of-caller"};

static recmap_status fetch(struct storage_options *credentials, int64_t *expires_s,
                           const struct storage_options *options, recmap_error *error) {
    char key[64];
    unsigned count = atomic_fetch_add(&source.fetch_count, 1) + 1;
    snprintf(key, sizeof key, "%s%u", storage_options_get(options, OPTION_CREDENTIAL_PROCESS),
             count);
    if (source.renewed)
        assert_int_equal(recmap_storage_renew(source.renewed, &given, NULL), RECMAP_OK);
    if (source.status != RECMAP_OK) return source.status;
    *expires_s = clock_unix_s() + source.lifetime_s;
    assert_int_equal(storage_options_keep(credentials, OPTION_AMAZON_TOKEN, "token", error),
                     RECMAP_OK);
    assert_int_equal(storage_options_keep(credentials, OPTION_AMAZON_SECRET, "secret", error),
                     RECMAP_OK);
    return storage_options_keep(credentials, OPTION_AMAZON_KEY, key, error);
}

static const struct identity_kind kind = {
    .credentials = {OPTION_AMAZON_KEY, OPTION_AMAZON_SECRET, OPTION_AMAZON_TOKEN},
    .credential_count = 3,
    .is_used = is_used,
    .fetch = fetch};

/* Each test has an identity of its own, because a process keeps them. */
static int reset(void **state) {
    static unsigned count;
    (void)state;
    memset(&source, 0, sizeof source);
    source.lifetime_s = 3600;
    snprintf(command, sizeof command, "test%u-", ++count);
    return 0;
}

static recmap_storage *create(void) {
    recmap_storage *storage;
    assert_int_equal(recmap_storage_create(&storage, NULL), RECMAP_OK);
    assert_int_equal(recmap_storage_set(storage, "credential_process", command, NULL), RECMAP_OK);
    return storage;
}

static recmap_status prepare(recmap_storage *storage) {
    return identity_prepare(&storage->program, &kind, &storage->options, NULL);
}

/* The caller's key, or else the one that was fetched. */
static const char *key_of(const recmap_storage *storage) {
    const char *key = storage->options.values[OPTION_KEY];
    if (!key) key = storage_options_get(&storage->options, OPTION_AMAZON_KEY);
    const char *dash = strchr(key, '-');
    return dash ? dash + 1 : key;
}

static void test_storages_share_credentials(void **state) {
    (void)state;
    recmap_storage *a = create(), *b = create();
    for (int i = 0; i < 3; i++) {
        assert_int_equal(prepare(a), RECMAP_OK);
        assert_int_equal(prepare(b), RECMAP_OK);
    }
    assert_string_equal(key_of(a), "1");
    assert_string_equal(key_of(b), "1");
    assert_string_equal(storage_options_get(&b->options, OPTION_AMAZON_TOKEN), "token");
    assert_int_equal(source.fetch_count, 1);
    recmap_storage_release(a); /* the identity outlives its storages */
    recmap_storage_release(b);
    a = create();
    assert_int_equal(prepare(a), RECMAP_OK);
    assert_string_equal(key_of(a), "1");
    recmap_storage_release(a);
}

static void test_other_choices_are_other_identities(void **state) {
    (void)state;
    recmap_storage *a = create(), *b = create(), *c = create();
    assert_int_equal(recmap_storage_set(b, "profile", "other", NULL), RECMAP_OK);
    assert_int_equal(prepare(a), RECMAP_OK);
    assert_int_equal(prepare(b), RECMAP_OK);
    assert_string_equal(key_of(b), "2");
    assert_int_equal(recmap_storage_set(c, "credential_process", "other-", NULL), RECMAP_OK);
    assert_int_equal(prepare(c), RECMAP_OK);
    assert_string_equal(key_of(c), "3");
    assert_int_equal(prepare(a), RECMAP_OK);
    assert_string_equal(key_of(a), "1");
    recmap_storage_release(a);
    recmap_storage_release(b);
    recmap_storage_release(c);
}

/* A storage that fetched nothing itself gets what another one renewed. */
static void test_renewed_credentials_reach_all_storages(void **state) {
    (void)state;
    recmap_storage *a = create(), *b = create();
    source.lifetime_s = -1;
    assert_int_equal(prepare(a), RECMAP_OK);
    source.lifetime_s = 3600;
    while (!strcmp(key_of(b), "") || !strcmp(key_of(b), "1")) {
        assert_int_equal(prepare(b), RECMAP_OK);
        sleep_ns(1000000);
    }
    assert_string_equal(key_of(b), "2");
    assert_int_equal(prepare(a), RECMAP_OK);
    assert_string_equal(key_of(a), "2");
    assert_int_equal(source.fetch_count, 2);
    recmap_storage_release(a);
    recmap_storage_release(b);
}

/* Keys that the caller sets during a fetch stay, and the fetched ones are neither installed nor
 * renewed. Other storages get the fetched ones. */
static void test_keys_of_the_caller_stay(void **state) {
    (void)state;
    recmap_storage *a = create(), *b = create();
    source.renewed = a;
    assert_int_equal(prepare(a), RECMAP_OK);
    source.renewed = NULL;
    assert_null(a->program.identity);
    assert_string_equal(key_of(a), "GIVEN");
    assert_string_equal(storage_options_get(&a->options, OPTION_SECRET), "of-caller");
    assert_string_equal(storage_options_get(&a->options, OPTION_TOKEN), "");
    assert_null(a->options.values[OPTION_AMAZON_KEY]);
    assert_int_equal(prepare(b), RECMAP_OK);
    assert_string_equal(key_of(b), "1");
    assert_non_null(b->program.identity);
    /* Keys that replace the fetched ones later also stay. */
    assert_int_equal(recmap_storage_renew(b, &given, NULL), RECMAP_OK);
    assert_int_equal(prepare(b), RECMAP_OK);
    assert_string_equal(key_of(b), "GIVEN");
    assert_int_equal(source.fetch_count, 1);
    recmap_storage_release(a);
    recmap_storage_release(b);
}

/* One thread sets keys while another makes the fetched ones current, again and again. */
struct race {
    recmap_storage *storage;
    atomic_bool is_over;
};

static void *prepare_often(void *context) {
    struct race *race = context;
    while (!atomic_load(&race->is_over)) assert_int_equal(prepare(race->storage), RECMAP_OK);
    return NULL;
}

static void test_keys_that_are_set_meanwhile_are_the_callers(void **state) {
    (void)state;
    for (int i = 0; i < 300; i++) {
        struct race race = {.storage = create()};
        pthread_t thread;
        assert_int_equal(pthread_create(&thread, NULL, prepare_often, &race), 0);
        if (i % 3 == 0) sleep_ns(50000);
        assert_int_equal(recmap_storage_renew(race.storage, &given, NULL), RECMAP_OK);
        atomic_store(&race.is_over, true);
        pthread_join(thread, NULL);
        assert_int_equal(prepare(race.storage), RECMAP_OK);
        assert_string_equal(key_of(race.storage), "GIVEN");
        recmap_storage_release(race.storage);
    }
}

/* A token alone is one of Google's: it and keys for Amazon do not affect each other. */
static void test_a_token_of_the_caller_stays(void **state) {
    (void)state;
    static const recmap_credentials token = {.token = "of-google"};
    recmap_storage *a = create(), *b = create();
    assert_int_equal(recmap_storage_set(a, "token", "of-google", NULL), RECMAP_OK);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(prepare(a), RECMAP_OK);
        assert_int_equal(prepare(b), RECMAP_OK);
        assert_int_equal(recmap_storage_renew(b, &token, NULL), RECMAP_OK);
        assert_string_equal(key_of(a), "1");
        assert_string_equal(key_of(b), "1");
        assert_string_equal(storage_options_get(&a->options, OPTION_TOKEN), "of-google");
        assert_string_equal(storage_options_get(&b->options, OPTION_TOKEN), "of-google");
        assert_true(a->options.is_explicit[OPTION_TOKEN] && b->options.is_explicit[OPTION_TOKEN]);
        assert_string_equal(storage_options_get(&a->options, OPTION_AMAZON_TOKEN), "token");
        assert_string_equal(storage_options_get(&b->options, OPTION_AMAZON_TOKEN), "token");
    }
    assert_int_equal(source.fetch_count, 1);
    recmap_storage_release(a);
    recmap_storage_release(b);
}

static void test_a_source_that_fails(void **state) {
    (void)state;
    recmap_storage *storage = create();
    source.status = RECMAP_IO;
    assert_int_equal(prepare(storage), RECMAP_IO);
    assert_null(storage->options.values[OPTION_AMAZON_KEY]);
    source.status = RECMAP_OK;
    assert_int_equal(prepare(storage), RECMAP_OK);
    assert_string_equal(key_of(storage), "2");
    recmap_storage_release(storage);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_storages_share_credentials, reset),
        cmocka_unit_test_setup(test_other_choices_are_other_identities, reset),
        cmocka_unit_test_setup(test_renewed_credentials_reach_all_storages, reset),
        cmocka_unit_test_setup(test_keys_of_the_caller_stay, reset),
        cmocka_unit_test_setup(test_keys_that_are_set_meanwhile_are_the_callers, reset),
        cmocka_unit_test_setup(test_a_token_of_the_caller_stays, reset),
        cmocka_unit_test_setup(test_a_source_that_fails, reset),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
