/* The messages of the index: what is encoded comes back, what is cut or forged is refused. */
#define _GNU_SOURCE
#include "index/tables/manifest.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/core/proto.h"
#include "storage/protocol/reply.h"
#include "support/buffer.h"
#include "support/folder.h"
#include "support/sanitizers.h"

static struct manifest_column columns[] = {
    {(char *)"label", (char *)"5", RECMAP_TYPE_INT64, 0, false, 0},
    {(char *)"", NULL, RECMAP_TYPE_NONE, 0, false, 7},
    {(char *)"word", (char *)"", RECMAP_TYPE_BYTES, (uint64_t)1 << 40, true, 0},
    {(char *)"time", NULL, RECMAP_TYPE_FLOAT64, 1, true, 0},
};

static struct manifest sample(void) {
    struct manifest made = {
        .format_version = 1,
        .record_count = UINT64_MAX,
        .shard_count = 3,
        .byte_count = (uint64_t)1 << 61,
        .id_count = 17,
        .damage_count = 2,
        .damaged_byte_count = 99,
        .id_name = (char *)"image/id",
        .extracted_by_caller = true,
        .skips_damage = true,
        .columns = columns,
        .column_count = 4,
    };
    for (size_t i = 0; i < 16; i++) made.fingerprint[i] = (uint8_t)(i * 17);
    return made;
}

static void assert_same_text(const char *a, const char *b) {
    assert_int_equal(a == NULL, b == NULL);
    if (a) assert_string_equal(a, b);
}

/* Compares all fields, but for the shards and damages, which are values of their own. */
static void assert_same(const struct manifest *a, const struct manifest *b) {
    assert_int_equal(a->format_version, b->format_version);
    assert_int_equal(a->record_count, b->record_count);
    assert_int_equal(a->shard_count, b->shard_count);
    assert_int_equal(a->byte_count, b->byte_count);
    assert_int_equal(a->id_count, b->id_count);
    assert_int_equal(a->damage_count, b->damage_count);
    assert_int_equal(a->damaged_byte_count, b->damaged_byte_count);
    assert_memory_equal(a->fingerprint, b->fingerprint, 16);
    assert_same_text(a->id_name, b->id_name);
    assert_int_equal(a->extracted_by_caller, b->extracted_by_caller);
    assert_int_equal(a->skips_damage, b->skips_damage);
    assert_int_equal(a->column_count, b->column_count);
    for (size_t i = 0; i < a->column_count; i++) {
        assert_string_equal(a->columns[i].name, b->columns[i].name);
        assert_same_text(a->columns[i].default_value, b->columns[i].default_value);
        assert_int_equal(a->columns[i].type, b->columns[i].type);
        assert_int_equal(a->columns[i].first_value, b->columns[i].first_value);
        assert_int_equal(a->columns[i].is_annotated, b->columns[i].is_annotated);
    }
}

static void check_manifest(const struct manifest *expected) {
    size_t size;
    uint8_t *encoded = manifest_encode(&size, expected);
    struct manifest decoded;
    assert_int_equal(manifest_decode(&decoded, encoded, size), DECODE_OK);
    assert_same(expected, &decoded);
    manifest_deinit(&decoded);
    free(encoded);
}

static void test_manifests_decode_to_the_same_fields(void **state) {
    (void)state;
    struct manifest given = sample();
    check_manifest(&given);
    given.id_name = (char *)"";
    given.extracted_by_caller = given.skips_damage = false;
    check_manifest(&given);
    given.id_name = NULL;
    given.column_count = 0;
    check_manifest(&given);
    struct manifest empty = {0};
    check_manifest(&empty);
}

enum { ENTRIES = 50 };

/* Random shards with numbers of all magnitudes. The file and the image of an uncompressed shard
 * have one size, so that one field is left out of its message. */
