#include "parse/plan/plan.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/core/error.h"
#include "parse/plan/batch_part.h"
#include "parse/plan/convert.h"
#include "parse/plan/plan_image.h"
#include "parse/plan/spec.h"

/* Formats a shape as "[2, 3]". */
static const char *shape_text(recmap_parser *parser, const recmap_feature *feature) {
    size_t capacity = feature->dimension_count * 22 + 3, size = 1;
    char *text = arena_allocate(&parser->memory, capacity);
    if (!text) return NULL;
    text[0] = '[';
    for (size_t i = 0; i < feature->dimension_count; i++)
        size += (size_t)snprintf(text + size, capacity - size, "%s%" PRIu64, i ? ", " : "",
                                 feature->shape[i]);
    snprintf(text + size, capacity - size, "]");
    return text;
}

/* Returns whether two columns can share one sink. Slots with a fixed count are never shared,
 * because the sink's values become the column's own. */
static bool is_same(const struct slot *a, const struct slot *b) {
    return a->count == 0 && b->count == 0 && a->list == b->list && a->element == b->element &&
           a->multiple == b->multiple && a->steps == b->steps &&
           a->raw_big_endian == b->raw_big_endian && a->raw_zlib == b->raw_zlib &&
           a->limit == b->limit && a->dimension_count == b->dimension_count &&
           (!a->dimension_count ||
            !memcmp(a->sizes, b->sizes, a->dimension_count * sizeof *a->sizes)) &&
           strcmp(a->name, b->name) == 0;
}

size_t slot_set_add(struct slot_set *set, const struct slot *slot) {
    for (size_t i = 0; i < set->count; i++)
        if (is_same(&set->slots[i], slot)) return i;
    set->slots[set->count] = *slot;
    return set->count++;
}

/* The kind of list that holds the values. */
static recmap_type list_of(const recmap_feature *feature) {
    return feature->raw ? RECMAP_TYPE_BYTES : convert_list_of(feature->element);
}

/* What the values are read as: unsigned numbers that are stored as the int64 with their bits are
 * read as that. */
static recmap_element element_of(const recmap_feature *feature) {
    return feature->as_bits ? RECMAP_ELEMENT_INT64 : feature->element;
}

/* The kind of the feature decides how many values a row must have: a fixed count, a multiple of the
 * stride, or any number. */
static recmap_status add_values_slot(struct column_plan *column, recmap_parser *parser,
                                     recmap_error *error) {
    const recmap_feature *feature = &column->feature;
    struct slot slot = {.kind = feature->kind,
                        .name = feature->key,
                        .name_size = strlen(feature->key),
                        .list = list_of(feature),
                        .element = element_of(feature),
                        .raw = feature->raw != RECMAP_RAW_NONE,
                        .raw_big_endian = feature->raw == RECMAP_RAW_BIG_ENDIAN,
                        .raw_zlib = feature->raw == RECMAP_RAW_ZLIB,
                        .raw_resized = feature->raw_resize != 0,
                        .is_list = column->is_list,
                        .multiple = 1,
                        .shape = shape_text(parser, feature),
                        .sizes = feature->shape,
                        .dimension_count = feature->dimension_count};
    if (!slot.shape) return fail_memory(error);
    bool is_sequence = feature->kind == RECMAP_FEATURE_FIXED_LEN_SEQUENCE;
    if (feature->kind == RECMAP_FEATURE_FIXED_LEN || (is_sequence && column->is_list))
        slot.count = column->stride;
    else if (is_sequence) slot.multiple = column->stride;
    /* max_length counts steps, and the limit of a slot counts values. */
    slot.limit = feature->max_length * column->stride;
    slot.steps = column->is_list && feature->kind == RECMAP_FEATURE_VAR_LEN;
    if (feature->kind == RECMAP_FEATURE_FIXED_LEN && feature->default_count)
        RETURN_IF_FAILED(spec_fill(&slot.fill, parser, feature, slot.count, error));
    column->values_slot = slot_set_add(column->is_list ? &parser->lists : &parser->features, &slot);
    return RECMAP_OK;
}

/* Converts the elements that are added to each record. */
static recmap_status add_added(struct slice_plan *slice, recmap_parser *parser,
                               const recmap_feature *feature, recmap_error *error) {
    size_t before = feature->prepend_count, after = feature->append_count;
    recmap_value *values = arena_allocate(&parser->memory, (before + after) * sizeof *values);
    if (!values) return fail_memory(error);
    for (size_t i = 0; i < before; i++) values[i] = feature->prepend[i];
    for (size_t i = 0; i < after; i++) values[before + i] = feature->append[i];
    return spec_convert(&slice->added, parser, feature, values, before + after, before + after,
                        error);
}

