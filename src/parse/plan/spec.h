/* Feature specifications: validation and copying. */
#ifndef RECMAP_PARSE_PLAN_SPEC_H
#define RECMAP_PARSE_PLAN_SPEC_H

#include "parse/plan/plan.h"

/* The maximum number of elements in a record or step. */
#define SPEC_ELEMENT_LIMIT (UINT64_C(1) << 31)

/* The maximum number of elements that SLICED puts before a record's, and after them. */
enum { SPEC_ADDED_LIMIT = 1 << 16 };

/* Returns RECMAP_INVALID and names the feature if the specification is invalid. `is_list` marks
 * feature lists. */
recmap_status spec_check(const recmap_feature *feature, bool is_list, recmap_error *error);

/* Returns RECMAP_INVALID if two features have the same name. */
recmap_status spec_check_names(const recmap_feature *features, size_t count, recmap_error *error);

/* Returns the number of elements in the shape, which must be valid. */
uint64_t spec_stride(const recmap_feature *feature);

/* Copies the feature and everything it points to into the plan. Returns false if memory runs out.
 */
bool spec_copy(recmap_feature *copy, recmap_parser *parser, const recmap_feature *feature);

/* Converts values to `count` elements of the feature in the plan's memory, from the first on again
 * if `count` is larger. Returns RECMAP_INVALID if the element type cannot represent one. */
recmap_status spec_convert(const void **elements, recmap_parser *parser,
                           const recmap_feature *feature, const recmap_value *values,
                           size_t value_count, uint64_t count, recmap_error *error);

/* Converts the feature's defaults to `count` elements in the plan's memory; a single default is
 * repeated. Returns RECMAP_INVALID if the element type cannot represent one. */
recmap_status spec_fill(const void **elements, recmap_parser *parser, const recmap_feature *feature,
                        uint64_t count, recmap_error *error);

#endif
