#include "parse/plan/spec.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/core/bytes.h"
#include "base/core/error.h"
#include "base/core/plural.h"
#include "base/text/json.h"
#include "parse/plan/convert.h"

static recmap_status refuse(recmap_error *error, const recmap_feature *feature, const char *why) {
    return fail(error, RECMAP_INVALID, "feature '%s': %s", feature->name, why);
}

static bool is_text(const char *text) {
    return utf8_valid((const uint8_t *)text, strlen(text));
}

static recmap_status check_shape(const recmap_feature *feature, recmap_error *error) {
    uint64_t count = 1;
    if (feature->dimension_count == 0) return RECMAP_OK;
    if (feature->kind != RECMAP_FEATURE_FIXED_LEN &&
        feature->kind != RECMAP_FEATURE_FIXED_LEN_SEQUENCE &&
        feature->kind != RECMAP_FEATURE_SLICED)
        return refuse(error, feature, "only FIXED_LEN, FIXED_LEN_SEQUENCE and SLICED have a shape");
    if (!feature->shape) return refuse(error, feature, "the shape is NULL");
    for (size_t i = 0; i < feature->dimension_count; i++) {
        if (feature->shape[i] == 0) return refuse(error, feature, "a dimension is 0");
        if (feature->shape[i] > SPEC_ELEMENT_LIMIT / count)
            return refuse(error, feature, "the shape has more than 2^31 elements");
        count *= feature->shape[i];
    }
    return RECMAP_OK;
}

static recmap_status check_values(const recmap_feature *feature, const recmap_value *values,
                                  size_t count, recmap_error *error) {
    uint64_t size = 0;
    if (count && !values) return refuse(error, feature, "the defaults are NULL");
    for (size_t i = 0; i < count; i++) {
        const recmap_value *value = &values[i];
        recmap_type type = feature->kind == RECMAP_FEATURE_IMAGE
                               ? RECMAP_TYPE_INT64
                               : convert_list_of(feature->element);
        if (value->type != type)
            return refuse(error, feature, "a default has another type than the feature");
        if (value->type != RECMAP_TYPE_BYTES) continue;
        if (!value->as.bytes.data && value->as.bytes.size)
            return refuse(error, feature, "the bytes of a default are NULL");
        if (value->as.bytes.size > INT32_MAX - size)
            return refuse(error, feature, "the defaults have more than 2 GiB");
        size += value->as.bytes.size;
    }
    return RECMAP_OK;
}

static recmap_status check_defaults(const recmap_feature *feature, recmap_error *error) {
    bool is_sequence = feature->kind == RECMAP_FEATURE_FIXED_LEN_SEQUENCE;
    bool is_sliced = feature->kind == RECMAP_FEATURE_SLICED;
    if (feature->default_count == 0) return RECMAP_OK;
    if (feature->kind == RECMAP_FEATURE_IMAGE) {
        unsigned channels = feature->image ? recmap_image_channels(feature->image->mode) : 1;
        if (feature->default_count != 1 && feature->default_count != channels)
            return refuse(error, feature,
                          "the default must be one number, or one for each channel");
        return check_values(feature, feature->defaults, feature->default_count, error);
    }
    if (!is_sequence && !is_sliced && feature->kind != RECMAP_FEATURE_FIXED_LEN)
        return refuse(error, feature,
                      "only FIXED_LEN, FIXED_LEN_SEQUENCE, SLICED and IMAGE have a default");
    if (is_sequence && feature->unpadded)
        return refuse(error, feature, "an unpadded sequence cannot have a default");
    if ((is_sequence || is_sliced) && feature->default_count != 1)
        return refuse(error, feature, "there must be exactly one default, for padding");
    if (feature->default_count != 1 && feature->default_count != spec_stride(feature))
        return fail(error, RECMAP_INVALID, "feature '%s': %zu default%s for %" PRIu64 " element%s",
                    feature->name, feature->default_count, plural(feature->default_count),
                    spec_stride(feature), plural(spec_stride(feature)));
    return check_values(feature, feature->defaults, feature->default_count, error);
}

