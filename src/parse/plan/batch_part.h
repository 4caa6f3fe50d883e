/* The buffers that a column of a batch may need in addition to its sinks. The plan counts them; the
 * batch's memory owns them. */
#ifndef RECMAP_PARSE_PLAN_BATCH_PART_H
#define RECMAP_PARSE_PLAN_BATCH_PART_H

enum batch_part {
    BATCH_PART_VALUES,
    BATCH_PART_BYTES, /* copies of bytes values */
    BATCH_PART_BYTES_OFFSETS,
    BATCH_PART_LENGTHS,
    BATCH_PART_INDICES,
    BATCH_PART_SHAPE,
    BATCH_PART_STRIDES,
    BATCH_PART_DENSE_SHAPE,
    BATCH_PART_OFFSETS,  /* an array of pointers to offsets */
    BATCH_PART_UNSORTED, /* indices in the order of the records; exported if they are sorted */
    BATCH_PART_ORDER,    /* scratch space for sorting */
    BATCH_PART_LEVELS,   /* row offsets: this part and the following ones, one per level */
};

#endif
