/* Telling the kernel which records will be read next. This is advice only and never fails: a record
 * that cannot be located is ignored, because reading it returns the error. */
#ifndef RECMAP_DATASET_BATCH_ADVISE_H
#define RECMAP_DATASET_BATCH_ADVISE_H

#include <stdbool.h>

#include <recmap/dataset.h>

/* Returns true if the kernel reports that the record is in memory. */
bool dataset_is_resident(recmap_dataset *dataset, uint64_t number);

/* Asks the kernel to load records; neighbours share a request. With `only_missing`, records that
 * are in memory are not asked for. If most numbers are not consecutive, the kernel is also told to
 * expect random access to the shards. Returns the number of records asked for. */
size_t dataset_will_need(recmap_dataset *dataset, const uint64_t *numbers, size_t count,
                         bool only_missing);

#endif
