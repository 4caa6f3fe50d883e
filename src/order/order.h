/* The inside of an order: what all kinds have in common, and the table of functions that a kind
 * is. */
#ifndef RECMAP_ORDER_ORDER_H
#define RECMAP_ORDER_ORDER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <recmap/order.h>

#include "base/json.h"
#include "order/digest.h"

/* What a kind does. Positions, batches and numbers are checked before they come here: positions are
 * below count, batches below batch_count, numbers below limit. */
struct order_kind {
    const char *name;
    void (*destroy)(recmap_order *order);
    recmap_status (*at)(uint64_t *numbers, const recmap_order *order, uint64_t epoch,
                        const uint64_t *positions, size_t count, recmap_error *error);
    /* NULL: it draws with replacement */
    recmap_status (*position_of)(uint64_t *position, const recmap_order *order, uint64_t epoch,
                                 uint64_t number, recmap_error *error);
    /* NULL where batch_count is always 0 */
    recmap_status (*batch)(uint64_t *first, uint64_t *count, const recmap_order *order,
                           uint64_t epoch, uint64_t batch_index, recmap_error *error);
    recmap_status (*batch_of)(uint64_t *batch_index, const recmap_order *order, uint64_t epoch,
                              uint64_t position, recmap_error *error);
    /* Adds its parameters to the object that is open. */
    void (*describe)(struct json_writer *json, const recmap_order *order);
};

/* Each kind's struct begins with it. */
struct recmap_order {
    const struct order_kind *kind;
    atomic_uint references;
    uint64_t count;       /* positions an epoch */
    uint64_t limit;       /* numbers are below it */
    uint64_t batch_count; /* of its own batches an epoch, or 0 */
    bool epochs_differ;   /* in which records they have, not only in their order */
};

/* A zeroed order of `size` bytes, held once; NULL when memory is out (then `error` is set). */
void *order_allocate(size_t size, const struct order_kind *kind, uint64_t count, uint64_t limit,
                     recmap_error *error);

/* INVALID unless a number of records or positions is at most RECMAP_ORDER_COUNT_MAX. */
recmap_status check_count(uint64_t count, const char *what, recmap_error *error);

/* NOT_FOUND: the record does not come. INVALID: it comes more than once. */
recmap_status fail_absent(recmap_error *error, uint64_t number);
recmap_status fail_repeated(recmap_error *error, uint64_t number);

/* Writes the object that describes an order. */
void order_describe(struct json_writer *json, const recmap_order *order);

void describe_number(struct json_writer *json, const char *key, uint64_t value);

void describe_digest(struct json_writer *json, const char *key, const uint8_t digest[DIGEST_SIZE]);

#endif
