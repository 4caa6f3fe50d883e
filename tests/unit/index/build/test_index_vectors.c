/* The format's specification against a whole data set: it is indexed to the values of
 * docs/formats/vectors/dataset.txt, which were made without this code, and an index of these values
 * is read. docs/formats/vectors/grown.txt has a shard that grew after it was indexed.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include <recmap/recmap.h>

#include "index/store/seal.h"
#include "index/store/store.h"
#include "support/vector_file.h"

static void expect_ok(recmap_status status, const recmap_error *error) {
    if (status != RECMAP_OK)
        fail_msg("%s: %s: %s", recmap_status_name(status), error->path, error->message);
}

static struct store_key key_of(const struct vector_case *vector) {
    return (struct store_key){vector_number(vector, "chunk"),
                              (uint32_t)vector_number(vector, "series")};
}

/* ---- a whole data set ---- */

static char folder[64];
static struct vector_file whole;

static const char *in_folder(const char *name) {
    static char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static const struct vector_case *part(const char *kind, size_t i) {
    char title[32];
    snprintf(title, sizeof title, "%s-%zu", kind, i);
    return vectors_find(&whole, title);
}

static void write_shard(const struct vector_case *vector) {
    const char *path = in_folder(vector_text(vector, "path"));
    size_t size;
    uint8_t *bytes = vector_bytes(vector, "bytes", &size);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, bytes, size), size);
    uint64_t ns = vector_number(vector, "mtime_ns");
    struct timespec time = {(time_t)(ns / 1000000000), (long)(ns % 1000000000)};
    struct timespec both[2] = {time, time};
    assert_int_equal(futimens(fd, both), 0);
    close(fd);
    free(bytes);
}

static int enter_with(const char *vectors) {
    const char *base = access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm";
    snprintf(folder, sizeof folder, "%s/recmap-vectors-XXXXXX", base);
    if (!mkdtemp(folder)) return -1;
    whole = vectors_load(vectors);
    assert_int_equal(mkdir(in_folder("more"), 0777), 0);
    const struct vector_case *shard;
    for (size_t i = 0; (shard = part("shard", i)); i++) write_shard(shard);
    return 0;
}

static int enter(void **state) {
    (void)state;
    return enter_with("dataset.txt");
}

static int enter_grown(void **state) {
    (void)state;
    return enter_with("grown.txt");
}

static int leave(void **state) {
    (void)state;
    const struct vector_case *shard;
    for (size_t i = 0; (shard = part("shard", i)); i++)
        unlink(in_folder(vector_text(shard, "path")));
    vectors_deinit(&whole);
    rmdir(in_folder("more"));
    unlink(in_folder("whole.rmx"));
    return rmdir(folder); /* fails if files are left over */
}

/* Splits "a=1 b" into lifts, which point into `text`. */
static size_t parse_lifts(recmap_lift *lifts, char *text) {
    size_t count = 0;
    while (text) {
        char *word = strsep(&text, " "), *name = strsep(&word, "=");
        lifts[count++] = (recmap_lift){name, word, 0};
    }
    return count;
}

/* Splits "a b:uint8" into counted features, which point into `text`. */
static size_t parse_counted(recmap_counted_feature *features, char *text) {
    size_t count = 0;
    while (text) {
        char *word = strsep(&text, " "), *name = strsep(&word, ":");
        features[count++] = (recmap_counted_feature){name, word ? recmap_element_of_name(word)
                                                                : RECMAP_ELEMENT_NONE};
    }
    return count;
}

/* Indexes the shards with the options of the vectors, or builds the index again from itself. */
static void build_index(const char *added) {
    const struct vector_case *said = vectors_find(&whole, "options"), *shard;
    char *text = strdup(vector_text(said, "lift"));
    char *counted = strdup(vector_text(said, "count"));
    recmap_lift lifts[8];
    recmap_counted_feature counted_features[8];
    recmap_index_options options = RECMAP_INDEX_OPTIONS_INIT;
    options.id_feature = vector_text(said, "id");
    options.lifts = lifts;
    options.lift_count = parse_lifts(lifts, text);
    options.counted_features = counted_features;
    options.counted_feature_count = parse_counted(counted_features, counted);
    if (!strcmp(vector_text(said, "on_bad_record"), "skip"))
        options.on_bad_record = RECMAP_ON_BAD_RECORD_SKIP;
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_index_builder *builder;
    expect_ok(recmap_index_builder_create(&builder, in_folder("whole.rmx"), &options, &error),
              &error);
    if (added) expect_ok(recmap_index_builder_add_index(builder, added, &error), &error);
    for (size_t i = 0; !added && (shard = part("shard", i)); i++)
        expect_ok(
            recmap_index_builder_add_shard(builder, in_folder(vector_text(shard, "path")), &error),
            &error);
    expect_ok(recmap_index_builder_finish(NULL, builder, &error), &error);
    recmap_index_builder_destroy(builder);
    free(counted);
    free(text);
}