/* Checks what only SLICED has. */
static recmap_status check_slices(const recmap_feature *feature, recmap_error *error) {
    bool has_added = feature->prepend_count || feature->append_count;
    if (feature->kind != RECMAP_FEATURE_SLICED) {
        if (!has_added && !feature->pad_edge) return RECMAP_OK;
        return refuse(error, feature, "only SLICED has prepend, append and pad_edge");
    }
    if (feature->pad_edge && feature->default_count)
        return refuse(error, feature, "it is padded with a value or with the edge, not with both");
    if (feature->prepend_count > SPEC_ADDED_LIMIT || feature->append_count > SPEC_ADDED_LIMIT)
        return refuse(error, feature, "more than 2^16 elements are added to a record");
    RETURN_IF_FAILED(check_values(feature, feature->prepend, feature->prepend_count, error));
    return check_values(feature, feature->append, feature->append_count, error);
}

static recmap_status check_lengths(const recmap_feature *feature, recmap_error *error) {
    if (!feature->max_length && !feature->pad_to) return RECMAP_OK;
    if (feature->kind != RECMAP_FEATURE_FIXED_LEN_SEQUENCE)
        return refuse(error, feature, "max_length and pad_to require FIXED_LEN_SEQUENCE");
    if (feature->pad_to && feature->unpadded)
        return refuse(error, feature, "an unpadded sequence cannot have pad_to");
    if (feature->max_length > SPEC_ELEMENT_LIMIT / spec_stride(feature) ||
        feature->pad_to > SPEC_ELEMENT_LIMIT / spec_stride(feature))
        return refuse(error, feature, "max_length or pad_to is more than 2^31 elements");
    return RECMAP_OK;
}

/* Rejects partitions on other kinds and partitions without a key, and bounds the product of all
 * uniform lengths so that later multiplications cannot overflow. */
static recmap_status check_partitions(const recmap_feature *feature, recmap_error *error) {
    uint64_t count = 1;
    if (feature->kind != RECMAP_FEATURE_RAGGED) {
        if (feature->partition_count == 0) return RECMAP_OK;
        return refuse(error, feature, "only RAGGED has partitions");
    }
    if (feature->partition_count == 0 || !feature->partitions)
        return refuse(error, feature, "RAGGED needs a partition");
    for (size_t i = 0; i < feature->partition_count; i++) {
        const recmap_partition *partition = &feature->partitions[i];
        if (partition->kind < RECMAP_PARTITION_ROW_SPLITS ||
            partition->kind > RECMAP_PARTITION_UNIFORM)
            return refuse(error, feature, "the kind of a partition is unknown");
        if (partition->kind != RECMAP_PARTITION_UNIFORM) {
            if (!partition->key) return refuse(error, feature, "a partition has no key");
            if (!is_text(partition->key))
                return refuse(error, feature, "the key of a partition is not UTF-8");
            continue;
        }
        if (partition->length == 0)
            return refuse(error, feature, "a uniform partition has length 0");
        if (partition->length > SPEC_ELEMENT_LIMIT / count)
            return refuse(error, feature, "uniform partitions have more than 2^31 elements");
        count *= partition->length;
    }
    return RECMAP_OK;
}

static recmap_status check_indices(const recmap_feature *feature, recmap_error *error) {
    if (feature->kind != RECMAP_FEATURE_SPARSE) {
        if (feature->index_count == 0) return RECMAP_OK;
        return refuse(error, feature, "only SPARSE has index keys");
    }
    if (feature->index_count == 0 || !feature->index_keys || !feature->sizes)
        return refuse(error, feature, "SPARSE needs index keys and sizes");
    for (size_t i = 0; i < feature->index_count; i++) {
        if (!feature->index_keys[i]) return refuse(error, feature, "an index key is NULL");
        if (!is_text(feature->index_keys[i]))
            return refuse(error, feature, "an index key is not UTF-8");
        if (feature->sizes[i] == 0 || feature->sizes[i] > INT64_MAX)
            return refuse(error, feature, "a size is not between 1 and 2^63 - 1");
    }
    return RECMAP_OK;
}

