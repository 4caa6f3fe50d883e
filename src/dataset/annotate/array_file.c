#include "dataset/annotate/array_file.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/core/bytes.h"
#include "base/core/error.h"

/* The file: "\x93NUMPY", major and minor version, the header's size (2 bytes in version 1, else 4),
 * the header, which is a Python dictionary as text, and the items. */
enum { MAGIC_SIZE = 6, VERSION_SIZE = 2, HEADER_MAX = 4096 };

static recmap_status fail_array(const struct array_file *array, recmap_error *error,
                                const char *what) {
    fail(error, RECMAP_INVALID, "%s", what);
    fail_file(error, array->path);
    fail_advise(error, "save an array with one number or byte string for each record with "
                       "numpy.save");
    return RECMAP_INVALID;
}

/* The text after `'name': ` in the header, or NULL. */
static const char *find_entry(const char *header, const char *name) {
    const char *found = strstr(header, name);
    return found ? found + strlen(name) : NULL;
}

static bool read_decimal(uint64_t *number, const char **text) {
    char *end;
    if (**text < '0' || **text > '9') return false;
    *number = strtoull(*text, &end, 10);
    *text = end;
    return *number < UINT64_MAX / 1024;
}

/* Reads '<f4' and the like. False if items are not little-endian numbers or byte strings. */
static bool read_kind(struct array_file *array, const char *text) {
    uint64_t size;
    if (text[0] != '\'' || !memchr("<|", text[1], 2) || !text[2]) return false;
    array->kind = text[2];
    text += 3;
    if (!read_decimal(&size, &text) || *text != '\'') return false;
    array->item_size = (size_t)size;
    bool is_power = size == 1 || size == 2 || size == 4 || size == 8;
    switch (array->kind) {
    case 'i':
    case 'u': array->type = RECMAP_TYPE_INT64; return is_power;
    case 'b': array->type = RECMAP_TYPE_INT64; return size == 1;
    case 'f': array->type = RECMAP_TYPE_FLOAT; return size == 4 || size == 8;
    case 'S': array->type = RECMAP_TYPE_BYTES; return size > 0;
    default: return false;
    }
}

/* Reads (COUNT,): an array of one dimension. */
static bool read_shape(struct array_file *array, const char *text) {
    if (*text++ != '(' || !read_decimal(&array->count, &text)) return false;
    return text[0] == ',' && text[1] == ')';
}

static recmap_status read_header(struct array_file *array, const char *header, size_t size,
                                 recmap_error *error) {
    const char *kind = find_entry(header, "'descr': "), *shape = find_entry(header, "'shape': ");
    if (!kind || !shape) return fail_array(array, error, "is not an array in NumPy's format");
    if (!read_kind(array, kind))
        return fail_array(array, error, "the type of the array's items is not supported");
    if (!read_shape(array, shape))
        return fail_array(array, error, "the array does not have one dimension");
    if (array->count > size / array->item_size || array->count * array->item_size != size)
        return fail_array(array, error, "the file size does not match the array");
    return RECMAP_OK;
}

static double read_double(const uint8_t *item) {
    double number;
    uint64_t bits = load64(item);
    memcpy(&number, &bits, sizeof bits);
    return number;
}

/* Doubles are a column of floats if that changes none of them. */
static void narrow_doubles(struct array_file *array) {
    if (array->kind != 'f' || array->item_size != sizeof(double)) return;
    for (uint64_t i = 0; i < array->count && array->type == RECMAP_TYPE_FLOAT; i++) {
        double number = read_double(array->items + i * sizeof number);
        if ((double)(float)number != number && number == number) array->type = RECMAP_TYPE_FLOAT64;
    }
}

static recmap_status parse(struct array_file *array, recmap_error *error) {
    char header[HEADER_MAX + 1];
    const uint8_t *data = array->map->data;
    size_t size = array->map->size, start = MAGIC_SIZE + VERSION_SIZE + 2;
    if (size < start + 2 || memcmp(data, "\x93NUMPY", MAGIC_SIZE) != 0)
        return fail_array(array, error, "is not an array in NumPy's format");
    size_t header_size = load16(data + MAGIC_SIZE + VERSION_SIZE);
    if (data[MAGIC_SIZE] > 1) {
        header_size = load32(data + MAGIC_SIZE + VERSION_SIZE);
        start += 2;
    }
    if (header_size > HEADER_MAX || header_size > size - start)
        return fail_array(array, error, "is not an array in NumPy's format");
    memcpy(header, data + start, header_size);
    header[header_size] = 0;
    array->items = data + start + header_size;
    RETURN_IF_FAILED(read_header(array, header, size - start - header_size, error));
    narrow_doubles(array);
    return RECMAP_OK;
}

recmap_status array_file_open(struct array_file *array, const char *path, recmap_error *error) {
    *array = (struct array_file){.path = path};
    RETURN_IF_FAILED(map_open(&array->map, path, error));
    return parse(array, error);
}

void array_file_close(struct array_file *array) {
    map_destroy(array->map);
    array->map = NULL;
}

/* The item's bytes as an integer; `sign_bits` extends the sign of a signed one. */
static bool read_integer(int64_t *value, const struct array_file *array, const uint8_t *item) {
    uint8_t eight[8] = {0};
    memcpy(eight, item, array->item_size);
    uint64_t bits = load64(eight);
    unsigned unused = 64 - 8 * (unsigned)array->item_size;
    if (array->kind == 'i') *value = (int64_t)(bits << unused) >> unused;
    else *value = (int64_t)bits;
    return array->kind == 'i' || bits <= INT64_MAX;
}

static float read_float(const struct array_file *array, const uint8_t *item) {
    if (array->item_size == sizeof(double)) return (float)read_double(item);
    float number;
    uint32_t bits = load32(item);
    memcpy(&number, &bits, sizeof bits);
    return number;
}

/* NumPy pads byte strings with zeros. */
static void read_bytes(recmap_value *value, const struct array_file *array, const uint8_t *item) {
    size_t size = array->item_size;
    while (size && !item[size - 1]) size--;
    value->as.bytes.data = item;
    value->as.bytes.size = size;
}

static recmap_status fail_item(const struct array_file *array, uint64_t i, recmap_error *error) {
    const uint8_t *item = array->items + i * array->item_size;
    fail(error, RECMAP_INVALID, "item %" PRIu64 " is %" PRIu64 ", beyond int64 (-2^63 to 2^63 - 1)",
         i, load64(item));
    fail_file(error, array->path);
    fail_advise(error, "save .view(\"int64\"), which has the same bits, or byte strings");
    return RECMAP_INVALID;
}

recmap_status array_file_at(recmap_value *value, const struct array_file *array, uint64_t i,
                            recmap_error *error) {
    const uint8_t *item = array->items + i * array->item_size;
    bool fits = true;
    *value = (recmap_value){.type = array->type};
    switch (array->type) {
    case RECMAP_TYPE_INT64: fits = read_integer(&value->as.int64, array, item); break;
    case RECMAP_TYPE_FLOAT: value->as.float32 = read_float(array, item); break;
    case RECMAP_TYPE_FLOAT64: value->as.float64 = read_double(item); break;
    default: read_bytes(value, array, item); break;
    }
    if (!fits) return fail_item(array, i, error);
    if (!array->map->was_cut) return RECMAP_OK;
    fail(error, RECMAP_CORRUPT, "the file was cut short while it was read");
    fail_file(error, array->path);
    return RECMAP_CORRUPT;
}
