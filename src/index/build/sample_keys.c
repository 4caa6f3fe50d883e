#include "index/build/sample_keys.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/core/plural.h"

/* A slot of the table is empty if its number is NO_NUMBER. */
#define NO_NUMBER UINT64_MAX

enum { NOTICE_SIZE = RECMAP_REPEATED_SIZE - 256 };

struct key_slot {
    uint64_t hash;
    uint64_t number; /* of the record */
};

struct sample_keys {
    const char *path; /* of the shard */
    struct key_slot *slots;
    size_t slot_count; /* a power of two, or 0 */
    size_t key_count;
    uint64_t repeated_key_count, repeated_file_count;
    char first[NOTICE_SIZE]; /* the first notice */
};

struct sample_keys *sample_keys_create(void) {
    return calloc(1, sizeof(struct sample_keys));
}

void sample_keys_destroy(struct sample_keys *keys) {
    if (!keys) return;
    free(keys->slots);
    free(keys);
}

static void empty_slots(struct key_slot *slots, size_t count) {
    for (size_t i = 0; i < count; i++) slots[i].number = NO_NUMBER;
}

void sample_keys_begin(struct sample_keys *keys, const char *path) {
    keys->path = path;
    keys->key_count = 0;
    empty_slots(keys->slots, keys->slot_count);
}

/* Hashes are XXH3, so their lowest bits choose a slot as well as any. */
static struct key_slot *find_slot(struct key_slot *slots, size_t count, uint64_t hash) {
    size_t i = (size_t)hash & (count - 1);
    while (slots[i].number != NO_NUMBER && slots[i].hash != hash) i = (i + 1) & (count - 1);
    return &slots[i];
}

/* Keeps the table at most half full. */
static bool reserve(struct sample_keys *keys) {
    enum { FIRST = 1 << 10 };
    if (keys->key_count < keys->slot_count / 2) return true;
    size_t count = keys->slot_count ? keys->slot_count * 2 : FIRST;
    struct key_slot *slots = calloc(count, sizeof *slots);
    if (!slots) return false;
    empty_slots(slots, count);
    for (size_t i = 0; i < keys->slot_count; i++)
        if (keys->slots[i].number != NO_NUMBER)
            *find_slot(slots, count, keys->slots[i].hash) = keys->slots[i];
    free(keys->slots);
    keys->slots = slots;
    keys->slot_count = count;
    return true;
}

static void notice_key(struct sample_keys *keys, const struct run_key *key, uint64_t offset,
                       uint64_t number, uint64_t earlier) {
    if (keys->repeated_key_count++ || keys->repeated_file_count) return;
    snprintf(keys->first, sizeof keys->first,
             "%s: record %" PRIu64 " at byte %" PRIu64 ": its key \"%s\" is that of record %" PRIu64
             ", so one sample may be in parts",
             keys->path, number, offset, key->text, earlier);
}

static void notice_file(struct sample_keys *keys, const struct run_key *key, uint64_t offset,
                        uint64_t number) {
    if (keys->repeated_file_count++ || keys->repeated_key_count) return;
    snprintf(keys->first, sizeof keys->first,
             "%s: record %" PRIu64 " at byte %" PRIu64 ": the sample \"%s\" has a file twice, at "
             "byte %" PRIu64,
             keys->path, number, offset, key->text, offset + key->repeated_at);
}

bool sample_keys_add(struct sample_keys *keys, const struct record_run *run, uint64_t first) {
    for (size_t i = 0; i < run->key_count; i++) {
        struct run_key key = run_key_at(run, i);
        if (key.repeated_at != RUN_NOT_REPEATED)
            notice_file(keys, &key, run->offsets[i], first + i);
        if (keys->key_count >= SAMPLE_KEYS_MAX) continue;
        if (!reserve(keys)) return false;
        struct key_slot *slot = find_slot(keys->slots, keys->slot_count, key.hash);
        if (slot->number != NO_NUMBER) {
            notice_key(keys, &key, run->offsets[i], first + i, slot->number);
            continue;
        }
        *slot = (struct key_slot){key.hash, first + i};
        keys->key_count++;
    }
    return true;
}

void sample_keys_report(recmap_index_summary *summary, const struct sample_keys *keys) {
    summary->repeated[0] = 0;
    summary->repeated_key_count = keys->repeated_key_count;
    summary->repeated_file_count = keys->repeated_file_count;
    uint64_t more = keys->repeated_key_count + keys->repeated_file_count - 1;
    char others[64] = "";
    if (!keys->first[0]) return;
    if (more)
        snprintf(others, sizeof others, " (and %" PRIu64 " more such record%s)", more,
                 plural(more));
    snprintf(summary->repeated, sizeof summary->repeated,
             "%s%s. Adjacent files of the same name up to the first dot form a sample: write the "
             "archive in the order of names (tar --sort=name), each name once",
             keys->first, others);
}
