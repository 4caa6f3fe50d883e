/* The words of a feature: whether what a user asks for can be, and a copy of it. */
#ifndef RECMAP_PLAN_SPEC_H
#define RECMAP_PLAN_SPEC_H

#include "plan/plan.h"

/* Elements of a record or of a step, at most. */
#define SPEC_ELEMENT_LIMIT (UINT64_C(1) << 31)

/* INVALID, naming the feature, when it cannot be; `is_list` when it is one of feature lists. */
recmap_status spec_check(const recmap_feature *feature, bool is_list, recmap_error *error);

/* INVALID when two features have one name. */
recmap_status spec_check_names(const recmap_feature *features, size_t count, recmap_error *error);

/* Elements in the shape, which was checked. */
uint64_t spec_stride(const recmap_feature *feature);

/* Copies what the feature points to into the plan. False when memory is out. */
bool spec_copy(recmap_feature *copy, recmap_parser *plan, const recmap_feature *feature);

/* `count` elements made of the feature's defaults (one of them stands for all), in the plan's
 * memory. INVALID where the element cannot hold one. */
recmap_status spec_fill(const void **elements, recmap_parser *plan, const recmap_feature *feature,
                        uint64_t count, recmap_error *error);

#endif
