/* Reading a record into sinks: all ways of it give the same, and what the record holds. */
#define _DEFAULT_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <recmap/parser.h>

#include "decode/read_paths.h"
#include "unit/columns/row_model.h"
#include "unit/example/build.h"
#include "unit/example/cases.h"
#include "unit/example/data.h"
#include "unit/example/random_example.h"

enum { ROWS = 24, WAYS_MAX = 3, SLOTS_MAX = 24 };

/* A way of reading records, which goes through all rows of a batch. */
struct way {
    read_fast_function *fast; /* NULL: slow alone */
    struct read_scratch *scratch;
    struct sink sinks[SLOTS_MAX];
    unsigned taken_fast;
};

struct fixture {
    recmap_parser *parser;
    struct way ways[WAYS_MAX];
    size_t way_count;
    size_t row;
    uint8_t *records[ROWS];
};

static void begin_batch(struct fixture *f) {
    const struct slot_set *set = &f->parser->features;
    for (size_t w = 0; w < f->way_count; w++)
        for (size_t i = 0; i < set->count; i++)
            assert_true(sink_init(&f->ways[w].sinks[i], &set->slots[i], ROWS));
    f->row = 0;
}

static void add_way(struct fixture *f, read_fast_function *fast) {
    struct way *added = &f->ways[f->way_count++];
    added->fast = fast;
    added->scratch = read_scratch_create();
    assert_non_null(added->scratch);
    assert_true(read_scratch_fit(added->scratch, f->parser));
}

/* Whether parsers are made for SequenceExamples, with the features as those of the context. */
static bool in_sequences;

static void begin(struct fixture *f, const recmap_feature *features, size_t count) {
    recmap_error error = RECMAP_ERROR_INIT;
    memset(f, 0, sizeof *f);
    recmap_status status =
        in_sequences ? recmap_parser_create_sequence(&f->parser, features, count, NULL, 0, &error)
                     : recmap_parser_create(&f->parser, features, count, &error);
    if (status != RECMAP_OK) fail_msg("%s", error.message);
    assert_true(f->parser->features.count <= SLOTS_MAX);
    add_way(f, NULL);
    add_way(f, read_fast_portable);
#ifdef READ_FAST_X86
    if (read_fast_best() != read_fast_portable) add_way(f, read_fast_best());
#endif
    begin_batch(f);
}

static void end_batch(struct fixture *f) {
    const struct slot_set *set = &f->parser->features;
    for (size_t w = 1; w < f->way_count; w++)
        for (size_t i = 0; i < set->count; i++)
            if (!rows_are_equal(&f->ways[0].sinks[i], &f->ways[w].sinks[i], &set->slots[i], f->row))
                fail_msg("way %zu: slot '%s' differs from the slow way's", w, set->slots[i].name);
    for (size_t i = 0; i < f->row; i++) free(f->records[i]);
}

static void end(struct fixture *f) {
    end_batch(f);
    for (size_t w = 0; w < f->way_count; w++) {
        for (size_t i = 0; i < f->parser->features.count; i++) sink_deinit(&f->ways[w].sinks[i]);
        read_scratch_destroy(f->ways[w].scratch);
    }
    recmap_parser_release(f->parser);
}

/* As read_record does it. */
static bool read_row(struct way *used, const recmap_parser *plan, const uint8_t *data, size_t size,
                     size_t row, struct read_fault *fault) {
    if (used->fast && used->fast(used->sinks, used->scratch, plan, data, size, row)) {
        used->taken_fast++;
        return true;
    }
    if (read_slow(used->sinks, used->scratch, plan, data, size, row, fault)) return true;
    read_roll_back(used->sinks, plan, row);
    return false;
}

static void show(const uint8_t *data, size_t size) {
    for (size_t i = 0; i < size; i++) print_error("%02x", data[i]);
    print_error("\n");
}

/* Whether an entry, whose value may be anything, has a name that nobody asks for. */
static bool is_unasked(const struct example_names *names, struct wire entry) {
    struct wire key = {entry.at, entry.at}, bytes;
    struct wire_trace trace = {0};
    uint32_t tag;
    while (!wire_done(&entry)) {
        bool good = wire_read_tag(&tag, &entry, &trace);
        if (good && (tag == 0x0a || tag == 0x12)) good = wire_read_bytes(&bytes, &entry, &trace);
        else if (good) good = wire_skip(&entry, tag, EXAMPLE_ENTRY_DEPTH, &trace);
        if (!good) return false;
        if (tag == 0x0a) key = bytes;
    }
    return example_names_find(names, key.at, wire_left(&key)) == SIZE_MAX;
}

