/* The wire: varints, tags, lengths, groups, bounds, each against what libprotobuf does. */
#include "parse/example/wire.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "unit/parse/example/build.h"
#include "unit/parse/example/random_example.h"

/* The bytes of `hex` in memory of exactly their size; the test frees it. */
static uint8_t *bytes_of(struct wire *wire, const char *hex) {
    struct message message;
    message.size = 0;
    put_hex(&message, hex);
    uint8_t *data = copy_exact(message.data, message.size);
    *wire = (struct wire){data, data + message.size};
    return data;
}

static void test_varints_are_read_or_refused(void **state) {
    (void)state;
    static const struct {
        const char *hex;
        uint64_t value;
        size_t size; /* 0: refused */
        const char *reason;
    } cases[] = {
        {"00", 0, 1, NULL},
        {"7f", 127, 1, NULL},
        {"8001", 128, 2, NULL},
        {"ff7f", 16383, 2, NULL},
        {"808000", 0, 3, NULL},
        {"ffffffffffffffffff01", UINT64_MAX, 10, NULL},
        /* A tenth byte has room for one bit; libprotobuf drops the others. */
        {"ffffffffffffffffff7f", UINT64_MAX, 10, NULL},
        {"80808080808080808002", 0, 10, NULL},
        {"8080808080808080808001", 0, 0, "varint is longer than ten bytes"},
        {"ffffffffffffffffffff", 0, 0, "varint is longer than ten bytes"},
        {"", 0, 0, "varint runs past the end"},
        {"80", 0, 0, "varint runs past the end"},
        {"ffffffffffffffffff", 0, 0, "varint runs past the end"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct wire wire;
        struct wire_trace trace = {0};
        uint64_t value = 0;
        uint8_t *data = bytes_of(&wire, cases[i].hex);
        assert_int_equal(wire_read_varint(&value, &wire, &trace), cases[i].size > 0);
        assert_int_equal(wire.at - data, cases[i].size);
        if (cases[i].size > 0) assert_true(value == cases[i].value);
        else assert_string_equal(trace.reason, cases[i].reason);
        free(data);
    }
}

static void test_tags_are_read_or_refused(void **state) {
    (void)state;
    static const struct {
        const char *hex;
        uint32_t tag;
        size_t size;
    } cases[] = {
        {"0a", 10, 1},
        {"8a00", 10, 2},
        {"8a80808000", 10, 5},
        {"8a80808070", 10, 5}, /* bits beyond 32 are dropped */
        {"ffffffff0f", UINT32_MAX, 5},
        {"8a8080808000", 0, 0},
        {"8a808080", 0, 0},
        {"", 0, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct wire wire;
        struct wire_trace trace = {0};
        uint32_t tag = 0;
        uint8_t *data = bytes_of(&wire, cases[i].hex);
        assert_int_equal(wire_read_tag(&tag, &wire, &trace), cases[i].size > 0);
        assert_int_equal(wire.at - data, cases[i].size);
        if (cases[i].size > 0) assert_int_equal(tag, cases[i].tag);
        else assert_non_null(trace.reason);
        free(data);
    }
}

static void test_lengths_are_read_or_refused(void **state) {
    (void)state;
    static const struct {
        const char *hex;
        size_t begin; /* of the bytes; 0: refused */
        size_t size;
    } cases[] = {
        {"00", 1, 0},           {"0161", 1, 1},           {"036162", 0, 0}, {"810061", 2, 1},
        {"818080800061", 5, 1}, {"81808080800061", 0, 0}, /* six bytes */
        {"818080800861", 0, 0},                           /* 2^31 and more */
        {"818080801061", 0, 0},                           /* 2^32 + 1 must not become 1 */
        {"ffffffff0f61", 0, 0}, {"ffffffff0761", 0, 0},   {"80", 0, 0},     {"", 0, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct wire wire, bytes = {NULL, NULL};
        struct wire_trace trace = {0};
        uint8_t *data = bytes_of(&wire, cases[i].hex);
        assert_int_equal(wire_read_bytes(&bytes, &wire, &trace), cases[i].begin > 0);
        if (cases[i].begin > 0) {
            assert_int_equal(bytes.at - data, cases[i].begin);
            assert_int_equal(wire_left(&bytes), cases[i].size);
            assert_ptr_equal(wire.at, bytes.end);
        } else {
            assert_ptr_equal(trace.fault_at, data);
        }
        free(data);
    }
}

/* The longest that any length can name, taken by the short and by the long way. */
static void test_lengths_to_the_last_byte(void **state) {
    (void)state;
    for (size_t size = 0; size < 300; size++) {
        for (int missing = 0; missing < 2; missing++) {
            struct message message;
            message.size = 0;
            put_varint(&message, size);
            size_t head = message.size;
            memset(message.data + head, 'x', size);
            if (size < (size_t)missing) continue;
            message.size += size - (size_t)missing;
            uint8_t *data = copy_exact(message.data, message.size);
            struct wire wire = {data, data + message.size}, bytes;
            struct wire_trace trace = {0};
            assert_int_equal(wire_read_bytes(&bytes, &wire, &trace), !missing);
            free(data);
        }
    }
}

/* Skips the first field of `hex` at `depth`; returns the bytes taken, or -1 with the reason. */
static long skip_first(const char *hex, unsigned depth, const char **reason) {
    struct wire wire;
    struct wire_trace trace = {0};
    uint32_t tag = 0;
    uint8_t *data = bytes_of(&wire, hex);
    assert_true(wire_read_tag(&tag, &wire, &trace));
    bool skipped = wire_skip(&wire, tag, depth, &trace);
    long taken = skipped ? (long)(wire.at - data) : -1;
    assert_true(trace.saw_unknown);
    if (reason) *reason = trace.reason;
    if (!skipped) assert_true(trace.fault_at >= data && trace.fault_at <= wire.end);
    free(data);
    return taken;
}

static void test_unknown_fields_are_skipped(void **state) {
    (void)state;
    static const struct {
        const char *hex;
        long taken;
    } cases[] = {
        {"08ffffffffffffffffff7f00", 11},
        {"0900000000000000ff00", 9},
        {"09000000000000ff", -1},
        {"0d0000000000", 5},
        {"0d000000", -1},
        {"0a0161", 3},
        {"0a0261", -1},
        {"0b0c", 2},
        {"0b08010a0161", -1},
        {"0b13140c", 4},
        {"0b130c14", -1}, /* crossed */
        {"0b08010a01610d000000000900000000000000000c", 21},
        {"0b", -1},
        {"0c", -1},
        {"0b14", -1},
        {"0b000c", -1}, /* field number 0 in a group */
        {"0b0e0c", -1}, /* wire type 6 */
        {"0f", -1},
        {"00", -1},
        {"0200", -1}, /* field number 0, wire type 2 */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(skip_first(cases[i].hex, 0, NULL), cases[i].taken);
}

/* libprotobuf's limit counts messages and groups together. */
static void test_messages_and_groups_share_a_depth_limit(void **state) {
    (void)state;
    for (unsigned depth = 0; depth <= 4; depth++) {
        for (unsigned groups = 95; groups <= 105; groups++) {
            char hex[512] = "";
            for (unsigned i = 0; i < groups; i++) memcpy(hex + 2 * i, "2b", 2);
            for (unsigned i = 0; i < groups; i++) memcpy(hex + 2 * (groups + i), "2c", 3);
            const char *reason;
            long taken = skip_first(hex, depth, &reason);
            assert_int_equal(taken, groups + depth <= 100 ? (long)(2 * groups) : -1);
            if (taken < 0) assert_string_equal(reason, "groups are nested too deep");
        }
    }
}

/* The plain way to count varints. */
static bool count_slowly(uint64_t *count, const uint8_t *data, size_t size) {
    struct wire wire = {data, data + size};
    struct wire_trace trace = {0};
    uint64_t value;
    for (*count = 0; !wire_done(&wire); ++*count)
        if (!wire_read_varint(&value, &wire, &trace)) return false;
    return true;
}

static void test_counted_varints_equal_read_ones(void **state) {
    (void)state;
    struct random_state random = {5};
    unsigned refused = 0;
    for (unsigned round = 0; round < 200000; round++) {
        uint8_t bytes[300];
        size_t size = (size_t)draw_below(&random, draw_below(&random, 2) ? sizeof bytes : 40);
        /* From almost no bytes with a continuation bit to almost only such bytes. */
        uint64_t share = draw_below(&random, 17);
        for (size_t i = 0; i < size; i++) {
            bytes[i] = (uint8_t)(random_next(&random) & 0x7f);
            if (draw_below(&random, 16) < share) bytes[i] |= 0x80;
        }
        if (size && draw_below(&random, 4)) bytes[size - 1] &= 0x7f;
        uint8_t *data = copy_exact(bytes, size);
        uint64_t slow = 0, fast = 0;
        struct wire packed = {data, data + size};
        struct wire_trace trace = {0};
        bool good = count_slowly(&slow, data, size);
        assert_int_equal(wire_count_varints(&fast, &packed, &trace), good);
        if (good) assert_true(fast == slow);
        else assert_true(trace.reason && trace.fault_at >= data && trace.fault_at < packed.end);
        refused += !good;
        free(data);
    }
    assert_in_range(refused, 20000, 180000);
}

/* A run of ten bytes with continuation bits is found at every place; one of nine is part of a
 * varint. */
static void test_long_varints_at_every_place(void **state) {
    (void)state;
    for (size_t before = 0; before < 140; before++) {
        for (size_t run = 8; run <= 11; run++) {
            for (size_t behind = 0; behind < 140; behind += behind < 18 ? 1 : 17) {
                uint8_t bytes[320];
                size_t size = before + run + 1 + behind;
                memset(bytes, 1, sizeof bytes);
                memset(bytes + before, 0x81, run);
                uint64_t count = 0;
                struct wire packed = {bytes, bytes + size};
                struct wire_trace trace = {0};
                bool good = wire_count_varints(&count, &packed, &trace);
                assert_int_equal(good, run < 10);
                if (good) assert_int_equal(count, before + 1 + behind);
                else assert_ptr_equal(trace.fault_at, bytes + before);
            }
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_varints_are_read_or_refused),
        cmocka_unit_test(test_tags_are_read_or_refused),
        cmocka_unit_test(test_lengths_are_read_or_refused),
        cmocka_unit_test(test_lengths_to_the_last_byte),
        cmocka_unit_test(test_unknown_fields_are_skipped),
        cmocka_unit_test(test_messages_and_groups_share_a_depth_limit),
        cmocka_unit_test(test_counted_varints_equal_read_ones),
        cmocka_unit_test(test_long_varints_at_every_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
