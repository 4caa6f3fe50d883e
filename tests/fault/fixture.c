#define _GNU_SOURCE
#include "fault/fixture.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <zlib.h>

void require(bool holds, const char *reason) {
    if (holds) return;
    fprintf(stderr, "the test's own preparation failed: %s\n", reason);
    abort();
}

bool test_is_long(void) {
    const char *text = getenv("RECMAP_TEST_LONG");
    return text && *text && *text != '0';
}

uint64_t test_seed(void) {
    static uint64_t seed;
    if (seed) return seed;
    const char *text = getenv("RECMAP_TEST_SEED");
    seed = text ? strtoull(text, NULL, 10) : (uint64_t)time(NULL);
    printf("RECMAP_TEST_SEED=%llu\n", (unsigned long long)seed);
    fflush(stdout);
    return seed;
}

uint64_t choose_next(uint64_t *state) {
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

uint64_t choose_below(uint64_t *state, uint64_t limit) {
    return choose_next(state) % limit;
}

void folder_create(char *folder, size_t capacity) {
    const char *base = access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm";
    snprintf(folder, capacity, "%s/recmap-fault-XXXXXX", base);
    require(mkdtemp(folder) != NULL, "a temporary folder");
}

static void remove_level(const char *folder, int levels) {
    DIR *stream = opendir(folder);
    if (!stream) return;
    struct dirent *entry;
    while ((entry = readdir(stream))) {
        if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..")) continue;
        char path[1024];
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        if (unlink(path) && levels) remove_level(path, levels - 1);
    }
    closedir(stream);
    rmdir(folder);
}

void folder_remove(const char *folder) {
    remove_level(folder, 2);
}

bool file_bytes_load(struct file_bytes *file, const char *path) {
    FILE *stream = fopen(path, "rb");
    if (!stream) return false;
    struct stat st;
    require(!fstat(fileno(stream), &st), "fstat");
    file->size = (size_t)st.st_size;
    file->bytes = malloc(file->size + 1);
    require(file->bytes && fread(file->bytes, 1, file->size, stream) == file->size, "read a file");
    fclose(stream);
    return true;
}

void file_bytes_save(const char *path, const void *bytes, size_t size) {
    FILE *stream = fopen(path, "wb");
    require(stream && fwrite(bytes, 1, size, stream) == size && !fclose(stream), "write a file");
}

bool file_bytes_equal(const struct file_bytes *file, const char *path) {
    struct file_bytes other;
    if (!file_bytes_load(&other, path)) return false;
    bool equal = other.size == file->size && !memcmp(other.bytes, file->bytes, file->size);
    free(other.bytes);
    return equal;
}

static uint8_t *put_varint(uint8_t *position, uint64_t value) {
    for (; value >= 0x80; value >>= 7) *position++ = (uint8_t)(value | 0x80);
    *position++ = (uint8_t)value;
    return position;
}

static uint8_t *put_field(uint8_t *position, unsigned field, const void *bytes, size_t size) {
    position = put_varint(position, field << 3 | 2);
    position = put_varint(position, size);
    memcpy(position, bytes, size);
    return position + size;
}

/* An entry of Features: a name, and a Feature of which `kind` lists its one value. */
static uint8_t *put_feature(uint8_t *position, const char *name, unsigned kind, const void *bytes,
                            size_t size) {
    uint8_t list[2048], feature[2060], entry[2100];
    size_t list_size = (size_t)(put_field(list, 1, bytes, size) - list);
    size_t feature_size = (size_t)(put_field(feature, kind, list, list_size) - feature);
    uint8_t *end = put_field(entry, 1, name, strlen(name));
    end = put_field(end, 2, feature, feature_size);
    return put_field(position, 1, entry, (size_t)(end - entry));
}

size_t payload_write(uint8_t bytes[PAYLOAD_MAX], uint64_t number) {
    uint8_t features[PAYLOAD_MAX - 16], packed[10], image[700];
    uint64_t state = number * 77 + 1;
    char text[32], name[8];
    recmap_value id = payload_id(text, number);
    uint8_t *id_bytes = put_feature(features, "id", 1, id.as.bytes.data, id.as.bytes.size);
    uint8_t *packed_end = put_varint(packed, 3 * number - 7);
    id_bytes = put_feature(id_bytes, "label", 3, packed, (size_t)(packed_end - packed));
    snprintf(name, sizeof name, "n%d", (int)(number % 5));
    id_bytes = put_feature(id_bytes, "name", 1, name, strlen(name));
    size_t image_size = choose_below(&state, sizeof image);
    for (size_t i = 0; i < image_size; i++) image[i] = (uint8_t)choose_next(&state);
    id_bytes = put_feature(id_bytes, "image", 1, image, image_size);
    return (size_t)(put_field(bytes, 1, features, (size_t)(id_bytes - features)) - bytes);
}

bool payload_holds(const recmap_record *record, uint64_t number) {
    uint8_t expected[PAYLOAD_MAX];
    size_t size = payload_write(expected, number);
    return record->number == number && record->size == size &&
           !memcmp(record->data, expected, size);
}

recmap_value payload_id(char text[32], uint64_t number) {
    recmap_value id = {.type = RECMAP_TYPE_BYTES};
    id.as.bytes.size = (size_t)snprintf(text, 32, "id-%llu", (unsigned long long)number);
    id.as.bytes.data = (const uint8_t *)text;
    return id;
}

void shard_write(const char *path, uint64_t first, uint64_t count) {
    uint8_t bytes[PAYLOAD_MAX];
    FILE *stream = fopen(path, "wb");
    require(stream != NULL, "create a shard");
    for (uint64_t number = first; number < first + count; number++) {
        size_t size = payload_write(bytes, number);
        recmap_frame frame = recmap_frame_of(bytes, size);
        fwrite(frame.header, 1, sizeof frame.header, stream);
        fwrite(bytes, 1, size, stream);
        fwrite(frame.footer, 1, sizeof frame.footer, stream);
    }
    require(!ferror(stream) && !fclose(stream), "write a shard");
}

void shard_compress(const char *path) {
    struct file_bytes plain;
    require(file_bytes_load(&plain, path), "read a shard");
    gzFile stream = gzopen(path, "wb1");
    require(stream && gzwrite(stream, plain.bytes, (unsigned)plain.size) == (int)plain.size &&
                gzclose(stream) == Z_OK,
            "compress a shard");
    free(plain.bytes);
}

recmap_index_options fixture_options(void) {
    static const recmap_lift lifts[] = {{"label", NULL, 0}, {"name", "none", 0}};
    static const recmap_counted_feature counted[] = {{"label", RECMAP_ELEMENT_NONE}};
    recmap_index_options options = RECMAP_INDEX_OPTIONS_INIT;
    options.thread_count = 1;
    options.id_feature = "id";
    options.lifts = lifts;
    options.lift_count = 2;
    options.counted_features = counted;
    options.counted_feature_count = 1;
    return options;
}

static recmap_status build(const struct fixture *fixture, bool append, size_t shard_count,
                           unsigned thread_count, recmap_error *error) {
    recmap_index_builder *builder = NULL;
    recmap_index_options options = fixture_options();
    options.thread_count = thread_count;
    recmap_status status = recmap_index_builder_create(&builder, fixture->index, &options, error);
    if (status == RECMAP_OK && append)
        status = recmap_index_builder_add_index(builder, fixture->index, error);
    for (size_t i = append ? FIXTURE_OLD_SHARDS : 0; status == RECMAP_OK && i < shard_count; i++)
        status = recmap_index_builder_add_shard(builder, fixture->shards[i], error);
    if (status == RECMAP_OK) status = recmap_index_builder_finish(NULL, builder, error);
    recmap_index_builder_destroy(builder);
    return status;
}

recmap_status fixture_append(const struct fixture *fixture, recmap_error *error) {
    return build(fixture, true, FIXTURE_SHARDS, 1, error);
}

recmap_status fixture_rebuild(const struct fixture *fixture, unsigned thread_count,
                              recmap_error *error) {
    return build(fixture, false, FIXTURE_SHARDS, thread_count, error);
}

static void create(struct fixture *fixture, bool is_compressed) {
    memset(fixture, 0, sizeof *fixture);
    folder_create(fixture->folder, sizeof fixture->folder);
    snprintf(fixture->index, sizeof fixture->index, "%s/set.rmx", fixture->folder);
    for (size_t i = 0; i < FIXTURE_SHARDS; i++) {
        snprintf(fixture->shards[i], sizeof fixture->shards[i], "%s/part-%zu", fixture->folder, i);
        shard_write(fixture->shards[i], i * FIXTURE_SHARD_RECORDS, FIXTURE_SHARD_RECORDS);
        if (is_compressed) shard_compress(fixture->shards[i]);
    }
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_status status = build(fixture, false, FIXTURE_SHARDS, 1, &error);
    if (status != RECMAP_OK) recmap_error_print(&error, stderr);
    require(status == RECMAP_OK && file_bytes_load(&fixture->new_index, fixture->index),
            "new index");
    require(build(fixture, false, FIXTURE_OLD_SHARDS, 1, &error) == RECMAP_OK &&
                file_bytes_load(&fixture->old_index, fixture->index),
            "old index");
}

void fixture_create(struct fixture *fixture) {
    create(fixture, false);
}

void fixture_create_compressed(struct fixture *fixture) {
    create(fixture, true);
}

void fixture_destroy(struct fixture *fixture) {
    folder_remove(fixture->folder);
    free(fixture->old_index.bytes);
    free(fixture->new_index.bytes);
}

static bool is_shard_name(const char *name) {
    return !strncmp(name, "part-", 5) && strlen(name) == 6;
}

void fixture_reset(const struct fixture *fixture) {
    DIR *stream = opendir(fixture->folder);
    require(stream != NULL, "read the folder");
    struct dirent *entry;
    while ((entry = readdir(stream))) {
        if (entry->d_name[0] == '.' || is_shard_name(entry->d_name)) continue;
        if (!strcmp(entry->d_name, "set.rmx")) continue;
        char path[512];
        snprintf(path, sizeof path, "%s/%s", fixture->folder, entry->d_name);
        unlink(path);
    }
    closedir(stream);
    if (file_bytes_equal(&fixture->old_index, fixture->index)) return;
    unlink(fixture->index);
    file_bytes_save(fixture->index, fixture->old_index.bytes, fixture->old_index.size);
}

size_t count_temporaries(const char *folder) {
    DIR *stream = opendir(folder);
    size_t count = 0;
    struct dirent *entry;
    require(stream != NULL, "read the folder");
    while ((entry = readdir(stream))) count += strstr(entry->d_name, ".tmp-") != NULL;
    closedir(stream);
    return count;
}

const char *fixture_check(const struct fixture *fixture, bool may_be_old, bool may_be_new) {
    bool is_old = file_bytes_equal(&fixture->old_index, fixture->index);
    bool is_new = !is_old && file_bytes_equal(&fixture->new_index, fixture->index);
    if (!is_old && !is_new) return "the index is neither the old one nor the new one";
    if (is_old && !may_be_old) return "the index is still the old one";
    if (is_new && !may_be_new) return "the index is the new one already";
    return count_temporaries(fixture->folder) ? "a temporary file is left" : NULL;
}

static const char *check_one(recmap_dataset *dataset, uint64_t number, recmap_error *error) {
    recmap_record record;
    if (recmap_dataset_get(&record, dataset, number, error) != RECMAP_OK) return "get failed";
    bool holds = payload_holds(&record, number);
    recmap_record_release(&record);
    return holds ? NULL : "get gave wrong bytes";
}

static const char *check_gather(recmap_dataset *dataset, uint64_t record_count,
                                recmap_error *error) {
    enum { LIMIT = 64 };
    uint64_t numbers[LIMIT], state = record_count;
    size_t count = record_count < LIMIT ? (size_t)record_count : LIMIT;
    recmap_batch *batch;
    for (size_t i = 0; i < count; i++) numbers[i] = choose_below(&state, record_count);
    if (recmap_batch_create(&batch, error) != RECMAP_OK) return "no batch";
    const char *wrong = NULL;
    if (recmap_dataset_gather(batch, dataset, numbers, count, error) != RECMAP_OK)
        wrong = "gather failed";
    for (size_t i = 0; !wrong && i < count; i++)
        if (!payload_holds(&recmap_batch_records(batch)[i], numbers[i]))
            wrong = "gather gave wrong bytes";
    recmap_batch_destroy(batch);
    return wrong;
}

const char *dataset_check_all(recmap_dataset *dataset, uint64_t record_count, recmap_error *error) {
    if (recmap_dataset_count(dataset) != record_count) return "another number of records";
    for (uint64_t number = 0; number < record_count; number++) {
        const char *wrong = check_one(dataset, number, error);
        if (wrong) return wrong;
    }
    const char *wrong = check_gather(dataset, record_count, error);
    if (wrong) return wrong;
    char text[32];
    recmap_value id = payload_id(text, record_count / 2);
    uint64_t number;
    if (recmap_dataset_find(&number, dataset, &id, error) != RECMAP_OK) return "find failed";
    return number == record_count / 2 ? NULL : "find gave another number";
}
