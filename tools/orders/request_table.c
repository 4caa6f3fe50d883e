#include "orders/request_table.h"

#include <inttypes.h>
#include <stdio.h>

#include "terminal/message.h"

/* Records that lie within this many bytes share a request, however few of them are read. */
enum { BLOCK_BYTES = 256 << 10 };

static const char *const names[REQUEST_ORDERS] = {"shuffled", "windowed", "sequential"};

/* Blocks as long as a gap that a request may have, and windows of one batch: each block is then one
 * request, and no byte is requested again for another batch. */
static void choose_window(struct request_table *table, const recmap_dataset *dataset) {
    const recmap_dataset_info *info = recmap_dataset_get_info(dataset);
    uint64_t record_size = info->record_count ? info->byte_count / info->record_count + 1 : 1;
    uint64_t block = record_size < BLOCK_BYTES ? BLOCK_BYTES / record_size : 1;
    table->window = (table->batch_size + block - 1) / block;
    table->block = table->batch_size / table->window;
}

static recmap_status create_order(recmap_order **order, const struct request_table *table, size_t i,
                                  uint64_t count, recmap_error *error) {
    if (i == 0) return recmap_order_shuffled(order, count, 0, error);
    if (i == 1) return recmap_order_windowed(order, count, table->block, table->window, 0, error);
    return recmap_order_sequential(order, count, error);
}

static recmap_status estimate(recmap_request_estimate *row, recmap_dataset *dataset,
                              recmap_order *order, uint64_t batch_size, recmap_error *error) {
    recmap_loader_options options = RECMAP_LOADER_OPTIONS_INIT;
    recmap_loader *loader;
    options.batch_size = batch_size;
    recmap_status status = recmap_loader_create(&loader, dataset, order, &options, error);
    if (status != RECMAP_OK) return status;
    status = recmap_loader_estimate_requests(row, loader, error);
    recmap_loader_destroy(loader);
    return status;
}

recmap_status request_table_fill(struct request_table *table, recmap_dataset *dataset,
                                 uint64_t batch_size, recmap_error *error) {
    recmap_status status = RECMAP_OK;
    *table = (struct request_table){.batch_size = batch_size};
    choose_window(table, dataset);
    for (size_t i = 0; status == RECMAP_OK && i < REQUEST_ORDERS; i++) {
        recmap_order *order = NULL;
        status = create_order(&order, table, i, recmap_dataset_count(dataset), error);
        if (status == RECMAP_OK)
            status = estimate(&table->rows[i], dataset, order, batch_size, error);
        recmap_order_release(order);
    }
    return status;
}

static bool is_windowed_useful(const struct request_table *table) {
    return table->rows[1].request_count < table->rows[0].request_count;
}

static void print_row(const struct request_table *table, size_t i) {
    const recmap_request_estimate *row = &table->rows[i];
    char text[HUMAN_SIZE];
    printf("             %-11s%s%12" PRIu64 " requests, %s, %.2f bytes for each byte used\n",
           names[i], row->is_exact ? " " : "~", row->request_count,
           human_bytes(text, (double)row->byte_count),
           (double)row->byte_count / (double)row->used_byte_count);
}

void request_table_print(const struct request_table *table) {
    if (!table->rows[0].request_count) return;
    printf("requests     of an epoch, in batches of %" PRIu64 " records, without a cache:\n",
           table->batch_size);
    for (size_t i = 0; i < REQUEST_ORDERS; i++)
        if (i != 1 || is_windowed_useful(table)) print_row(table, i);
    if (is_windowed_useful(table))
        printf("             windowed: recmap.Windowed(n, block=%" PRIu64 ", window=%" PRIu64 ")\n",
               table->block, table->window);
    puts("             with a cache that has room for all shards, later epochs request nothing;\n"
         "             with room for a part of them, a shuffle requests the rest");
}

void request_table_print_json(const struct request_table *table) {
    if (!table->rows[0].request_count) {
        fputs("null", stdout);
        return;
    }
    for (size_t i = 0; i < REQUEST_ORDERS; i++) {
        const recmap_request_estimate *row = &table->rows[i];
        printf("%s{\"order\":\"%s\",", i ? "," : "[", names[i]);
        if (i == 1)
            printf("\"block\":%" PRIu64 ",\"window\":%" PRIu64 ",", table->block, table->window);
        printf("\"batch\":%" PRIu64 ",\"requests\":%" PRIu64 ",\"bytes\":%" PRIu64
               ",\"used_bytes\":%" PRIu64 ",\"exact\":%s}",
               table->batch_size, row->request_count, row->byte_count, row->used_byte_count,
               row->is_exact ? "true" : "false");
    }
    putchar(']');
}
