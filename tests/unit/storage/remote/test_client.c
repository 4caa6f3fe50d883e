/* Objects that a client of the caller reads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "storage/remote/client.h"
#include "storage/remote/remote.h"

enum { OBJECT_SIZE = 100000 };

/* A store with one object, whose bytes are their offsets modulo 251. */
struct store {
    recmap_object object;
    size_t call_count, count_max, size_max;
    size_t failing; /* the call of `read` that fails; 0: none */
    unsigned close_count;
};

static recmap_status break_with(recmap_error *error, const char *message) {
    assert_non_null(error);
    *error = (recmap_error)RECMAP_ERROR_INIT;
    snprintf(error->message, sizeof error->message, "%s", message);
    return error->status = RECMAP_IO;
}

static recmap_status stat_object(recmap_object *object, const char *name, recmap_error *error,
                                 void *context) {
    if (strcmp(name, "mem://host/a") != 0) return break_with(error, "it is missing");
    *object = ((struct store *)context)->object;
    return RECMAP_OK;
}

static recmap_status read_object(size_t *failed, const recmap_object_range *ranges, size_t count,
                                 recmap_error *error, void *context) {
    struct store *store = context;
    size_t size = 0;
    for (size_t i = 0; i < count; i++) {
        uint8_t *bytes = ranges[i].data;
        for (size_t k = 0; k < ranges[i].size; k++)
            bytes[k] = (uint8_t)((ranges[i].offset + k) % 251);
        size += ranges[i].size;
    }
    if (count > store->count_max) store->count_max = count;
    if (size > store->size_max) store->size_max = size;
    *failed = count - 1;
    return ++store->call_count == store->failing ? break_with(error, "it broke") : RECMAP_OK;
}

static recmap_status list_objects(const char *folder, int is_deep,
                                  recmap_status (*add)(const char *, recmap_error *, void *),
                                  void *names, recmap_error *error, void *context) {
    (void)context;
    static const char *const all[] = {"mem://host/a",    "mem://host/b/a", "mem://host/b/c",
                                      "mem://host/b/.a", "mem://other/a",  "mem://host/b/"};
    assert_string_equal(folder, is_deep ? "mem://host/" : "mem://host/b/");
    recmap_status status = RECMAP_OK;
    for (size_t i = 0; status == RECMAP_OK && i < sizeof all / sizeof *all; i++)
        status = add(all[i], error, names);
    return status;
}

static void close_store(void *context) {
    ((struct store *)context)->close_count++;
}

static struct store store_of(uint64_t size, const char *etag) {
    struct store store = {.object = {.size = size, .mtime_ns = 7}};
    snprintf(store.object.etag, sizeof store.object.etag, "%s", etag);
    return store;
}

static recmap_client client_of(struct store *store) {
    return (recmap_client){RECMAP_CLIENT_VERSION, stat_object, read_object,
                           list_objects,          close_store, store};
}

static recmap_storage *storage_of(struct store *store) {
    recmap_storage *storage;
    recmap_client client = client_of(store);
    assert_int_equal(recmap_storage_create(&storage, NULL), RECMAP_OK);
    assert_int_equal(recmap_storage_set_client(storage, &client, NULL), RECMAP_OK);
    return storage;
}

static void test_a_client_is_closed_once(void **state) {
    (void)state;
    struct store store = store_of(0, ""), second = store_of(0, "");
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_storage *storage = storage_of(&store);
    recmap_client client = client_of(&second);
    assert_int_equal(recmap_storage_set_client(storage, &client, &error), RECMAP_INVALID);
    assert_string_equal(error.message, "the storage has a client already");
    client.read = NULL;
    assert_int_equal(recmap_storage_set_client(storage, &client, &error), RECMAP_INVALID);
    assert_string_equal(error.message, "a client needs the functions stat, read and list");
    client.version++;
    assert_int_equal(recmap_storage_set_client(storage, &client, &error), RECMAP_INVALID);
    assert_string_equal(error.message, "the version of the client is unknown");
    recmap_storage_retain(storage);
    recmap_storage_release(storage);
    assert_int_equal(store.close_count, 0);
    recmap_storage_release(storage);
    assert_int_equal(store.close_count, 1);
    assert_int_equal(second.close_count, 2);
}

static void test_opening_compares_what_is_expected(void **state) {
    (void)state;
    struct store store = store_of(OBJECT_SIZE, "\"1\"");
    recmap_storage *storage = storage_of(&store);
    const struct {
        struct remote_identity expected;
        recmap_status status;
    } cases[] = {
        {{OBJECT_SIZE, 7, "\"1\""}, RECMAP_OK},    {{OBJECT_SIZE, 8, "\"1\""}, RECMAP_OK},
        {{OBJECT_SIZE, 7, "\"2\""}, RECMAP_STALE}, {{OBJECT_SIZE, 7, ""}, RECMAP_OK},
        {{OBJECT_SIZE, 8, ""}, RECMAP_STALE},      {{1, 7, "\"1\""}, RECMAP_STALE},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct source *source = NULL;
        recmap_error error = RECMAP_ERROR_INIT;
        assert_int_equal(remote_open(&source, storage, "mem://host/a", &cases[i].expected, &error),
                         cases[i].status);
        if (cases[i].status == RECMAP_STALE) assert_string_equal(error.path, "mem://host/a");
        source_close(source);
    }
    recmap_storage_release(storage);
}

