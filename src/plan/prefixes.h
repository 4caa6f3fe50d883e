/* Heads: how the entries of wanted features begin in the bytes that writers make, so that an entry
 * is recognised, measured and located by comparing its first 32 bytes.
 *
 *     0a E 0a K key 12 V kind L 0a D data
 *
 * K is the size of the key; E, V, L and D, the sizes of what is behind them, differ from each other
 * by numbers that depend on K alone. With all of them below 128 each is a byte, and one of them
 * tells the others. */
#ifndef RECMAP_PLAN_HEADS_H
#define RECMAP_PLAN_HEADS_H

#include "base/bytes.h"
#include "example/names.h"
#include "plan/slot.h"

enum {
    HEAD_SIZE = 32,
    HEAD_KEY_AT = 4,      /* of a key within its entry */
    HEAD_KEY_MAX = 22,    /* the longest whose head is no longer than HEAD_SIZE */
    HEAD_FRAME_SIZE = 10, /* what an entry has beside key and data */
    HEAD_HASH_MAX = 46,   /* the longest key that is hashed */
    HEAD_WINDOW = 64,     /* bytes from the begin of an entry on that recognising it may read */
};

/* How the values of a slot are taken, where the entry is as its head says. */
typedef enum head_way {
    HEAD_INT,   /* one integer */
    HEAD_FLOAT, /* one float32 */
    HEAD_VIEW,  /* one bytes value as a view */
    HEAD_INTS,  /* the same, but any other number of them: */
    HEAD_FLOATS,
    HEAD_VIEWS,
    HEAD_RUN, /* anything else */
} head_way;

/* Of one slot. An entry with E in its second byte begins with `bytes`, to which E is added where
 * `lengths` has 0xff; what lies behind the head has 0 in `care`. */
struct head {
    _Alignas(HEAD_SIZE) uint8_t bytes[HEAD_SIZE];
    uint8_t lengths[HEAD_SIZE];
    uint8_t care[HEAD_SIZE];
    int64_t low;        /* integers: the lowest that the element can hold, */
    uint64_t span;      /* and the highest less that */
    uint32_t count;     /* of elements, where that is fixed */
    uint32_t multiple;  /* the slot's, or 2 where that is more */
    uint32_t first;     /* the first slot of the same name */
    uint8_t data_at;    /* of the data within the entry */
    uint8_t empty_size; /* E of an entry without data; 128 for a key that is too long */
    uint8_t way;
    uint8_t element_size; /* of integers */
};

/* Never changes once it is made. */
struct heads {
    struct head *of_slots;
    size_t count;
    const struct example_names *names;
    uint64_t *cells; /* a hash table: the hash without its 16 lowest bits, which are a slot */
    unsigned shift;
    bool has_others;     /* some names are not in the table */
    uint64_t masks[128]; /* by the size of a key, for heads_hash: 0 beyond HEAD_HASH_MAX */
    uint8_t last[128];
};

/* In a cell: no slot. So many slots are too many for the table. */
enum { HEADS_NONE = 0xffff };

/* Of slots that outlive it, whose names are `names`, which are in the same order and outlive it,
 * too. NULL when memory is out. */
struct heads *heads_create(const struct slot *slots, size_t count,
                           const struct example_names *names);
void heads_destroy(struct heads *heads);

/* Of the first and last eight bytes of a key of `size` bytes. May read HEAD_WINDOW - HEAD_KEY_AT
 * bytes, whatever the size. */
static inline uint64_t heads_hash(const struct heads *heads, const uint8_t *key, uint8_t size) {
    const uint64_t first_factor = UINT64_C(0x9e3779b97f4a7c15);
    const uint64_t last_factor = UINT64_C(0xd1b54a32d192ed03);
    uint64_t mask = heads->masks[size & 127];
    uint64_t first = load64(key) & mask;
    uint64_t last = (load64(key + heads->last[size & 127]) & mask) + size;
    uint64_t mixed = first * first_factor + last * last_factor;
    return mixed ^ mixed >> 29;
}

/* The first slot with this hash of its name, or HEADS_NONE. Different names have one hash rarely,
 * but they may. */
static inline uint64_t heads_find(const struct heads *heads, uint64_t hash) {
    uint64_t cell = heads->cells[hash >> heads->shift] ^ (hash & ~(uint64_t)0xffff);
    return cell < HEADS_NONE ? cell : HEADS_NONE;
}

#endif
