/* One examination: what is examined, and where the findings go. */
#ifndef RECMAP_DATASET_DOCTOR_EXAMINATION_H
#define RECMAP_DATASET_DOCTOR_EXAMINATION_H

#include "dataset/doctor/diagnosis.h"
#include "dataset/doctor/set_list.h"
#include "dataset/doctor/shard_list.h"

/* An *item* is a record that is examined: its number, or its position among the given numbers. */
struct examination {
    recmap_dataset *dataset; /* NULL: only shards */
    const uint64_t *numbers; /* of the items; NULL: all records */
    uint64_t item_count;
    const recmap_doctor_options *options;
    struct shard_list shards;
    struct set_list sets;
    struct recmap_diagnosis *diagnosis;
};

static inline uint64_t examination_number(const struct examination *examination, uint64_t item) {
    return examination->numbers ? examination->numbers[item] : item;
}

/* The place of a finding about an item: its shard, and its number as users know it. */
struct finding_place examination_place(const struct examination *examination, uint64_t item);

/* The place of a finding about a file, and of one about nothing in particular. */
static inline struct finding_place place_of_file(const char *path) {
    return (struct finding_place){path, RECMAP_NO_RECORD};
}

static inline struct finding_place place_of_none(void) {
    return (struct finding_place){NULL, RECMAP_NO_RECORD};
}

/* Adds a finding about an item, and lists the record if it is not only a note. */
#define examination_add(examination, kind, item, error, ...)                                       \
    diagnosis_add((examination)->diagnosis, kind, examination_place(examination, item), error,     \
                  __VA_ARGS__)

#endif