static void test_errors_name_the_object(void **state) {
    (void)state;
    struct store store = store_of(OBJECT_SIZE, "");
    recmap_storage *storage = storage_of(&store);
    struct source *source = NULL;
    recmap_error error = RECMAP_ERROR_INIT;
    assert_int_equal(remote_open(&source, storage, "mem://host/b", NULL, &error), RECMAP_IO);
    assert_string_equal(error.path, "mem://host/b");
    assert_int_equal(remote_open(&source, storage, "mem://u@host/b", NULL, &error), RECMAP_INVALID);
    assert_int_equal(remote_open(&source, storage, "mem://host/../b", NULL, &error),
                     RECMAP_INVALID);
    assert_int_equal(remote_open(&source, NULL, "mem://host/a", NULL, &error), RECMAP_INVALID);
    assert_int_equal(remote_open(&source, storage, "mem://host/a", NULL, &error), RECMAP_OK);
    uint8_t byte;
    store.failing = 1;
    assert_int_equal(source_read(source, &byte, 1, 5, &error), RECMAP_IO);
    assert_string_equal(error.message, "it broke");
    assert_string_equal(error.path, "mem://host/a");
    assert_int_equal(error.offset, 5);
    assert_int_equal(source_read(source, &byte, 1, OBJECT_SIZE, &error), RECMAP_IO);
    assert_string_equal(error.message, "the object ends here, 1 byte too early");
    source_close(source);
    recmap_storage_release(storage);
}

/* Many ranges are read in several calls, none of them too large. */
static void test_reads_within_limits(void **state) {
    (void)state;
    enum { COUNT = 500, SIZE = 1 << 20 };
    struct store store = store_of(UINT64_C(1) << 40, "");
    recmap_storage *storage = storage_of(&store);
    struct source *source;
    assert_int_equal(remote_open(&source, storage, "mem://host/a", NULL, NULL), RECMAP_OK);
    struct source_read *reads = calloc(COUNT, sizeof *reads);
    uint8_t *data = malloc((size_t)40 * SIZE);
    assert_true(reads && data);
    for (size_t i = 0; i < COUNT; i++)
        reads[i] =
            (struct source_read){.source = source, .data = data + i, .size = 1, .offset = 3 * i};
    size_t failed = SIZE_MAX;
    assert_int_equal(source_read_all(&failed, reads, COUNT, NULL, NULL), RECMAP_OK);
    for (size_t i = 0; i < COUNT; i++) assert_int_equal(data[i], 3 * i % 251);
    assert_int_equal(store.call_count, 4);
    assert_int_equal(store.count_max, CLIENT_RANGES_MAX);
    store.failing = store.call_count + 2;
    assert_int_equal(source_read_all(&failed, reads, COUNT, NULL, NULL), RECMAP_IO);
    assert_int_equal(failed, 2 * CLIENT_RANGES_MAX - 1);
    for (size_t i = 0; i < 40; i++)
        reads[i] = (struct source_read){
            .source = source, .data = data + i * SIZE, .size = SIZE, .offset = i * SIZE};
    assert_int_equal(source_read_all(&failed, reads, 40, NULL, NULL), RECMAP_OK);
    assert_int_equal(store.size_max, CLIENT_SIZE_MAX);
    reads[0].size = 40 * SIZE;
    assert_int_equal(source_read_all(&failed, reads, 2, NULL, NULL), RECMAP_OK);
    assert_int_equal(store.size_max, 40 * SIZE);
    free(reads);
    free(data);
    source_close(source);
    recmap_storage_release(storage);
}

static bool is_visible(const char *name) {
    return name[0] && name[0] != '.';
}

static void check_listed(const char *pattern, size_t count, const char *first) {
    struct store store = store_of(0, "");
    recmap_storage *storage = storage_of(&store);
    struct path_list list = {0};
    assert_int_equal(remote_list(&list, storage, pattern, is_visible, NULL), RECMAP_OK);
    assert_int_equal(list.count, count);
    assert_string_equal(list.paths[0], first);
    path_list_deinit(&list);
    recmap_storage_release(storage);
}

static void test_patterns_list_the_objects_of_a_client(void **state) {
    (void)state;
    check_listed("mem://host/b/", 2, "mem://host/b/a");
    check_listed("mem://host/b/[c]", 1, "mem://host/b/c");
    check_listed("mem://host/**/a", 2, "mem://host/a");
    check_listed("mem://host/**", 3, "mem://host/a");
    check_listed("mem://host/?/c", 1, "mem://host/b/c");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_client_is_closed_once),
        cmocka_unit_test(test_opening_compares_what_is_expected),
        cmocka_unit_test(test_errors_name_the_object),
        cmocka_unit_test(test_reads_within_limits),
        cmocka_unit_test(test_patterns_list_the_objects_of_a_client),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
