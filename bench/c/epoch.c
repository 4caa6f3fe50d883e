#include "epoch.h"

#include "measure.h"

uint64_t epoch_block(const recmap_dataset *dataset, unsigned span_count) {
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_span_info spans;
    must(recmap_dataset_get_span_info(&spans, dataset, &error), &error);
    return recmap_dataset_count(dataset) * span_count / (spans.span_count ? spans.span_count : 1) +
           1;
}

recmap_order *epoch_order(const recmap_dataset *dataset, uint64_t block) {
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_order *order;
    uint64_t count = recmap_dataset_count(dataset);
    must(block ? recmap_order_windowed(&order, count, block, EPOCH_WINDOW, 1, &error)
               : recmap_order_shuffled(&order, count, 1, &error),
         &error);
    return order;
}

double epoch_iterate(recmap_dataset *dataset, recmap_order *order, unsigned thread_count) {
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_loader_options options = RECMAP_LOADER_OPTIONS_INIT;
    recmap_loader *loader;
    recmap_batch *batch = NULL;
    options.thread_count = thread_count;
    options.batch_size = EPOCH_BATCH;
    must(recmap_loader_create(&loader, dataset, order, &options, &error), &error);
    uint64_t begun = process_cpu_ns();
    do {
        must(recmap_loader_next(&batch, loader, &error), &error);
    } while (batch);
    double took = (double)(process_cpu_ns() - begun);
    recmap_loader_destroy(loader);
    return took;
}
