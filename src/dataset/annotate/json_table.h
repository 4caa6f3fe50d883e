/* Rows of JSON lines. */
#ifndef RECMAP_DATASET_ANNOTATE_JSON_TABLE_H
#define RECMAP_DATASET_ANNOTATE_JSON_TABLE_H

#include "dataset/annotate/table.h"

/* See table_next. */
recmap_status json_table_next(struct table_row *row, bool *is_row, struct table *table,
                              recmap_error *error);

/* Offers the members of the first object, which begins at `text`: see table_near_name. */
void json_table_offer_members(struct near_name *near, const struct field_reader *text,
                              const char *name);

/* Returns true if the first object has a member of this name. */
bool json_table_has_member(const struct field_reader *text, const char *name);

#endif