/* The slot finds the feature in a record as an unsliced feature's slot would; the slice says which
 * column the cut values go to. */
static recmap_status add_slice(struct column_plan *column, recmap_parser *parser,
                               recmap_error *error) {
    const recmap_feature *feature = &column->feature;
    struct slice_plan *slice = &parser->slices[parser->slice_count];
    *slice = (struct slice_plan){.slot = {.kind = feature->kind,
                                          .name = feature->key,
                                          .name_size = strlen(feature->key),
                                          .list = list_of(feature),
                                          .element = element_of(feature),
                                          .raw = feature->raw != RECMAP_RAW_NONE,
                                          .raw_big_endian = feature->raw == RECMAP_RAW_BIG_ENDIAN,
                                          .raw_zlib = feature->raw == RECMAP_RAW_ZLIB,
                                          .is_list = column->is_list,
                                          .multiple = column->stride,
                                          .shape = shape_text(parser, feature)},
                                 .column = (size_t)(column - parser->columns),
                                 .stride = column->stride};
    if (!slice->slot.shape) return fail_memory(error);
    column->values_slot = parser->slice_count++;
    return add_added(slice, parser, feature, error);
}

size_t slot_set_add_key(recmap_parser *parser, const char *key) {
    struct slot slot = {.name = key,
                        .name_size = strlen(key),
                        .list = RECMAP_TYPE_INT64,
                        .element = RECMAP_ELEMENT_INT64,
                        .multiple = 1,
                        .shape = "[]"};
    return slot_set_add(&parser->features, &slot);
}

static recmap_status add_other_slots(struct column_plan *column, recmap_parser *parser,
                                     recmap_error *error) {
    const recmap_feature *feature = &column->feature;
    size_t count = feature->partition_count + feature->index_count;
    size_t *others = arena_allocate(&parser->memory, count * sizeof *others);
    if (!others) return fail_memory(error);
    for (size_t i = 0; i < feature->partition_count; i++) {
        const recmap_partition *partition = &feature->partitions[i];
        others[i] = partition->key ? slot_set_add_key(parser, partition->key) : SIZE_MAX;
    }
    for (size_t i = 0; i < feature->index_count; i++)
        others[i] = slot_set_add_key(parser, feature->index_keys[i]);
    column->other_slots = others;
    if (count) parser->needs_checks = true;
    return RECMAP_OK;
}

/* Sets what pads a sequence or a row: its default, 0 or "". */
static recmap_status make_pad(struct column_plan *column, recmap_parser *parser,
                              recmap_error *error) {
    static const uint8_t nothing[1];
    const recmap_feature *feature = &column->feature;
    if (feature->kind != RECMAP_FEATURE_FIXED_LEN_SEQUENCE &&
        feature->kind != RECMAP_FEATURE_SLICED)
        return RECMAP_OK;
    if (feature->default_count) return spec_fill(&column->pad, parser, feature, 1, error);
    recmap_bytes empty = {nothing, 0};
    uint64_t zero = 0;
    /* Pictures are padded while they are bytes, and no bytes become zeros. */
    bool is_picture = feature->kind == RECMAP_FEATURE_SLICED && column->is_output;
    bool is_bytes = feature->element == RECMAP_ELEMENT_BYTES || is_picture;
    column->pad = is_bytes ? arena_copy(&parser->memory, &empty, sizeof empty)
                           : arena_copy(&parser->memory, &zero, sizeof zero);
    return column->pad ? RECMAP_OK : fail_memory(error);
}

/* The slot, or the slice, finds bytes values as it would without the image. */
static recmap_status add_pictures(struct column_plan *column, recmap_parser *parser,
                                  recmap_error *error) {
    const recmap_element element = column->feature.element;
    column->feature.element = RECMAP_ELEMENT_BYTES;
    RETURN_IF_FAILED(column->feature.kind == RECMAP_FEATURE_SLICED
                         ? add_slice(column, parser, error)
                         : add_values_slot(column, parser, error));
    column->feature.element = element;
    return plan_add_pictures(column, parser, error);
}

static recmap_status add_values(struct column_plan *column, recmap_parser *parser,
                                recmap_error *error) {
    switch (column->feature.kind) {
    case RECMAP_FEATURE_IMAGE: return plan_add_image(column, parser, error);
    case RECMAP_FEATURE_BOXES: return plan_add_boxes(column, parser, error);
    default: break;
    }
    if (column->feature.image) return add_pictures(column, parser, error);
    return column->feature.kind == RECMAP_FEATURE_SLICED ? add_slice(column, parser, error)
                                                         : add_values_slot(column, parser, error);
}