static void make_shards(struct shard_entry *shards, struct rng *random) {
    for (size_t i = 0; i < ENTRIES; i++) {
        char path[40];
        snprintf(path, sizeof path, "deep/shard-%zu\xff.tfrecord", i);
        shards[i] = (struct shard_entry){
            .path = strdup(path),
            .framing = strdup("tfrecord"),
            .size = rng_skewed(random, 62),
            .file_size = rng_skewed(random, 62),
            .compression = (enum compression)rng_below(random, 3),
            .mtime_ns = (int64_t)rng_next(random),
            .record_count = rng_skewed(random, 40),
            .damage_count = rng_skewed(random, 10),
            .identity = {.sample_count = (size_t)rng_below(random, 33),
                         .sample_step = (uint64_t)1 << rng_below(random, 40)},
        };
        if (shards[i].compression == COMPRESSION_NONE) shards[i].size = shards[i].file_size;
        for (size_t b = 0; b < 16; b++) shards[i].identity.hash[b] = (uint8_t)rng_next(random);
        for (size_t s = 0; s < shards[i].identity.sample_count; s++)
            shards[i].identity.samples[s] = (uint32_t)rng_next(random);
    }
}

static void free_shards(struct shard_entry *shards, size_t count) {
    for (size_t i = 0; i < count; i++) shard_entry_deinit(&shards[i]);
}

/* Encoded shards decode to the same fields, and are refused where fewer shards are expected than
 * there are. */
static void test_shards_decode_to_the_same_fields(void **state) {
    (void)state;
    struct rng random = {1};
    struct shard_entry given[ENTRIES], decoded[ENTRIES];
    make_shards(given, &random);
    size_t size, count = 0;
    uint8_t *encoded = shards_encode(&size, given, ENTRIES);
    assert_int_equal(shards_decode(decoded, &count, ENTRIES, encoded, size), DECODE_OK);
    assert_int_equal(count, ENTRIES);
    for (size_t i = 0; i < ENTRIES; i++) {
        assert_string_equal(decoded[i].path, given[i].path);
        assert_string_equal(decoded[i].framing, given[i].framing);
        assert_int_equal(decoded[i].size, given[i].size);
        assert_int_equal(decoded[i].file_size, given[i].file_size);
        assert_int_equal(decoded[i].compression, given[i].compression);
        assert_true(decoded[i].mtime_ns == given[i].mtime_ns);
        assert_int_equal(decoded[i].record_count, given[i].record_count);
        assert_int_equal(decoded[i].damage_count, given[i].damage_count);
        const struct shard_identity *actual = &decoded[i].identity, *due = &given[i].identity;
        assert_memory_equal(actual->hash, due->hash, 16);
        assert_int_equal(actual->sample_count, due->sample_count);
        assert_int_equal(actual->sample_step, due->sample_step);
        assert_memory_equal(actual->samples, due->samples, due->sample_count * 4);
    }
    free_shards(decoded, count);
    count = 0;
    assert_int_equal(shards_decode(decoded, &count, ENTRIES - 1, encoded, size), DECODE_BAD);
    free_shards(decoded, count);
    free(encoded);
    free_shards(given, ENTRIES);
}

static enum decode_verdict decode_changed(struct shard_entry *shard) {
    size_t size, count = 0;
    uint8_t *encoded = shards_encode(&size, shard, 1);
    struct shard_entry decoded;
    enum decode_verdict verdict = shards_decode(&decoded, &count, 1, encoded, size);
    free_shards(&decoded, count);
    free(encoded);
    return verdict;
}

static void test_unsound_shards_are_refused(void **state) {
    (void)state;
    struct shard_entry shard = {
        .path = (char *)"x", .framing = (char *)"tfrecord", .identity = {.sample_step = 1}};
    assert_int_equal(decode_changed(&shard), DECODE_OK);
    shard.path = (char *)"";
    assert_int_equal(decode_changed(&shard), DECODE_BAD);
    shard.path = (char *)"x";
    shard.identity.sample_step = 0;
    assert_int_equal(decode_changed(&shard), DECODE_BAD);
    shard.identity.sample_step = 1;
    shard.size = 7;
    assert_int_equal(decode_changed(&shard), DECODE_BAD);
    shard.compression = COMPRESSION_GZIP;
    assert_int_equal(decode_changed(&shard), DECODE_OK);
    shard.compression = (enum compression)3;
    assert_int_equal(decode_changed(&shard), DECODE_BAD);
}

