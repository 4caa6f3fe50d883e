/* Framings beside TFRecord: whatever the number of threads and the size of segments, a scan finds
 * what a plain reader finds. And what registering a framing allows. */
#include "format/shards/framings.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/random.h"
#include "support/rounds.h"
#include "support/shards/framing_check.h"
#include "support/shards/plain_tar.h"

enum { TOTAL_SIZE_MAX = 8000 };

/* A header of 512 bytes and its data, most of them as they should be. */
static size_t add_member(uint8_t *position, char letter, struct rng *random) {
    static const char types[] = "00000\0"
                                "7125LLxgKSX";
    static const char *const tails[] = {".a", ".b.c", "", ".D", "/x.y", "/.z", ".a"};
    size_t length = rng_below(random, 3) ? rng_below(random, 700) : 0;
    char type = types[rng_below(random, sizeof types - 1)];
    char *field = (char *)position, *data = field + 512;
    memset(position, 0, 512);
    snprintf(field, 60, "%s%c%s", rng_one_in(random, 9) ? "__m__/" : "", letter,
             tails[rng_below(random, 7)]);
    memset(data, letter, 1024);
    if (type == 'L') length = 3 + (size_t)snprintf(data, 99, "%c.e", letter);
    if (strchr("xXg", type) && rng_below(random, 4))
        length = (size_t)snprintf(data, 99, "%s=%s%c.f\n%s",
                                  rng_below(random, 2) ? "14 path" : "17 comment", "a/", letter,
                                  rng_one_in(random, 5) ? "10 size=7\n" : "");
    if (rng_one_in(random, 12)) field[124] = (char)0x80, field[135] = (char)(length % 128);
    else snprintf(field + 124, 12, "%0*o", rng_below(random, 2) ? 11 : 1, (unsigned)length);
    field[156] = type;
    memcpy(field + 257, rng_below(random, 3) ? "ustar" : "ustar  ", 6);
    if (rng_one_in(random, 9)) memcpy(field + 345, "pre", 3);
    plain_tar_sum(position);
    if (rng_one_in(random, 60)) field[rng_below(random, 512)] ^= 1;
    return 512 + (strchr("125", type) && type ? 0 : (length + 511) / 512 * 512);
}

static size_t make_tar(uint8_t *data, struct rng *random) {
    size_t size = 0;
    char letter = 'a';
    /* A member and the zeros after the last one fit. */
    while (size + 2560 < TOTAL_SIZE_MAX && rng_below(random, 12)) {
        if (rng_one_in(random, 3)) letter = (char)('a' + rng_below(random, 3));
        size += add_member(data + size, letter, random);
    }
    size_t zeros = rng_below(random, 3) * 512;
    memset(data + size, 0, TOTAL_SIZE_MAX - size);
    if (rng_one_in(random, 30)) data[size + rng_below(random, 1024)] = 1;
    size += zeros;
    return rng_one_in(random, 8) && size ? size - rng_below(random, size) : size;
}

/* Text with quotes anywhere. Every other file has few, so that its rows are short. */
static size_t make_rows(uint8_t *data, struct rng *random) {
    static const char *const pieces[] = {
        "\n",   "ab",   ",",     "|",     "\n",           "1",  ",\"",  "|\"",       "\"", "\"\"",
        "\r\n", "\"\n", "\",\"", "\"|\"", "\xef\xbb\xbf", "\r", "\n\"", "\"a\",\"\n"};
    size_t limit = rng_below(random, TOTAL_SIZE_MAX - 8), size = 0;
    uint64_t count = rng_one_in(random, 2) ? sizeof pieces / sizeof *pieces : 6;
    while (size < limit) {
        uint64_t choices = rng_one_in(random, 20) ? sizeof pieces / sizeof *pieces : count;
        const char *piece = pieces[rng_below(random, choices)];
        memcpy(data + size, piece, strlen(piece));
        size += strlen(piece);
    }
    return size;
}

/* Bytes that look like records of the kind, most of the time. */
static size_t make(uint8_t *data, unsigned kind, struct rng *random) {
    if (kind == CHECK_TAR) return make_tar(data, random);
    if (kind == CHECK_CSV || kind == CHECK_CSV_HEADER) return make_rows(data, random);
    size_t size = rng_below(random, TOTAL_SIZE_MAX);
    for (size_t i = 0; i < size; i++) data[i] = (uint8_t)rng_below(random, 256);
    if (kind == CHECK_LINES)
        for (size_t i = 0; i < size; i++)
            if (data[i] < 20) data[i] = "\r\n"[data[i] & 1];
    size_t head = kind == CHECK_OFRECORD ? 8 : 2, at = kind == CHECK_OWN_TRAILED ? 3 : 0;
    if (kind != CHECK_OFRECORD && kind != CHECK_OWN && kind != CHECK_OWN_TRAILED) return size;
    while (at + head < size && rng_below(random, 200)) {
        size_t length = rng_below(random, 3) ? rng_below(random, 60) : 0;
        memset(data + at, 0, head);
        data[at] = (uint8_t)length;
        if (length && at + head < size) data[at + head] = 0x0a;
        at += head + length;
    }
    if (rng_below(random, 3) && at < size) size = at;
    /* Damage in the middle: records follow that nobody must believe in. */
    if (size && rng_one_in(random, 2)) data[rng_below(random, size)] = 0xff;
    return size;
}

