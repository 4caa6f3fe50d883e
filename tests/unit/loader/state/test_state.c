/* States: bytes and JSON and back, every bit and every cut, hostile values with a good checksum,
 * and the names of what differs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include <cmocka.h>

#include <recmap/recmap.h>

#include "base/core/bytes.h"
#include "state.pb-c.h"
#include "support/index/build.h"
#include "support/json.h"
#include "support/vector_file.h"

static const char ORDER[] = "{\"kind\":\"shuffled\",\"n\":1000,\"seed\":7}";

static recmap_state_info plain_info(void) {
    recmap_state_info info = {.format_version = RECMAP_STATE_FORMAT_VERSION,
                              .record_count = 1000,
                              .position_count = 1000,
                              .epoch = 3,
                              .position = 421,
                              .order = ORDER};
    for (size_t i = 0; i < 16; i++) info.fingerprint.bytes[i] = (uint8_t)(i * 17 + 1);
    return info;
}

static recmap_state *make(const recmap_state_info *info) {
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_state *state;
    ASSERT_OK(recmap_state_create(&state, info, &error), &error);
    return state;
}

/* Packs any values, with a checksum that holds. */
static struct buffer forge(const Recmap__State *values, const void *extra, size_t more_size) {
    struct buffer bytes = BUFFER_INIT;
    size_t size = recmap__state__get_packed_size(values);
    bytes.data = must_realloc(NULL, size);
    bytes.size = bytes.capacity = size;
    recmap__state__pack(values, bytes.data);
    buffer_add(&bytes, extra, more_size);
    uint8_t sum[9] = {0x41};
    store64(sum + 1, XXH3_64bits(bytes.data, bytes.size));
    buffer_add(&bytes, sum, sizeof sum);
    return bytes;
}

static Recmap__State plain_values(recmap_state_info *info) {
    Recmap__State values = RECMAP__STATE__INIT;
    values.format_version = info->format_version;
    values.fingerprint = (ProtobufCBinaryData){16, info->fingerprint.bytes};
    values.record_count = info->record_count;
    values.position_count = info->position_count;
    values.order = (char *)info->order;
    values.epoch = info->epoch;
    values.position = info->position;
    return values;
}

static struct buffer bytes_of(recmap_state_info *info) {
    Recmap__State values = plain_values(info);
    return forge(&values, NULL, 0);
}

static recmap_text json_of(const recmap_state_info *info) {
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_text text = RECMAP_TEXT_INIT;
    recmap_state *state = make(info);
    ASSERT_OK(recmap_state_to_json(&text, state, &error), &error);
    recmap_state_destroy(state);
    assert_json(text.data, text.size);
    return text;
}

static void assert_same(const recmap_state *state, const recmap_state_info *due) {
    const recmap_state_info *info = recmap_state_get_info(state);
    assert_int_equal(info->format_version, due->format_version);
    assert_memory_equal(&info->fingerprint, &due->fingerprint, sizeof due->fingerprint);
    assert_true(info->record_count == due->record_count);
    assert_true(info->position_count == due->position_count);
    assert_true(info->epoch == due->epoch && info->position == due->position);
    assert_string_equal(info->order, due->order);
}

static void assert_round_trips(recmap_state_info *info) {
    recmap_error error = RECMAP_ERROR_INIT;
    struct buffer bytes = bytes_of(info);
    recmap_text json = json_of(info);
    recmap_state *state;
    ASSERT_OK(recmap_state_from_bytes(&state, bytes.data, bytes.size, &error), &error);
    assert_same(state, info);
    recmap_state_destroy(state);
    ASSERT_OK(recmap_state_from_json(&state, json.data, json.size, &error), &error);
    assert_same(state, info);
    recmap_state_destroy(state);
    buffer_deinit(&bytes);
    recmap_text_deinit(&json);
}

static void test_states_survive_a_round_trip(void **unused) {
    (void)unused;
    recmap_state_info info = plain_info();
    assert_round_trips(&info);
    struct rng random = {1};
    for (int i = 0; i < 2000; i++) {
        info.record_count = rng_skewed(&random, 62);
        info.position_count = rng_skewed(&random, 62);
        info.position = rng_below(&random, info.position_count + 1);
        info.epoch = rng_skewed(&random, 62);
        for (size_t b = 0; b < 16; b++) info.fingerprint.bytes[b] = (uint8_t)rng_next(&random);
        assert_round_trips(&info);
    }
    info.order = "{\"kind\":\"odd \\\"text\\\" \xc3\xa9\"}";
    info.position = info.position_count = info.epoch = RECMAP_STATE_NUMBER_MAX;
    assert_round_trips(&info);
}

static void assert_json_of(const char *expected, recmap_state *state) {
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_text json = RECMAP_TEXT_INIT;
    ASSERT_OK(recmap_state_to_json(&json, state, &error), &error);
    assert_string_equal(json.data, expected);
    recmap_text_deinit(&json);
    recmap_state_destroy(state);
}