static void check_etag(const char *etag, enum decode_verdict expected) {
    struct shard_entry shard = {.path = (char *)"x",
                                .framing = (char *)"tfrecord",
                                .etag = (char *)etag,
                                .identity = {.sample_step = 1}};
    assert_int_equal(decode_changed(&shard), expected);
}

/* ETags are sent in the headers of requests: one that would add a header there is refused. */
static void test_etags_that_add_headers_are_refused(void **state) {
    (void)state;
    char etag[ETAG_MAX + 1] = "";
    memset(etag, 'x', ETAG_MAX - 1);
    check_etag("\"a b~\xff\"", DECODE_OK);
    check_etag(etag, DECODE_OK);
    etag[ETAG_MAX - 1] = 'x';
    check_etag(etag, DECODE_BAD);
    check_etag("\"a\"\r\nX-Added: 1", DECODE_BAD);
    check_etag("\"a\n\"", DECODE_BAD);
    check_etag("\"\x1f\"", DECODE_BAD);
    check_etag("\"\x7f\"", DECODE_BAD);
}

/* Encoded damages decode to the same fields, and are refused if more follow than the manifest
 * counts. */
static void test_damages_decode_to_the_same_fields(void **state) {
    (void)state;
    struct damage_entry given[ENTRIES], decoded[ENTRIES];
    for (size_t i = 0; i < ENTRIES; i++)
        given[i] = (struct damage_entry){i / 7, i * 1000, UINT64_MAX - i,
                                         (char *)(i ? "data CRC is 0x1" : "")};
    size_t size, count = 0;
    uint8_t *encoded = damages_encode(&size, given, ENTRIES);
    assert_int_equal(damages_decode(decoded, &count, ENTRIES, encoded, size), DECODE_OK);
    assert_int_equal(count, ENTRIES);
    for (size_t i = 0; i < ENTRIES; i++) {
        assert_int_equal(decoded[i].shard, given[i].shard);
        assert_int_equal(decoded[i].offset, given[i].offset);
        assert_int_equal(decoded[i].length, given[i].length);
        assert_string_equal(decoded[i].reason, given[i].reason);
        free(decoded[i].reason);
    }
    count = 10;
    assert_int_equal(damages_decode(decoded, &count, ENTRIES, encoded, size), DECODE_BAD);
    free(encoded);
}

/* All three decoders over the same broken bytes: nothing leaks, nothing is read outside. */
static void decode_all(const uint8_t *bytes, size_t size) {
    uint8_t *exact = must_copy(bytes, size);
    struct manifest decoded;
    if (manifest_decode(&decoded, exact, size) == DECODE_OK) manifest_deinit(&decoded);
    struct shard_entry shards[8];
    size_t count = 0;
    (void)shards_decode(shards, &count, 8, exact, size);
    free_shards(shards, count);
    struct damage_entry damages[8];
    count = 0;
    (void)damages_decode(damages, &count, 8, exact, size);
    for (size_t i = 0; i < count; i++) free(damages[i].reason);
    free(exact);
}

/* Every prefix of valid messages, then messages with up to five changed bytes: decoding may refuse
 * or accept them, but must not read outside of them or leak. */
static void test_forged_messages_are_read_safely(void **state) {
    (void)state;
    struct rng random = {2};
    struct manifest given = sample();
    struct shard_entry shards[ENTRIES];
    make_shards(shards, &random);
    size_t sizes[2];
    uint8_t *whole[2] = {manifest_encode(&sizes[0], &given), shards_encode(&sizes[1], shards, 5)};
    for (int kind = 0; kind < 2; kind++)
        for (size_t size = 0; size < sizes[kind]; size++) decode_all(whole[kind], size);
    int rounds = is_long() ? 200000 : 10000;
    for (int round = 0; round < rounds; round++) {
        size_t size = sizes[round & 1];
        uint8_t *broken = must_copy(whole[round & 1], size);
        for (uint64_t i = rng_below(&random, 5); i < 5; i++)
            broken[rng_below(&random, size)] = (uint8_t)rng_next(&random);
        decode_all(broken, size);
        free(broken);
    }
    free(whole[0]);
    free(whole[1]);
    free_shards(shards, ENTRIES);
}

/* Decodes many copies of an empty field, in a child process, and returns the growth of its memory.
 * The fields are columns, entries of the other tables, or unknown. */
