/* Prefixes: the first bytes of the entries of the requested features as writers encode them, so
 * that comparing an entry's first 32 bytes recognizes it, validates its lengths and locates its
 * data.
 *
 *     0a E 0a K key 12 V kind L 0a D data
 *
 * K is the size of the key. E, V, L and D are the sizes of what follows them, and the differences
 * between them depend on K alone. If all are below 128, each is one byte and E determines the
 * others. */
#ifndef RECMAP_PARSE_PLAN_PREFIXES_H
#define RECMAP_PARSE_PLAN_PREFIXES_H

#include "base/core/bytes.h"
#include "parse/example/names.h"
#include "parse/plan/slot.h"

enum {
    PREFIX_SIZE = 32,
    PREFIX_KEY_AT = 4,      /* offset of the key in its entry */
    PREFIX_KEY_MAX = 22,    /* the longest key whose prefix fits in PREFIX_SIZE */
    PREFIX_FRAME_SIZE = 10, /* the bytes of an entry besides key and data */
    PREFIX_HASH_MAX = 46,   /* the longest key that is hashed */
    PREFIX_WINDOW = 64,     /* bytes from the start of an entry that recognizing it may read */
};

/* How to read the values of a slot if its entry has the expected prefix. */
enum prefix_path {
    PREFIX_INT,   /* one integer */
    PREFIX_FLOAT, /* one float32 */
    PREFIX_VIEW,  /* one bytes value as a view */
    PREFIX_INTS,  /* like the three above, but for any other number of values */
    PREFIX_FLOATS,
    PREFIX_VIEWS,
    PREFIX_RUN, /* everything else */
};

/* The prefix for one slot. An entry whose second byte is E starts with `bytes`, with E added to
 * each byte where `lengths` is 0xff. Only bytes where `care` is 0xff are compared; it is 0 after
 * the prefix. */
struct prefix {
    _Alignas(PREFIX_SIZE) uint8_t bytes[PREFIX_SIZE];
    uint8_t lengths[PREFIX_SIZE];
    uint8_t care[PREFIX_SIZE];
    int64_t low;        /* for integers: the lowest value of the element */
    uint64_t span;      /* the highest value minus the lowest */
    uint32_t count;     /* number of elements if it is fixed, or 0 */
    uint32_t multiple;  /* 1 if the slot accepts any number of values, otherwise 2 */
    uint32_t first;     /* the first slot with the same name */
    uint8_t data_at;    /* offset of the data in the entry */
    uint8_t empty_size; /* E of an entry without data; 128 if the key is too long for a prefix */
    uint8_t path;
    uint8_t element_size; /* of integers */
};

/* Immutable once created. */
struct prefixes {
    struct prefix *of_slots;
    size_t count;
    const struct example_names *names;
    uint64_t
        *cells; /* hash table; a cell is the hash with its 16 low bits replaced by a slot's index */
    unsigned shift;
    bool has_others;     /* some names are not in the table */
    uint64_t masks[128]; /* masks for the key's first and last 8 bytes by key size; 0 for sizes
                            above the maximum */
    uint8_t last[128];
};

/* An empty cell. Plans with this many slots do not fit in the table. */
enum { PREFIXES_NONE = 0xffff };

/* Borrows `slots` and `names`, which are in the same order. Both must outlive the result. Returns
 * NULL if memory runs out. */
struct prefixes *prefixes_create(const struct slot *slots, size_t count,
                                 const struct example_names *names);
void prefixes_destroy(struct prefixes *prefixes);

/* Hashes the first and last eight bytes of a key of `size` bytes. May read PREFIX_WINDOW -
 * PREFIX_KEY_AT bytes, whatever the size is. */
static inline uint64_t prefixes_hash(const struct prefixes *prefixes, const uint8_t *key,
                                     uint8_t size) {
    const uint64_t first_factor = UINT64_C(0x9e3779b97f4a7c15);
    const uint64_t last_factor = UINT64_C(0xd1b54a32d192ed03);
    uint64_t mask = prefixes->masks[size & 127];
    uint64_t first = load64(key) & mask;
    uint64_t last = (load64(key + prefixes->last[size & 127]) & mask) + size;
    uint64_t mixed = first * first_factor + last * last_factor;
    return mixed ^ mixed >> 29;
}

/* Returns the first slot whose name has this hash, or PREFIXES_NONE. Different names may share a
 * hash, although rarely, so the caller must compare the name. */
static inline uint64_t prefixes_find(const struct prefixes *prefixes, uint64_t hash) {
    uint64_t cell = prefixes->cells[hash >> prefixes->shift] ^ (hash & ~(uint64_t)0xffff);
    return cell < PREFIXES_NONE ? cell : PREFIXES_NONE;
}

#endif
