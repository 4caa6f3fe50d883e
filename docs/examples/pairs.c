/* Reads text files with a pair of numbers, X,Y, per line, as OneFlow's own data sets have. Lines
 * are the records, and a custom parser makes columns x and y of them: pairs FILE.rmx FILE.txt */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <recmap/recmap.h>

enum { X, Y, NUMBER_SIZE = 64 };

/* Parses the number in [data, data + size). It is copied because a record has no final NUL. */
static int read_number(float *number, const uint8_t *data, size_t size) {
    char text[NUMBER_SIZE], *end;
    if (!size || size >= sizeof text) return 0;
    memcpy(text, data, size);
    text[size] = 0;
    *number = strtof(text, &end);
    return *end == 0;
}

static recmap_status parse_pair(recmap_row *row, const recmap_record *record, void *context) {
    (void)context;
    const uint8_t *data = record->data, *comma = memchr(data, ',', record->size);
    float x, y;
    if (!comma) return recmap_row_fail(row, 0, "no comma found");
    size_t before = (size_t)(comma - data);
    if (!read_number(&x, data, before)) return recmap_row_fail(row, 0, "x is not a number");
    if (!read_number(&y, comma + 1, record->size - before - 1))
        return recmap_row_fail(row, before + 1, "y is not a number");
    recmap_status status = recmap_row_set_float(row, X, &x, 1);
    return status == RECMAP_OK ? recmap_row_set_float(row, Y, &y, 1) : status;
}

static recmap_status build_index(const char *path, const char *text, recmap_error *error) {
    recmap_index_builder *builder = NULL;
    recmap_index_options options = RECMAP_INDEX_OPTIONS_INIT;
    options.framing = "lines";
    recmap_status status = recmap_index_builder_create(&builder, path, &options, error);
    if (status == RECMAP_OK) status = recmap_index_builder_add_shard(builder, text, error);
    if (status == RECMAP_OK) status = recmap_index_builder_finish(NULL, builder, error);
    recmap_index_builder_destroy(builder);
    return status;
}

static recmap_status create_parser(recmap_parser **parser, recmap_error *error) {
    const recmap_feature features[] = {
        [X] = {.name = "x", .kind = RECMAP_FEATURE_FIXED_LEN, .element = RECMAP_ELEMENT_FLOAT32},
        [Y] = {.name = "y", .kind = RECMAP_FEATURE_FIXED_LEN, .element = RECMAP_ELEMENT_FLOAT32},
    };
    return recmap_parser_create_custom(parser, features, 2, parse_pair, NULL, error);
}

/* Sums both columns over a shuffled epoch. */
static recmap_status print_sums(recmap_dataset *dataset, recmap_parser *parser,
                                recmap_error *error) {
    recmap_order *order = NULL;
    recmap_loader *loader = NULL;
    recmap_batch *batch = NULL;
    double sums[2] = {0, 0};
    recmap_loader_options options = RECMAP_LOADER_OPTIONS_INIT;
    options.batch_size = 32;
    options.parser = parser;
    recmap_status status = recmap_order_shuffled(&order, recmap_dataset_count(dataset), 1, error);
    if (status == RECMAP_OK)
        status = recmap_loader_create(&loader, dataset, order, &options, error);
    while (status == RECMAP_OK) {
        status = recmap_loader_next(&batch, loader, error);
        if (status != RECMAP_OK || !batch) break;
        const recmap_columns *columns = recmap_batch_columns(batch);
        for (int c = X; c <= Y; c++) {
            const recmap_column *column = recmap_columns_get(columns, (size_t)c);
            for (uint64_t row = 0; row < column->row_count; row++)
                sums[c] += ((const float *)column->values)[row];
        }
    }
    recmap_batch_destroy(batch);
    recmap_loader_destroy(loader);
    recmap_order_release(order);
    if (status != RECMAP_OK) return status;
    printf("%" PRIu64 " pairs, sum of x is %g, of y %g\n", recmap_dataset_count(dataset), sums[X],
           sums[Y]);
    return RECMAP_OK;
}

static int print_usage(void) {
    fprintf(stderr, "usage: pairs FILE.rmx FILE.txt\n");
    return 2;
}

int main(int argc, char **argv) {
    recmap_dataset *dataset = NULL;
    recmap_parser *parser = NULL;
    recmap_error error = RECMAP_ERROR_INIT;
    if (argc != 3) return print_usage();
    recmap_status status = build_index(argv[1], argv[2], &error);
    if (status == RECMAP_OK) status = recmap_dataset_open(&dataset, argv[1], NULL, &error);
    if (status == RECMAP_OK) status = create_parser(&parser, &error);
    if (status == RECMAP_OK) status = print_sums(dataset, parser, &error);
    recmap_parser_release(parser);
    recmap_dataset_close(dataset);
    return status == RECMAP_OK ? 0 : recmap_error_print(&error, stderr);
}
