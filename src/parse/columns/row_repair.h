/* Repairing rows while they are parsed: the caller gives another record for a row that failed, or
 * leaves the row out. So no record is parsed twice, which matters if it has pictures. */
#ifndef RECMAP_PARSE_COLUMNS_ROW_REPAIR_H
#define RECMAP_PARSE_COLUMNS_ROW_REPAIR_H

#include <stddef.h>

#include <recmap/record.h>
#include <recmap/status.h>

enum row_choice {
    ROW_REPLACED, /* the row is read from another record */
    ROW_LEFT_OUT, /* the following records move up by one row */
    ROW_RAISED,   /* what is wrong with the first record of the row is an error */
};

struct row_repair {
    /* Chooses what to do about the record at `index` of the parse. If a replacement fails as well,
     * it is called again for the same index. ROW_REPLACED sets `record`, whose bytes must live as
     * long as the other records. An error ends the parse. */
    recmap_status (*choose)(enum row_choice *choice, recmap_record *record, void *context,
                            size_t index, recmap_error *error);
    void *context;
};

#endif