/* docs/formats/vectors/states.txt: what recmap 0.2.0 wrote is read, and written as its JSON. */
static void test_states_match_their_vectors(void **unused) {
    (void)unused;
    struct vector_file file = vectors_load("states.txt");
    for (size_t i = 0; i < file.count; i++) {
        const struct vector_case *vector = vectors_at(&file, i);
        const char *json = vector_text(vector, "json");
        recmap_error error = RECMAP_ERROR_INIT;
        recmap_state *state;
        size_t size;
        uint8_t *bytes = vector_bytes(vector, "bytes", &size);
        ASSERT_OK(recmap_state_from_bytes(&state, bytes, size, &error), &error);
        assert_json_of(json, state);
        ASSERT_OK(recmap_state_from_json(&state, json, strlen(json), &error), &error);
        assert_json_of(json, state);
        free(bytes);
    }
    vectors_deinit(&file);
}

/* A plain shuffle of 2^62 records with the largest seed, at the end of epoch 2^62. */
static void test_the_largest_numbers_fit(void **unused) {
    (void)unused;
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_order *order;
    recmap_text description = RECMAP_TEXT_INIT;
    ASSERT_OK(recmap_order_shuffled(&order, RECMAP_ORDER_COUNT_MAX, UINT64_MAX, &error), &error);
    ASSERT_OK(recmap_order_describe(&description, order, &error), &error);
    recmap_state_info info = plain_info();
    info.order = description.data;
    info.record_count = info.position_count = RECMAP_STATE_NUMBER_MAX;
    info.epoch = info.position = RECMAP_STATE_NUMBER_MAX;
    recmap_text json = json_of(&info);
    assert_true(json.size <= 400);
    assert_round_trips(&info);
    recmap_text_deinit(&json);
    recmap_text_deinit(&description);
    recmap_order_release(order);
}

static void assert_refused_bytes(const void *data, size_t size, recmap_status due) {
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_state *state = (recmap_state *)&error; /* untouched */
    /* A copy of exactly this size, so that sanitizers detect reads past its end. */
    void *copy = must_copy(data, size);
    recmap_status status = recmap_state_from_bytes(&state, copy, size, &error);
    free(copy);
    assert_int_equal(status, due);
    assert_ptr_equal(state, &error);
    assert_int_equal(error.status, due);
    assert_true(error.message[0] && error.advice[0]);
}

/* Every bit flipped, every truncation, a byte appended, and random bytes: a state is accepted whole
 * or not at all. */
