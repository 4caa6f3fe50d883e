/* Threads that read one order together, of kinds that keep tables of epochs between calls. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "simulation/program/program.h"
#include "simulation/world/report.h"

enum { RECORDS = 48, EPOCHS = 4, READERS_MAX = 4, ROWS_MAX = 512 };

/* What the order says when one thread asks, a hash of each position of each epoch. */
struct expected {
    recmap_order *order;
    uint64_t count;
    uint64_t hashes[EPOCHS][ROWS_MAX];
};

struct order_reader {
    struct random_stream choices;
    const struct actor *actor;
    const struct expected *expected;
};

/* ---- Orders. */

static recmap_status create_rows(recmap_order **order, struct random_stream *choices,
                                 recmap_error *error) {
    uint32_t lengths[RECORDS];
    recmap_counts *counts = NULL;
    recmap_packed_options packed = RECMAP_PACKED_OPTIONS_INIT;
    recmap_chunked_options chunked = RECMAP_CHUNKED_OPTIONS_INIT;
    for (size_t i = 0; i < RECORDS; i++) lengths[i] = (uint32_t)random_scale(choices, 20);
    packed.size = chunked.size = 16;
    packed.group = 8;
    packed.seed = chunked.seed = random_next(choices);
    recmap_status status = recmap_counts_create(&counts, lengths, sizeof *lengths, RECORDS, error);
    if (status == RECMAP_OK)
        status = random_once_in(choices, 2) ? recmap_order_packed(order, counts, &packed, error)
                                            : recmap_order_chunked(order, counts, &chunked, error);
    recmap_counts_release(counts);
    return status;
}

static recmap_status create_batches(recmap_order **order, struct random_stream *choices,
                                    recmap_error *error) {
    int64_t labels[RECORDS];
    uint64_t seed = random_next(choices);
    for (size_t i = 0; i < RECORDS; i++) labels[i] = (int64_t)random_below(choices, 3);
    return random_once_in(choices, 2)
               ? recmap_order_grouped(order, labels, RECORDS, 5, seed, error)
               : recmap_order_stratified(order, labels, RECORDS, 5, seed, error);
}

/* ---- Reading. */

static recmap_status hash_position(uint64_t *hash, recmap_order *order, uint64_t epoch,
                                   uint64_t position, recmap_error *error) {
    recmap_pieces pieces = RECMAP_PIECES_INIT;
    *hash = 0;
    if (!recmap_order_row_width(order))
        return recmap_order_at(hash, order, epoch, &position, 1, error);
    recmap_status status = recmap_order_pieces(&pieces, order, epoch, &position, 1, error);
    for (size_t i = 0; status == RECMAP_OK && i < pieces.count; i++)
        *hash = random_mix(*hash ^ pieces.items[i].record ^ pieces.items[i].first << 20 ^
                           pieces.items[i].count << 40);
    recmap_pieces_deinit(&pieces);
    return status;
}

static recmap_status ask_alone(struct expected *expected, recmap_error *error) {
    recmap_status status = RECMAP_OK;
    expected->count = recmap_order_count(expected->order);
    if (expected->count > ROWS_MAX) run_fail("an order has too many positions for its test");
    for (uint64_t epoch = 0; epoch < EPOCHS; epoch++)
        for (uint64_t i = 0; status == RECMAP_OK && i < expected->count; i++)
            status = hash_position(&expected->hashes[epoch][i], expected->order, epoch, i, error);
    return status;
}

static void *read_order(void *context) {
    struct order_reader *reader = context;
    const struct expected *expected = reader->expected;
    recmap_error error = RECMAP_ERROR_INIT;
    for (unsigned i = 0; expected->count && i < reader->actor->role->rounds * 8; i++) {
        uint64_t hash, epoch = random_below(&reader->choices, EPOCHS);
        uint64_t position = random_below(&reader->choices, expected->count);
        recmap_status status = hash_position(&hash, expected->order, epoch, position, &error);
        if (status != RECMAP_OK) actor_fail(reader->actor, "read an order", status, &error);
        else if (hash != expected->hashes[epoch][position])
            run_fail("a thread reads another record at a position of an order");
    }
    return NULL;
}

static void read_together(struct actor *actor, const struct expected *expected) {
    struct order_reader readers[READERS_MAX];
    pthread_t threads[READERS_MAX];
    unsigned started = 0;
    for (unsigned i = 0; i < actor->role->readers; i++) {
        readers[i] =
            (struct order_reader){random_stream(actor->role->seed, 30 + i), actor, expected};
        if (i && !pthread_create(&threads[started], NULL, read_order, &readers[i])) started++;
    }
    read_order(&readers[0]);
    while (started) pthread_join(threads[--started], NULL);
}

void actor_read_orders(struct actor *actor) {
    static struct expected expected;
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_status status = random_once_in(&actor->choices, 2)
                               ? create_rows(&expected.order, &actor->choices, &error)
                               : create_batches(&expected.order, &actor->choices, &error);
    if (status == RECMAP_OK) status = ask_alone(&expected, &error);
    if (status == RECMAP_OK) read_together(actor, &expected);
    else actor_fail(actor, "create an order", status, &error);
    recmap_order_release(expected.order);
}
