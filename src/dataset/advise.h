/* Telling the kernel which records will be read next. Advice only: nothing fails, and a record that
 * cannot be reached is passed over; reading it will say why. */
#ifndef RECMAP_DATASET_ADVISE_H
#define RECMAP_DATASET_ADVISE_H

#include <stdbool.h>

#include <recmap/dataset.h>

/* Whether a record can be read without waiting for a device, as far as the kernel tells. */
bool dataset_is_resident(recmap_dataset *dataset, uint64_t number);

/* Asks for records, those that follow each other at once. With `looks` only for those that are not
 * in memory. Returns how many records were asked for. Where most of them do not follow each other,
 * their shards are read in no order from now on. */
size_t dataset_will_need(recmap_dataset *dataset, const uint64_t *numbers, size_t count,
                         bool looks);

#endif
