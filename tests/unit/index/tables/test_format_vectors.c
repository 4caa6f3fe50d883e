/* The format's specification against its code: every codec gives the bytes of docs/formats/vectors,
 * which were made without it, and reads them. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <recmap/recmap.h>

#include "format/framing/tfrecord.h"
#include "index/store/content.h"
#include "index/store/seal.h"
#include "index/store/store.h"
#include "index/tables/count_chunk.h"
#include "index/tables/identity.h"
#include "index/tables/ids.h"
#include "index/tables/lifted.h"
#include "index/tables/offsets.h"
#include "support/vector_file.h"

static void *room(size_t size) {
    void *memory = malloc(size + 1);
    if (!memory) abort();
    return memory;
}

static void expect_ok(recmap_status status, const recmap_error *error) {
    if (status != RECMAP_OK)
        fail_msg("%s: %s: %s", recmap_status_name(status), error->path, error->message);
}

/* Both directions: each payload is framed as the vector says, and the frame parses back to it. */
static void test_frames_match_their_vectors(void **state) {
    (void)state;
    struct vector_file file = vectors_load("tfrecord.txt");
    for (size_t i = 0; i < file.count; i++) {
        const struct vector_case *vector = vectors_at(&file, i);
        size_t size;
        uint8_t *payload = vector_bytes(vector, "payload", &size);
        uint8_t *record = room(size + TFRECORD_OVERHEAD);
        tfrecord_make_header(record, size);
        memcpy(record + TFRECORD_HEADER_SIZE, payload, size);
        tfrecord_make_footer(record + TFRECORD_HEADER_SIZE + size, payload, size);
        vector_expect(vector, "frame", record, size + TFRECORD_OVERHEAD);
        struct frame found;
        assert_int_equal(tfrecord_framing.parse(&found, &tfrecord_framing, record,
                                                size + TFRECORD_OVERHEAD, FRAME_CHECK_ALL, NULL),
                         FRAME_GOOD);
        assert_int_equal(found.data_size, size);
        free(record);
        free(payload);
    }
    vectors_deinit(&file);
}

/* The seal of each vector is encoded from its fields and decoded back, and the hash of the content
 * is the specified one. */
static void test_seals_match_their_vectors(void **state) {
    (void)state;
    struct vector_file file = vectors_load("seal.txt");
    for (size_t i = 0; i < file.count; i++) {
        const struct vector_case *vector = vectors_at(&file, i);
        struct seal_fields fields = {.page_size = (uint32_t)vector_number(vector, "page_size"),
                                     .page_count = vector_number(vector, "page_count")};
        fields.file_size = fields.page_size * fields.page_count + SEAL_SIZE;
        size_t size;
        uint8_t *content = vector_bytes(vector, "content", &size);
        content_hash(fields.content_hash, content, size);
        vector_expect(vector, "content_hash", fields.content_hash, sizeof fields.content_hash);
        free(content);
        uint8_t bytes[SEAL_SIZE];
        seal_encode(bytes, &fields);
        vector_expect(vector, "seal", bytes, sizeof bytes);
        struct seal_fields decoded;
        recmap_error error = RECMAP_ERROR_INIT;
        expect_ok(seal_decode(&decoded, bytes, fields.file_size, &error), &error);
        assert_int_equal(decoded.page_size, fields.page_size);
        assert_int_equal(decoded.page_count, fields.page_count);
        assert_memory_equal(decoded.content_hash, fields.content_hash, sizeof fields.content_hash);
    }
    vectors_deinit(&file);
}

static struct store_key key_of(const struct vector_case *vector) {
    return (struct store_key){vector_number(vector, "chunk"),
                              (uint32_t)vector_number(vector, "series")};
}

