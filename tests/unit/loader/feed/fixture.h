/* What the tests of the loader share: a data set whose records say their numbers, an order of every
 * kind over it, and what a loader must give. What fails ends the test. */
#ifndef RECMAP_TESTS_UNIT_LOADER_FEED_FIXTURE_H
#define RECMAP_TESTS_UNIT_LOADER_FEED_FIXTURE_H

#include <recmap/recmap.h>

#include "support/random.h"

/* Writes shards s00000.. and indexes them as set.rmx. Shards have unequal sizes. */
void numbered_write(size_t record_count, size_t shard_count);

/* Writes and opens. */
recmap_dataset *numbered_open(size_t record_count, size_t shard_count,
                              const recmap_dataset_options *options);

/* Returns true if these are the bytes of record `number`. */
bool numbered_holds(const recmap_record *record, uint64_t number);

/* Flips a bit in the payload of a record, in place; once more repairs it. */
void numbered_flip(recmap_dataset *dataset, uint64_t number);

/* Orders over at most `n` records, of every kind. */
enum { ORDER_KINDS = 12 };
recmap_order *order_of_kind(int kind, size_t n, uint64_t seed);

/* Asserts that a batch has these records. */
void assert_batch(const recmap_batch *batch, const uint64_t *numbers, size_t count);

recmap_loader *loader_open(recmap_dataset *dataset, recmap_order *order,
                           const recmap_loader_options *options);

/* Ends a loader and what it was made of. */
void loader_close(recmap_loader *loader, recmap_order *order, recmap_dataset *dataset);

/* The next batch; NULL at the end of the epoch. */
void next_batch(recmap_batch **batch, recmap_loader *loader);

/* Takes `steps` steps, or fewer if the epoch ends, and appends their numbers. Returns the steps. */
struct number_list {
    uint64_t *numbers;
    size_t count;
    size_t capacity;
};
void number_list_add(struct number_list *list, const uint64_t *numbers, size_t count);
size_t take_steps(struct number_list *list, recmap_loader *loader, size_t steps);

/* Asserts the loader's position, as the loader reports it and as its state has it. */
void assert_stands_at(const recmap_loader *loader, uint64_t epoch, uint64_t position);

#endif
