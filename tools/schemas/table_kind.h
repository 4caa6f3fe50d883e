/* Whether the records of a data set are rows or lines of text, and how Python reads them. */
#ifndef RECMAP_TOOLS_SCHEMAS_TABLE_KIND_H
#define RECMAP_TOOLS_SCHEMAS_TABLE_KIND_H

#include <stdio.h>

#include <recmap/dataset.h>

enum table_kind { TABLE_NONE, TABLE_CSV, TABLE_LINES };

/* By the framing of the first shard. NULL: NONE. */
enum table_kind table_kind_of(const recmap_dataset *dataset);

/* What records of the kind are, for messages: "a row of CSV". */
const char *table_kind_records(enum table_kind kind);

/* Print what is before and after the features in Python: `recmap.Csv({` and `}, delimiter="\\t")`,
 * or the braces alone. */
void table_kind_print_start(FILE *stream, const recmap_dataset *dataset);
void table_kind_print_end(FILE *stream, const recmap_dataset *dataset);

#endif