/* Keys and prefixes of stored values: encoded as the vectors say, and decoded back. */
static void test_stored_values_match_their_vectors(void **state) {
    (void)state;
    struct vector_file file = vectors_load("values.txt");
    for (size_t i = 0; i < file.count; i++) {
        const struct vector_case *vector = vectors_at(&file, i);
        enum store_table table = (enum store_table)vector_number(vector, "table");
        struct store_key key = key_of(vector);
        uint8_t key_bytes[STORE_KEY_SIZE], head[VALUE_PREFIX_SIZE];
        key_encode(key_bytes, key);
        vector_expect(vector, "key", key_bytes, sizeof key_bytes);
        struct store_key decoded = key_decode(key_bytes);
        assert_true(decoded.chunk == key.chunk && decoded.series == key.series);
        size_t size;
        uint8_t *payload = vector_bytes(vector, "payload", &size);
        value_prefix_encode(head, table, key, payload, size);
        vector_expect(vector, "head", head, sizeof head);
        assert_true(value_prefix_matches(head, table, key, payload, size));
        free(payload);
    }
    vectors_deinit(&file);
}

/* Reads a chunk back: every offset, and the shard that its frame begins in. */
static void expect_offsets(const struct vector_case *vector, const uint64_t *offsets,
                           const uint64_t *shards, size_t count) {
    size_t size;
    uint8_t *packed = vector_bytes(vector, "packed", &size);
    struct offsets_chunk chunk;
    assert_true(offsets_open(&chunk, packed, size, count));
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(offsets_at(&chunk, i), offsets[i]);
        size_t first = i / OFFSETS_BLOCK_RECORDS * OFFSETS_BLOCK_RECORDS;
        assert_int_equal(offsets_shard_hint(&chunk, i), shards[first]);
    }
    assert_false(offsets_open(&chunk, packed, size - OFFSETS_PADDING - 1, count));
    free(packed);
}

/* Each list of offsets packs to the vector's bytes, and those bytes give every offset and shard
 * back. */
static void test_offsets_match_their_vectors(void **state) {
    (void)state;
    struct vector_file file = vectors_load("offsets.txt");
    for (size_t i = 0; i < file.count; i++) {
        const struct vector_case *vector = vectors_at(&file, i);
        size_t count, shard_count;
        uint64_t *offsets = vector_numbers(vector, "offsets", &count);
        uint64_t *shards = vector_numbers(vector, "shards", &shard_count);
        assert_int_equal(count, shard_count);
        uint32_t *narrow = room(count * sizeof *narrow);
        for (size_t r = 0; r < count; r++) narrow[r] = (uint32_t)shards[r];
        uint8_t *packed = room(offsets_capacity(count));
        size_t size = offsets_pack(packed, offsets, narrow, count);
        vector_expect(vector, "packed", packed, size);
        expect_offsets(vector, offsets, shards, count);
        free(packed);
        free(narrow);
        free(shards);
        free(offsets);
    }
    vectors_deinit(&file);
}

static void expect_hash(const struct vector_case *vector) {
    recmap_value id = {.type = RECMAP_TYPE_INT64};
    uint8_t *bytes = NULL;
    if (!strcmp(vector_text(vector, "kind"), "int64")) {
        id.as.int64 = (int64_t)vector_number(vector, "value");
    } else {
        id.type = RECMAP_TYPE_BYTES;
        id.as.bytes.data = bytes = vector_bytes(vector, "value", &id.as.bytes.size);
    }
    assert_int_equal(id_hash(&id), vector_number(vector, "hash"));
    free(bytes);
}

/* The vector's pairs pack to its bytes. The bytes are then read on their own: every pair is at its
 * index, and a search for its hash finds one with that hash. */
static void expect_pairs(const struct vector_case *vector) {
    size_t count, size;
    unsigned number_size = ids_number_size(vector_number(vector, "record_count"));
    assert_int_equal(number_size, vector_number(vector, "number_size"));
    uint64_t *numbers = vector_numbers(vector, "pairs", &count);
    struct id_pair *pairs = (struct id_pair *)numbers;
    count /= 2;
    uint8_t *packed = room(ids_packed_size(count, number_size));
    ids_pack(packed, pairs, count, number_size);
    vector_expect(vector, "packed", packed, ids_packed_size(count, number_size));
    free(packed);
    packed = vector_bytes(vector, "packed", &size);
    struct ids_chunk chunk = {packed, count, number_size};
    for (size_t i = 0; i < count; i++) {
        struct id_pair pair = ids_at(&chunk, i);
        assert_true(pair.hash == pairs[i].hash && pair.number == pairs[i].number);
        assert_true(ids_at(&chunk, ids_lower_bound(&chunk, pair.hash)).hash == pair.hash);
    }
    free(packed);
    free(numbers);
}

