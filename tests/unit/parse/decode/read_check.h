/* Reads records on every path, and checks that all paths give the same, and what the record holds.
 */
#ifndef RECMAP_TESTS_UNIT_PARSE_DECODE_READ_CHECK_H
#define RECMAP_TESTS_UNIT_PARSE_DECODE_READ_CHECK_H

#include <stdlib.h>

#include <recmap/parser.h>

#include "parse/decode/read_paths.h"
#include "unit/parse/example/build.h"
#include "unit/parse/example/random_example.h"

enum { READ_CHECK_ROWS = 24, READ_CHECK_PATHS_MAX = 3, READ_CHECK_SLOTS_MAX = 24 };

/* A path of reading records, which goes through all rows of a batch. */
struct read_path {
    read_fast_function *fast; /* NULL: slow alone */
    struct read_scratch *scratch;
    struct sink sinks[READ_CHECK_SLOTS_MAX];
    unsigned taken_fast;
};

struct read_check {
    recmap_parser *parser;
    struct read_path paths[READ_CHECK_PATHS_MAX];
    size_t path_count;
    size_t row;
    uint8_t *records[READ_CHECK_ROWS];
};

/* The features of an Example, or of the context of a SequenceExample. */
void read_check_init(struct read_check *check, const recmap_feature *features, size_t count);
void read_check_init_sequence(struct read_check *check, const recmap_feature *features,
                              size_t count);
void read_check_deinit(struct read_check *check);

/* Reads one record into the next row on all paths. Returns whether it was taken. */
bool read_check_next(struct read_check *check, const uint8_t *bytes, size_t size);

/* How many rounds a random test makes. */
static inline unsigned round_count(unsigned count) {
    return getenv("RECMAP_TEST_LONG") ? count * 50 : count;
}

static inline recmap_feature var_len(const char *name, recmap_element element) {
    return (recmap_feature){.name = name, .kind = RECMAP_FEATURE_VAR_LEN, .element = element};
}

static inline recmap_feature scalar(const char *name, recmap_element element) {
    return (recmap_feature){.name = name, .kind = RECMAP_FEATURE_FIXED_LEN, .element = element};
}

#endif
