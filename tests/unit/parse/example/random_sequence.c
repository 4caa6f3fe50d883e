#include "unit/parse/example/random_sequence.h"

#include <string.h>

static void put_values(struct message *list, unsigned kind, struct random_state *random) {
    static const uint8_t zeros[200];
    static struct message packed;
    packed.size = 0;
    bool is_packed = draw_below(random, 2) != 0;
    for (uint64_t i = draw_below(random, 5); i > 0; i--) {
        uint64_t value = random_next(random) >> draw_below(random, 64);
        if (kind == 1) {
            put_bytes(list, 1, zeros, (size_t)(value % (value % 8 ? 10 : 200)));
        } else if (kind == 2) {
            if (!is_packed) put_tag(list, 1, WIRE_FIXED32);
            put_raw(is_packed ? &packed : list, &value, 4);
        } else {
            if (!is_packed) put_tag(list, 1, WIRE_VARINT);
            put_varint(is_packed ? &packed : list, value);
        }
    }
    if (is_packed && kind != 1) put_sub(list, 1, &packed);
}

static void put_feature(struct message *out, unsigned field, unsigned kind,
                        struct random_state *random) {
    static struct message list, body;
    list.size = body.size = 0;
    if (!draw_below(random, 30)) kind = 1 + (unsigned)draw_below(random, 3);
    put_values(&list, kind, random);
    if (draw_below(random, 10)) put_sub(&body, kind, &list);
    put_sub(out, field, &body);
}

static const char *const names[] = {"a", "words", "frames/rgb", "\xc3\xa9"};

/* Entries of a map: of features, or of lists of them. Kinds belong to names. */
static void put_map(struct message *out, unsigned field, bool is_lists,
                    struct random_state *random) {
    static struct message map, entry, list;
    map.size = 0;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (!draw_below(random, 4)) continue;
        entry.size = list.size = 0;
        put_bytes(&entry, 1, names[i], strlen(names[i]));
        unsigned kind = 1 + (unsigned)i % 3;
        if (is_lists) {
            for (uint64_t k = draw_below(random, 6); k > 0; k--)
                put_feature(&list, 1, kind, random);
            put_sub(&entry, 2, &list);
        } else {
            put_feature(&entry, 2, kind, random);
        }
        put_sub(&map, 1, &entry);
    }
    put_sub(out, field, &map);
}

void random_sequence(struct message *record, struct random_state *random) {
    record->size = 0;
    if (draw_below(random, 10)) put_map(record, 1, false, random);
    if (draw_below(random, 10)) put_map(record, 2, true, random);
}