/* Returns whether the bytes are not an Example only because of an entry that is not asked for. */
static bool fault_is_unasked(const struct example_names *names, const uint8_t *data, size_t size) {
    struct example_reader reader = example_reader_begin(data, size);
    struct example_entry entry = {0};
    struct example_fault fault;
    while (example_reader_next(&entry, &reader)) continue;
    assert_false(example_reader_end(&reader, &fault));
    const uint8_t *at = data + fault.offset;
    return at >= entry.feature.entry.at && at <= entry.feature.entry.end &&
           is_unasked(names, entry.feature.entry);
}

/* Whether the record's features are those that the row of the sinks holds; that it is refused where
 * it must be. */
static void check_against_model(const struct fixture *f, const struct way *used,
                                const uint8_t *data, size_t size, bool is_taken,
                                const struct read_fault *fault) {
    const struct slot_set *set = &f->parser->features;
    struct example_features features = EXAMPLE_FEATURES_INIT;
    bool is_fault = false;
    if (example_features_read(&features, data, size, NULL) != RECMAP_OK) {
        bool is_corrupt = !is_taken && fault->status == RECMAP_CORRUPT;
        if (!is_corrupt && !fault_is_unasked(set->names, data, size)) {
            show(data, size);
            fail_msg("no Example: %s", is_taken ? "taken" : fault->message);
        }
        example_features_free(&features);
        return;
    }
    for (size_t i = 0; i < set->count; i++) {
        row_verdict verdict =
            row_check(is_taken ? &used->sinks[i] : NULL, &set->slots[i], &features, f->row);
        if (verdict == ROW_IS_A_FAULT) is_fault = true;
        if (verdict != ROW_DIFFERS) continue;
        show(data, size);
        fail_msg("slot '%s' is not what the record holds", set->slots[i].name);
    }
    if (is_fault == is_taken) show(data, size);
    assert_true(is_fault != is_taken);
    if (!is_taken) assert_int_equal(fault->status, RECMAP_FEATURE);
    example_features_free(&features);
}

/* Reads one record into the next row in all ways. Returns whether it was taken. */
static bool read_next(struct fixture *f, const uint8_t *bytes, size_t size) {
    struct read_fault faults[WAYS_MAX];
    bool taken[WAYS_MAX] = {0};
    if (f->row == ROWS) {
        end_batch(f);
        begin_batch(f);
    }
    uint8_t *data = f->records[f->row] = copy_exact(bytes, size);
    for (size_t w = 0; w < f->way_count; w++) {
        taken[w] = read_row(&f->ways[w], f->parser, data, size, f->row, &faults[w]);
        if (taken[w] != taken[0]) {
            show(data, size);
            fail_msg("way %zu %s it: %s", w, taken[w] ? "takes" : "does not take",
                     faults[taken[w] ? 0 : w].message);
        }
        check_against_model(f, &f->ways[w], data, size, taken[w], &faults[w]);
        if (!taken[w]) {
            assert_true(faults[w].offset == SIZE_MAX || faults[w].offset <= size);
            assert_true(faults[w].message[0] != 0);
            read_nothing(f->ways[w].sinks, f->parser, f->row);
        }
    }
    f->row++;
    return taken[0];
}

static recmap_feature var_len(const char *name, recmap_element element) {
    return (recmap_feature){.name = name, .kind = RECMAP_FEATURE_VAR_LEN, .element = element};
}

static recmap_feature scalar(const char *name, recmap_element element) {
    return (recmap_feature){.name = name, .kind = RECMAP_FEATURE_FIXED_LEN, .element = element};
}

/* The names of all wire cases, each as a list of the same kind. */
static void begin_wire(struct fixture *f, recmap_element element) {
    static const char *const names[] = {"k", "j", "a", "b", "age", "key", "value", "", "zipcode"};
    recmap_feature features[sizeof names / sizeof *names];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        features[i] = var_len(names[i], element);
        if (!*names[i]) {
            features[i].name = "the empty name";
            features[i].key = "";
        }
    }
    begin(f, features, sizeof names / sizeof *names);
}