static recmap_status check_element(const recmap_feature *feature, recmap_error *error) {
    if (recmap_element_size(feature->element) == 0)
        return refuse(error, feature, "the element type is unknown");
    bool is_bytes = feature->element == RECMAP_ELEMENT_BYTES;
    if (feature->bytes_mode != RECMAP_BYTES_VIEW && feature->bytes_mode != RECMAP_BYTES_COPY)
        return refuse(error, feature, "bytes_mode is neither VIEW nor COPY");
    if (feature->bytes_mode != RECMAP_BYTES_VIEW && !is_bytes)
        return refuse(error, feature, "bytes_mode requires BYTES elements");
    if (feature->raw < RECMAP_RAW_NONE || feature->raw > RECMAP_RAW_ZLIB)
        return refuse(error, feature, "raw is not a value of recmap_raw");
    if (feature->raw_resize && (!feature->raw || feature->kind != RECMAP_FEATURE_FIXED_LEN))
        return refuse(error, feature, "raw_resize requires a raw FIXED_LEN feature");
    if (feature->raw_resize && feature->raw == RECMAP_RAW_ZLIB)
        return refuse(error, feature, "a raw feature of ZLIB streams cannot have raw_resize");
    if (feature->as_bits && (feature->raw || feature->element != RECMAP_ELEMENT_UINT64))
        return refuse(error, feature, "as_bits requires UINT64 elements that are not raw");
    if (!feature->raw) return RECMAP_OK;
    if (is_bytes) return refuse(error, feature, "raw requires an element type other than BYTES");
    if (feature->kind == RECMAP_FEATURE_RAGGED || feature->kind == RECMAP_FEATURE_SPARSE)
        return refuse(error, feature, "RAGGED and SPARSE cannot be raw");
    return RECMAP_OK;
}

/* Checks a feature whose values are pictures. */
static recmap_status check_pictures(const recmap_feature *feature, bool is_list,
                                    recmap_error *error) {
    if (feature->kind != RECMAP_FEATURE_FIXED_LEN && feature->kind != RECMAP_FEATURE_VAR_LEN &&
        feature->kind != RECMAP_FEATURE_FIXED_LEN_SEQUENCE &&
        feature->kind != RECMAP_FEATURE_SLICED)
        return refuse(
            error, feature,
            "only IMAGE, FIXED_LEN, VAR_LEN, FIXED_LEN_SEQUENCE and SLICED have an image");
    if (is_list && feature->kind == RECMAP_FEATURE_VAR_LEN)
        return refuse(error, feature, "a feature list of pictures must be a FIXED_LEN_SEQUENCE");
    if (!feature->image->height)
        return refuse(error, feature, "a list of pictures needs their height and width");
    if (feature->image->layout != RECMAP_IMAGE_HWC)
        return refuse(error, feature, "a list of pictures must have the layout HWC");
    if (feature->raw || feature->default_count)
        return refuse(error, feature, "a list of pictures cannot be raw or have a default");
    if (feature->prepend_count || feature->append_count)
        return refuse(error, feature, "pictures cannot be prepended or appended");
    return RECMAP_OK;
}

static recmap_status check_image(const recmap_feature *feature, bool is_list, recmap_error *error) {
    const recmap_image *image = feature->image;
    if (feature->kind != RECMAP_FEATURE_IMAGE && !image) return RECMAP_OK;
    if (!image) return refuse(error, feature, "IMAGE needs an image");
    if (image->element && image->element != feature->element)
        return refuse(error, feature, "the image has another element than the feature");
    if (feature->kind != RECMAP_FEATURE_IMAGE) return check_pictures(feature, is_list, error);
    if (!image->height && feature->default_count)
        return refuse(error, feature, "an image without a size cannot have a default");
    if (!image->height && image->layout != RECMAP_IMAGE_HWC)
        return refuse(error, feature, "images without a size must have the layout HWC");
    for (size_t i = 0; i < feature->default_count; i++)
        if (feature->defaults[i].as.int64 < 0 || feature->defaults[i].as.int64 > 255)
            return refuse(error, feature, "a channel of the default is not between 0 and 255");
    return RECMAP_OK;
}

