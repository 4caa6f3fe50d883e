/* Records whose ids occur more than once. */
#ifndef RECMAP_TOOLS_REPORT_IDS_H
#define RECMAP_TOOLS_REPORT_IDS_H

#include "records/view.h"

enum { REPEATED_LISTED_MAX = 20 };

struct repeated_id {
    uint64_t number; /* of the record, */
    uint64_t first;  /* and of the first record with its id */
};

struct repeated_ids {
    bool is_known;    /* false: too many records, or none that can be compared */
    bool is_estimate; /* too many to compare: the number of equal hashes */
    uint64_t count;   /* records whose id an earlier record has */
    struct repeated_id listed[REPEATED_LISTED_MAX];
    size_t listed_count;
};

/* Compares the hashes of ids, and then the ids of records with equal hashes. Errors: CORRUPT (the
 * index), NO_MEMORY, CANCELLED. */
recmap_status repeated_ids_find(struct repeated_ids *ids, const struct view *view,
                                recmap_error *error);

#endif