static void expect_little_memory(const char *field, size_t field_size) {
    enum { SIZE = 12 << 20 };
    uint8_t *bytes = must_realloc(NULL, SIZE);
    for (size_t i = 0; i < SIZE; i++) bytes[i] = (uint8_t)field[i % field_size];
    pid_t child = fork();
    assert_true(child >= 0);
    if (!child) {
        struct rusage before, after;
        getrusage(RUSAGE_SELF, &before);
        decode_all(bytes, SIZE - SIZE % field_size);
        getrusage(RUSAGE_SELF, &after);
        long limit = (PROTO_GROWTH + 3) * (SIZE >> 10); /* and the copies of the bytes */
        if (has_address_sanitizer) limit *= 3;
        _exit(after.ru_maxrss - before.ru_maxrss < limit ? 0 : 1);
    }
    int ended;
    assert_int_equal(waitpid(child, &ended, 0), child);
    assert_true(WIFEXITED(ended));
    assert_int_equal(WEXITSTATUS(ended), 0);
    free(bytes);
}

static void test_memory_follows_the_size(void **state) {
    (void)state;
    expect_little_memory("\x5a\x00", 2);     /* Manifest.columns */
    expect_little_memory("\x0a\x00", 2);     /* ShardTable.shards, DamageTable.damages */
    expect_little_memory("\xfa\x01\x00", 3); /* field 31, which is unknown */
}

/* The fullest tables that are written stay within the limit. */
static void test_the_fullest_tables_fit(void **state) {
    (void)state;
    static struct shard_entry shards[SHARDS_PER_TABLE], decoded_shards[SHARDS_PER_TABLE];
    static struct damage_entry damages[DAMAGES_PER_TABLE], decoded_damages[DAMAGES_PER_TABLE];
    for (size_t i = 0; i < SHARDS_PER_TABLE; i++)
        shards[i] = (struct shard_entry){.path = (char *)"s",
                                         .framing = (char *)"lines",
                                         .identity = {.sample_step = 1, .sample_count = i % 33}};
    for (size_t i = 0; i < DAMAGES_PER_TABLE; i++)
        damages[i] = (struct damage_entry){.length = 1, .reason = (char *)"r"};
    size_t size, count = 0;
    uint8_t *encoded = shards_encode(&size, shards, SHARDS_PER_TABLE);
    assert_int_equal(shards_decode(decoded_shards, &count, SHARDS_PER_TABLE, encoded, size),
                     DECODE_OK);
    free_shards(decoded_shards, count);
    free(encoded);
    encoded = damages_encode(&size, damages, DAMAGES_PER_TABLE);
    count = 0;
    assert_int_equal(damages_decode(decoded_damages, &count, DAMAGES_PER_TABLE, encoded, size),
                     DECODE_OK);
    for (size_t i = 0; i < count; i++) free(decoded_damages[i].reason);
    free(encoded);
}

/* The flag of float64 needs the type float, by which older readers decode the manifest. */
static void test_float64_of_another_type(void **state) {
    (void)state;
    struct manifest given = sample(), decoded = {0};
    size_t size;
    uint8_t *packed = manifest_encode(&size, &given);
    assert_non_null(packed);
    uint8_t *type = memmem(packed, size, "time\x10\x02", 6);
    assert_non_null(type);
    for (uint8_t other = 0; other < 5; other++) {
        type[5] = other;
        enum decode_verdict verdict = manifest_decode(&decoded, packed, size);
        assert_int_equal(verdict, other == 2 ? DECODE_OK : DECODE_BAD);
        manifest_deinit(&decoded);
    }
    free(packed);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_float64_of_another_type),
        cmocka_unit_test(test_manifests_decode_to_the_same_fields),
        cmocka_unit_test(test_shards_decode_to_the_same_fields),
        cmocka_unit_test(test_unsound_shards_are_refused),
        cmocka_unit_test(test_damages_decode_to_the_same_fields),
        cmocka_unit_test(test_forged_messages_are_read_safely),
        cmocka_unit_test(test_memory_follows_the_size),
        cmocka_unit_test(test_the_fullest_tables_fit),
        cmocka_unit_test(test_etags_that_add_headers_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
