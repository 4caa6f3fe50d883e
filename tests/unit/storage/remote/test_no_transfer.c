/* A build without libcurl: what it says of shards in remote stores, named singly or by a pattern.
 * no_transfer.c is compiled in here, in the place of transfer.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <recmap/recmap.h>

#include "storage/remote/no_transfer.c"

#include <cmocka.h>

#include "support/folder.h"

static void assert_refused(recmap_status status, const recmap_error *error, const char *name) {
    assert_int_equal(status, RECMAP_UNSUPPORTED);
    assert_string_equal(error->message, "this build of recmap reads local files only");
    assert_string_equal(error->path, name);
    assert_non_null(strstr(error->advice, "build recmap with libcurl"));
}

static void test_it_is_not_supported(void **state) {
    (void)state;
    assert_false(recmap_storage_is_supported());
}

/* Patterns of objects, which would have to be listed. */
static void test_patterns(void **state) {
    (void)state;
    static const char *const names[] = {"s3://bucket/train-*.tfrecord",
                                        "gs://bucket/**/*.tfrecord"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        recmap_error error = RECMAP_ERROR_INIT;
        recmap_shards *shards = NULL;
        assert_int_equal(recmap_shards_create(&shards, &error), RECMAP_OK);
        assert_refused(recmap_shards_add(shards, names[i], &error), &error, names[i]);
        assert_int_equal(recmap_shards_count(shards), 0);
        recmap_shards_destroy(shards);
    }
}

/* Single objects, which are first looked for when they are indexed. */
static void test_remote_objects_are_refused(void **state) {
    (void)state;
    static const char *const names[] = {"s3://bucket/a.tfrecord", "gs://bucket/a.tfrecord"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        recmap_error error = RECMAP_ERROR_INIT;
        recmap_index_builder *builder = NULL;
        assert_int_equal(recmap_index_builder_create(&builder, "x.rmx", NULL, &error), RECMAP_OK);
        recmap_status status = recmap_index_builder_add_shard(builder, names[i], &error);
        if (status == RECMAP_OK) status = recmap_index_builder_finish(NULL, builder, &error);
        assert_refused(status, &error, names[i]);
        recmap_index_builder_destroy(builder);
    }
}

static void test_secrets_are_not_in_messages(void **state) {
    (void)state;
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_shards *shards = NULL;
    assert_int_equal(recmap_shards_create(&shards, &error), RECMAP_OK);
    recmap_status status =
        recmap_shards_add(shards, "https://host/a-*.tfrecord?sig=secret", &error);
    assert_int_not_equal(status, RECMAP_OK);
    assert_null(strstr(error.path, "secret"));
    assert_null(strstr(error.message, "secret"));
    recmap_shards_destroy(shards);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_it_is_not_supported),
        cmocka_unit_test(test_patterns),
        cmocka_unit_test_setup_teardown(test_remote_objects_are_refused, folder_enter,
                                        folder_leave),
        cmocka_unit_test(test_secrets_are_not_in_messages),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
