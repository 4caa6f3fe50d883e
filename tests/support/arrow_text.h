/* Arrow arrays checked by the words of the C data interface's specification, and told as text.
 * Knows nothing of recmap. */
#ifndef RECMAP_TESTS_SUPPORT_ARROW_TEXT_H
#define RECMAP_TESTS_SUPPORT_ARROW_TEXT_H

#include <recmap/arrow.h>

/* The type: "large_list<item: int64>", "fixed_size_list<item: float>[3]", "struct<a: int64, b:
 * ...>", extensions with their name and metadata before it. "BROKEN: ..." when it is none. The text
 * lives until the next call but three. */
const char *arrow_type_text(const struct ArrowSchema *schema);

/* The values, lists as Python writes them, nulls as null, structs as {name: value}; or "BROKEN:
 * ...". */
const char *arrow_values_text(const struct ArrowArray *array, const struct ArrowSchema *schema);

#endif