static const recmap_element list_elements[] = {RECMAP_ELEMENT_INT64, RECMAP_ELEMENT_FLOAT32,
                                               RECMAP_ELEMENT_BYTES};

/* Bytes that libprotobuf refuses are not an Example; others must be read as the simple reading
 * does, which is compared with libprotobuf's verdicts elsewhere. */
static void read_wire_case(struct fixture *f, const char *hex, bool is_refused) {
    struct message m;
    m.size = 0;
    put_hex(&m, hex);
    bool taken = read_next(f, m.data, m.size);
    if (taken && is_refused) fail_msg("%s is taken", hex);
}

static void test_wire_cases(void **state) {
    (void)state;
    for (size_t e = 0; e < 3; e++) {
        struct fixture f;
        begin_wire(&f, list_elements[e]);
        for (size_t i = 0; i < sizeof wire_cases / sizeof *wire_cases; i++)
            read_wire_case(&f, wire_cases[i].hex, strcmp(wire_cases[i].expected, "REJECT") == 0);
        end(&f);
    }
}

static void test_given_wire_cases(void **state) {
    (void)state;
    for (size_t e = 0; e < 3; e++) {
        size_t size;
        struct fixture f;
        unsigned count = 0;
        char *table = (char *)data_read("verdicts/example_wire_cases.tsv", &size);
        if (!table) {
            print_message("skipped: no folder of test data\n");
            skip();
        }
        begin_wire(&f, list_elements[e]);
        char *rest = table, *line = strsep(&rest, "\n");
        while ((line = strsep(&rest, "\n")) && *line) {
            strsep(&line, "\t");
            const char *hex = strsep(&line, "\t");
            strsep(&line, "\t");
            /* Its only entry has a name that nobody asks for, or that is not UTF-8. */
            read_wire_case(&f, hex, strncmp(line, "ok ", 3) != 0);
            count++;
        }
        assert_true(count > 40);
        end(&f);
        free(table);
    }
}

/* Features of the names that random Examples have, of all kinds of slots. */
static size_t random_features(recmap_feature *features, struct random_state *random) {
    static const char *const names[] = {
        "a", "b", "age", "image/encoded", "\xc3\xa9", "\xf0\x9f\x98\x80 eight and more", "label"};
    static const uint64_t shapes[][1] = {{2}, {3}, {1}};
    static const recmap_value number = {.type = RECMAP_TYPE_INT64, .as.int64 = 7};
    static const recmap_value real = {.type = RECMAP_TYPE_FLOAT, .as.float32 = 1.5f};
    static const recmap_value text = {.type = RECMAP_TYPE_BYTES,
                                      .as.bytes = {(const uint8_t *)"none", 4}};
    static const recmap_element elements[] = {
        RECMAP_ELEMENT_INT64,   RECMAP_ELEMENT_FLOAT32, RECMAP_ELEMENT_BYTES,
        RECMAP_ELEMENT_INT64,   RECMAP_ELEMENT_FLOAT32, RECMAP_ELEMENT_BYTES,
        RECMAP_ELEMENT_INT32,   RECMAP_ELEMENT_UINT8,   RECMAP_ELEMENT_BOOL,
        RECMAP_ELEMENT_FLOAT16, RECMAP_ELEMENT_FLOAT64, RECMAP_ELEMENT_INT16};
    size_t count = sizeof names / sizeof *names;
    for (size_t i = 0; i < count; i++) {
        recmap_element element = elements[random_below(random, 12)];
        recmap_feature *made = &features[i];
        *made = var_len(names[i], element);
        if (random_below(random, 8) == 0 && element != RECMAP_ELEMENT_BYTES) made->raw = 1;
        switch (random_below(random, 4)) {
        case 0:
            made->kind = RECMAP_FEATURE_FIXED_LEN;
            made->default_count = 1;
            made->defaults = element == RECMAP_ELEMENT_BYTES ? &text
                             : element == RECMAP_ELEMENT_FLOAT32 ||
                                     element == RECMAP_ELEMENT_FLOAT16 ||
                                     element == RECMAP_ELEMENT_FLOAT64
                                 ? &real
                                 : &number;
            if (element == RECMAP_ELEMENT_BOOL) made->default_count = 0;
            if (random_below(random, 2)) {
                made->shape = shapes[random_below(random, 3)];
                made->dimension_count = 1;
            }
            break;
        case 1:
            made->kind = RECMAP_FEATURE_FIXED_LEN_SEQUENCE;
            made->unpadded = 1;
            made->shape = shapes[random_below(random, 3)];
            made->dimension_count = 1;
            break;
        default: break;
        }
    }
    return count;
}

