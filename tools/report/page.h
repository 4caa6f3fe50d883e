/* The sections of a report, as HTML. */
#ifndef RECMAP_TOOLS_REPORT_PAGE_H
#define RECMAP_TOOLS_REPORT_PAGE_H

#include <recmap/duplicates.h>
#include <recmap/order.h>

#include "report/html.h"
#include "report/records.h"

/* The order of an epoch to show. */
struct report_order {
    bool is_shuffled;
    uint64_t seed, epoch;
    recmap_order *rows; /* an order over rows, which the caller releases; NULL: over records */
};

struct report {
    struct view view;
    struct report_order order;
    recmap_record_sizes sizes;
    struct record_sample sample;
    recmap_repeated_ids ids;
};

/* Everything before and after the sections. */
void page_begin(struct html *html, const struct report *report);
void page_end(struct html *html);

/* Sections. Errors: CORRUPT (the index), NO_MEMORY, CANCELLED. */
recmap_status page_write_totals(struct html *html, const struct report *report,
                                recmap_error *error);
void page_write_sizes(struct html *html, const struct report *report);
recmap_status page_write_shards(struct html *html, const struct report *report,
                                recmap_error *error);
/* Nothing if the records are read as they are stored. */
recmap_status page_write_order(struct html *html, const struct report *report, recmap_error *error);
recmap_status page_write_damage(struct html *html, const struct report *report,
                                recmap_error *error);
void page_write_ids(struct html *html, const struct report *report);
void page_write_features(struct html *html, struct report *report);
recmap_status page_write_records(struct html *html, const struct report *report,
                                 recmap_error *error);

#endif