/* Returns the next value that the vectors list from `*i` on; NULL after the last. */
static const struct vector_case *next_value(size_t *i) {
    while (*i < whole.count) {
        const struct vector_case *vector = vectors_at(&whole, (*i)++);
        if (!strncmp(vector_title(vector), "value-", 6)) return vector;
    }
    return NULL;
}

static void expect_stored(struct store *opened, const struct vector_case *vector,
                          size_t value_index) {
    enum store_table table = (enum store_table)vector_number(vector, "table");
    recmap_error error = RECMAP_ERROR_INIT;
    size_t count;
    const struct store_value *values = store_values(opened, table, &count);
    assert_true(value_index < count);
    const struct store_value *value = &values[value_index];
    struct store_key key = key_of(vector);
    assert_true(value->key.chunk == key.chunk && value->key.series == key.series);
    expect_ok(store_check(opened, table, value_index, &error), &error);
    vector_expect(vector, "payload", value->data, value->size);
    vector_expect(vector, "head", value->data - VALUE_PREFIX_SIZE, VALUE_PREFIX_SIZE);
}

/* The file holds the listed values, and nothing else. */
static void expect_values(const char *path) {
    recmap_error error = RECMAP_ERROR_INIT;
    struct store *opened = NULL;
    expect_ok(store_open(&opened, path, NULL, &error), &error);
    size_t seen[STORE_TABLE_COUNT] = {0};
    const struct vector_case *vector;
    for (size_t i = 0; (vector = next_value(&i));)
        expect_stored(opened, vector, seen[vector_number(vector, "table")]++);
    for (int table = 0; table < STORE_TABLE_COUNT; table++) {
        size_t count;
        store_values(opened, (enum store_table)table, &count);
        assert_int_equal(count, seen[table]);
    }
    store_close(opened);
}

static void expect_info(recmap_dataset *dataset) {
    const recmap_dataset_info *info = recmap_dataset_get_info(dataset);
    const struct vector_case *said = vectors_find(&whole, "manifest");
    assert_int_equal(info->record_count, vector_number(said, "records"));
    assert_int_equal(info->shard_count, vector_number(said, "shards"));
    assert_int_equal(info->byte_count, vector_number(said, "bytes"));
    assert_int_equal(info->id_count, vector_number(said, "ids"));
    assert_int_equal(info->damage_count, vector_number(said, "damages"));
    assert_int_equal(info->damaged_byte_count, vector_number(said, "damaged_bytes"));
    vector_expect(said, "fingerprint", info->fingerprint.bytes, sizeof info->fingerprint.bytes);
}

static void expect_records(recmap_dataset *dataset) {
    recmap_error error = RECMAP_ERROR_INIT;
    for (uint64_t number = 0; number < recmap_dataset_count(dataset); number++) {
        const struct vector_case *said = part("record", number);
        assert_non_null(said);
        recmap_location location;
        recmap_record record;
        expect_ok(recmap_dataset_locate(&location, dataset, number, 1, &error), &error);
        assert_int_equal(location.shard_index, vector_number(said, "shard"));
        assert_int_equal(location.offset, vector_number(said, "offset"));
        expect_ok(recmap_dataset_get(&record, dataset, number, &error), &error);
        vector_expect(said, "payload", record.data, record.size);
        recmap_record_release(&record);
    }
}

static void expect_damages(recmap_dataset *dataset) {
    recmap_error error = RECMAP_ERROR_INIT;
    for (uint64_t i = 0; i < recmap_dataset_get_info(dataset)->damage_count; i++) {
        const struct vector_case *said = part("damage", i);
        recmap_damage damage;
        expect_ok(recmap_dataset_get_damage(&damage, dataset, i, &error), &error);
        assert_int_equal(damage.shard_index, vector_number(said, "shard"));
        assert_int_equal(damage.offset, vector_number(said, "offset"));
        assert_int_equal(damage.size, vector_number(said, "length"));
        assert_string_equal(damage.reason, vector_text(said, "reason"));
    }
}