static recmap_status check_boxes(const recmap_feature *feature, recmap_error *error) {
    const recmap_boxes *boxes = feature->boxes;
    if (feature->kind != RECMAP_FEATURE_BOXES) {
        if (!boxes) return RECMAP_OK;
        return refuse(error, feature, "only BOXES has boxes");
    }
    if (!boxes || !boxes->image) return refuse(error, feature, "BOXES needs boxes of an image");
    if (feature->element != RECMAP_ELEMENT_FLOAT32)
        return refuse(error, feature, "boxes must be float32");
    if (feature->key)
        return refuse(error, feature, "the keys of boxes belong into recmap_boxes, not into `key`");
    const bool is_packed = !boxes->keys[1] && !boxes->keys[2] && !boxes->keys[3];
    for (size_t i = 0; i < (is_packed ? 1 : 4); i++)
        if (!boxes->keys[i] || !is_text(boxes->keys[i]))
            return refuse(error, feature, "a key of the boxes is NULL or not UTF-8");
    return RECMAP_OK;
}

/* A program for a later version of recmap may set members that this version does not know. */
static recmap_status check_reserved(const recmap_feature *feature, recmap_error *error) {
    const recmap_boxes *boxes = feature->boxes;
    if (are_unused(feature->reserved, sizeof feature->reserved / sizeof *feature->reserved) &&
        (!boxes || are_unused(boxes->reserved, sizeof boxes->reserved / sizeof *boxes->reserved)))
        return RECMAP_OK;
    return refuse(error, feature, "a reserved member is not 0; a later version may know it");
}

static recmap_status check_kind(const recmap_feature *feature, bool is_list, recmap_error *error) {
    if (feature->kind < RECMAP_FEATURE_FIXED_LEN || feature->kind > RECMAP_FEATURE_BOXES)
        return refuse(error, feature, "the kind is unknown");
    if (is_list && feature->kind != RECMAP_FEATURE_VAR_LEN &&
        feature->kind != RECMAP_FEATURE_FIXED_LEN_SEQUENCE &&
        feature->kind != RECMAP_FEATURE_SLICED)
        return refuse(error, feature,
                      "a feature list must be VAR_LEN, FIXED_LEN_SEQUENCE or SLICED");
    if (feature->unpadded && feature->kind != RECMAP_FEATURE_FIXED_LEN_SEQUENCE)
        return refuse(error, feature, "unpadded requires FIXED_LEN_SEQUENCE");
    return RECMAP_OK;
}

recmap_status spec_check(const recmap_feature *feature, bool is_list, recmap_error *error) {
    if (!feature->name) return fail(error, RECMAP_INVALID, "a feature has no name");
    if (!is_text(feature->name) || (feature->key && !is_text(feature->key)))
        return refuse(error, feature, "its name is not UTF-8");
    RETURN_IF_FAILED(check_reserved(feature, error));
    RETURN_IF_FAILED(check_kind(feature, is_list, error));
    RETURN_IF_FAILED(check_element(feature, error));
    RETURN_IF_FAILED(check_shape(feature, error));
    RETURN_IF_FAILED(check_defaults(feature, error));
    RETURN_IF_FAILED(check_slices(feature, error));
    RETURN_IF_FAILED(check_lengths(feature, error));
    RETURN_IF_FAILED(check_partitions(feature, error));
    RETURN_IF_FAILED(check_image(feature, is_list, error));
    RETURN_IF_FAILED(check_boxes(feature, error));
    return check_indices(feature, error);
}

recmap_status spec_check_names(const recmap_feature *features, size_t count, recmap_error *error) {
    recmap_status status = RECMAP_OK;
    const char **list = calloc(count + 1, sizeof *list);
    struct example_names *names = NULL;
    if (!list) return fail_memory(error);
    for (size_t i = 0; i < count; i++) list[i] = features[i].name;
    status = example_names_create(&names, list, count, error);
    for (size_t i = 0; status == RECMAP_OK && i < count; i++)
        if (example_names_first(names, i) != i)
            status = refuse(error, &features[i], "two features have this name");
    example_names_destroy(names);
    free(list);
    return status;
}

uint64_t spec_stride(const recmap_feature *feature) {
    uint64_t count = 1;
    for (size_t i = 0; i < feature->dimension_count; i++) count *= feature->shape[i];
    return count;
}

