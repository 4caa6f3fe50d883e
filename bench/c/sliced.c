/* What does it cost to cut rows of tokens from records, compared with reading whole records of the
 * same data? One thread of a loader; times are CPU times of all threads.
 *
 * usage: bench_sliced FOLDER [REPEATS] */
#include <stdio.h>
#include <stdlib.h>

#include "measure.h"
#include "set.h"

/* With several epochs, the batches that are read ahead at the end do not matter. */
enum { TOKENS = 1024, SIZE = 4096, BATCH = 64, EPOCHS = 4 };

/* Tokens per microsecond of a core. An epoch has `token_count`. */
static double iterate(recmap_dataset *dataset, recmap_order *order, const recmap_feature *feature,
                      uint64_t batch_size, uint64_t token_count) {
    recmap_loader_options options = RECMAP_LOADER_OPTIONS_INIT;
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_loader *loader = NULL;
    recmap_batch *batch = NULL;
    options.batch_size = batch_size;
    options.thread_count = 1;
    options.batches_ahead = 4;
    must(recmap_parser_create(&options.parser, feature, 1, &error), &error);
    must(recmap_loader_create(&loader, dataset, order, &options, &error), &error);
    uint64_t start = process_cpu_ns();
    for (int epoch = 0; epoch < EPOCHS; epoch++) do
            must(recmap_loader_next(&batch, loader, &error), &error);
        while (batch);
    double taken = (double)(process_cpu_ns() - start);
    recmap_loader_destroy(loader);
    recmap_parser_release(options.parser);
    return (double)token_count * EPOCHS * 1000 / taken;
}

static recmap_order *make_rows(recmap_counts *counts, int is_packed) {
    recmap_chunked_options chunked = RECMAP_CHUNKED_OPTIONS_INIT;
    recmap_packed_options packed = RECMAP_PACKED_OPTIONS_INIT;
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_order *order = NULL;
    chunked.size = packed.size = SIZE;
    must(is_packed ? recmap_order_packed(&order, counts, &packed, &error)
                   : recmap_order_chunked(&order, counts, &chunked, &error),
         &error);
    must(recmap_order_prepare(order, 0, &error), &error);
    return order;
}

static recmap_counts *make_counts(uint64_t record_count) {
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_counts *counts = NULL;
    uint16_t *values = must_have(malloc((size_t)record_count * sizeof *values));
    for (uint64_t i = 0; i < record_count; i++) values[i] = TOKENS;
    must(recmap_counts_create(&counts, values, sizeof *values, (size_t)record_count, &error),
         &error);
    free(values);
    return counts;
}

/* Whole records and rows alternate, so that both see the same load of the machine. */
static void compare(recmap_dataset *dataset, recmap_counts *counts, int is_packed, int repeats) {
    static const uint64_t shape[] = {TOKENS};
    const recmap_feature whole = {.name = "tokens",
                                  .kind = RECMAP_FEATURE_FIXED_LEN,
                                  .element = RECMAP_ELEMENT_INT64,
                                  .shape = shape,
                                  .dimension_count = 1};
    const recmap_feature sliced = {
        .name = "tokens", .kind = RECMAP_FEATURE_SLICED, .element = RECMAP_ELEMENT_INT64};
    const char *name = is_packed ? "packed" : "chunked";
    uint64_t count = recmap_dataset_count(dataset);
    struct samples speeds = {.count = 0}, shares = {.count = 0};
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_order *records, *rows = make_rows(counts, is_packed);
    must(recmap_order_shuffled(&records, count, 1, &error), &error);
    for (int i = 0; i < repeats; i++) {
        double speed = iterate(dataset, records, &whole, BATCH * SIZE / TOKENS, count * TOKENS);
        double row_speed = iterate(dataset, rows, &sliced, BATCH, recmap_order_count(rows) * SIZE);
        samples_add(&speeds, row_speed);
        samples_add(&shares, row_speed / speed);
    }
    print_row(&speeds, "tokens/us", NO_GOAL, "sliced: %s rows of %d tokens", name, SIZE);
    print_row(&shares, "of whole records", AT_MIN(0.7), "sliced: %s rows of %d tokens", name, SIZE);
    recmap_order_release(records);
    recmap_order_release(rows);
}

int main(int argc, char **argv) {
    if (argc < 2) {
        fprintf(stderr, "usage: %s FOLDER [REPEATS]\n", argv[0]);
        return 2;
    }
    int repeats = parse_repeats(argc > 2 ? argv[2] : NULL, 7);
    recmap_dataset *dataset = set_open(argv[1], "tokens", false, NULL);
    recmap_counts *counts = make_counts(recmap_dataset_count(dataset));
    compare(dataset, counts, 0, repeats);
    compare(dataset, counts, 1, repeats);
    recmap_counts_release(counts);
    recmap_dataset_close(dataset);
    return 0;
}
