/* The internals of an order: what all kinds have in common, and the table of functions that defines
 * a kind. */
#ifndef RECMAP_ORDER_KINDS_ORDER_H
#define RECMAP_ORDER_KINDS_ORDER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <recmap/order.h>
#include <recmap/rows.h>

#include "base/text/json.h"
#include "order/kinds/digest.h"
#include "order/kinds/order_rows.h"

/* The functions of a kind. Their arguments have been checked: positions are below count, batches
 * below batch_count, numbers below limit. */
struct order_kind {
    const char *name;
    void (*destroy)(recmap_order *order);
    recmap_status (*at)(uint64_t *numbers, const recmap_order *order, uint64_t epoch,
                        const uint64_t *positions, size_t count, recmap_error *error);
    /* NULL if the kind draws with replacement */
    recmap_status (*position_of)(uint64_t *position, const recmap_order *order, uint64_t epoch,
                                 uint64_t number, recmap_error *error);
    /* NULL if batch_count is always 0 */
    recmap_status (*batch)(uint64_t *first, uint64_t *count, const recmap_order *order,
                           uint64_t epoch, uint64_t batch_index, recmap_error *error);
    recmap_status (*batch_of)(uint64_t *batch_index, const recmap_order *order, uint64_t epoch,
                              uint64_t position, recmap_error *error);
    /* Appends the pieces of the rows at these positions, with pieces_add and pieces_end_row. NULL
     * for orders over records. */
    recmap_status (*pieces)(recmap_pieces *pieces, const recmap_order *order, uint64_t epoch,
                            const uint64_t *positions, size_t count, recmap_error *error);
    /* Computes in advance what an epoch needs; NULL if it needs nothing. */
    recmap_status (*prepare)(const recmap_order *order, uint64_t epoch, recmap_error *error);
    /* Adds the parameters to the open JSON object. */
    void (*describe)(struct json_writer *json, const recmap_order *order);
};

/* How deep an order is, and how long its description can be. */
struct order_nesting {
    unsigned level;          /* 0: no sources, which counts as 1; else above the deepest source */
    size_t description_size; /* an upper bound; 0 in an order without sources */
};

/* The first member of each kind's struct. */
struct recmap_order {
    struct order_nesting nesting;
    const struct order_kind *kind;
    atomic_uint references;
    uint64_t count;         /* positions in an epoch */
    uint64_t limit;         /* record numbers, or row numbers, are below this */
    uint64_t batch_count;   /* of own batches per epoch, or 0 */
    bool repeats;           /* an epoch may hold a record more than once */
    bool epochs_differ;     /* an epoch may lack a record, or a row, that another epoch holds */
    uint64_t record_limit;  /* record numbers are below this; for a row order, those in pieces */
    struct order_rows rows; /* zeros for orders over records */
};

/* Allocates a zeroed order of `size` bytes with one reference. Returns NULL, with `error` set, if
 * there is no memory. */
void *order_allocate(size_t size, const struct order_kind *kind, uint64_t count, uint64_t limit,
                     recmap_error *error);

/* The nesting of an order of these sources; `own_size` is an upper bound of what it adds to their
 * descriptions. Functions of orders recurse through the sources, and descriptions are part of
 * states, so both have a limit. Errors: INVALID, NO_MEMORY. */
recmap_status order_nest(struct order_nesting *nesting, recmap_order *const *sources, size_t count,
                         size_t own_size, recmap_error *error);

/* Fails with INVALID if `count` is above RECMAP_ORDER_COUNT_MAX. */
recmap_status check_count(uint64_t count, const char *what, recmap_error *error);

/* Fails with INVALID unless all positions are below count. */
recmap_status check_positions(const recmap_order *order, const uint64_t *positions, size_t count,
                              recmap_error *error);

/* fail_absent: NOT_FOUND, the record does not occur. fail_repeated: INVALID, it occurs more than
 * once in an epoch. */
recmap_status fail_absent(recmap_error *error, uint64_t number);
recmap_status fail_repeated(recmap_error *error, uint64_t number);

/* Writes the object that describes an order. */
void order_describe(struct json_writer *json, const recmap_order *order);

void describe_number(struct json_writer *json, const char *key, uint64_t value);
void describe_text(struct json_writer *json, const char *key, const char *value);

void describe_digest(struct json_writer *json, const char *key, const uint8_t digest[DIGEST_SIZE]);

#endif