static unsigned rounds(unsigned count) {
    return getenv("RECMAP_TEST_LONG") ? count * 50 : count;
}

/* Examples in every shape that the wire allows, and damaged ones. */
static void test_random_examples(void **state) {
    (void)state;
    static const struct oddness odd[] = {
        {0, 0, 0, 0}, {30, 0, 0, 0}, {0, 30, 30, 0}, {20, 20, 20, 5}, {0, 0, 0, 20}};
    struct random_state random = {5};
    for (unsigned round = 0; round < rounds(200); round++) {
        recmap_feature features[8];
        struct fixture f;
        begin(&f, features, random_features(features, &random));
        for (unsigned i = 0; i < 100; i++) {
            struct message m;
            random_example(&m, &random, &odd[random_below(&random, 5)]);
            read_next(&f, m.data, m.size);
            if (random_below(&random, 3)) continue;
            random_damage(&m, &random);
            read_next(&f, m.data, m.size);
        }
        end(&f);
    }
}

/* A feature as a writer makes it. */
struct column {
    const char *name;
    unsigned list; /* its field in a Feature */
    unsigned count_most;
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
        uint64_t value = random_next(random) >> random_below(random, 64);
        if (random_below(random, 2)) value %= 100;
        if (column->list == 1) {
            uint8_t text[200] = {(uint8_t)value};
            put_bytes(list, 1, text, random_below(random, 9) ? value % 20 : value % 200);
        } else if (column->list == 2) {
            put_raw(&packed, &value, 4);
        } else {
            put_varint(&packed, value);
        }
    }
    if (column->list != 1 && (count || random_below(random, 2))) put_sub(list, 1, &packed);
}

/* What writers make, all features or, in one record of `odd`, with a feature that is missing,
 * unset, empty, of another kind, twice there or in more than one piece. */