/* Replaces values by a copy, with all bytes in one allocation. */
static bool copy_values(const recmap_value **values, recmap_parser *parser, size_t count) {
    size_t size = 0;
    recmap_value *copy = arena_copy(&parser->memory, *values, count * sizeof *copy);
    for (size_t i = 0; i < count; i++)
        if ((*values)[i].type == RECMAP_TYPE_BYTES) size += (*values)[i].as.bytes.size;
    uint8_t *bytes = arena_allocate(&parser->memory, size);
    if (!copy || !bytes) return false;
    for (size_t i = 0; i < count; i++) {
        if (copy[i].type != RECMAP_TYPE_BYTES) continue;
        size = copy[i].as.bytes.size;
        if (size) memcpy(bytes, copy[i].as.bytes.data, size);
        copy[i].as.bytes.data = bytes;
        bytes += size;
    }
    *values = copy;
    return true;
}

static bool copy_partitions(recmap_feature *copy, recmap_parser *parser) {
    recmap_partition *partitions = arena_copy(&parser->memory, copy->partitions,
                                              copy->partition_count * sizeof *copy->partitions);
    if (!partitions) return false;
    for (size_t i = 0; i < copy->partition_count; i++) {
        if (partitions[i].kind == RECMAP_PARTITION_UNIFORM) partitions[i].key = NULL;
        else partitions[i].key = arena_copy_text(&parser->memory, partitions[i].key);
        if (!partitions[i].key && partitions[i].kind != RECMAP_PARTITION_UNIFORM) return false;
    }
    copy->partitions = partitions;
    return true;
}

static bool copy_indices(recmap_feature *copy, recmap_parser *parser) {
    const char **keys =
        arena_copy(&parser->memory, copy->index_keys, copy->index_count * sizeof *keys);
    copy->sizes = arena_copy(&parser->memory, copy->sizes, copy->index_count * sizeof *copy->sizes);
    if (!keys || !copy->sizes) return false;
    for (size_t i = 0; i < copy->index_count; i++) {
        keys[i] = arena_copy_text(&parser->memory, keys[i]);
        if (!keys[i]) return false;
    }
    copy->index_keys = keys;
    return true;
}

bool spec_copy(recmap_feature *copy, recmap_parser *parser, const recmap_feature *feature) {
    *copy = *feature;
    copy->name = arena_copy_text(&parser->memory, feature->name);
    copy->key = arena_copy_text(&parser->memory, feature->key ? feature->key : feature->name);
    copy->shape =
        arena_copy(&parser->memory, feature->shape, feature->dimension_count * sizeof *copy->shape);
    return copy->name && copy->key && copy->shape &&
           copy_values(&copy->defaults, parser, copy->default_count) &&
           copy_values(&copy->prepend, parser, copy->prepend_count) &&
           copy_values(&copy->append, parser, copy->append_count) &&
           copy_partitions(copy, parser) && copy_indices(copy, parser);
}

/* Converts one default to an element. */
static bool convert_default(void *element, const recmap_feature *feature,
                            const recmap_value *value) {
    if (value->type == RECMAP_TYPE_INT64)
        return convert_int64(element, feature->element, &value->as.int64, 1) == 1;
    if (value->type == RECMAP_TYPE_FLOAT)
        return convert_float(element, feature->element, &value->as.float32, 1) == 1;
    recmap_bytes view = {value->as.bytes.data, value->as.bytes.size};
    memcpy(element, &view, sizeof view);
    return true;
}

recmap_status spec_convert(const void **elements, recmap_parser *parser,
                           const recmap_feature *feature, const recmap_value *values,
                           size_t value_count, uint64_t count, recmap_error *error) {
    size_t size = recmap_element_size(feature->element);
    uint8_t *copy = arena_allocate(&parser->memory, count * size);
    uint64_t element[sizeof(recmap_bytes) / sizeof(uint64_t)];
    if (!copy) return fail_memory(error);
    for (uint64_t i = 0; i < count; i++) {
        if (!convert_default(element, feature, &values[i % value_count]))
            return fail(error, RECMAP_INVALID, "feature '%s': %s cannot hold a default",
                        feature->name, recmap_element_name(feature->element));
        memcpy(copy + i * size, element, size);
    }
    *elements = copy;
    return RECMAP_OK;
}

recmap_status spec_fill(const void **elements, recmap_parser *parser, const recmap_feature *feature,
                        uint64_t count, recmap_error *error) {
    return spec_convert(elements, parser, feature, feature->defaults, feature->default_count, count,
                        error);
}
