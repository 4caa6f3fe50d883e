/* Parses a batch of records into columns: parse NAME.rmx LABEL */
#include <inttypes.h>
#include <stdlib.h>

#include <recmap/recmap.h>

enum { BATCH = 256, SIDE = 8 };

/* An image is a bytes value of 8 x 8 pixels. A record without a label gets -1. */
static recmap_status create_parser(recmap_parser **parser, recmap_error *error) {
    const uint64_t shape[] = {SIDE, SIDE};
    const recmap_value unlabelled = {.type = RECMAP_TYPE_INT64, .as.int64 = -1};
    const recmap_feature features[] = {
        {.name = "image",
         .kind = RECMAP_FEATURE_FIXED_LEN,
         .element = RECMAP_ELEMENT_UINT8,
         .raw = 1,
         .shape = shape,
         .dimension_count = 2},
        {.name = "label",
         .kind = RECMAP_FEATURE_FIXED_LEN,
         .element = RECMAP_ELEMENT_INT64,
         .defaults = &unlabelled,
         .default_count = 1},
    };
    return recmap_parser_create(parser, features, 2, error);
}

/* Prints the mean image of the records with this label. */
static void print_mean(const recmap_columns *columns, int64_t wanted) {
    const recmap_column *image = recmap_columns_find(columns, "image");
    const uint8_t(*images)[SIDE][SIDE] = image->values;
    const int64_t *labels = recmap_columns_find(columns, "label")->values;
    unsigned sums[SIDE][SIDE] = {{0}}, count = 0;
    for (uint64_t row = 0; row < image->row_count; row++) {
        if (labels[row] != wanted) continue;
        count++;
        for (int y = 0; y < SIDE; y++)
            for (int x = 0; x < SIDE; x++) sums[y][x] += images[row][y][x];
    }
    printf("%u of %" PRIu64 " are a %" PRId64 "\n", count, image->row_count, wanted);
    for (int y = 0; count && y < SIDE; y++) {
        for (int x = 0; x < SIDE; x++) putchar(" .:+*#"[sums[y][x] / count / 3]);
        putchar('\n');
    }
}

static int print_usage(void) {
    fprintf(stderr, "usage: parse NAME.rmx LABEL\n");
    return 2;
}

int main(int argc, char **argv) {
    recmap_dataset *dataset = NULL;
    recmap_batch *batch = NULL;
    recmap_parser *parser = NULL;
    recmap_columns *columns = NULL;
    recmap_error error = RECMAP_ERROR_INIT;
    if (argc != 3) return print_usage();
    recmap_status status = recmap_dataset_open(&dataset, argv[1], NULL, &error);
    if (status == RECMAP_OK) status = recmap_batch_create(&batch, &error);
    if (status == RECMAP_OK) status = create_parser(&parser, &error);
    if (status == RECMAP_OK) status = recmap_columns_create(&columns, &error);
    if (status == RECMAP_OK) status = recmap_dataset_read(batch, dataset, 0, BATCH, &error);
    if (status == RECMAP_OK)
        status = recmap_parser_parse(columns, parser, recmap_batch_records(batch),
                                     recmap_batch_count(batch), RECMAP_PARSE_RAISE, &error);
    if (status == RECMAP_OK) print_mean(columns, strtoll(argv[2], NULL, 10));
    recmap_columns_destroy(columns);
    recmap_parser_release(parser);
    recmap_batch_destroy(batch);
    recmap_dataset_close(dataset);
    return status == RECMAP_OK ? 0 : recmap_error_print(&error, stderr);
}