/* Random files of each framing, damaged or not, scanned in small segments by up to three threads.
 * The result must equal a plain reader's, which goes through the bytes once. */
static void test_scan_equals_a_plain_reader(void **state) {
    (void)state;
    struct rng random = {11};
    uint8_t *data = malloc(TOTAL_SIZE_MAX);
    assert_non_null(data);
    size_t records = 0;
    unsigned rounds = some_rounds(7000);
    for (unsigned i = 0; i < rounds; i++) {
        struct framing_check how = {
            .kind = i % CHECK_KIND_COUNT,
            .header = rng_below(&random, 9),
            .record = 1 + rng_below(&random, 50),
            .footer = rng_below(&random, 9),
            .thread_count = 1 + (unsigned)rng_below(&random, 3),
            .segment_size = 1 + rng_below(&random, i % CHECK_KIND_COUNT == CHECK_TAR ? 3000 : 300),
            .skips = rng_below(&random, 4) != 0,
        };
        size_t size = make(data, how.kind, &random);
        records += framing_check_bytes(&how, data, size);
    }
    assert_true(records > rounds * 14);
    free(data);
}

/* Where a record begins is found at once, and none is passed over. */
static void test_the_first_record_is_found_at_once(void **state) {
    (void)state;
    struct rng random = {13};
    enum { TOTAL = 600 };
    uint8_t data[TOTAL];
    static const char *const names[] = {"lines", "fixed:0,1,0", "fixed:7,5,3", "fixed:600,1,0"};
    for (unsigned i = 0; i < some_rounds(20000); i++) {
        struct framing by;
        assert_true(framing_init(&by, names[i % 4]));
        uint64_t size = rng_below(&random, TOTAL), from = rng_below(&random, size + 1);
        uint64_t limit = from + rng_below(&random, size + 1 - from);
        for (size_t b = 0; b < size; b++) data[b] = rng_one_in(&random, 9) ? '\n' : 'a';
        uint64_t due = from;
        for (; due < limit; due++) {
            uint64_t record = by.record_size, first = by.file_header_size;
            bool begins = record
                              ? due >= first && (due - first) % record == 0 && due + record <= size
                              : due == 0 || data[due - 1] == '\n';
            if (begins) break;
        }
        if (due >= limit) due = FRAME_NOWHERE;
        assert_int_equal(by.find(&by, data, size, from, limit, SEARCH_UNBOUNDED, NULL), due);
    }
}

/* From anywhere, also inside a sample, the next one is found. */
static void test_tar_is_guessed(void **state) {
    (void)state;
    struct rng random = {14};
    struct framing by;
    assert_true(framing_init(&by, "tar"));
    enum { SAMPLES = 200, SAMPLE_MAX = 4 * 1536 };
    uint8_t *data = calloc(SAMPLES, SAMPLE_MAX);
    uint64_t begins[SAMPLES], size = 0;
    assert_non_null(data);
    for (unsigned i = 0; i < SAMPLES; i++) {
        begins[i] = size;
        for (unsigned m = 0, members = 1 + (unsigned)rng_below(&random, 4); m < members; m++) {
            char *header = (char *)data + size;
            unsigned length = (unsigned)rng_below(&random, 1024);
            snprintf(header, 100, "%u.%u", i, m);
            snprintf(header + 124, 12, "%011o", length);
            header[156] = '0';
            memcpy(header + 257, "ustar", 6);
            plain_tar_sum(data + size);
            size += 512 + (length + 511) / 512 * 512;
        }
    }
    struct search_budget budget = {1 << 17, 1 << 28};
    for (uint64_t from = 0; from < size - 2 * SAMPLE_MAX; from += 100) {
        uint64_t found = by.guess(&by, data, size, from, size, budget, NULL);
        unsigned i = 0;
        while (i < SAMPLES && begins[i] < from) i++;
        /* The last member of the previous sample may begin after `from`, or not. */
        assert_true(found == begins[i] || found == begins[i + 1]);
    }
    free(data);
}

/* A guess is worth something: it finds places in the middle of real files. */
static void test_ofrecord_is_guessed(void **state) {
    (void)state;
    struct rng random = {12};
    struct framing by;
    assert_true(framing_init(&by, "ofrecord"));
    enum { TOTAL = 100000 };
    uint8_t *data = calloc(1, TOTAL);
    uint8_t *begins = calloc(1, TOTAL);
    assert_true(data && begins);
    size_t size = 0;
    while (size < TOTAL - 300) {
        size_t length = 1 + rng_below(&random, 250);
        begins[size] = 1;
        data[size] = (uint8_t)length;
        for (size_t i = 0; i < length; i++) data[size + 8 + i] = (uint8_t)rng_below(&random, 256);
        data[size + 8] = 0x0a;
        size += 8 + length;
    }
    struct search_budget budget = {1 << 17, 1 << 28};
    for (uint64_t from = 0; from < size - 2000; from += 77) {
        uint64_t found = by.guess(&by, data, size, from, size, budget, NULL);
        assert_true(found >= from && found < from + 300 && begins[found]);
    }
    assert_null(by.find);
    free(begins);
    free(data);
}

