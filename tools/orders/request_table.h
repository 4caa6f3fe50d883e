/* How many requests an epoch over remote shards makes, for several orders. */
#ifndef RECMAP_TOOLS_ORDERS_REQUEST_TABLE_H
#define RECMAP_TOOLS_ORDERS_REQUEST_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#include <recmap/loader.h>

enum { REQUEST_ORDERS = 3 };

/* A true shuffle, the windowed order that is recommended, and the order of the files. */
struct request_table {
    uint64_t batch_size;
    uint64_t block, window; /* of the windowed order */
    recmap_request_estimate rows[REQUEST_ORDERS];
};

/* Errors: as recmap_loader_estimate_requests. */
recmap_status request_table_fill(struct request_table *table, recmap_dataset *dataset,
                                 uint64_t batch_size, recmap_error *error);

/* Prints nothing if no request is needed, because the shards are local. */
void request_table_print(const struct request_table *table);

/* Prints a JSON value: a list of the orders, or null. */
void request_table_print_json(const struct request_table *table);

#endif
