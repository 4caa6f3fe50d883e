#include "unit/parse/columns/picture_batch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "unit/parse/image/picture_file.h"

#include <cmocka.h>

static void add_pictures(recmap_example_builder *builder, const struct picture_file *files,
                         size_t count, bool is_sequence) {
    recmap_bytes values[PICTURES_MAX];
    for (size_t i = 0; i < count; i++) values[i] = (recmap_bytes){files[i].data, files[i].size};
    if (!is_sequence) {
        assert_int_equal(recmap_example_builder_add_bytes(builder, "image", values, count, NULL),
                         RECMAP_OK);
        return;
    }
    assert_int_equal(recmap_example_builder_begin_list(builder, "image", NULL), RECMAP_OK);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(recmap_example_builder_add_bytes(builder, "", &values[i], 1, NULL),
                         RECMAP_OK);
    recmap_example_builder_end_list(builder);
}

static void add_numbers(recmap_example_builder *builder, const struct picture_record *record) {
    static const char *const names[] = {"a", "b", "c", "d"};
    for (size_t i = 0; i < 4; i++)
        if (record->numbers[i])
            assert_int_equal(recmap_example_builder_add_float(builder, names[i], record->numbers[i],
                                                              record->number_count, NULL),
                             RECMAP_OK);
}

void picture_batch_add(struct picture_batch *batch, const struct picture_record *record,
                       bool is_sequence) {
    struct picture_file files[PICTURES_MAX];
    recmap_example_builder *builder;
    size_t count = 0, size;
    const uint8_t *data;
    for (; count < PICTURES_MAX && record->pictures[count]; count++)
        files[count] = record->pictures[count][0] ? picture_load(record->pictures[count])
                                                  : (struct picture_file){calloc(1, 1), 0};
    assert_int_equal(recmap_example_builder_create(&builder, NULL), RECMAP_OK);
    recmap_example_builder_begin(builder, is_sequence ? RECMAP_MESSAGE_SEQUENCE_EXAMPLE
                                                      : RECMAP_MESSAGE_EXAMPLE);
    if (count) add_pictures(builder, files, count, is_sequence);
    add_numbers(builder, record);
    assert_int_equal(recmap_example_builder_finish(&data, &size, builder, NULL), RECMAP_OK);
    uint8_t *copy = malloc(size + 1);
    assert_non_null(copy);
    memcpy(copy, data, size);
    batch->records[batch->count] =
        (recmap_record){.data = copy, .size = size, .number = batch->count};
    batch->count++;
    recmap_example_builder_destroy(builder);
    for (size_t i = 0; i < count; i++) picture_deinit(&files[i]);
}

recmap_status picture_batch_parse(struct picture_batch *batch, const recmap_feature *features,
                                  size_t count, bool is_sequence, recmap_parse_mode mode) {
    batch->error = (recmap_error)RECMAP_ERROR_INIT;
    recmap_parser_release(batch->parser);
    batch->parser = NULL;
    recmap_status status =
        is_sequence
            ? recmap_parser_create_sequence(&batch->parser, NULL, 0, features, count, &batch->error)
            : recmap_parser_create(&batch->parser, features, count, &batch->error);
    if (status != RECMAP_OK) return status;
    if (!batch->columns) assert_int_equal(recmap_columns_create(&batch->columns, NULL), RECMAP_OK);
    return recmap_parser_parse(batch->columns, batch->parser, batch->records, batch->count, mode,
                               &batch->error);
}

void picture_batch_deinit(struct picture_batch *batch) {
    for (size_t i = 0; i < batch->count; i++) free((void *)(uintptr_t)batch->records[i].data);
    recmap_columns_destroy(batch->columns);
    recmap_parser_release(batch->parser);
    *batch = (struct picture_batch){.count = 0};
}