static recmap_frame_verdict parse_nothing(recmap_frame_place *frame, const uint8_t *bytes,
                                          size_t size, recmap_frame_fault *fault, void *context) {
    (void)bytes;
    (void)fault;
    *frame = *(recmap_frame_place *)context;
    return size ? RECMAP_FRAME_GOOD : RECMAP_FRAME_END;
}

/* A framing may be registered twice if both are equal. Names that are reserved, too long or not
 * plain are refused, and so are unknown versions, a missing parser, and another framing with a
 * registered name. */
static void test_framings_are_registered_once(void **state) {
    (void)state;
    recmap_frame_place place = {1, 0, 1};
    const recmap_framing good = {.version = RECMAP_FRAMING_VERSION,
                                 .name = "good-1_x",
                                 .context = &place,
                                 .parse = parse_nothing};
    struct framing found;
    recmap_error error = RECMAP_ERROR_INIT;
    assert_false(framings_find(&found, "good-1_x"));
    assert_int_equal(recmap_framing_register(&good, &error), RECMAP_OK);
    assert_int_equal(recmap_framing_register(&good, &error), RECMAP_OK);
    assert_true(framings_find(&found, "good-1_x"));
    assert_string_equal(found.name, "good-1_x");

    static const char *const names[] = {
        NULL,
        "",
        "lines",
        "auto",
        "fixed:0,1,0",
        "a b",
        "a/b",
        "\xc3\xa4",
        "0123456789012345678901234567890123456789012345678901234567890123"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        recmap_framing bad = good;
        bad.name = names[i];
        assert_int_equal(recmap_framing_register(&bad, &error), RECMAP_INVALID);
    }
    recmap_framing bad = good;
    bad.version = 2;
    assert_int_equal(recmap_framing_register(&bad, &error), RECMAP_INVALID);
    bad = good;
    bad.parse = NULL;
    assert_int_equal(recmap_framing_register(&bad, &error), RECMAP_INVALID);
    bad = good;
    bad.file_header_size = 7;
    assert_int_equal(recmap_framing_register(&bad, &error), RECMAP_INVALID);
    assert_non_null(strstr(error.message, "another framing has its name"));
    assert_int_equal(recmap_framing_register(NULL, &error), RECMAP_INVALID);
}

/* What a function of a user's says is not believed where it cannot be. */
static void test_what_is_said_is_checked(void **state) {
    (void)state;
    static recmap_frame_place place;
    const recmap_framing liar = {.version = RECMAP_FRAMING_VERSION,
                                 .name = "liar",
                                 .context = &place,
                                 .parse = parse_nothing};
    static const recmap_frame_place lies[] = {{0, 0, 0},         {11, 0, 0}, {10, 0, 11},
                                              {10, 11, 0},       {10, 5, 6}, {10, UINT64_MAX, 2},
                                              {UINT64_MAX, 0, 1}};
    struct framing by;
    struct frame found;
    struct frame_fault fault;
    uint8_t bytes[10] = {0};
    assert_int_equal(recmap_framing_register(&liar, NULL), RECMAP_OK);
    assert_true(framings_find(&by, "liar"));
    for (size_t i = 0; i < sizeof lies / sizeof *lies; i++) {
        place = lies[i];
        fault.reason[0] = 0;
        assert_int_equal(by.parse(&found, &by, bytes, 10, FRAME_CHECK_STORED, &fault),
                         FRAME_BAD_LENGTH);
        assert_non_null(strstr(fault.reason, "outside"));
    }
    place = (recmap_frame_place){10, 4, 6};
    assert_int_equal(by.parse(&found, &by, bytes, 10, FRAME_CHECK_STORED, &fault), FRAME_GOOD);
    assert_true(found.size == 10 && found.data_offset == 4 && found.data_size == 6);
}

static void test_libraries_without_a_framing_are_refused(void **state) {
    (void)state;
    recmap_error error = RECMAP_ERROR_INIT;
    const char *name = "untouched";
    assert_int_equal(recmap_framing_load(&name, "./there-is-none.so", &error), RECMAP_IO);
    assert_string_equal(error.path, "./there-is-none.so");
    assert_int_equal(recmap_framing_load(&name, "", &error), RECMAP_INVALID);
    /* A shared object without the function. */
    assert_int_equal(recmap_framing_load(&name, "libm.so.6", &error), RECMAP_IO);
    assert_non_null(strstr(error.message, RECMAP_FRAMING_SYMBOL));
    assert_string_equal(name, "untouched");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_scan_equals_a_plain_reader),
        cmocka_unit_test(test_the_first_record_is_found_at_once),
        cmocka_unit_test(test_ofrecord_is_guessed),
        cmocka_unit_test(test_tar_is_guessed),
        cmocka_unit_test(test_framings_are_registered_once),
        cmocka_unit_test(test_what_is_said_is_checked),
        cmocka_unit_test(test_libraries_without_a_framing_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
