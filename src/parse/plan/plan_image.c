#include "parse/plan/plan_image.h"

#include <stdlib.h>
#include <string.h>

#include "base/core/error.h"
#include "parse/plan/spec.h"

bool plan_reserve_images(recmap_parser *parser, size_t count) {
    parser->images = calloc(count + 1, sizeof *parser->images);
    parser->boxes = calloc(count + 1, sizeof *parser->boxes);
    parser->outputs = calloc(2 * count + 1, sizeof *parser->outputs);
    return parser->images && parser->boxes && parser->outputs;
}

void plan_images_deinit(recmap_parser *parser) {
    for (size_t i = 0; i < parser->image_count; i++) image_plan_deinit(&parser->images[i].plan);
    free(parser->images);
    free(parser->boxes);
    free(parser->outputs);
}

static size_t add_output(recmap_parser *parser, const struct slot *slot) {
    parser->outputs[parser->output_count] = *slot;
    return parser->output_count++;
}

/* The shape of a row, in the feature's own dimensions; none if pictures keep their sizes. */
static bool set_image_shape(struct column_plan *column, recmap_parser *parser,
                            const struct image_plan *plan) {
    const uint64_t shape[] = {plan->image.height, plan->image.width, plan->channels};
    column->stride = 1;
    if (!plan->image.height) return true;
    column->feature.shape = arena_copy(&parser->memory, shape, sizeof shape);
    column->feature.dimension_count = 3;
    column->stride = shape[0] * shape[1] * shape[2];
    return column->feature.shape;
}

/* The pixels of a default are made once. */
static bool make_image_fill(struct image_feature *image, recmap_parser *parser,
                            const recmap_feature *feature) {
    uint8_t colour[4];
    if (!feature->default_count) return true;
    for (unsigned c = 0; c < image->plan.channels; c++) {
        size_t i = feature->default_count == 1 ? 0 : c;
        colour[c] = (uint8_t)feature->defaults[i].as.int64;
    }
    size_t count = (size_t)image->plan.image.height * image->plan.image.width;
    void *pixels = arena_allocate(&parser->memory, count * image->plan.pixel_size);
    if (pixels) image_plan_fill(pixels, &image->plan, colour, count);
    image->fill = pixels;
    return pixels;
}

/* The slot of the bytes finds the feature in a record as a FIXED_LEN feature's would, and the image
 * says what becomes of them. */
static recmap_status add_image_bytes(struct image_feature *image, recmap_parser *parser,
                                     const recmap_feature *feature, recmap_error *error) {
    static const uint8_t nothing[1];
    const recmap_bytes empty = {nothing, 0};
    struct slot bytes = {.kind = feature->kind,
                         .name = feature->key,
                         .name_size = strlen(feature->key),
                         .list = RECMAP_TYPE_BYTES,
                         .element = RECMAP_ELEMENT_BYTES,
                         .count = 1,
                         .multiple = 1,
                         .shape = "[]"};
    if (feature->default_count) bytes.fill = arena_copy(&parser->memory, &empty, sizeof empty);
    if (feature->default_count && !bytes.fill) return fail_memory(error);
    image->bytes_slot = slot_set_add(&parser->features, &bytes);
    return RECMAP_OK;
}

static recmap_status init_image(struct image_feature *image, const recmap_feature *feature,
                                recmap_error *error) {
    recmap_image own = *feature->image;
    own.element = feature->element;
    recmap_status status = image_plan_init(&image->plan, &own, error);
    if (status != RECMAP_INVALID || !error) return status;
    recmap_error cause = *error;
    return fail(error, status, "feature '%s': %s", feature->name, cause.message);
}

/* Pixels of a size have a place for each row; others follow each other, and have shapes. */
static void add_image_outputs(struct image_feature *image, struct column_plan *column,
                              recmap_parser *parser) {
    const recmap_feature *feature = &column->feature;
    const bool has_size = image->plan.image.height > 0;
    struct slot slot = {.kind = feature->kind,
                        .name = feature->key,
                        .name_size = strlen(feature->key),
                        .element = feature->element,
                        .count = has_size ? column->stride : 0,
                        .multiple = 1,
                        .is_exact = true};
    image->pixels = column->values_slot = add_output(parser, &slot);
    column->is_output = true;
    image->shapes = SIZE_MAX;
    if (has_size) return;
    slot.element = RECMAP_ELEMENT_INT64;
    slot.count = 3;
    image->shapes = add_output(parser, &slot);
}

