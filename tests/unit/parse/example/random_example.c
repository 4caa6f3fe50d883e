#include "unit/parse/example/random_example.h"

#include <string.h>

uint64_t random_next(struct random_state *random) {
    uint64_t z = random->state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

uint64_t draw_below(struct random_state *random, uint64_t limit) {
    return random_next(random) % limit;
}

struct maker {
    struct random_state *random;
    const struct oddness *odd;
};

static bool happens(const struct maker *make, unsigned in_1000) {
    return draw_below(make->random, 1000) < in_1000;
}

static uint64_t below(const struct maker *make, uint64_t limit) {
    return draw_below(make->random, limit);
}

/* Of any length in bits. */
static uint64_t any_number(const struct maker *make) {
    return random_next(make->random) >> below(make, 64);
}

/* A varint, perhaps with bytes that add nothing, perhaps with too many of them. */
static void put_number(struct message *message, const struct maker *make, uint64_t value) {
    put_varint(message, value);
    if (!happens(make, make->odd->padding)) return;
    message->data[message->size - 1] |= 0x80;
    for (uint64_t i = below(make, 4); i > 0; i--) put_hex(message, "80");
    put_hex(message, "00");
}

static void put_random_tag(struct message *message, const struct maker *make, uint32_t field,
                           unsigned type) {
    put_number(message, make, (uint64_t)field << 3 | type);
}

static void put_random_bytes(struct message *message, const struct maker *make, uint64_t size) {
    for (; size > 0; size--) {
        uint8_t byte = (uint8_t)random_next(make->random);
        put_raw(message, &byte, 1);
    }
}

/* A length-delimited field; the length may be wrong. */
static void put_field(struct message *message, const struct maker *make, uint32_t field,
                      const struct message *sub) {
    uint64_t size = sub->size;
    if (happens(make, make->odd->wrong))
        size = below(make, 2) ? size + below(make, 3) : any_number(make);
    put_random_tag(message, make, field, WIRE_BYTES);
    put_number(message, make, size);
    put_raw(message, sub->data, sub->size);
}

/* The field numbers of known fields come up too, with every wire type. */
static void put_unknown(struct message *message, const struct maker *make, unsigned depth) {
    static const uint32_t fields[] = {1, 2, 3, 4, 5, 15, 16, 2047, (1u << 29) - 1};
    static const unsigned types[] = {0, 1, 2, 5, 0, 1, 2, 5, 3};
    uint32_t field = fields[below(make, 9)];
    unsigned type = types[below(make, 9)];
    if (happens(make, make->odd->wrong)) field = 0;
    if (happens(make, make->odd->wrong)) type = (unsigned)below(make, 8);
    if (type == WIRE_GROUP && depth > 3) type = WIRE_FIXED32;
    put_random_tag(message, make, field, type);
    switch (type) {
    case WIRE_VARINT: put_number(message, make, any_number(make)); break;
    case WIRE_FIXED64: put_random_bytes(message, make, 8); break;
    case WIRE_FIXED32: put_random_bytes(message, make, 4); break;
    case WIRE_BYTES: {
        uint64_t size = below(make, 8) ? below(make, 9) : 130;
        put_number(message, make, size);
        put_random_bytes(message, make, size);
        break;
    }
    case WIRE_GROUP:
        for (uint64_t i = below(make, 3); i > 0; i--) put_unknown(message, make, depth + 1);
        put_random_tag(message, make, field + (happens(make, make->odd->wrong) ? 1 : 0),
                       WIRE_GROUP_END);
        break;
    default: break;
    }
}

static void maybe_unknown(struct message *message, const struct maker *make) {
    if (happens(make, make->odd->unknown)) put_unknown(message, make, 0);
}

static void put_packed(struct message *list, const struct maker *make, unsigned kind) {
    struct message packed;
    packed.size = 0;
    uint64_t count = below(make, 6) ? below(make, 4) : below(make, 60);
    for (; count > 0; count--) {
        if (kind == 3) put_number(&packed, make, any_number(make));
        else put_random_bytes(&packed, make, 4);
    }
    if (happens(make, make->odd->wrong)) put_random_bytes(&packed, make, below(make, 12));
    put_field(list, make, 1, &packed);
}

/* Writes the values of one list, packed or one by one, mixed with unknown fields. */
static void put_list(struct message *list, const struct maker *make, unsigned kind) {
    uint64_t count = below(make, 4);
    maybe_unknown(list, make);
    for (; count > 0; count--) {
        struct message bytes;
        bytes.size = 0;
        if (kind == 1) {
            put_random_bytes(&bytes, make, below(make, 8) ? below(make, 12) : 200);
            put_field(list, make, 1, &bytes);
        } else if (below(make, 2)) {
            put_packed(list, make, kind);
        } else if (kind == 2) {
            put_random_tag(list, make, 1, WIRE_FIXED32);
            put_random_bytes(list, make, 4);
        } else {
            put_random_tag(list, make, 1, WIRE_VARINT);
            put_number(list, make, any_number(make));
        }
        maybe_unknown(list, make);
    }
}

static void put_feature(struct message *feature, const struct maker *make) {
    uint64_t count = below(make, 8) ? 1 : 0;
    while (happens(make, make->odd->merge)) count++;
    maybe_unknown(feature, make);
    for (; count > 0; count--) {
        struct message list;
        list.size = 0;
        unsigned kind = 1 + (unsigned)below(make, 3);
        put_list(&list, make, kind);
        put_field(feature, make, kind, &list);
        maybe_unknown(feature, make);
    }
}

static void put_name(struct message *entry, const struct maker *make) {
    static const char *const good[] = {
        "",     "a", "b", "age", "image/encoded", "\xc3\xa9", "\xf0\x9f\x98\x80 eight and more",
        "label"};
    static const char *const bad[] = {"\xff",         "\xed\xa0\x80",     "\xc0\x80",
                                      "12345678\x80", "\xf4\x90\x80\x80", "\xe2\x82"};
    struct message name;
    name.size = 0;
    const char *text = good[below(make, 8)];
    if (happens(make, make->odd->wrong)) text = bad[below(make, 6)];
    put_raw(&name, text, strlen(text));
    put_field(entry, make, 1, &name);
}

static void put_value(struct message *entry, const struct maker *make) {
    struct message feature;
    feature.size = 0;
    put_feature(&feature, make);
    put_field(entry, make, 2, &feature);
}

static void put_random_entry(struct message *entry, const struct maker *make) {
    bool value_first = !below(make, 10), has_name = below(make, 20), has_value = below(make, 20);
    maybe_unknown(entry, make);
    if (has_name && !value_first) put_name(entry, make);
    maybe_unknown(entry, make);
    if (has_value) put_value(entry, make);
    while (happens(make, make->odd->merge)) put_value(entry, make);
    if (has_name && value_first) put_name(entry, make);
    if (happens(make, make->odd->merge)) put_name(entry, make);
    maybe_unknown(entry, make);
}

/* Writes a random Example. `odd` says how often legal but unusual forms occur, such as merged
 * messages and unknown fields. */
void random_example(struct message *example, struct random_state *random,
                    const struct oddness *odd) {
    struct maker make = {random, odd};
    example->size = 0;
    uint64_t count = below(&make, 12) ? 1 : 0;
    while (happens(&make, odd->merge)) count++;
    maybe_unknown(example, &make);
    for (; count > 0; count--) {
        struct message features, entry;
        features.size = 0;
        maybe_unknown(&features, &make);
        for (uint64_t i = below(&make, 6); i > 0; i--) {
            entry.size = 0;
            put_random_entry(&entry, &make);
            put_field(&features, &make, 1, &entry);
            maybe_unknown(&features, &make);
        }
        put_field(example, &make, 1, &features);
        maybe_unknown(example, &make);
    }
}

void random_damage(struct message *message, struct random_state *random) {
    if (message->size == 0) return;
    size_t at = (size_t)draw_below(random, message->size);
    switch (draw_below(random, 5)) {
    case 0: message->data[at] ^= (uint8_t)(1u << draw_below(random, 8)); break;
    case 1: message->data[at] = (uint8_t)random_next(random); break;
    case 2: message->size = at; break;
    case 3:
        memmove(message->data + at, message->data + at + 1, message->size - at - 1);
        message->size--;
        break;
    default:
        put_hex(message, "00");
        memmove(message->data + at + 1, message->data + at, message->size - at - 1);
        message->data[at] = (uint8_t)random_next(random);
    }
}
