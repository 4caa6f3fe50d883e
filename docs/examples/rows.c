/* Reads rows that are cut from records:
 *
 *     rows NAME.rmx FEATURE chunked|packed|windows SIZE
 *
 * The index counts the FEATURE, a bytes value of uint8 elements. Prints the first rows of a
 * shuffled epoch: the pieces of each (record, first element, number of elements), the sum of its
 * elements, and how many of its places are padding. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <recmap/recmap.h>

enum { ROWS = 4 };

/* An order of rows is made from element counts alone. */
static recmap_status create_order(recmap_order **order, recmap_counts *counts, const char *kind,
                                  uint64_t size, recmap_error *error) {
    recmap_chunked_options chunked = RECMAP_CHUNKED_OPTIONS_INIT;
    recmap_packed_options packed = RECMAP_PACKED_OPTIONS_INIT;
    recmap_windows_options windows = RECMAP_WINDOWS_OPTIONS_INIT;
    chunked.size = packed.size = windows.size = windows.stride = size;
    chunked.overlap = 1; /* the next element, for targets that are shifted by one */
    chunked.seed = packed.seed = windows.seed = 7;
    if (!strcmp(kind, "chunked")) return recmap_order_chunked(order, counts, &chunked, error);
    if (!strcmp(kind, "packed")) return recmap_order_packed(order, counts, &packed, error);
    return recmap_order_windows(order, counts, &windows, error);
}

/* The loader cuts the elements of each row from the feature. An element here is one byte. */
static recmap_status create_loader(recmap_loader **loader, recmap_dataset *dataset,
                                   recmap_order *order, const char *name, recmap_error *error) {
    const recmap_feature feature = {.name = name,
                                    .kind = RECMAP_FEATURE_SLICED,
                                    .element = RECMAP_ELEMENT_UINT8,
                                    .raw = RECMAP_RAW_LITTLE_ENDIAN};
    recmap_loader_options options = RECMAP_LOADER_OPTIONS_INIT;
    recmap_status status = recmap_parser_create(&options.parser, &feature, 1, error);
    if (status != RECMAP_OK) return status;
    options.batch_size = ROWS;
    status = recmap_loader_create(loader, dataset, order, &options, error);
    recmap_parser_release(options.parser); /* the loader has retained it */
    return status;
}

static void print_row(const recmap_pieces *pieces, size_t row, const uint8_t *elements,
                      const int32_t *segments, uint64_t width) {
    unsigned sum = 0, padding = 0;
    for (size_t i = row ? pieces->ends[row - 1] : 0; i < pieces->ends[row]; i++)
        printf("%" PRIu64 ":%" PRIu64 ":%" PRIu64 " ", pieces->items[i].record,
               pieces->items[i].first, pieces->items[i].count);
    for (uint64_t i = 0; i < width; i++) {
        sum += elements[i];
        padding += segments[i] == 0;
    }
    printf("sum %u, padding %u\n", sum, padding);
}

/* The next batch has a column of [rows, width], and the pieces that its rows consist of. */
static recmap_status print_rows(recmap_loader *loader, const char *name, recmap_error *error) {
    recmap_batch *batch = NULL;
    recmap_status status = recmap_loader_next(&batch, loader, error);
    if (status != RECMAP_OK || !batch) return status;
    const recmap_pieces *pieces = recmap_batch_pieces(batch);
    const uint8_t *elements = recmap_columns_find(recmap_batch_columns(batch), name)->values;
    uint64_t width = recmap_batch_row_width(batch);
    int32_t *segments = calloc(pieces->row_count * (size_t)width, sizeof *segments);
    if (segments) recmap_pieces_segments(segments, pieces, width);
    for (size_t row = 0; segments && row < pieces->row_count; row++)
        print_row(pieces, row, elements + row * width, segments + row * width, width);
    status = segments ? RECMAP_OK : RECMAP_NO_MEMORY;
    free(segments);
    recmap_batch_destroy(batch);
    return status;
}

static int print_usage(void) {
    fprintf(stderr, "usage: rows NAME.rmx FEATURE chunked|packed|windows SIZE\n");
    return 2;
}

int main(int argc, char **argv) {
    recmap_dataset *dataset = NULL;
    recmap_counts *counts = NULL;
    recmap_order *order = NULL;
    recmap_loader *loader = NULL;
    recmap_error error = RECMAP_ERROR_INIT;
    if (argc != 5) return print_usage();
    recmap_status status = recmap_dataset_open(&dataset, argv[1], NULL, &error);
    if (status == RECMAP_OK) status = recmap_dataset_read_counts(&counts, dataset, argv[2], &error);
    if (status == RECMAP_OK)
        status = create_order(&order, counts, argv[3], strtoull(argv[4], NULL, 10), &error);
    if (status == RECMAP_OK) status = create_loader(&loader, dataset, order, argv[2], &error);
    if (status == RECMAP_OK) status = print_rows(loader, argv[2], &error);
    recmap_loader_destroy(loader);
    recmap_order_release(order);
    recmap_counts_release(counts);
    recmap_dataset_close(dataset);
    return status == RECMAP_OK ? 0 : recmap_error_print(&error, stderr);
}
