#include "parse/decode/list_decode.h"

#include <assert.h>
#include <stdlib.h>

#include <recmap/columns.h>

#include "parse/decode/raw_zlib.h"
#include "parse/plan/convert.h"
#include "parse/varints/varints.h"

enum {
    PACKED_TAG = 1 << 3 | WIRE_BYTES, /* packed numbers, or a bytes value */
    FLOAT_TAG = 1 << 3 | WIRE_FIXED32,
    INT64_TAG = 1 << 3 | WIRE_VARINT,
    CHUNK = 512,            /* values converted at a time */
    SURELY_SMALL = 1 << 16, /* bytes of values for which room is reserved without counting them */
};

static bool fail_list(struct list_decoder *decoder, enum list_trouble trouble) {
    decoder->trouble = trouble;
    return false;
}

static size_t element_size(const struct list_decoder *decoder) {
    return recmap_element_size(decoder->slot->element);
}

/* Reserves room for `count` more elements and returns where they go, or NULL if memory runs out.
 * Room for fixed counts already exists. */
static void *make_room(struct list_decoder *decoder, uint64_t count) {
    struct sink *sink = decoder->sink;
    size_t size = element_size(decoder), used, end;
    if (decoder->room == UINT64_MAX) {
        if (__builtin_add_overflow(decoder->at, count, &end) ||
            __builtin_mul_overflow(end, size, &end))
            return NULL;
        used = (size_t)decoder->at * size;
        if (!buffer_reserve(&sink->values, used, end)) return NULL;
    }
    return sink->values.data + decoder->at * size;
}

static void advance(struct list_decoder *decoder, uint64_t count) {
    assert(count <= decoder->room);
    decoder->at += count;
    decoder->count += count;
    if (decoder->room != UINT64_MAX) decoder->room -= count;
}

static bool out_of_range(struct list_decoder *decoder, const uint8_t *bytes, uint64_t index,
                         recmap_value value) {
    decoder->bad_at = bytes;
    decoder->bad_index = decoder->count + index;
    decoder->bad = value;
    return fail_list(decoder, LIST_RANGE);
}

/* Returns where varint `index` of a valid run starts. */
static const uint8_t *find_varint(const uint8_t *data, size_t index) {
    for (; index > 0; data++)
        if (*data < 0x80) index--;
    return data;
}

static bool put_int64s(struct list_decoder *decoder, const int64_t *values, size_t count,
                       const uint8_t *data) {
    if (count > decoder->room) return fail_list(decoder, LIST_MALFORMED);
    void *out = make_room(decoder, count);
    if (!out) return fail_list(decoder, LIST_MEMORY);
    size_t good = convert_int64(out, decoder->slot->element, values, count);
    if (good != count)
        return out_of_range(decoder, find_varint(data, good), good,
                            (recmap_value){.type = RECMAP_TYPE_INT64, .as.int64 = values[good]});
    advance(decoder, count);
    return true;
}

static bool convert_int64s(struct list_decoder *decoder, const uint8_t *data, size_t size) {
    int64_t values[CHUNK + VARINTS_SLACK / sizeof(int64_t)];
    while (size > 0) {
        size_t cut = varints_cut(data, size, CHUNK);
        size_t count = varints_best()(values, CHUNK, data, cut);
        if (!cut || count == VARINTS_BAD) return fail_list(decoder, LIST_MALFORMED);
        if (!put_int64s(decoder, values, count, data)) return false;
        data += cut;
        size -= cut;
    }
    return true;
}

/* Returns an upper bound of the number of varints in a run. It is exact for long runs, so that
 * no memory is reserved that is not needed. */
static uint64_t varints_max(const uint8_t *data, size_t size) {
    uint64_t count = 0;
    struct wire_trace trace;
    struct wire packed = {data, data + size};
    if (size <= SURELY_SMALL) return size;
    return wire_count_varints(&count, &packed, &trace) ? count : 0;
}