static void test_ids_match_their_vectors(void **state) {
    (void)state;
    struct vector_file file = vectors_load("ids.txt");
    for (size_t i = 0; i < file.count; i++) {
        const struct vector_case *vector = vectors_at(&file, i);
        if (vector_has(vector, "hash")) expect_hash(vector);
        else expect_pairs(vector);
    }
    vectors_deinit(&file);
}

static void test_counts_match_their_vectors(void **state) {
    (void)state;
    struct vector_file file = vectors_load("counts.txt");
    for (size_t i = 0; i < file.count; i++) {
        const struct vector_case *vector = vectors_at(&file, i);
        size_t count, size;
        uint64_t *counts = vector_numbers(vector, "counts", &count);
        uint8_t *packed = room(count_chunk_capacity(count));
        vector_expect(vector, "packed", packed, count_chunk_pack(packed, counts, count));
        free(packed);
        packed = vector_bytes(vector, "packed", &size);
        struct count_chunk chunk;
        assert_true(count_chunk_open(&chunk, packed, size, count));
        for (size_t k = 0; k < count; k++) assert_int_equal(count_chunk_at(&chunk, k), counts[k]);
        free(packed);
        free(counts);
    }
    vectors_deinit(&file);
}

static recmap_type type_of(const struct vector_case *vector) {
    static const char *const names[] = {"none", "int64", "float", "bytes", "float64"};
    const char *name = vector_text(vector, "kind");
    for (int type = 0; type < 5; type++)
        if (!strcmp(names[type], name)) return (recmap_type)type;
    fail_msg("no type is called %s", name);
    return RECMAP_TYPE_NONE;
}

/* Values of bytes, as columns are packed from them: ends, and the bytes side by side. */
static uint64_t *parse_byte_values(const struct vector_case *vector, uint8_t *bytes,
                                   size_t *count) {
    const char *text = vector_text(vector, "values");
    uint64_t *ends = room((strlen(text) + 1) * sizeof *ends);
    size_t end = 0;
    for (*count = 0; *text; text += *text == ' ') {
        if (*text == '-') text++;
        else end += vector_parse_hex(bytes + end, &text);
        ends[(*count)++] = end;
    }
    return ends;
}

/* The vector holds integers and the bits of floats as words; for bytes the words are the ends of
 * the values. Floats are compared as bits, because NaN equals nothing. */
static void expect_column_value(const struct column_values *values,
                                const struct column_chunk *chunk, size_t i) {
    recmap_value value = column_at(chunk, i);
    bool is_null = values->nulls && values->nulls[i];
    assert_int_equal(value.type, is_null ? RECMAP_TYPE_NONE : values->type);
    uint32_t bits;
    switch (value.type) {
    case RECMAP_TYPE_INT64: assert_true((uint64_t)value.as.int64 == values->words[i]); break;
    case RECMAP_TYPE_FLOAT:
        memcpy(&bits, &value.as.float32, sizeof bits);
        assert_int_equal(bits, values->words[i]);
        break;
    case RECMAP_TYPE_FLOAT64: assert_memory_equal(&value.as.float64, &values->words[i], 8); break;
    case RECMAP_TYPE_BYTES: {
        uint64_t start = i ? values->words[i - 1] : 0;
        assert_int_equal(value.as.bytes.size, values->words[i] - start);
        if (value.as.bytes.size)
            assert_memory_equal(value.as.bytes.data, values->bytes + start, value.as.bytes.size);
        break;
    }
    case RECMAP_TYPE_NONE: break;
    }
}

static void expect_column(const struct vector_case *vector, const struct column_values *values) {
    size_t size;
    uint8_t *packed = column_pack(&size, values);
    assert_non_null(packed);
    vector_expect(vector, "packed", packed, size);
    free(packed);
    packed = vector_bytes(vector, "packed", &size);
    struct column_chunk chunk;
    assert_true(column_open(&chunk, packed, size, values->count));
    for (size_t i = 0; i < values->count; i++) expect_column_value(values, &chunk, i);
    assert_false(column_open(&chunk, packed, size, values->count + 1));
    assert_false(column_open(&chunk, packed, size - 1, values->count));
    free(packed);
}

