/* How the record of a data set is framed, which tells how it is written. */
#ifndef RECMAP_DATASET_DESCRIBE_RECORD_FRAMING_H
#define RECMAP_DATASET_DESCRIBE_RECORD_FRAMING_H

#include <stdbool.h>

#include <recmap/dataset.h>

#include "format/framing/framing.h"

/* NULL if there is no such record. */
const struct framing *record_framing(const recmap_dataset *dataset, uint64_t number);

/* Returns true if records of this framing, NULL included, may be JSON objects, and this one is. */
bool record_is_json(const struct framing *framing, const recmap_record *record);

#endif