bool list_int64s(struct list_decoder *decoder, const uint8_t *data, size_t size) {
    if (decoder->slot->element != RECMAP_ELEMENT_INT64) return convert_int64s(decoder, data, size);
    uint64_t max = decoder->room;
    if (max == UINT64_MAX) max = varints_max(data, size);
    int64_t *out = make_room(decoder, max);
    if (!out) return fail_list(decoder, LIST_MEMORY);
    size_t count = varints_best()(out, max, data, size);
    if (count == VARINTS_BAD) return fail_list(decoder, LIST_MALFORMED);
    advance(decoder, count);
    return true;
}

static void load_floats(float *values, const uint8_t *data, size_t count) {
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    memcpy(values, data, count * sizeof *values);
#else
    for (size_t i = 0; i < count; i++) {
        uint32_t bits = load32(data + 4 * i);
        memcpy(&values[i], &bits, sizeof bits);
    }
#endif
}

/* Converts in chunks through a buffer on the stack, because the values in the record are unaligned.
 */
static bool convert_floats(struct list_decoder *decoder, const uint8_t *data, size_t count) {
    float values[CHUNK];
    size_t size = element_size(decoder);
    uint8_t *out = make_room(decoder, count);
    if (!out) return fail_list(decoder, LIST_MEMORY);
    while (count > 0) {
        size_t part = count < CHUNK ? count : CHUNK;
        load_floats(values, data, part);
        size_t good = convert_float(out, decoder->slot->element, values, part);
        if (good != part)
            return out_of_range(
                decoder, data + 4 * good, good,
                (recmap_value){.type = RECMAP_TYPE_FLOAT, .as.float32 = values[good]});
        advance(decoder, part);
        out += part * size;
        data += 4 * part;
        count -= part;
    }
    return true;
}

bool list_floats(struct list_decoder *decoder, const uint8_t *data, size_t size) {
    size_t count = size / 4;
    if (size % 4 || count > decoder->room) return fail_list(decoder, LIST_MALFORMED);
    if (decoder->slot->element != RECMAP_ELEMENT_FLOAT32)
        return convert_floats(decoder, data, count);
    float *out = make_room(decoder, count);
    if (!out) return fail_list(decoder, LIST_MEMORY);
    load_floats(out, data, count);
    advance(decoder, count);
    return true;
}

/* A partial element at the end is completed with zeros, as tf.io.decode_raw does. */
static bool resized_raw_elements(struct list_decoder *decoder, const uint8_t *data, size_t size) {
    const struct slot *wanted = decoder->slot;
    size_t element_bytes = element_size(decoder), count = (size_t)decoder->room;
    uint8_t *elements = make_room(decoder, count), last[sizeof(uint64_t)] = {0};
    if (!elements) return fail_list(decoder, LIST_MEMORY);
    memset(elements, 0, count * element_bytes);
    size_t whole = size / element_bytes < count ? size / element_bytes : count;
    size_t rest = whole < count ? size % element_bytes : 0;
    if (rest) memcpy(last, data + whole * element_bytes, rest);
    size_t good = convert_raw(elements, wanted->element, data, wanted->raw_big_endian, whole);
    if (good != whole)
        return out_of_range(decoder, data + good * element_bytes, good,
                            (recmap_value){.type = RECMAP_TYPE_NONE});
    if (rest)
        convert_raw(elements + whole * element_bytes, wanted->element, last, wanted->raw_big_endian,
                    1);
    advance(decoder, count);
    return true;
}

/* A raw value, of which `size` bytes do not fit. `data` is where it starts in the record. */
static bool fail_raw(struct list_decoder *decoder, enum list_trouble trouble, const uint8_t *data,
                     size_t size) {
    decoder->bad_at = data;
    decoder->bad_index = decoder->pieces - 1;
    decoder->bad_size = size;
    return fail_list(decoder, trouble);
}

static bool raw_elements(struct list_decoder *decoder, const uint8_t *data, size_t size) {
    size_t count = size / element_size(decoder);
    if (size % element_size(decoder) || count > decoder->room ||
        (decoder->pieces > 1 && count != decoder->piece))
        return fail_raw(decoder, LIST_SIZE, data, size);
    decoder->piece = count;
    void *out = make_room(decoder, count);
    if (!out) return fail_list(decoder, LIST_MEMORY);
    size_t good =
        convert_raw(out, decoder->slot->element, data, decoder->slot->raw_big_endian, count);
    if (good != count)
        return out_of_range(decoder, data + good * element_size(decoder), good,
                            (recmap_value){.type = RECMAP_TYPE_NONE});
    advance(decoder, count);
    return true;
}