static void put_columns(struct message *m, struct random_state *random, const unsigned *order,
                        unsigned odd) {
    struct message features;
    features.size = 0;
    bool is_odd = odd && random_below(random, odd) == 0;
    for (size_t i = 0; i < COLUMN_COUNT; i++) {
        struct column of = columns[order[i]];
        unsigned count = of.count_most > 4 ? (unsigned)random_below(random, of.count_most + 1)
                                           : of.count_most;
        unsigned what = is_odd ? (unsigned)random_below(random, 40) : 40;
        struct message list;
        list.size = 0;
        if (what == 0) continue;
        if (what == 1) of.list = 1 + (unsigned)random_below(random, 3);
        if (what == 2) count = 0;
        put_values(&list, &of, random, count);
        if (what == 3) put_values(&list, &of, random, count);
        if (what == 4) put_hex(&list, "1005");
        if (what == 5) {
            struct message first = list;
            if (random_below(random, 2)) put_hex(&first, "0d00");
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
    m->size = 0;
    put_sub(m, 1, &features);
}

static void shuffle(unsigned *order, struct random_state *random) {
    for (unsigned i = 0; i < COLUMN_COUNT; i++) {
        unsigned other = (unsigned)random_below(random, i + 1);
        order[i] = order[other];
        order[other] = i;
    }
}

static recmap_feature feature_of(const struct column *column) {
    recmap_feature made = var_len(column->name, column->list == 1   ? RECMAP_ELEMENT_BYTES
                                                : column->list == 2 ? RECMAP_ELEMENT_FLOAT32
                                                                    : RECMAP_ELEMENT_INT64);
    if (column->count_most <= 4) {
        static const uint64_t shapes[][1] = {{1}, {2}, {3}, {4}};
        made.kind = RECMAP_FEATURE_FIXED_LEN;
        made.shape = shapes[column->count_most - 1];
        made.dimension_count = 1;
    }
    if (!*column->name) {
        made.name = "the empty name";
        made.key = "";
    }
    return made;
}

static void begin_columns(struct fixture *f, struct random_state *random) {
    recmap_feature features[ASKED_COUNT + 1];
    for (size_t i = 0; i < ASKED_COUNT; i++) {
        features[i] = feature_of(&columns[i]);
        if (random_below(random, 3) == 0) {
            features[i].kind = RECMAP_FEATURE_VAR_LEN;
            features[i].shape = NULL;
            features[i].dimension_count = 0;
        }
    }
    /* A second slot of the same name. */
    features[ASKED_COUNT] = var_len("an alias", RECMAP_ELEMENT_FLOAT64);
    features[ASKED_COUNT].key = "floats";
    begin(f, features, ASKED_COUNT + 1);
}

static void test_what_writers_make(void **state) {
    (void)state;
    struct random_state random = {9};
    for (unsigned round = 0; round < rounds(60); round++) {
        unsigned order[COLUMN_COUNT], odd = round % 3 == 0 ? 0 : 4, how = round % 4;
        struct fixture f;
        struct message m;
        begin_columns(&f, &random);
        shuffle(order, &random);
        for (unsigned i = 0; i < 200; i++) {
            if (how == 1 || (how == 2 && random_below(&random, 3) == 0) ||
                (how == 3 && i % 50 < 20))
                shuffle(order, &random);
            put_columns(&m, &random, order, odd);
            bool taken = read_next(&f, m.data, m.size);
            if (!odd) assert_true(taken);
        }
        /* Keys that are too long to be hashed, or hashed as another one, must not end the
         * fast path. */
        for (size_t w = 1; w < f.way_count && !odd; w++)
            assert_int_equal(f.ways[w].taken_fast, 200);
        end(&f);
    }
}

/* Every record cut short anywhere, and with any bit flipped. */
static void test_damaged_everywhere(void **state) {
    (void)state;
    struct random_state random = {10};
    for (unsigned round = 0; round < rounds(2); round++) {
        unsigned order[COLUMN_COUNT];
        struct fixture f;
        struct message m;
        begin_columns(&f, &random);
        shuffle(order, &random);
        put_columns(&m, &random, order, 0);
        for (size_t size = 0; size < m.size; size++) {
            if (size % 16 == 0) read_next(&f, m.data, m.size);
            read_next(&f, m.data, size);
        }
        for (size_t bit = 0; bit < m.size * 8; bit++) {
            if (bit % 16 == 0) read_next(&f, m.data, m.size);
            m.data[bit / 8] ^= (uint8_t)(1 << bit % 8);
            read_next(&f, m.data, m.size);
            m.data[bit / 8] ^= (uint8_t)(1 << bit % 8);
        }
        end(&f);
    }
}

/* Runs of small integers, short and long ones, as every element. */
static void test_runs(void **state) {
    (void)state;
    enum { LONG = 700 };
    static const recmap_element elements[] = {
        RECMAP_ELEMENT_INT64,  RECMAP_ELEMENT_INT32,  RECMAP_ELEMENT_INT16,
        RECMAP_ELEMENT_INT8,   RECMAP_ELEMENT_UINT64, RECMAP_ELEMENT_UINT32,
        RECMAP_ELEMENT_UINT16, RECMAP_ELEMENT_UINT8,  RECMAP_ELEMENT_BOOL};
    static const uint64_t three[] = {3};
    static const int64_t limits[] = {2, 3, 128, 129, 300, 70000};
    struct random_state random = {14};
    for (size_t e = 0; e < sizeof elements / sizeof *elements; e++) {
        recmap_feature features[] = {var_len("any", elements[e]), scalar("three", elements[e]),
                                     scalar("one", elements[e]), var_len("pairs", elements[e]),
                                     var_len("long", elements[e])};
        struct fixture f;
        features[1].shape = three;
        features[1].dimension_count = 1;
        features[3].kind = RECMAP_FEATURE_FIXED_LEN_SEQUENCE;
        features[3].unpadded = 1;
        features[3].shape = &(const uint64_t){2};
        features[3].dimension_count = 1;
        begin(&f, features, 5);
        for (unsigned i = 0; i < rounds(500); i++) {
            struct message m, map;
            int64_t limit = limits[random_below(&random, 6)], values[LONG];
            for (size_t k = 0; k < LONG; k++)
                values[k] = (int64_t)random_below(&random, (uint64_t)limit);
            if (random_below(&random, 10) == 0) values[0] = -values[0];
            m.size = map.size = 0;
            put_int64s(&map, "any", values, (size_t)random_below(&random, 11));
            put_int64s(&map, "three", values, random_below(&random, 20) ? 3 : 2);
            put_int64s(&map, "one", values, 1);
            put_int64s(&map, "long", values, (size_t)random_below(&random, LONG + 1));
            put_int64s(&map, "pairs", values, 2 * (size_t)random_below(&random, 5));
            put_sub(&m, 1, &map);
            read_next(&f, m.data, m.size);
        }
        end(&f);
    }
}

/* Features that end anywhere in their last entries, in a record that ends there too. */
static void test_features_cut_short(void **state) {
    (void)state;
    struct random_state random = {12};
    for (unsigned round = 0; round < rounds(60); round++) {
        unsigned order[COLUMN_COUNT];
        struct fixture f;
        struct message m, cut;
        begin_columns(&f, &random);
        shuffle(order, &random);
        for (size_t less = 0; less < 40; less++) {
            put_columns(&m, &random, order, 0);
            struct wire record = {m.data, m.data + m.size}, features;
            struct wire_trace trace = {0};
            uint32_t tag;
            assert_true(wire_read_tag(&tag, &record, &trace));
            assert_true(wire_read_bytes(&features, &record, &trace));
            cut.size = 0;
            put_bytes(&cut, 1, features.at, wire_left(&features) - less);
            read_next(&f, cut.data, cut.size);
            /* The same, with a field after the features that continues as they did. */
            put_bytes(&cut, 2, features.end - less, less);
            read_next(&f, cut.data, cut.size);
            if (less % 8 == 0) read_next(&f, m.data, m.size);
        }
        end(&f);
    }
}

/* The context of SequenceExamples, with and without feature lists after it. */
static void test_contexts(void **state) {
    (void)state;
    struct random_state random = {13};
    unsigned order[COLUMN_COUNT];
    struct message m;
    struct fixture f;
    in_sequences = true;
    begin_columns(&f, &random);
    in_sequences = false;
    shuffle(order, &random);
    for (unsigned i = 0; i < 400; i++) {
        put_columns(&m, &random, order, 10);
        if (i % 10 == 9) m.size = 0;
        if (i % 3) put_hex(&m, i % 3 == 1 ? "1200" : "12020a00");
        if (i % 40 == 5) put_hex(&m, "1800");
        if (i % 40 == 6) random_damage(&m, &random);
        read_next(&f, m.data, m.size);
    }
    for (size_t w = 1; w < f.way_count; w++) assert_true(f.ways[w].taken_fast > 250);
    end(&f);
    static const char *const without[] = {"",         "0a00",     "1200",
                                          "12020a00", "0a001200", "0a0012020a00"};
    recmap_feature wanted = var_len("a", RECMAP_ELEMENT_INT64);
    in_sequences = true;
    begin(&f, &wanted, 1);
    in_sequences = false;
    for (size_t i = 0; i < 6; i++) {
        m.size = 0;
        put_hex(&m, without[i]);
        assert_true(read_next(&f, m.data, m.size));
    }
    for (size_t w = 1; w < f.way_count; w++) assert_int_equal(f.ways[w].taken_fast, 6);
    end(&f);
}

/* Nothing asked for: anything goes that is an Example but for values. */
static void test_nothing_asked(void **state) {
    (void)state;
    struct random_state random = {11};
    struct fixture f;
    begin(&f, NULL, 0);
    for (unsigned i = 0; i < 2000; i++) {
        struct message m;
        random_example(&m, &random, &(struct oddness){5, 5, 5, 5});
        read_next(&f, m.data, m.size);
    }
    assert_true(read_next(&f, NULL, 0));
    end(&f);
}

/* More entries than are kept in mind, wanted ones among them. */
static void test_many_entries(void **state) {
    (void)state;
    static struct message m, features;
    struct fixture f;
    recmap_feature wanted[] = {scalar("n 77", RECMAP_ELEMENT_INT64),
                               var_len("n 2000", RECMAP_ELEMENT_INT64)};
    begin(&f, wanted, 2);
    for (int64_t count = 900; count < 2200; count += 50) {
        m.size = features.size = 0;
        for (int64_t i = 0; i < count; i++) {
            char name[16];
            snprintf(name, sizeof name, "n %d", (int)i);
            put_int64s(&features, name, &i, 1);
        }
        put_sub(&m, 1, &features);
        assert_true(read_next(&f, m.data, m.size));
        /* And one wanted name again and again. */
        features.size = m.size = 0;
        for (int64_t i = 0; i < count; i++) put_int64s(&features, "n 77", &i, 1);
        put_sub(&m, 1, &features);
        assert_true(read_next(&f, m.data, m.size));
    }
    end(&f);
}

static void expect_fault(const recmap_feature *feature, const char *hex, recmap_status status,
                         size_t offset, const char *text) {
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_parser *parser = NULL;
    recmap_columns *made = NULL;
    struct message m;
    m.size = 0;
    put_hex(&m, hex);
    assert_int_equal(recmap_parser_create(&parser, feature, 1, &error), RECMAP_OK);
    assert_int_equal(recmap_columns_create(&made, &error), RECMAP_OK);
    recmap_record record = {m.data, m.size, 41, NULL};
    assert_int_equal(recmap_parser_parse(made, parser, &record, 1, RECMAP_PARSE_RAISE, &error),
                     status);
    assert_string_equal(error.message, text);
    assert_true(error.record == 41);
    assert_true(error.offset == (offset == SIZE_MAX ? RECMAP_NO_OFFSET : offset));
    recmap_columns_destroy(made);
    recmap_parser_release(parser);
}

/* Each case is one record with one fault and the complete message. Offsets and names of features
 * are part of it. */
static void test_messages(void **state) {
    (void)state;
    static const uint64_t two[] = {2};
    recmap_feature k = scalar("k", RECMAP_ELEMENT_INT64), pair = k, small = k, raw = k, steps = k;
    pair.shape = steps.shape = two;
    pair.dimension_count = steps.dimension_count = 1;
    small.element = RECMAP_ELEMENT_UINT8;
    raw.raw = 1;
    raw.element = RECMAP_ELEMENT_INT16;
    steps.kind = RECMAP_FEATURE_FIXED_LEN_SEQUENCE;
    expect_fault(&k, "", RECMAP_FEATURE, SIZE_MAX, "feature 'k' is missing and has no default");
    expect_fault(&k, "0a070a050a016b1200", RECMAP_FEATURE, SIZE_MAX,
                 "feature 'k' is missing and has no default");
    expect_fault(&pair, "0a0e0a0c0a016b12071a050a03010203", RECMAP_FEATURE, 4,
                 "feature 'k': 3 values where [2] needs 2");
    expect_fault(&k, "0a090a070a016b12021a00", RECMAP_FEATURE, 4,
                 "feature 'k': 0 values where [] needs 1");
    expect_fault(&steps, "0a0e0a0c0a016b12071a050a03010203", RECMAP_FEATURE, 4,
                 "feature 'k': 3 values where steps of [2] need a multiple of 2");
    expect_fault(&k, "0a0f0a0d0a016b120812060a040000803f", RECMAP_FEATURE, 4,
                 "feature 'k' holds float, but int64 was requested");
    expect_fault(&small, "0a0d0a0b0a016b12061a040a02ac02", RECMAP_FEATURE, 13,
                 "feature 'k': value 0 is 300, which uint8 cannot hold");
    expect_fault(&raw, "0a0e0a0c0a016b12070a050a03010203", RECMAP_FEATURE, 4,
                 "feature 'k': 3 bytes are not a whole number of raw int16");
    expect_fault(&raw, "0a0d0a0b0a016b12060a040a000a00", RECMAP_FEATURE, 4,
                 "feature 'k': 2 bytes values where one is needed that holds raw int16");
    expect_fault(&k, "0a0c0a0a0a016b12051a030a0180", RECMAP_CORRUPT, 13,
                 "not a tf.Example: feature 'k': varint runs past the end");
    expect_fault(&k, "0a0c0a0a0a01ff12051a030a0180", RECMAP_CORRUPT, 6,
                 "not a tf.Example: feature name is not UTF-8");
    expect_fault(&k, "0a0c0a", RECMAP_CORRUPT, 1, "not a tf.Example: length reaches past the end");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_wire_cases),         cmocka_unit_test(test_given_wire_cases),
        cmocka_unit_test(test_random_examples),    cmocka_unit_test(test_what_writers_make),
        cmocka_unit_test(test_damaged_everywhere), cmocka_unit_test(test_runs),
        cmocka_unit_test(test_features_cut_short), cmocka_unit_test(test_contexts),
        cmocka_unit_test(test_nothing_asked),      cmocka_unit_test(test_many_entries),
        cmocka_unit_test(test_messages),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
