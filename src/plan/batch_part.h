/* The buffers that one column of a batch may need besides its sinks. A plan counts them; the
 * batch's memory holds them. */
#ifndef RECMAP_PLAN_BATCH_PART_H
#define RECMAP_PLAN_BATCH_PART_H

typedef enum batch_part {
    BATCH_PART_VALUES,
    BATCH_PART_BYTES, /* copied */
    BATCH_PART_BYTES_OFFSETS,
    BATCH_PART_LENGTHS,
    BATCH_PART_INDICES,
    BATCH_PART_SHAPE,
    BATCH_PART_DENSE_SHAPE,
    BATCH_PART_OFFSETS,  /* pointers to offsets */
    BATCH_PART_UNSORTED, /* indices as they come */
    BATCH_PART_ORDER,    /* scratch */
    BATCH_PART_LEVELS,   /* row offsets: this part and the following ones, one for each level */
} batch_part;

#endif
