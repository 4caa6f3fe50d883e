#include "unit/parse/decode/read_check.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "parse/example/foreign.h"
#include "unit/parse/columns/row_model.h"

static void begin_batch(struct read_check *check) {
    const struct slot_set *set = &check->parser->features;
    for (size_t w = 0; w < check->path_count; w++)
        for (size_t i = 0; i < set->count; i++)
            assert_true(sink_init(&check->paths[w].sinks[i], &set->slots[i], READ_CHECK_ROWS));
    check->row = 0;
}

static void add_path(struct read_check *check, read_fast_function *fast) {
    struct read_path *added = &check->paths[check->path_count++];
    added->fast = fast;
    added->scratch = read_scratch_create();
    assert_non_null(added->scratch);
    assert_true(read_scratch_fit(added->scratch, check->parser));
}

/* With a batch of no rows yet, on each path that this processor has. */
static void start(struct read_check *check) {
    assert_true(check->parser->features.count <= READ_CHECK_SLOTS_MAX);
    add_path(check, NULL);
    add_path(check, read_fast_portable);
#ifdef READ_FAST_X86
    if (read_fast_best() != read_fast_portable) add_path(check, read_fast_best());
#endif
    begin_batch(check);
}

void read_check_init(struct read_check *check, const recmap_feature *features, size_t count) {
    recmap_error error = RECMAP_ERROR_INIT;
    memset(check, 0, sizeof *check);
    if (recmap_parser_create(&check->parser, features, count, &error) != RECMAP_OK)
        fail_msg("%s", error.message);
    start(check);
}

void read_check_init_sequence(struct read_check *check, const recmap_feature *features,
                              size_t count) {
    recmap_error error = RECMAP_ERROR_INIT;
    memset(check, 0, sizeof *check);
    if (recmap_parser_create_sequence(&check->parser, features, count, NULL, 0, &error) !=
        RECMAP_OK)
        fail_msg("%s", error.message);
    start(check);
}

static void end_batch(struct read_check *check) {
    const struct slot_set *set = &check->parser->features;
    for (size_t w = 1; w < check->path_count; w++)
        for (size_t i = 0; i < set->count; i++)
            if (!rows_are_equal(&check->paths[0].sinks[i], &check->paths[w].sinks[i],
                                &set->slots[i], check->row))
                fail_msg("path %zu: slot '%s' differs from the slow path's", w, set->slots[i].name);
    for (size_t i = 0; i < check->row; i++) free(check->records[i]);
}

void read_check_deinit(struct read_check *check) {
    end_batch(check);
    for (size_t w = 0; w < check->path_count; w++) {
        for (size_t i = 0; i < check->parser->features.count; i++)
            sink_deinit(&check->paths[w].sinks[i]);
        read_scratch_destroy(check->paths[w].scratch);
    }
    recmap_parser_release(check->parser);
}

/* As read_record does it. */
static bool read_row(struct read_path *used, const recmap_parser *plan, const uint8_t *data,
                     size_t size, size_t row, struct read_fault *fault) {
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

/* Returns true if an entry, whose value may be anything, has a name that nobody asks for. */
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
    const uint8_t *bytes = data + fault.offset;
    return bytes >= entry.feature.entry.at && bytes <= entry.feature.entry.end &&
           is_unasked(names, entry.feature.entry);
}

/* Checks that the record's features are those that the row of the sinks holds; that it is
 * refused where it must be. */
static void check_against_model(const struct read_check *check, const struct read_path *used,
                                const uint8_t *data, size_t size, bool is_taken,
                                const struct read_fault *fault) {
    const struct slot_set *set = &check->parser->features;
    struct example_features features = EXAMPLE_FEATURES_INIT;
    struct foreign foreign;
    bool is_fault = false;
    if (foreign_find(&foreign, data, size)) {
        assert_false(is_taken);
        assert_int_equal(fault->status, RECMAP_CORRUPT);
        return;
    }
    if (example_features_read(&features, data, size, NULL) != RECMAP_OK) {
        bool is_corrupt = !is_taken && fault->status == RECMAP_CORRUPT;
        if (!is_corrupt && !fault_is_unasked(set->names, data, size)) {
            show(data, size);
            fail_msg("no Example: %s", is_taken ? "taken" : fault->message);
        }
        example_features_deinit(&features);
        return;
    }
    for (size_t i = 0; i < set->count; i++) {
        enum row_verdict verdict =
            row_check(is_taken ? &used->sinks[i] : NULL, &set->slots[i], &features, check->row);
        if (verdict == ROW_IS_A_FAULT) is_fault = true;
        if (verdict != ROW_DIFFERS) continue;
        show(data, size);
        fail_msg("slot '%s' is not what the record holds", set->slots[i].name);
    }
    if (is_fault == is_taken) show(data, size);
    assert_true(is_fault != is_taken);
    if (!is_taken) assert_int_equal(fault->status, RECMAP_FEATURE);
    example_features_deinit(&features);
}

/* Reads one record into the next row in all paths. Returns whether it was taken. */
bool read_check_next(struct read_check *check, const uint8_t *bytes, size_t size) {
    struct read_fault faults[READ_CHECK_PATHS_MAX];
    bool taken[READ_CHECK_PATHS_MAX] = {0};
    if (check->row == READ_CHECK_ROWS) {
        end_batch(check);
        begin_batch(check);
    }
    uint8_t *data = check->records[check->row] = copy_exact(bytes, size);
    for (size_t w = 0; w < check->path_count; w++) {
        taken[w] = read_row(&check->paths[w], check->parser, data, size, check->row, &faults[w]);
        if (taken[w] != taken[0]) {
            show(data, size);
            fail_msg("path %zu %s it: %s", w, taken[w] ? "takes" : "does not take",
                     faults[taken[w] ? 0 : w].message);
        }
        check_against_model(check, &check->paths[w], data, size, taken[w], &faults[w]);
        if (!taken[w]) {
            assert_true(faults[w].offset == SIZE_MAX || faults[w].offset <= size);
            assert_true(faults[w].message[0] != 0);
            read_nothing(check->paths[w].sinks, check->parser, check->row);
        }
    }
    check->row++;
    return taken[0];
}