static recmap_status compile_column(recmap_parser *parser, const recmap_feature *feature,
                                    bool is_list, recmap_error *error) {
    struct column_plan *column = &parser->columns[parser->column_count++];
    RETURN_IF_FAILED(spec_check(feature, is_list, error));
    if (!spec_copy(&column->feature, parser, feature)) return fail_memory(error);
    column->is_list = is_list;
    column->stride = spec_stride(&column->feature);
    RETURN_IF_FAILED(add_values(column, parser, error));
    RETURN_IF_FAILED(add_other_slots(column, parser, error));
    RETURN_IF_FAILED(make_pad(column, parser, error));
    size_t parts = BATCH_PART_LEVELS + 2 + feature->partition_count;
    if (parser->part_stride < parts) parser->part_stride = parts;
    return RECMAP_OK;
}

static bool has_no_features(const recmap_feature *features, size_t count) {
    return count && !features;
}

/* Reserves the maximum number of slots: per feature, one for its values (BOXES: four), one for each
 * key it refers to, and for messages one for each dimension. */
static bool make_room(struct slot_set *set, const recmap_feature *features, size_t count) {
    size_t needed = 0;
    for (size_t i = 0; i < count; i++)
        needed += 4 + features[i].partition_count + features[i].index_count +
                  features[i].dimension_count;
    set->slots = calloc(needed + 1, sizeof *set->slots);
    set->capacity = needed;
    return set->slots != NULL;
}

static recmap_status finish_set(struct slot_set *set, recmap_error *error) {
    const char **list = calloc(set->count + 1, sizeof *list);
    if (!list) return fail_memory(error);
    for (size_t i = 0; i < set->count; i++) list[i] = set->slots[i].name;
    recmap_status status = example_names_create(&set->names, list, set->count, error);
    free(list);
    return status;
}

static recmap_status add_prefixes(struct slot_set *set, recmap_error *error) {
    set->prefixes = prefixes_create(set->slots, set->count, set->names);
    return set->prefixes ? RECMAP_OK : fail_memory(error);
}

/* Validates and compiles one feature after the other, so that the error names the first invalid
 * one. Names are checked last, since that needs all of them. */
recmap_status plan_compile(recmap_parser *parser, const recmap_feature *features,
                           size_t context_count, const recmap_feature *lists, size_t list_count,
                           recmap_error *error) {
    if (has_no_features(features, context_count) || has_no_features(lists, list_count))
        return fail(error, RECMAP_INVALID, "the features are NULL");
    parser->columns = calloc(context_count + list_count + 1, sizeof *parser->columns);
    parser->slices = calloc(context_count + list_count + 1, sizeof *parser->slices);
    if (!parser->columns || !parser->slices ||
        !plan_reserve_images(parser, context_count + list_count) ||
        !make_room(&parser->features, features, context_count) ||
        !make_room(&parser->lists, lists, list_count))
        return fail_memory(error);
    for (size_t i = 0; i < context_count; i++)
        RETURN_IF_FAILED(compile_column(parser, &features[i], false, error));
    for (size_t i = 0; i < list_count; i++)
        RETURN_IF_FAILED(compile_column(parser, &lists[i], true, error));
    RETURN_IF_FAILED(plan_find_images(parser, error));
    RETURN_IF_FAILED(spec_check_names(features, context_count, error));
    RETURN_IF_FAILED(spec_check_names(lists, list_count, error));
    RETURN_IF_FAILED(plan_check_images(parser, error));
    RETURN_IF_FAILED(finish_set(&parser->features, error));
    RETURN_IF_FAILED(finish_set(&parser->lists, error));
    RETURN_IF_FAILED(add_prefixes(&parser->features, error));
    parser->context_count = context_count;
    return RECMAP_OK;
}

static void slot_set_deinit(struct slot_set *set) {
    prefixes_destroy(set->prefixes);
    example_names_destroy(set->names);
    free(set->slots);
}

void plan_deinit(recmap_parser *parser) {
    if (parser->reader) parser->reader->destroy(parser->reader);
    slot_set_deinit(&parser->features);
    slot_set_deinit(&parser->lists);
    free(parser->columns);
    free(parser->slices);
    plan_images_deinit(parser);
    recmap_parser_release(parser->whole);
    arena_deinit(&parser->memory);
}

recmap_parser *recmap_parser_retain(recmap_parser *parser) {
    atomic_fetch_add_explicit(&parser->users, 1, memory_order_relaxed);
    return parser;
}

void recmap_parser_release(recmap_parser *parser) {
    if (!parser) return;
    if (atomic_fetch_sub_explicit(&parser->users, 1, memory_order_acq_rel) != 1) return;
    plan_deinit(parser);
    free(parser);
}
