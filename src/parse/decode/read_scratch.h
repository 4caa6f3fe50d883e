/* What the readers learn from record to record, and reusable memory. */
#ifndef RECMAP_PARSE_DECODE_READ_SCRATCH_H
#define RECMAP_PARSE_DECODE_READ_SCRATCH_H

#include "parse/decode/read_record.h"
#include "parse/example/feature.h"

enum {
    UNASKED_MAX = 1024, /* entries of other names that the fast path accepts per record */
    UNASKED_FIRST = 8,  /* those for which there is room at first: every kept batch has scratch */
    ORDER_SCORE_MAX = 8,
    ORDER_SCORE_LIMIT = 4,
};

/* Reads a record as writers encode it. False means only that the slow path must read the record;
 * the sinks are then rolled back. */
typedef bool read_fast_function(struct sink *sinks, struct read_scratch *scratch,
                                const recmap_parser *plan, const uint8_t *data, size_t size,
                                size_t row);

struct read_scratch {
    const recmap_parser *plan; /* everything below is for this plan */
    size_t slot_count;
    read_fast_function *fast;         /* the fastest path that the CPU supports */
    struct example_feature *features; /* slow path: one per slot */

    /* Fast path: where entries start, one pointer per slot, then one per entry of another name. */
    const uint8_t **places;
    /* Indexes into `places` in the order of the last record's entries. */
    uint32_t *order;
    size_t entries_max;   /* entries of a record for which `places` and `order` have room */
    size_t order_count;   /* 0 if unknown */
    size_t unasked_count; /* how many of these entries have other names */
    unsigned score; /* how often the order changed recently; from ORDER_SCORE_LIMIT on, the last
                        order is not tried */
    _Alignas(64) uint8_t tail[2 * PREFIX_WINDOW]; /* the end of the record, then zeros */
};

/* Prepares the scratch memory for `parser`. Returns false if memory runs out. */
bool read_scratch_fit(struct read_scratch *scratch, const recmap_parser *parser);

/* Makes room for more entries. `places` and `order` move, and keep their contents. Returns false if
 * there is room for UNASKED_MAX entries of other names, or memory runs out. */
bool read_scratch_grow(struct read_scratch *scratch);

#endif