static void expect_finds(recmap_dataset *dataset) {
    recmap_error error = RECMAP_ERROR_INIT;
    for (size_t i = 0; i < whole.count; i++) {
        const struct vector_case *said = vectors_at(&whole, i);
        if (strncmp(vector_title(said), "find-", 5) != 0) continue;
        size_t size, count, found_count;
        uint8_t *bytes = vector_bytes(said, "id", &size);
        uint64_t *numbers = vector_numbers(said, "numbers", &count), found[8];
        recmap_value id = {.type = RECMAP_TYPE_BYTES};
        id.as.bytes.data = bytes;
        id.as.bytes.size = size;
        expect_ok(recmap_dataset_find_all(found, 8, &found_count, dataset, &id, &error), &error);
        assert_int_equal(found_count, count);
        for (size_t n = 0; n < count; n++) assert_int_equal(found[n], numbers[n]);
        free(numbers);
        free(bytes);
    }
}

static void expect_dataset(const char *path) {
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_dataset *dataset;
    expect_ok(recmap_dataset_open(&dataset, path, NULL, &error), &error);
    expect_info(dataset);
    expect_records(dataset);
    expect_damages(dataset);
    expect_finds(dataset);
    recmap_dataset_close(dataset);
}

static void test_building_gives_the_listed_values(void **state) {
    (void)state;
    build_index(NULL);
    expect_values(in_folder("whole.rmx"));
    expect_dataset(in_folder("whole.rmx"));
}

static void test_building_from_an_index(void **state) {
    (void)state;
    build_index(NULL);
    char *path = strdup(in_folder("whole.rmx"));
    build_index(path);
    expect_values(path);
    free(path);
}

/* Indexes the shard, or appends to its index what was added to it. */
static void index_grown(const struct vector_case *shard, bool appends) {
    recmap_index_options options = RECMAP_INDEX_OPTIONS_INIT;
    options.id_feature = vector_text(vectors_find(&whole, "options"), "id");
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_index_builder *builder;
    write_shard(shard);
    char *path = strdup(in_folder("whole.rmx"));
    expect_ok(recmap_index_builder_create(&builder, path, &options, &error), &error);
    if (appends) expect_ok(recmap_index_builder_add_index(builder, path, &error), &error);
    expect_ok(
        recmap_index_builder_add_shard(builder, in_folder(vector_text(shard, "path")), &error),
        &error);
    expect_ok(recmap_index_builder_finish(NULL, builder, &error), &error);
    recmap_index_builder_destroy(builder);
    free(path);
}

static void test_growing_gives_the_listed_values(void **state) {
    (void)state;
    index_grown(part("shard", 0), false);
    index_grown(vectors_find(&whole, "grown"), true);
    expect_values(in_folder("whole.rmx"));
    expect_dataset(in_folder("whole.rmx"));
}

/* An index that was put together from the listed bytes is read like our own. */
static void test_listed_bytes_are_read_like_an_index(void **state) {
    (void)state;
    const struct vector_case *grown = vectors_find(&whole, "grown");
    if (grown) write_shard(grown);
    recmap_error error = RECMAP_ERROR_INIT;
    struct store_writer *writer;
    expect_ok(store_writer_create(&writer, in_folder("whole.rmx"), LEFTOVERS_REMOVE, &error),
              &error);
    const struct vector_case *vector;
    for (size_t i = 0; (vector = next_value(&i));) {
        size_t size;
        uint8_t *payload = vector_bytes(vector, "payload", &size);
        expect_ok(store_writer_put(writer, (enum store_table)vector_number(vector, "table"),
                                   key_of(vector), payload, size, &error),
                  &error);
        free(payload);
    }
    expect_ok(store_writer_finish(writer, NULL, NULL, &error), &error);
    store_writer_destroy(writer);
    expect_dataset(in_folder("whole.rmx"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_building_gives_the_listed_values, enter, leave),
        cmocka_unit_test_setup_teardown(test_building_from_an_index, enter, leave),
        cmocka_unit_test_setup_teardown(test_listed_bytes_are_read_like_an_index, enter, leave),
        cmocka_unit_test_setup_teardown(test_growing_gives_the_listed_values, enter_grown, leave),
        cmocka_unit_test_setup_teardown(test_listed_bytes_are_read_like_an_index, enter_grown,
                                        leave),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
