/* Reading what writers make: whole, damaged, cut short, and as the context of SequenceExamples. */
#define _DEFAULT_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "unit/parse/decode/read_check.h"

/* A feature as a writer makes it. */
struct column {
    const char *name;
    unsigned list; /* its field in a Feature */
    unsigned count_max;
};

/* Keys of all sizes around the limits of heads, hashes and templates, and some that look alike. */
static const struct column columns[] = {
    {"", 3, 1},
    {"a", 3, 1},
    {"id", 1, 1},
    {"score12", 2, 1},
    {"score123", 2, 1},
    {"score1234", 3, 4},
    {"image/encoded", 1, 1},
    {"a key of 22 characters", 3, 1},
    {"a key of 23 characters.", 3, 1},
    {"first 8 and ... A ... the last 8", 3, 1},
    {"first 8 and ... B ... the last 8", 3, 1},
    {"first 8 and ... C ... the last 8", 3, 1},
    {"a key of forty-six characters, the most hashed", 2, 3},
    {"a key of forty-seven characters, one more than.", 1, 2},
    {"a key so long that its entry is longer than the longest whose length is one byte, by far, "
     "and "
     "by more, too",
     3, 2},
    {"tokens", 3, 300},
    {"floats", 2, 60},
    {"words", 1, 5},
    {"f\xc3\xbcnf", 3, 1},
    {"the first 8 ... A ... of the last 8", 3, 1},
    {"unasked", 1, 1},
    {"unasked too", 3, 40},
    {"unasked as well", 2, 1},
    {"the first 8 ... B ... of the last 8", 1, 1},
};
enum { COLUMN_COUNT = sizeof columns / sizeof *columns, ASKED_COUNT = COLUMN_COUNT - 4 };

static void put_values(struct message *list, const struct column *column,
                       struct random_state *random, unsigned count) {
    struct message packed;
    packed.size = 0;
    for (unsigned i = 0; i < count; i++) {
        uint64_t value = random_next(random) >> draw_below(random, 64);
        if (draw_below(random, 2)) value %= 100;
        if (column->list == 1) {
            uint8_t text[200] = {(uint8_t)value};
            put_bytes(list, 1, text, draw_below(random, 9) ? value % 20 : value % 200);
        } else if (column->list == 2) {
            put_raw(&packed, &value, 4);
        } else {
            put_varint(&packed, value);
        }
    }
    if (column->list != 1 && (count || draw_below(random, 2))) put_sub(list, 1, &packed);
}

/* What writers make, all features or, in one record of `odd`, with a feature that is missing,
 * unset, empty, of another kind, twice there or in more than one piece. */
static void put_columns(struct message *message, struct random_state *random, const unsigned *order,
                        unsigned odd) {
    struct message features;
    features.size = 0;
    bool is_odd = odd && draw_below(random, odd) == 0;
    for (size_t i = 0; i < COLUMN_COUNT; i++) {
        struct column of = columns[order[i]];
        unsigned count = of.count_max > 4 ? (unsigned)draw_below(random, of.count_max + 1)
                                          : of.count_max;
        unsigned what = is_odd ? (unsigned)draw_below(random, 40) : 40;
        struct message list;
        list.size = 0;
        if (what == 0) continue;
        if (what == 1) of.list = 1 + (unsigned)draw_below(random, 3);
        if (what == 2) count = 0;
        put_values(&list, &of, random, count);
        if (what == 3) put_values(&list, &of, random, count);
        if (what == 4) put_hex(&list, "1005");
        if (what == 5) {
            struct message first = list;
            if (draw_below(random, 2)) put_hex(&first, "0d00");
            put_entry(&features, of.name, of.list, &first);
        }
        if (what == 6) {
            struct message entry;
            entry.size = 0;
            put_bytes(&entry, 1, of.name, strlen(of.name));
            put_hex(&entry, "1200");
            put_sub(&features, 1, &entry);
            continue;
        }
        put_entry(&features, of.name, of.list, &list);
    }
    message->size = 0;
    put_sub(message, 1, &features);
}

static void shuffle(unsigned *order, struct random_state *random) {
    for (unsigned i = 0; i < COLUMN_COUNT; i++) {
        unsigned other = (unsigned)draw_below(random, i + 1);
        order[i] = order[other];
        order[other] = i;
    }
}

static recmap_feature feature_of(const struct column *column) {
    recmap_feature made = var_len(column->name, column->list == 1   ? RECMAP_ELEMENT_BYTES
                                                : column->list == 2 ? RECMAP_ELEMENT_FLOAT32
                                                                    : RECMAP_ELEMENT_INT64);
    if (column->count_max <= 4) {
        static const uint64_t shapes[][1] = {{1}, {2}, {3}, {4}};
        made.kind = RECMAP_FEATURE_FIXED_LEN;
        made.shape = shapes[column->count_max - 1];
        made.dimension_count = 1;
    }
    if (!*column->name) {
        made.name = "the empty name";
        made.key = "";
    }
    return made;
}