recmap_status plan_add_image(struct column_plan *column, recmap_parser *parser,
                             recmap_error *error) {
    recmap_feature *feature = &column->feature;
    column->part = parser->image_count++;
    struct image_feature *image = &parser->images[column->part];
    image->name = feature->name;
    RETURN_IF_FAILED(init_image(image, feature, error));
    if (!set_image_shape(column, parser, &image->plan) || !make_image_fill(image, parser, feature))
        return fail_memory(error);
    RETURN_IF_FAILED(add_image_bytes(image, parser, feature, error));
    add_image_outputs(image, column, parser);
    feature->image = NULL; /* the plan has a copy of what it needs */
    return RECMAP_OK;
}

/* The dimensions of the pixels follow those of the values. */
static recmap_status add_pixel_dimensions(struct column_plan *column, recmap_parser *parser,
                                          const struct image_plan *plan, recmap_error *error) {
    recmap_feature *feature = &column->feature;
    const uint64_t last[] = {plan->image.height, plan->image.width, plan->channels};
    const uint64_t picture = last[0] * last[1] * last[2];
    const size_t count = feature->dimension_count;
    if (column->stride > SPEC_ELEMENT_LIMIT / picture ||
        feature->max_length > SPEC_ELEMENT_LIMIT / (column->stride * picture) ||
        feature->pad_to > SPEC_ELEMENT_LIMIT / (column->stride * picture))
        return fail(error, RECMAP_INVALID, "feature '%s': the pictures have more than 2^31 values",
                    feature->name);
    uint64_t *shape = arena_allocate(&parser->memory, (count + 3) * sizeof *shape);
    if (!shape) return fail_memory(error);
    if (count) memcpy(shape, feature->shape, count * sizeof *shape);
    memcpy(shape + count, last, sizeof last);
    feature->shape = shape;
    feature->dimension_count = count + 3;
    column->stride *= picture;
    return RECMAP_OK;
}

recmap_status plan_add_pictures(struct column_plan *column, recmap_parser *parser,
                                recmap_error *error) {
    recmap_feature *feature = &column->feature;
    column->part = parser->image_count++;
    struct image_feature *image = &parser->images[column->part];
    *image = (struct image_feature){.name = feature->name,
                                    .bytes_slot = column->values_slot,
                                    .has_list = true,
                                    .is_in_lists = column->is_list,
                                    .is_sliced = feature->kind == RECMAP_FEATURE_SLICED,
                                    .shapes = SIZE_MAX};
    RETURN_IF_FAILED(init_image(image, feature, error));
    RETURN_IF_FAILED(add_pixel_dimensions(column, parser, &image->plan, error));
    const bool is_fixed = feature->kind == RECMAP_FEATURE_FIXED_LEN;
    const struct slot pixels = {.kind = feature->kind,
                                .name = feature->key,
                                .name_size = strlen(feature->key),
                                .element = feature->element,
                                .count = is_fixed ? column->stride : 0,
                                .multiple = column->stride,
                                .is_exact = true};
    image->pixels = column->values_slot = add_output(parser, &pixels);
    column->is_output = true;
    feature->image = NULL; /* as for images */
    return RECMAP_OK;
}

static bool set_boxes_shape(struct column_plan *column, recmap_parser *parser, bool is_visible) {
    static const uint64_t four[] = {4};
    column->feature.shape = arena_copy(&parser->memory, four, sizeof four);
    column->feature.dimension_count = is_visible ? 0 : 1;
    column->stride = is_visible ? 1 : 4;
    return column->feature.shape;
}

/* Adds the slots of the coordinates: one for each, or one for all. */
static bool add_coordinates(struct boxes_feature *boxes, recmap_parser *parser,
                            const recmap_boxes *given) {
    boxes->is_packed = !given->keys[1];
    for (size_t i = 0; i < 4; i++) {
        const char *key = arena_copy_text(&parser->memory, given->keys[boxes->is_packed ? 0 : i]);
        if (!key) return false;
        const struct slot coordinates = {.kind = RECMAP_FEATURE_VAR_LEN,
                                         .name = key,
                                         .name_size = strlen(key),
                                         .list = RECMAP_TYPE_FLOAT,
                                         .element = RECMAP_ELEMENT_FLOAT32,
                                         .multiple = boxes->is_packed ? 4 : 1,
                                         .shape = boxes->is_packed ? "[4]" : "[]"};
        boxes->coordinate[i] = slot_set_add(&parser->features, &coordinates);
    }
    return true;
}

