/* What is learnt from record to record, and memory that is used again. */
#ifndef RECMAP_DECODE_READ_SCRATCH_H
#define RECMAP_DECODE_READ_SCRATCH_H

#include "decode/read_record.h"
#include "example/feature.h"

enum {
    UNASKED_MAX = 1024, /* so many entries and one a slot the fast way takes in one record */
    ORDER_SCORE_MAX = 8,
    ORDER_SCORE_LIMIT = 4,
};

/* Takes what writers make. On false, which says nothing of the record, the sinks are rolled back.
 */
typedef bool read_fast_function(struct sink *sinks, struct read_scratch *scratch,
                                const recmap_parser *plan, const uint8_t *data, size_t size,
                                size_t row);

struct read_scratch {
    const recmap_parser *plan; /* what all below is for */
    size_t slot_count;
    read_fast_function *fast;      /* the best that the processor has */
    struct example_feature *found; /* slow: one a slot */

    /* Fast: where entries begin, one place a slot, and one for each entry of another name. */
    const uint8_t **places;
    /* The places of the entries of the last record, in the order of its bytes. */
    uint32_t *order;
    size_t order_count;   /* 0: not known */
    size_t unasked_count; /* entries of other names among them */
    unsigned score;       /* how often the order changed lately; beyond ORDER_SCORE_LIMIT entries
                             are not looked for where the last record had them */
    _Alignas(64) uint8_t tail[2 * HEAD_WINDOW]; /* the end of the record, and zeros */
};

/* Makes the scratch one for `plan`. False when memory is out. */
bool read_scratch_fit(struct read_scratch *scratch, const recmap_parser *plan);

#endif
