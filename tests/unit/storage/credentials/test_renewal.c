/* Credentials that are renewed: which thread fetches them, when, and what the others do. */
#define _GNU_SOURCE
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/os/process.h"
#include "storage/credentials/renewal.h"

enum { THREADS = 6 };

/* The source of the tests, which does what the fields say. */
static struct {
    recmap_status status;
    int64_t expires_s;
    atomic_uint fetch_count;
    atomic_uint caller_count; /* threads that asked whether the credential is used */
    unsigned awaited_count;   /* a fetch takes until as many have asked */
} source;

static _Thread_local bool has_asked;

static bool is_used(const void *context) {
    (void)context;
    if (!has_asked) atomic_fetch_add(&source.caller_count, 1);
    has_asked = true;
    return true;
}

static recmap_status fetch(int64_t *expires_s, void *context, recmap_error *error) {
    (void)context;
    unsigned count = atomic_fetch_add(&source.fetch_count, 1) + 1;
    while (atomic_load(&source.caller_count) < source.awaited_count) usleep(1000);
    *expires_s = source.expires_s;
    if (source.status == RECMAP_OK) return RECMAP_OK;
    error->status = source.status;
    snprintf(error->message, sizeof error->message, "fetch %u failed", count);
    return source.status;
}

static const struct renewal_kind kind = {is_used, fetch};

static int reset(void **state) {
    (void)state;
    memset(&source, 0, sizeof source);
    has_asked = false;
    return 0;
}

/* One thread that needs the credential. */
struct caller {
    struct renewal *renewal;
    recmap_status status;
    recmap_error error;
};

static void *call(void *context) {
    struct caller *caller = context;
    caller->status = renewal_prepare(caller->renewal, &kind, NULL, &caller->error);
    return NULL;
}

/* Calls from several threads, of which all ask before the first fetch ends. */
static void call_together(struct caller callers[THREADS], struct renewal *renewal) {
    pthread_t threads[THREADS];
    source.awaited_count = THREADS;
    for (int i = 0; i < THREADS; i++) {
        callers[i] = (struct caller){.renewal = renewal, .error = RECMAP_ERROR_INIT};
        assert_int_equal(pthread_create(&threads[i], NULL, call, &callers[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
}

static void test_one_thread_fetches_for_all(void **state) {
    (void)state;
    struct renewal renewal = {0};
    struct caller callers[THREADS];
    source.expires_s = clock_unix_s() + 3600;
    call_together(callers, &renewal);
    for (int i = 0; i < THREADS; i++) assert_int_equal(callers[i].status, RECMAP_OK);
    assert_int_equal(source.fetch_count, 1);
    assert_true(renewal.is_managed);
    assert_int_equal(renewal.expires_s, source.expires_s);
    assert_true(renewal.renew_at_s < renewal.expires_s);
}

/* An expiry in 1970 is a mistake, but a credential. */
static void test_a_credential_that_expired_at_zero(void **state) {
    (void)state;
    struct renewal renewal = {0};
    source.expires_s = 0;
    assert_int_equal(renewal_prepare(&renewal, &kind, NULL, NULL), RECMAP_OK);
    assert_true(renewal.is_managed);
    assert_int_equal(renewal.expires_s, 0);
    assert_in_range(renewal.renew_at_s - clock_unix_s(), 0, 1);
}

static void test_threads_that_waited_fail_with_the_same_error(void **state) {
    (void)state;
    struct renewal renewal = {0};
    struct caller callers[THREADS];
    source.status = RECMAP_IO;
    call_together(callers, &renewal);
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(callers[i].status, RECMAP_IO);
        assert_int_equal(callers[i].error.status, RECMAP_IO);
        assert_string_equal(callers[i].error.message, "fetch 1 failed");
    }
    assert_int_equal(source.fetch_count, 1);
}

static void test_later_calls_try_again(void **state) {
    (void)state;
    struct renewal renewal = {0};
    recmap_error error = RECMAP_ERROR_INIT;
    source.status = RECMAP_IO;
    assert_int_equal(renewal_prepare(&renewal, &kind, NULL, NULL), RECMAP_IO);
    assert_int_equal(renewal_prepare(&renewal, &kind, NULL, &error), RECMAP_IO);
    assert_string_equal(error.message, "fetch 2 failed");
    source.status = RECMAP_OK;
    source.expires_s = clock_unix_s() + 3600;
    assert_int_equal(renewal_prepare(&renewal, &kind, NULL, &error), RECMAP_OK);
    assert_int_equal(renewal_prepare(&renewal, &kind, NULL, &error), RECMAP_OK);
    assert_int_equal(source.fetch_count, 3);
}

/* The thread that was interrupted fails; each of the others takes the turn after it. */
static void test_an_interrupted_fetch_is_not_an_error_of_the_others(void **state) {
    (void)state;
    struct renewal renewal = {0};
    struct caller callers[THREADS];
    source.status = RECMAP_CANCELLED;
    call_together(callers, &renewal);
    for (int i = 0; i < THREADS; i++) assert_int_equal(callers[i].status, RECMAP_CANCELLED);
    assert_int_equal(source.fetch_count, THREADS);
}

static void test_a_credential_is_used_until_it_expires(void **state) {
    (void)state;
    int64_t now = clock_unix_s();
    struct renewal renewal = {.is_managed = true, .renew_at_s = now, .expires_s = now + 20};
    source.status = RECMAP_IO;
    assert_int_equal(renewal_prepare(&renewal, &kind, NULL, NULL), RECMAP_OK);
    assert_int_equal(renewal.renew_at_s, now + 20); /* not later, although it failed */
    renewal.renew_at_s = now;
    renewal.expires_s = now + 3000;
    assert_int_equal(renewal_prepare(&renewal, &kind, NULL, NULL), RECMAP_OK);
    assert_true(renewal.renew_at_s > now && renewal.renew_at_s < now + 3000);
    renewal.renew_at_s = renewal.expires_s = now;
    assert_int_equal(renewal_prepare(&renewal, &kind, NULL, NULL), RECMAP_IO);
    assert_int_equal(source.fetch_count, 3);
}

/* A process that was forked during a fetch does not have the thread that fetches. */
static void test_a_child_fetches_itself(void **state) {
    (void)state;
    struct renewal renewal = {.fetching_process = process_id() + 1};
    source.expires_s = clock_unix_s() + 3600;
    assert_int_equal(renewal_prepare(&renewal, &kind, NULL, NULL), RECMAP_OK);
    assert_int_equal(source.fetch_count, 1);
    assert_int_equal(renewal.fetching_process, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_one_thread_fetches_for_all, reset),
        cmocka_unit_test_setup(test_a_credential_that_expired_at_zero, reset),
        cmocka_unit_test_setup(test_threads_that_waited_fail_with_the_same_error, reset),
        cmocka_unit_test_setup(test_later_calls_try_again, reset),
        cmocka_unit_test_setup(test_an_interrupted_fetch_is_not_an_error_of_the_others, reset),
        cmocka_unit_test_setup(test_a_credential_is_used_until_it_expires, reset),
        cmocka_unit_test_setup(test_a_child_fetches_itself, reset),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
