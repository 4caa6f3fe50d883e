/* Records of pictures and numbers, and their columns, for tests of images. */
#ifndef RECMAP_TESTS_UNIT_PARSE_COLUMNS_PICTURE_BATCH_H
#define RECMAP_TESTS_UNIT_PARSE_COLUMNS_PICTURE_BATCH_H

#include <stdbool.h>

#include <recmap/example_builder.h>
#include <recmap/parser.h>

enum { PICTURE_RECORDS_MAX = 16, PICTURES_MAX = 8 };

/* What a record is made of. */
struct picture_record {
    const char *pictures[PICTURES_MAX]; /* names in tests/images, for "image"; "" for no bytes */
    const float *numbers[4];            /* for "a" to "d" */
    size_t number_count;
};

struct picture_batch {
    recmap_record records[PICTURE_RECORDS_MAX];
    size_t count;
    recmap_parser *parser;
    recmap_columns *columns;
    recmap_error error;
};

/* Makes a record, an Example, or, if `is_sequence`, a SequenceExample with a step for each picture.
 */
void picture_batch_add(struct picture_batch *batch, const struct picture_record *record,
                       bool is_sequence);

/* Parses all records with the features, or with feature lists if `is_sequence`. */
recmap_status picture_batch_parse(struct picture_batch *batch, const recmap_feature *features,
                                  size_t count, bool is_sequence, recmap_parse_mode mode);
void picture_batch_deinit(struct picture_batch *batch);

#endif