recmap_status plan_add_boxes(struct column_plan *column, recmap_parser *parser,
                             recmap_error *error) {
    recmap_feature *feature = &column->feature;
    column->part = parser->boxes_count++;
    struct boxes_feature *boxes = &parser->boxes[column->part];
    boxes->is_visible = feature->boxes->is_visible;
    boxes->image_name = arena_copy_text(&parser->memory, feature->boxes->image);
    if (!boxes->image_name || !set_boxes_shape(column, parser, boxes->is_visible) ||
        !add_coordinates(boxes, parser, feature->boxes))
        return fail_memory(error);
    const struct slot output = {.kind = feature->kind,
                                .name = feature->name,
                                .name_size = strlen(feature->name),
                                .element = RECMAP_ELEMENT_FLOAT32,
                                .multiple = column->stride};
    boxes->output = column->values_slot = add_output(parser, &output);
    column->is_output = true;
    feature->boxes = NULL; /* as for images */
    return RECMAP_OK;
}

static bool has_column(const recmap_parser *parser, const char *name) {
    for (size_t i = 0; i < parser->column_count; i++)
        if (!strcmp(parser->columns[i].feature.name, name)) return true;
    return false;
}

static recmap_status fail_image(const struct boxes_feature *boxes, const recmap_parser *parser,
                                recmap_error *error) {
    const char *name = parser->outputs[boxes->output].name;
    if (has_column(parser, boxes->image_name))
        fail(error, RECMAP_INVALID, "feature '%.200s' has boxes in '%.200s', which is not an image",
             name, boxes->image_name);
    else
        fail(error, RECMAP_INVALID,
             "feature '%.200s' has boxes in the image '%.200s', which is not among the features",
             name, boxes->image_name);
    fail_advise(error,
                "request an image of this name with the boxes, whose crop moves them; or read "
                "the stored numbers as float32");
    return RECMAP_INVALID;
}

static recmap_status find_image(struct boxes_feature *boxes, const recmap_parser *parser,
                                recmap_error *error) {
    for (size_t i = 0; i < parser->image_count; i++) {
        boxes->image = i;
        if (!parser->images[i].has_list && strcmp(parser->images[i].name, boxes->image_name) == 0)
            return RECMAP_OK;
    }
    return fail_image(boxes, parser, error);
}

recmap_status plan_find_images(recmap_parser *parser, recmap_error *error) {
    for (size_t i = 0; i < parser->boxes_count; i++)
        RETURN_IF_FAILED(find_image(&parser->boxes[i], parser, error));
    return RECMAP_OK;
}

/* Returns true if the columns have the same pictures in the same places. */
static bool is_same_list(const struct column_plan *a, const struct column_plan *b) {
    const recmap_feature *first = &a->feature, *second = &b->feature;
    const size_t shape_size = first->dimension_count * sizeof *first->shape;
    return a->is_list == b->is_list && first->kind == second->kind &&
           strcmp(first->key, second->key) == 0 &&
           first->dimension_count == second->dimension_count &&
           (!shape_size || memcmp(first->shape, second->shape, shape_size) == 0) &&
           !first->unpadded == !second->unpadded && first->max_length == second->max_length &&
           first->pad_to == second->pad_to && !first->pad_edge == !second->pad_edge;
}

static bool is_same_image(const struct image_feature *a, const struct image_feature *b) {
    return image_plan_is_same(&a->plan, &b->plan) && !a->fill == !b->fill &&
           (!a->fill || memcmp(a->fill, b->fill, a->plan.pixel_size) == 0);
}

static bool has_pictures(const struct column_plan *column) {
    return column->is_output && column->feature.kind != RECMAP_FEATURE_BOXES;
}

static recmap_status check_pair(const recmap_parser *parser, const struct column_plan *a,
                                const struct column_plan *b, recmap_error *error) {
    if (!has_pictures(b) || !is_same_list(a, b) ||
        !is_same_image(&parser->images[a->part], &parser->images[b->part]))
        return RECMAP_OK;
    fail(error, RECMAP_INVALID, "features '%.200s' and '%.200s' would have the same pixels",
         a->feature.name, b->feature.name);
    fail_advise(error,
                "for two random views, name their draws differently with `recmap_image.draw`; "
                "otherwise request one of them");
    return RECMAP_INVALID;
}

recmap_status plan_check_images(const recmap_parser *parser, recmap_error *error) {
    for (size_t i = 0; i < parser->column_count; i++)
        for (size_t j = i + 1; has_pictures(&parser->columns[i]) && j < parser->column_count; j++)
            RETURN_IF_FAILED(check_pair(parser, &parser->columns[i], &parser->columns[j], error));
    return RECMAP_OK;
}
