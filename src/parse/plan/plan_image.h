/* Features whose values are computed: pixels of pictures, and boxes in them. */
#ifndef RECMAP_PARSE_PLAN_PLAN_IMAGE_H
#define RECMAP_PARSE_PLAN_PLAN_IMAGE_H

#include "parse/plan/plan.h"

/* Reserves room for the images, boxes and outputs of `count` features. Returns false if memory runs
 * out. */
bool plan_reserve_images(recmap_parser *parser, size_t count);
void plan_images_deinit(recmap_parser *parser);

/* Add an IMAGE and a BOXES feature, with the slots that they are computed from, and a feature whose
 * values are pictures, which column->values_slot has as bytes: a slot, or a slice of a SLICED
 * feature. Errors: INVALID for an impossible
 * description, NO_MEMORY. */
recmap_status plan_add_image(struct column_plan *column, recmap_parser *parser,
                             recmap_error *error);
recmap_status plan_add_pictures(struct column_plan *column, recmap_parser *parser,
                                recmap_error *error);
recmap_status plan_add_boxes(struct column_plan *column, recmap_parser *parser,
                             recmap_error *error);

/* Finds the images of all boxes, once all features were added. Errors: INVALID if there is no such
 * image. */
recmap_status plan_find_images(recmap_parser *parser, recmap_error *error);

/* Returns INVALID if two columns would be equal: their pictures, from one feature, get the same
 * pixels with the same draws. */
recmap_status plan_check_images(const recmap_parser *parser, recmap_error *error);

/* Returns the index of the slot in the set, adding it if needed. The set has room. */
size_t slot_set_add(struct slot_set *set, const struct slot *slot);

/* The same for the slot of a key: any number of int64 values. */
size_t slot_set_add_key(recmap_parser *parser, const char *key);

#endif