static void test_mutated_bytes_are_refused(void **unused) {
    (void)unused;
    recmap_state_info info = plain_info();
    struct buffer bytes = bytes_of(&info);
    for (size_t bit = 0; bit < bytes.size * 8; bit++) {
        bytes.data[bit / 8] ^= (uint8_t)(1 << bit % 8);
        assert_refused_bytes(bytes.data, bytes.size, RECMAP_CORRUPT);
        bytes.data[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
    for (size_t size = 0; size < bytes.size; size++)
        assert_refused_bytes(bytes.data, size, RECMAP_CORRUPT);
    struct buffer longer = BUFFER_INIT;
    buffer_add(&longer, bytes.data, bytes.size);
    buffer_add_byte(&longer, 0);
    assert_refused_bytes(longer.data, longer.size, RECMAP_CORRUPT);
    struct rng random = {2};
    for (int i = 0; i < 20000; i++) {
        longer.size = 0;
        buffer_add_random(&longer, rng_below(&random, 100), &random);
        assert_refused_bytes(longer.data, longer.size, RECMAP_CORRUPT);
    }
    buffer_deinit(&longer);
    buffer_deinit(&bytes);
}

/* What loads after a flip must be the very same state: JSON has bits that say nothing. */
static void test_mutated_json_is_refused_or_the_same(void **unused) {
    (void)unused;
    recmap_state_info info = plain_info();
    recmap_text text = json_of(&info);
    recmap_error error = RECMAP_ERROR_INIT;
    size_t loaded = 0;
    for (size_t bit = 0; bit < text.size * 8; bit++) {
        recmap_state *state = NULL;
        text.data[bit / 8] ^= (char)(1 << bit % 8);
        recmap_status status = recmap_state_from_json(&state, text.data, text.size, &error);
        text.data[bit / 8] ^= (char)(1 << bit % 8);
        if (status != RECMAP_OK) {
            assert_true(status == RECMAP_CORRUPT || status == RECMAP_UNSUPPORTED);
            continue;
        }
        assert_same(state, &info);
        recmap_state_destroy(state);
        loaded++;
    }
    assert_int_equal(loaded, 0);
    for (size_t size = 0; size < text.size; size++) {
        recmap_state *state;
        assert_int_equal(recmap_state_from_json(&state, text.data, size, &error), RECMAP_CORRUPT);
    }
    recmap_text_deinit(&text);
}

static void test_json_by_others(void **unused) {
    (void)unused;
    recmap_state_info info = plain_info();
    recmap_text text = json_of(&info);
    recmap_error error = RECMAP_ERROR_INIT;
    const char *checksum = strstr(text.data, "\"checksum\"");
    char other[1024];
    /* Another order of members, other spaces. */
    snprintf(other, sizeof other, "{\n  %.*s, %.*s\n}", (int)strcspn(checksum, "}"), checksum,
             (int)(checksum - text.data) - 2, text.data + 1);
    recmap_state *state;
    ASSERT_OK(recmap_state_from_json(&state, other, strlen(other), &error), &error);
    assert_same(state, &info);
    recmap_state_destroy(state);
    static const char *const bad[] = {
        "",
        "null",
        "[]",
        "{}",
        "{\"format_version\":1}",
        "{\"format_version\":-1}",
        "{\"format_version\":1.0}",
        "{\"format_version\":01}",
        "{\"format_version\":18446744073709551617}",
        "{\"format_version\"",
        "{\"format_version\":1",
        "{\"format_version\":1,",
        "{\"format_version\":1,}",
        "{\"format_version\":1}}",
        "{,}",
        "{\"a\":\"\\",
        "\"",
        "{\"\\u00",
        "nonsense",
        "{\"format_version\":1,\"format_version\":1}",
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(recmap_state_from_json(&state, bad[i], strlen(bad[i]), &error),
                         RECMAP_CORRUPT);
    snprintf(other, sizeof other, "{\"more\":1,%s", text.data + 1);
    assert_int_equal(recmap_state_from_json(&state, other, strlen(other), &error), RECMAP_CORRUPT);
    static const char newer[] = "{\"format_version\":2,\"anything\":[]}";
    assert_int_equal(recmap_state_from_json(&state, newer, sizeof newer - 1, &error),
                     RECMAP_UNSUPPORTED);
    assert_non_null(strstr(error.message, "format version 2"));
    char deep[5000];
    memset(deep, '[', sizeof deep);
    assert_int_equal(recmap_state_from_json(&state, deep, sizeof deep, &error), RECMAP_CORRUPT);
    recmap_text_deinit(&text);
}

/* A text as others may write it, escapes and all: the same state, or none. */
static void assert_order_text(const char *order, const char *written, bool is_same) {
    recmap_state_info info = plain_info();
    recmap_error error = RECMAP_ERROR_INIT;
    info.order = order;
    recmap_text text = json_of(&info);
    char other[1024];
    const char *begin = strstr(text.data, "\"order\":") + 8, *end = strstr(begin, ",\"epoch");
    snprintf(other, sizeof other, "%.*s%s%s", (int)(begin - text.data), text.data, written, end);
    struct buffer exact = BUFFER_INIT; /* so that reads past its end are detected */
    buffer_add(&exact, other, strlen(other));
    recmap_state *state = NULL;
    recmap_status status =
        recmap_state_from_json(&state, (const char *)exact.data, exact.size, &error);
    assert_int_equal(status, is_same ? RECMAP_OK : RECMAP_CORRUPT);
    if (is_same) assert_same(state, &info);
    recmap_state_destroy(state);
    buffer_deinit(&exact);
    recmap_text_deinit(&text);
}

static void test_texts_in_json_are_escaped(void **unused) {
    (void)unused;
    static const char order[] = "{\"\\/\b\f\n\r\t\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80}";
    assert_order_text(order, "\"{\\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9\\u20AC\\ud83d\\uDE00}\"", true);
    assert_order_text(order,
                      "\"\\u007b\\u0022\\u005c/\\u0008\\u000c\\u000A\\u000d\\u0009\xc3\xa9"
                      "\xe2\x82\xac\xf0\x9f\x98\x80\\u007d\"",
                      true);
    static const char *const bad[] = {
        "\"{}\"",        "\"{\\u0000}\"", "\"{\\ud83d}\"", "\"{\\ud83d\\u0041}\"",
        "\"{\\ude00}\"", "\"{\\u12g4}\"", "\"{\\x}\"",     "\"{\n}\"",
        "\"{\xff}\"",    "\"{\\u\"",      "\"{",           "7",
        "[\"{}\"]",      "{\"a\":\"}\"}", "\"{}\" 1",
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) assert_order_text(order, bad[i], false);
}

/* Random damage of the text: the same state or none, and nothing read outside of it. */
static void test_random_damage_of_json_is_refused(void **unused) {
    (void)unused;
    static const char pieces[] = "{}[]\",:\\u0123456789 \n-e.tfx\x01\xc3\xff";
    recmap_state_info info = plain_info();
    recmap_text text = json_of(&info);
    recmap_error error = RECMAP_ERROR_INIT;
    struct rng random = {9};
    for (int i = 0; i < 30000; i++) {
        struct buffer other = BUFFER_INIT;
        buffer_add(&other, text.data, text.size);
        for (uint64_t n = rng_below(&random, 3) + 1; n; n--) {
            size_t at = (size_t)rng_below(&random, other.size);
            uint8_t piece = (uint8_t)pieces[rng_below(&random, sizeof pieces - 1)];
            if (rng_one_in(&random, 3)) buffer_insert(&other, at, &piece, 1);
            else if (rng_one_in(&random, 3)) other.size = at + 1;
            else other.data[at] = piece;
        }
        uint8_t *exact = must_copy(other.data, other.size);
        recmap_state *state = NULL;
        if (recmap_state_from_json(&state, (const char *)exact, other.size, &error) == RECMAP_OK)
            assert_same(state, &info);
        recmap_state_destroy(state);
        free(exact);
        buffer_deinit(&other);
    }
    recmap_text_deinit(&text);
}

static void assert_forgery(const Recmap__State *values, recmap_status due) {
    struct buffer bytes = forge(values, NULL, 0);
    assert_refused_bytes(bytes.data, bytes.size, due);
    buffer_deinit(&bytes);
}

static void test_hostile_values_are_refused(void **unused) {
    (void)unused;
    recmap_state_info info = plain_info();
    Recmap__State values = plain_values(&info);
#define FORGED(member, value, status)                                                              \
    do {                                                                                           \
        Recmap__State forged = values;                                                             \
        forged.member = value;                                                                     \
        assert_forgery(&forged, status);                                                           \
    } while (0)
    FORGED(format_version, 0, RECMAP_CORRUPT);
    FORGED(format_version, 2, RECMAP_UNSUPPORTED);
    FORGED(format_version, UINT32_MAX, RECMAP_UNSUPPORTED);
    FORGED(position, 1001, RECMAP_CORRUPT);
    FORGED(position, UINT64_MAX, RECMAP_CORRUPT);
    FORGED(position_count, 420, RECMAP_CORRUPT);
    FORGED(position_count, UINT64_MAX, RECMAP_CORRUPT);
    FORGED(record_count, RECMAP_STATE_NUMBER_MAX + 1, RECMAP_CORRUPT);
    FORGED(epoch, UINT64_MAX, RECMAP_CORRUPT);
    FORGED(fingerprint.len, 15, RECMAP_CORRUPT);
    FORGED(order, (char *)"", RECMAP_CORRUPT);
    FORGED(order, (char *)"shuffled", RECMAP_CORRUPT);
    FORGED(order, (char *)"{\xff}", RECMAP_CORRUPT);
#undef FORGED
    /* An unknown field; a field a second time; no field at all. */
    static const uint8_t unknown[] = {0x78, 1}, again[] = {0x38, 5};
    struct buffer more = forge(&values, unknown, sizeof unknown);
    assert_refused_bytes(more.data, more.size, RECMAP_CORRUPT);
    buffer_deinit(&more);
    more = forge(&values, again, sizeof again);
    assert_refused_bytes(more.data, more.size, RECMAP_CORRUPT);
    buffer_deinit(&more);
    Recmap__State nothing = RECMAP__STATE__INIT;
    assert_forgery(&nothing, RECMAP_CORRUPT);
    recmap_state *state = NULL;
    info.reserved[7] = 1;
    assert_int_equal(recmap_state_create(&state, &info, NULL), RECMAP_INVALID);
}

/* Random damage under a checksum that holds: refused, or one of the states that can be. */
static void test_random_forgeries_are_refused_or_possible(void **unused) {
    (void)unused;
    struct rng random = {3};
    recmap_state_info info = plain_info();
    struct buffer bytes = bytes_of(&info);
    size_t body = bytes.size - 9;
    recmap_error error = RECMAP_ERROR_INIT;
    for (int i = 0; i < 20000; i++) {
        uint8_t *copy = must_copy(bytes.data, bytes.size);
        for (uint64_t n = rng_below(&random, 3) + 1; n; n--)
            copy[rng_below(&random, body)] = (uint8_t)rng_next(&random);
        store64(copy + body + 1, XXH3_64bits(copy, body));
        recmap_state *state;
        if (recmap_state_from_bytes(&state, copy, bytes.size, &error) == RECMAP_OK) {
            const recmap_state_info *actual = recmap_state_get_info(state);
            assert_true(actual->position <= actual->position_count);
            assert_int_equal(actual->order[0], '{');
            recmap_state_destroy(state);
        }
        free(copy);
    }
    buffer_deinit(&bytes);
}

static void assert_differs(const recmap_state *state, const recmap_state_info *expected,
                           const char *due) {
    recmap_error error = RECMAP_ERROR_INIT;
    assert_int_equal(recmap_state_check(state, expected, &error), RECMAP_MISMATCH);
    if (!strstr(error.message, due)) print_message("%s\n", error.message);
    assert_non_null(strstr(error.message, due));
}

static void assert_lacks(const recmap_state *state, const recmap_state_info *expected,
                         const char *word) {
    recmap_error error = RECMAP_ERROR_INIT;
    assert_int_equal(recmap_state_check(state, expected, &error), RECMAP_MISMATCH);
    assert_null(strstr(error.message, word));
}

static void test_differences_are_named(void **unused) {
    (void)unused;
    recmap_state_info info = plain_info(), other = info;
    recmap_state *state = make(&info);
    recmap_error error = RECMAP_ERROR_INIT;
    ASSERT_OK(recmap_state_check(state, &other, &error), &error);
    other.epoch = 9; /* no matter */
    ASSERT_OK(recmap_state_check(state, &other, &error), &error);
    other.record_count = 1001;
    assert_differs(state, &other, "another number of records: the state has 1000, the loader 1001");
    other.order = "{\"kind\":\"shuffled\",\"n\":1000,\"seed\":8}";
    assert_differs(state, &other, "the loader 1001; another seed: the state has 7, the loader 8");
    other.fingerprint.bytes[0] ^= 0xff;
    assert_differs(state, &other,
                   "another data set: the state has 1000 records and the fingerprint 0112");
    other = info;
    other.order = "{\"kind\":\"sequential\",\"n\":1000}";
    assert_differs(state, &other,
                   "another kind of order: the state has \"shuffled\", the loader \"sequential\"");
    assert_lacks(state, &other, "seed"); /* sequential orders have none */
    other.order = "{\"kind\":\"shuffled\",\"n\":1000,\"seed\":7,\"x\":[{\"a\":1},\"}\"]}";
    assert_differs(state, &other, "another x: the state has none, the loader [{\"a\":1},");
    other.order = "{}";
    assert_differs(state, &other, "another kind of order: the state has \"shuffled\"");
    other.order = "{\"seed\":7,\"kind\":\"shuffled\",\"n\":1000}"; /* as no recmap writes it */
    assert_differs(state, &other, "another order: the state has {\"kind\"");
    static const char *const odd[] = {
        "{", "}", "{\"", "{\"\\", "{:", "{\"a\":", "{,,,}", "{:,:}", "{\"a\":{{{}", "{a:]]]]}"};
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
        other.order = odd[i];
        assert_int_equal(recmap_state_check(state, &other, &error), RECMAP_MISMATCH);
    }
    recmap_state_destroy(state);
}

/* ---- Descriptions with the numbers of records and rows, as samplers save them. */

#define DIGEST "\"counts\":\"d5b53cafee82dc02da2d2ce8d2afab6e\""
#define SHUFFLED_ROWS(KIND, MEMBERS) "{\"kind\":\"" KIND "\"," MEMBERS "\"seed\":1," DIGEST

static const struct long_description {
    const char *theirs, *ours;
    const char *difference; /* NULL: they are equal */
} long_descriptions[] = {
    {"{\"kind\":\"mixture\",\"sources\":[" SHUFFLED_ROWS(
         "chunked", "\"n\":4,") ",\"rows\":4}," SHUFFLED_ROWS("packed",
                                                              "\"n\":5,") ",\"rows\":3}]}",
     "{\"kind\":\"mixture\",\"sources\":[" SHUFFLED_ROWS("chunked",
                                                         "") "}," SHUFFLED_ROWS("packed", "") "}]}",
     NULL},
    {SHUFFLED_ROWS("chunked", "\"n\":4,\"overlap\":1,") ",\"rows\":4}",
     SHUFFLED_ROWS("chunked", "") "}", "another overlap: the state has 1, the loader none"},
    {SHUFFLED_ROWS("chunked", "\"overlap\":0,") "}", SHUFFLED_ROWS("chunked", "") "}",
     "another overlap: the state has 0, the loader none"},
    {"{\"kind\":\"chunked\",\"n\":4,\"seed\":1," DIGEST ",\"rows\":4}",
     "{\"kind\":\"chunked\",\"seed\":1," DIGEST "}", NULL},
    {"{\"kind\":\"packed\",\"n\":4," DIGEST ",\"rows\":4}", "{\"kind\":\"packed\"," DIGEST "}",
     NULL},
    {"{\"kind\":\"range\",\"of\":{\"kind\":\"windows\",\"n\":4," DIGEST ",\"rows\":40}}",
     "{\"kind\":\"range\",\"of\":{\"kind\":\"windows\"," DIGEST "}}", NULL},
    {"{\"kind\":\"shuffled\",\"n\":4,\"seed\":1}", "{\"kind\":\"shuffled\",\"seed\":1}",
     "another number of records: the state has 4, the loader none"},
    {"{\"kind\":\"other\"," DIGEST ",\"rows\":4,\"x\":1}",
     "{\"kind\":\"other\"," DIGEST ",\"x\":1}", "other rows: the state has 4, the loader none"},
    {"{\"kind\":\"other\",\"counts\":\"d5b5\",\"rows\":4}",
     "{\"kind\":\"other\",\"counts\":\"d5b5\"}", "other rows: the state has 4, the loader none"},
    {"{\"kind\":\"other\",\"x\":\"{\\\"kind\\\":\\\"chunked\\\",\\\"n\\\":4,\"}",
     "{\"kind\":\"other\",\"x\":\"{\\\"kind\\\":\\\"chunked\\\",\"}", "another x: "},
};

/* A state is read with its description as it is. */
static recmap_state *load_long(recmap_state_info *info) {
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_state *state;
    struct buffer bytes = bytes_of(info);
    ASSERT_OK(recmap_state_from_bytes(&state, bytes.data, bytes.size, &error), &error);
    assert_string_equal(recmap_state_get_info(state)->order, info->order);
    buffer_deinit(&bytes);
    return state;
}

static void test_long_descriptions_are_cut_in_messages(void **unused) {
    (void)unused;
    size_t count = sizeof long_descriptions / sizeof *long_descriptions;
    for (size_t i = 0; i < count; i++) {
        const struct long_description *c = &long_descriptions[i];
        recmap_error error = RECMAP_ERROR_INIT;
        recmap_state_info info = plain_info(), here = info;
        info.order = c->theirs;
        here.order = c->ours;
        recmap_state *state = load_long(&info);
        if (c->difference) assert_differs(state, &here, c->difference);
        else ASSERT_OK(recmap_state_check(state, &here, &error), &error);
        assert_int_equal(recmap_state_check_continued(state, &here, &error),
                         c->difference ? RECMAP_MISMATCH : RECMAP_OK);
        recmap_state_destroy(state);
    }
}

/* A state that is compared with another one: both have the long description. */
static void test_two_long_descriptions(void **unused) {
    (void)unused;
    size_t count = sizeof long_descriptions / sizeof *long_descriptions;
    for (size_t i = 0; i < count; i++) {
        const char *order = long_descriptions[i].theirs;
        recmap_error error = RECMAP_ERROR_INIT;
        recmap_state_info info = plain_info(), here = info;
        info.order = here.order = order;
        recmap_state *state = load_long(&info);
        ASSERT_OK(recmap_state_check(state, &here, &error), &error);
        ASSERT_OK(recmap_state_check_continued(state, &here, &error), &error);
        assert_string_equal(here.order, order);
        here.order = SHUFFLED_ROWS("windows", "\"n\":4,\"before\":5,") "}";
        assert_differs(state, &here, "another ");
        recmap_state_destroy(state);
    }
}

/* A loader's state has the short description, at most 300 bytes for rows of a large data set. */
static void test_new_states_are_short(void **unused) {
    (void)unused;
    recmap_state_info info = plain_info();
    info.record_count = 100000000;
    info.position_count = info.position = 12345678901;
    info.order = "{\"kind\":\"windows\",\"n\":100000000,\"seed\":7,\"size\":4096," DIGEST
                 ",\"rows\":12345678901}";
    recmap_state *state = make(&info);
    assert_string_equal(recmap_state_get_info(state)->order,
                        "{\"kind\":\"windows\",\"seed\":7,\"size\":4096," DIGEST "}");
    recmap_state_destroy(state);
    recmap_text json = json_of(&info);
    assert_true(json.size <= 300);
    recmap_text_deinit(&json);
}

/* ---- Orders that continue others. */

#define SOURCE_A "{\"kind\":\"shuffled\",\"n\":10,\"seed\":1}"
#define SOURCE_B "{\"kind\":\"sequential\",\"n\":20}"
#define MIXTURE(SOURCES, WEIGHTS, STOP)                                                            \
    "{\"kind\":\"mixture\",\"sources\":[" SOURCES "],\"shares\":" WEIGHTS ",\"stop\":" STOP "}"
#define CHANGE(POSITION, SHARES) "{\"position\":" POSITION ",\"shares\":" SHARES "}"
#define VIEW(COUNT, OF) "{\"kind\":\"range\",\"first\":0,\"count\":" COUNT ",\"of\":" OF "}"

/* The order of a state at position 3421 of the run, and the order of a loader. */
struct continuation {
    bool is_valid;
    const char *theirs, *ours;
};

static const struct continuation continuations[] = {
    {true, ORDER, ORDER},
    {true, MIXTURE(SOURCE_A, "[1]", "\"first\""),
     MIXTURE(SOURCE_A, "[1],\"changes\":[" CHANGE("3421", "[7]") "]", "1000")},
    {false, MIXTURE(SOURCE_A, "[1]", "\"first\""),
     MIXTURE(SOURCE_A, "[1],\"changes\":[" CHANGE("3420", "[7]") "]", "1000")},
    {true, MIXTURE(SOURCE_A, "[1]", "\"first\""),
     MIXTURE(SOURCE_A "," SOURCE_B, "[1,0],\"changes\":[" CHANGE("3421", "[7,1]") "]", "1000")},
    {false, MIXTURE(SOURCE_A, "[1]", "\"first\""),
     MIXTURE(SOURCE_A "," SOURCE_B, "[1,1],\"changes\":[" CHANGE("3421", "[7,1]") "]", "1000")},
    {false, MIXTURE(SOURCE_A, "[1]", "\"first\""),
     MIXTURE(SOURCE_B "," SOURCE_A, "[1,0],\"changes\":[" CHANGE("3421", "[7,1]") "]", "1000")},
    {false, MIXTURE(SOURCE_A "," SOURCE_B, "[1,0]", "1000"), MIXTURE(SOURCE_A, "[1]", "1000")},
    {true,
     MIXTURE(SOURCE_A, "[1],\"changes\":[" CHANGE("100", "[2]") "," CHANGE("5000", "[3]") "]",
             "1000"),
     MIXTURE(SOURCE_A, "[1],\"changes\":[" CHANGE("100", "[2]") "," CHANGE("4000", "[4]") "]",
             "1000")},
    {false, MIXTURE(SOURCE_A, "[1],\"changes\":[" CHANGE("100", "[2]") "]", "1000"),
     MIXTURE(SOURCE_A, "[1],\"changes\":[" CHANGE("101", "[2]") "]", "1000")},
    {false, MIXTURE(SOURCE_A, "[1],\"changes\":[" CHANGE("100", "[2]") "]", "1000"),
     MIXTURE(SOURCE_A, "[1],\"changes\":[" CHANGE("100", "[3]") "]", "1000")},
    {false, MIXTURE(SOURCE_A, "[1],\"changes\":[" CHANGE("100", "[2]") "]", "1000"),
     MIXTURE(SOURCE_A, "[1]", "1000")},
    {true, VIEW("9", MIXTURE(SOURCE_A, "[1]", "\"first\"")),
     VIEW("9", MIXTURE(SOURCE_A, "[1],\"changes\":[" CHANGE("3421", "[7]") "]", "1000"))},
    {false, VIEW("9", MIXTURE(SOURCE_A, "[1]", "\"first\"")),
     VIEW("8", MIXTURE(SOURCE_A, "[1],\"changes\":[" CHANGE("3421", "[7]") "]", "1000"))},
    {false, VIEW("9", SOURCE_A), VIEW("9", SOURCE_B)},
    {false, SOURCE_A, SOURCE_B},
    {false, SOURCE_A, MIXTURE(SOURCE_A, "[1]", "1000")},
};

static recmap_status check_continued(const char *theirs, const char *ours, recmap_error *error) {
    recmap_state_info info = plain_info(), here = info;
    info.order = theirs;
    here.order = ours;
    recmap_state *state = make(&info);
    recmap_status status = recmap_state_check_continued(state, &here, error);
    recmap_state_destroy(state);
    return status;
}

static void test_continued_mixtures_are_accepted(void **unused) {
    (void)unused;
    for (size_t i = 0; i < sizeof continuations / sizeof *continuations; i++) {
        const struct continuation *c = &continuations[i];
        recmap_error error = RECMAP_ERROR_INIT;
        recmap_status status = check_continued(c->theirs, c->ours, &error);
        if (status != (c->is_valid ? RECMAP_OK : RECMAP_MISMATCH)) fail_msg("case %zu", i);
        assert_true(c->is_valid || error.message[0]);
    }
    recmap_state_info info = plain_info(), here = info;
    info.order = continuations[1].theirs;
    here.order = continuations[1].ours;
    here.position_count++;
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_state *state = make(&info);
    assert_int_equal(recmap_state_check_continued(state, &here, &error), RECMAP_MISMATCH);
    recmap_state_destroy(state);
}

/* ---- The words for what differs. */

static const struct wording {
    const char *theirs, *ours, *message;
} wordings[] = {
    {VIEW("9", SOURCE_A), SOURCE_A,
     "the state is of a view of this data set, the loader reads all of it"},
    {SOURCE_B, VIEW("9", SOURCE_B),
     "the state is of all of this data set, the loader reads a view of it"},
    {VIEW("9", SOURCE_A), VIEW("8", SOURCE_A), "the state is of another view of this data set"},
    {VIEW("9", "{\"kind\":\"shuffled\",\"n\":9,\"seed\":2}"), SOURCE_A,
     "the state is of a view of this data set, the loader reads all of it; another seed: the state "
     "has 2, the loader 1"},
    {VIEW("9", VIEW("8", SOURCE_A)), VIEW("9", VIEW("7", SOURCE_A)),
     "the state is of another view of this data set"},
    {VIEW("9", SOURCE_A), VIEW("9", SOURCE_B),
     "another kind of order: the state has \"shuffled\", the loader \"sequential\""},
    {"{\"kind\":\"shuffled\",\"n\":9,\"seed\":1}", SOURCE_A,
     "another number of records: the state has 9, the loader 10"},
    {MIXTURE(SOURCE_A, "[1,2]", "5"), MIXTURE(SOURCE_A, "[2,1]", "5"),
     "other shares: the state has [1,2], the loader [2,1]"},
    {"{\"kind\":\"chunked\"," DIGEST "}",
     "{\"kind\":\"chunked\",\"counts\":\"00b53cafee82dc02da2d2ce8d2afab6e\"}",
     "other lengths of records"},
};

static void test_differences_are_worded_plainly(void **unused) {
    (void)unused;
    for (size_t i = 0; i < sizeof wordings / sizeof *wordings; i++) {
        recmap_state_info info = plain_info(), here = info;
        recmap_error error = RECMAP_ERROR_INIT;
        info.order = wordings[i].theirs;
        here.order = wordings[i].ours;
        recmap_state *state = make(&info);
        assert_int_equal(recmap_state_check(state, &here, &error), RECMAP_MISMATCH);
        assert_string_equal(error.message, wordings[i].message);
        recmap_state_destroy(state);
    }
}

static void expect_advice_on_mixtures(bool is_expected, const char *theirs, const char *ours) {
    recmap_error error = RECMAP_ERROR_INIT;
    assert_int_equal(check_continued(theirs, ours, &error), RECMAP_MISMATCH);
    assert_int_equal(is_expected, strstr(error.advice, "see `recmap_order_blended`") != NULL);
    assert_non_null(strstr(error.advice, "make the order with which the state was saved"));
}

static void test_advice_on_mixtures(void **unused) {
    (void)unused;
    static const char one[] = MIXTURE(SOURCE_A, "[1]", "1000");
    static const char other[] = MIXTURE(SOURCE_B, "[1]", "1000");
    expect_advice_on_mixtures(true, one, other);
    expect_advice_on_mixtures(true, VIEW("9", MIXTURE(SOURCE_A, "[1]", "1000")), one);
    expect_advice_on_mixtures(false, one, SOURCE_A);
    expect_advice_on_mixtures(false, VIEW("9", SOURCE_A), other);
    expect_advice_on_mixtures(false, SOURCE_A, SOURCE_B);
}

/* Texts that no library wrote, cut and changed at every byte: compared without a fault. */
static void test_continued_of_mutated_text(void **unused) {
    (void)unused;
    static const char text[] = VIEW(
        "9",
        MIXTURE(SOURCE_A "," SOURCE_B, "[1,0],\"changes\":[" CHANGE("3421", "[7,1]") "]", "5"));
    char copy[sizeof text];
    for (size_t i = 1; i + 1 < sizeof text; i++)
        for (const char *byte = "\\\"{}[],:0"; *byte; byte++) {
            memcpy(copy, text, sizeof text);
            copy[i] = *byte;
            recmap_error error = RECMAP_ERROR_INIT;
            recmap_status status = check_continued(text, copy, &error);
            assert_true(status == RECMAP_OK || status == RECMAP_MISMATCH);
            copy[i] = '}';
            copy[i + 1] = 0;
            status = check_continued(copy, text, &error);
            assert_true(status == RECMAP_OK || status == RECMAP_MISMATCH);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_states_match_their_vectors),
        cmocka_unit_test(test_states_survive_a_round_trip),
        cmocka_unit_test(test_the_largest_numbers_fit),
        cmocka_unit_test(test_mutated_bytes_are_refused),
        cmocka_unit_test(test_mutated_json_is_refused_or_the_same),
        cmocka_unit_test(test_json_by_others),
        cmocka_unit_test(test_texts_in_json_are_escaped),
        cmocka_unit_test(test_random_damage_of_json_is_refused),
        cmocka_unit_test(test_hostile_values_are_refused),
        cmocka_unit_test(test_random_forgeries_are_refused_or_possible),
        cmocka_unit_test(test_differences_are_named),
        cmocka_unit_test(test_differences_are_worded_plainly),
        cmocka_unit_test(test_long_descriptions_are_cut_in_messages),
        cmocka_unit_test(test_two_long_descriptions),
        cmocka_unit_test(test_new_states_are_short),
        cmocka_unit_test(test_continued_mixtures_are_accepted),
        cmocka_unit_test(test_advice_on_mixtures),
        cmocka_unit_test(test_continued_of_mutated_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