/* A byte for each value, or NULL. */
static uint8_t *parse_nulls(const struct vector_case *vector, size_t count) {
    if (!vector_has(vector, "nulls")) return NULL;
    size_t null_count;
    uint64_t *places = vector_numbers(vector, "nulls", &null_count);
    uint8_t *nulls = room(count);
    memset(nulls, 0, count);
    for (size_t i = 0; i < null_count; i++) {
        assert_true(places[i] < count);
        nulls[places[i]] = 1;
    }
    free(places);
    return nulls;
}

static void test_columns_match_their_vectors(void **state) {
    (void)state;
    struct vector_file file = vectors_load("columns.txt");
    for (size_t i = 0; i < file.count; i++) {
        const struct vector_case *vector = vectors_at(&file, i);
        recmap_type type = type_of(vector);
        size_t count = 0;
        uint8_t *bytes = room(strlen(vector_text(vector, "values")));
        uint64_t *words = type == RECMAP_TYPE_BYTES ? parse_byte_values(vector, bytes, &count)
                                                    : vector_numbers(vector, "values", &count);
        if (type != RECMAP_TYPE_NONE) assert_int_equal(count, vector_number(vector, "count"));
        struct column_values values = {type, (size_t)vector_number(vector, "count"), words, bytes,
                                       parse_nulls(vector, count)};
        expect_column(vector, &values);
        free((void *)values.nulls);
        free(words);
        free(bytes);
    }
    vectors_deinit(&file);
}

/* Adds the vector's records, which follow each other without gaps, and compares the identity that
 * results: hash, samples and the step between them. */
static void expect_identity(const struct vector_case *vector, struct identity_builder *builder) {
    size_t count, check_count, sample_count;
    uint64_t *sizes = vector_numbers(vector, "sizes", &count);
    uint64_t *checks = vector_numbers(vector, "checks", &check_count);
    uint64_t *samples = vector_numbers(vector, "samples", &sample_count);
    assert_int_equal(count, check_count);
    uint64_t offset = 0;
    identity_reset(builder);
    for (size_t i = 0; i < count; i++) {
        identity_add(builder, offset, sizes[i], (uint32_t)checks[i]);
        offset += sizes[i] + TFRECORD_OVERHEAD;
    }
    assert_int_equal(offset, vector_number(vector, "shard_size"));
    struct shard_identity made = identity_finish(builder, offset);
    vector_expect(vector, "hash", made.hash, sizeof made.hash);
    assert_int_equal(made.sample_step, vector_number(vector, "sample_step"));
    assert_int_equal(made.sample_count, sample_count);
    for (size_t i = 0; i < sample_count; i++) assert_int_equal(made.samples[i], samples[i]);
    free(samples);
    free(checks);
    free(sizes);
}

/* The file has vectors of two kinds: identities of shards, and fingerprints, which are computed
 * from the hashes of several identities. */
static void test_identities_match_their_vectors(void **state) {
    (void)state;
    struct vector_file file = vectors_load("identity.txt");
    struct identity_builder *builder = identity_create();
    assert_non_null(builder);
    for (size_t i = 0; i < file.count; i++) {
        const struct vector_case *vector = vectors_at(&file, i);
        if (!vector_has(vector, "fingerprint")) {
            expect_identity(vector, builder);
            continue;
        }
        size_t size;
        uint8_t *hashes = vector_bytes(vector, "hashes", &size);
        uint8_t fingerprint[IDENTITY_HASH_SIZE];
        identity_fingerprint(fingerprint, hashes, size / IDENTITY_HASH_SIZE);
        vector_expect(vector, "fingerprint", fingerprint, sizeof fingerprint);
        free(hashes);
    }
    identity_destroy(builder);
    vectors_deinit(&file);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_frames_match_their_vectors),
        cmocka_unit_test(test_seals_match_their_vectors),
        cmocka_unit_test(test_stored_values_match_their_vectors),
        cmocka_unit_test(test_offsets_match_their_vectors),
        cmocka_unit_test(test_ids_match_their_vectors),
        cmocka_unit_test(test_columns_match_their_vectors),
        cmocka_unit_test(test_counts_match_their_vectors),
        cmocka_unit_test(test_identities_match_their_vectors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
