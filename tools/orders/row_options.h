/* The options of order that select a row order, whose rows are cut from the records. */
#ifndef RECMAP_TOOLS_ORDERS_ROW_OPTIONS_H
#define RECMAP_TOOLS_ORDERS_ROW_OPTIONS_H

#include <recmap/rows.h>

#include "terminal/args.h"

struct row_options {
    unsigned given;      /* a bit for each option that was given */
    const char *feature; /* whose counts the order is made from; NULL: the only counted one */
    recmap_chunked_options chunked;
    recmap_packed_options packed;
    recmap_windows_options windows;
};

/* Sets the defaults. */
void row_options_init(struct row_options *options);

/* Returns true if the option is one of these. */
bool row_options_has(int option);

/* Sets one of the options, as returned by args_next. Returns 0, or the exit status after printing
 * the error. */
int row_options_set(struct row_options *options, const struct args *args, int option);

/* Selects rows of this size: OPTION_CHUNKED, OPTION_PACKED or OPTION_WINDOWS. */
void row_options_choose(struct row_options *options, int option, uint64_t size);

/* Checks that the given options can be combined. Returns 0, or the exit status after printing the
 * error. */
int row_options_check(const struct row_options *options, const struct args *args);

/* Returns true if a row order was selected. */
bool row_options_has_rows(const struct row_options *options);

/* Creates the selected row order from the element counts of the data set. The caller releases it.
 * Returns 0, or the exit status after printing the error. */
int row_options_create_order(recmap_order **order, const struct row_options *options, uint64_t seed,
                             recmap_dataset *dataset, const struct args *args);

#endif