/* The largest size of a value when it is inflated. */
static size_t inflated_max(const struct list_decoder *decoder) {
    size_t size = element_size(decoder);
    return decoder->room < RAW_ZLIB_MAX / size ? (size_t)decoder->room * size : RAW_ZLIB_MAX;
}

static bool inflated_elements(struct list_decoder *decoder, const uint8_t *data, size_t size) {
    struct raw_zlib value = raw_zlib_inflate(data, size, inflated_max(decoder));
    if (!value.bytes && !value.reason) return fail_list(decoder, LIST_MEMORY);
    if (!value.bytes) {
        decoder->bad_reason = value.reason;
        return fail_raw(decoder, LIST_ZLIB, data, size);
    }
    bool is_good = raw_elements(decoder, value.bytes, value.size);
    if (!is_good) decoder->bad_at = data; /* instead of the place where it was inflated */
    free(value.bytes);
    return is_good;
}

bool list_bytes(struct list_decoder *decoder, const uint8_t *data, size_t size) {
    const struct slot *slot = decoder->slot;
    decoder->pieces++;
    if (slot->raw_resized)
        return decoder->pieces == 1 ? resized_raw_elements(decoder, data, size)
                                    : fail_list(decoder, LIST_MALFORMED);
    if (slot->raw_zlib) return inflated_elements(decoder, data, size);
    if (slot->raw) return raw_elements(decoder, data, size);
    if (decoder->room == 0) return fail_list(decoder, LIST_MALFORMED);
    recmap_bytes *out = make_room(decoder, 1);
    if (!out) return fail_list(decoder, LIST_MEMORY);
    *out = (recmap_bytes){data, size};
    advance(decoder, 1);
    return true;
}

bool list_run(struct list_decoder *decoder, const uint8_t *data, size_t size) {
    switch (decoder->slot->list) {
    case RECMAP_TYPE_INT64: return list_int64s(decoder, data, size);
    case RECMAP_TYPE_FLOAT: return list_floats(decoder, data, size);
    default: return list_bytes(decoder, data, size);
    }
}

/* A list may mix packed and single values, in any order and with unknown fields between them; all
 * values count. This is the only loop that accepts everything that protobuf does, so both paths end
 * here for unusual lists. */
bool list_fields(struct list_decoder *decoder, struct wire list) {
    struct wire_trace trace = {0};
    recmap_type kind = decoder->slot->list;
    while (!wire_done(&list)) {
        uint32_t tag;
        uint64_t number;
        struct wire run;
        bool good = wire_read_tag(&tag, &list, &trace);
        const uint8_t *cursor = list.at;
        if (good && tag == PACKED_TAG) {
            good = wire_read_bytes(&run, &list, &trace);
            if (good && !list_run(decoder, run.at, wire_left(&run))) return false;
        } else if (good && tag == INT64_TAG && kind == RECMAP_TYPE_INT64) {
            good = wire_read_varint(&number, &list, &trace);
            if (good && !list_int64s(decoder, cursor, (size_t)(list.at - cursor))) return false;
        } else if (good && tag == FLOAT_TAG && kind == RECMAP_TYPE_FLOAT) {
            good = wire_left(&list) >= 4;
            if (good && !list_floats(decoder, cursor, 4)) return false;
            list.at += good ? 4 : 0;
        } else if (good) {
            good = wire_skip(&list, tag, EXAMPLE_LIST_DEPTH, &trace);
        }
        if (!good) return fail_list(decoder, LIST_MALFORMED);
    }
    return true;
}

bool list_is_whole(const struct list_decoder *decoder) {
    const struct slot *wanted = decoder->slot;
    return wanted->count ? decoder->room == 0 : decoder->count % wanted->multiple == 0;
}