static void begin_columns(struct read_check *check, struct random_state *random, bool is_sequence) {
    recmap_feature features[ASKED_COUNT + 1];
    for (size_t i = 0; i < ASKED_COUNT; i++) {
        features[i] = feature_of(&columns[i]);
        if (draw_below(random, 3) == 0) {
            features[i].kind = RECMAP_FEATURE_VAR_LEN;
            features[i].shape = NULL;
            features[i].dimension_count = 0;
        }
    }
    /* A second slot of the same name. */
    features[ASKED_COUNT] = var_len("an alias", RECMAP_ELEMENT_FLOAT64);
    features[ASKED_COUNT].key = "floats";
    if (is_sequence) read_check_init_sequence(check, features, ASKED_COUNT + 1);
    else read_check_init(check, features, ASKED_COUNT + 1);
}

static void test_what_writers_make(void **state) {
    (void)state;
    struct random_state random = {9};
    for (unsigned round = 0; round < round_count(60); round++) {
        unsigned order[COLUMN_COUNT], odd = round % 3 == 0 ? 0 : 4, how = round % 4;
        struct read_check f;
        struct message message;
        begin_columns(&f, &random, false);
        shuffle(order, &random);
        for (unsigned i = 0; i < 200; i++) {
            if (how == 1 || (how == 2 && draw_below(&random, 3) == 0) || (how == 3 && i % 50 < 20))
                shuffle(order, &random);
            put_columns(&message, &random, order, odd);
            bool taken = read_check_next(&f, message.data, message.size);
            if (!odd) assert_true(taken);
        }
        /* Keys that are too long to be hashed, or hashed as another one, must not end the
         * fast path. */
        for (size_t w = 1; w < f.path_count && !odd; w++)
            assert_int_equal(f.paths[w].taken_fast, 200);
        read_check_deinit(&f);
    }
}

/* Every record cut short anywhere, and with any bit flipped. */
static void test_damage_anywhere_is_refused_or_harmless(void **state) {
    (void)state;
    struct random_state random = {10};
    for (unsigned round = 0; round < round_count(2); round++) {
        unsigned order[COLUMN_COUNT];
        struct read_check f;
        struct message message;
        begin_columns(&f, &random, false);
        shuffle(order, &random);
        put_columns(&message, &random, order, 0);
        for (size_t size = 0; size < message.size; size++) {
            if (size % 16 == 0) read_check_next(&f, message.data, message.size);
            read_check_next(&f, message.data, size);
        }
        for (size_t bit = 0; bit < message.size * 8; bit++) {
            if (bit % 16 == 0) read_check_next(&f, message.data, message.size);
            message.data[bit / 8] ^= (uint8_t)(1 << bit % 8);
            read_check_next(&f, message.data, message.size);
            message.data[bit / 8] ^= (uint8_t)(1 << bit % 8);
        }
        read_check_deinit(&f);
    }
}

/* Features that end anywhere in their last entries, in a record that ends there too. */
static void test_features_cut_short(void **state) {
    (void)state;
    struct random_state random = {12};
    for (unsigned round = 0; round < round_count(60); round++) {
        unsigned order[COLUMN_COUNT];
        struct read_check f;
        struct message message, cut;
        begin_columns(&f, &random, false);
        shuffle(order, &random);
        for (size_t less = 0; less < 40; less++) {
            put_columns(&message, &random, order, 0);
            struct wire record = {message.data, message.data + message.size}, features;
            struct wire_trace trace = {0};
            uint32_t tag;
            assert_true(wire_read_tag(&tag, &record, &trace));
            assert_true(wire_read_bytes(&features, &record, &trace));
            cut.size = 0;
            put_bytes(&cut, 1, features.at, wire_left(&features) - less);
            read_check_next(&f, cut.data, cut.size);
            /* The same, with a field after the features that continues as they did. */
            put_bytes(&cut, 2, features.end - less, less);
            read_check_next(&f, cut.data, cut.size);
            if (less % 8 == 0) read_check_next(&f, message.data, message.size);
        }
        read_check_deinit(&f);
    }
}

/* The context of SequenceExamples, with and without feature lists after it. */
static void test_contexts_of_sequences_are_read(void **state) {
    (void)state;
    struct random_state random = {13};
    unsigned order[COLUMN_COUNT];
    struct message message;
    struct read_check f;
    begin_columns(&f, &random, true);
    shuffle(order, &random);
    for (unsigned i = 0; i < 400; i++) {
        put_columns(&message, &random, order, 10);
        if (i % 10 == 9) message.size = 0;
        if (i % 3) put_hex(&message, i % 3 == 1 ? "1200" : "12020a00");
        if (i % 40 == 5) put_hex(&message, "1800");
        if (i % 40 == 6) random_damage(&message, &random);
        read_check_next(&f, message.data, message.size);
    }
    for (size_t w = 1; w < f.path_count; w++) assert_true(f.paths[w].taken_fast > 250);
    read_check_deinit(&f);
    static const char *const without[] = {"",         "0a00",     "1200",
                                          "12020a00", "0a001200", "0a0012020a00"};
    recmap_feature wanted = var_len("a", RECMAP_ELEMENT_INT64);
    read_check_init_sequence(&f, &wanted, 1);
    for (size_t i = 0; i < 6; i++) {
        message.size = 0;
        put_hex(&message, without[i]);
        assert_true(read_check_next(&f, message.data, message.size));
    }
    for (size_t w = 1; w < f.path_count; w++) assert_int_equal(f.paths[w].taken_fast, 6);
    read_check_deinit(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_writers_make),
        cmocka_unit_test(test_damage_anywhere_is_refused_or_harmless),
        cmocka_unit_test(test_features_cut_short),
        cmocka_unit_test(test_contexts_of_sequences_are_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
