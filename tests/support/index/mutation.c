#define _GNU_SOURCE
#include "support/index/mutation.h"

#include <stdlib.h>
#include <string.h>

#include "base/core/bytes.h"
#include "index/tables/count_chunk.h"
#include "index/tables/ids.h"
#include "index/tables/lifted.h"
#include "index/tables/offsets.h"
#include "support/index/build.h"

/* Numbers at which sums wrap, counts change and tables end. */
static uint64_t strange_number(uint64_t value, uint64_t record_count, struct rng *random) {
    switch (rng_below(random, 9)) {
    case 0: return value + 1;
    case 1: return value - 1;
    case 2: return 0;
    case 3: return UINT64_MAX - rng_below(random, 3);
    case 4: return (uint64_t)1 << rng_below(random, 64);
    case 5: return rng_below(random, record_count);
    case 6: return value + rng_below(random, 64);
    case 7: return value - rng_below(random, 64);
    default: return rng_next(random);
    }
}

static void change_manifest(struct forged *index, struct rng *random) {
    struct manifest *manifest = &index->manifest;
    uint64_t *const numbers[] = {
        &manifest->record_count, &manifest->byte_count,   &manifest->id_count,
        &manifest->shard_count,  &manifest->damage_count, &manifest->damaged_byte_count,
    };
    uint64_t *number = numbers[rng_below(random, sizeof numbers / sizeof *numbers)];
    *number = strange_number(*number, manifest->record_count, random);
}

static void change_column(struct forged *index, struct rng *random) {
    static const char *const defaults[] = {"", "0", "-9223372036854775808", "1e99", "nan", "x"};
    struct manifest *manifest = &index->manifest;
    if (!manifest->column_count) return;
    struct manifest_column *column = &manifest->columns[rng_below(random, manifest->column_count)];
    if (rng_one_in(random, 3))
        column->type = (recmap_type)rng_below(random, RECMAP_TYPE_FLOAT64 + 1);
    if (rng_one_in(random, 3))
        column->first_value = strange_number(column->first_value, manifest->record_count, random);
    if (rng_one_in(random, 3))
        column->null_count = strange_number(column->null_count, manifest->record_count, random);
    if (rng_one_in(random, 8)) manifest->format_version = 1 + (uint32_t)rng_below(random, 4);
    if (!rng_one_in(random, 3)) return;
    free(column->default_value);
    column->default_value = rng_one_in(random, 4) ? NULL : strdup(defaults[rng_below(random, 6)]);
}

static void change_counted(struct forged *index, struct rng *random) {
    static const char *const names[] = {"", "tokens", "raw", "other", "\xff"};
    struct manifest *manifest = &index->manifest;
    if (!manifest->counted_feature_count) return;
    struct manifest_counted *feature =
        &manifest->counted_features[rng_below(random, manifest->counted_feature_count)];
    if (rng_one_in(random, 2)) {
        free(feature->name);
        feature->name = strdup(names[rng_below(random, 5)]);
    }
    if (rng_one_in(random, 2))
        feature->element = (recmap_element)rng_below(random, RECMAP_ELEMENT_FLOAT64 + 1);
    if (!rng_one_in(random, 4)) return;
    manifest->counted_feature_count--;
    free(manifest->counted_features[manifest->counted_feature_count].name);
}

static void rename_shard(struct forged *index, struct shard_entry *shard, struct rng *random) {
    static const char *const names[] = {"../s", "/dev/zero",  ".",      "missing",       "//",
                                        "s00/", "forged.rmx", "a/../b", "/proc/self/mem"};
    enum { NAMES = sizeof names / sizeof *names };
    size_t other = (size_t)rng_below(random, index->shard_count);
    char *name =
        strdup(rng_one_in(random, 3) ? names[rng_below(random, NAMES)] : index->shards[other].path);
    /* Two shards that change places leave every name there once. */
    if (rng_one_in(random, 2)) {
        free(index->shards[other].path);
        index->shards[other].path = shard->path;
    } else {
        free(shard->path);
    }
    shard->path = name;
}

static void reframe_shard(struct forged *index, struct shard_entry *shard, struct rng *random) {
    static const char *const framings[] = {"tfrecord",    "ofrecord",       "lines",
                                           "tar",         "short",          "fixed:7,40,5",
                                           "fixed:0,1,0", "fixed:0,4096,0", "unknown"};
    enum { FRAMINGS = sizeof framings / sizeof *framings };
    size_t other = (size_t)rng_below(random, index->shard_count);
    const char *name = rng_one_in(random, 2) ? framings[rng_below(random, FRAMINGS)]
                                             : index->shards[other].framing;
    char *copy = strdup(name);
    free(shard->framing);
    shard->framing = copy;
}

static void change_shard(struct forged *index, struct rng *random) {
    struct shard_entry *shard = &index->shards[rng_below(random, index->shard_count)];
    struct shard_entry *other = &index->shards[rng_below(random, index->shard_count)];
    uint64_t *const numbers[] = {
        &shard->file_size, &shard->size,        &shard->record_count,        &shard->damage_count,
        &shard->tail_size, &shard->point_count, &shard->identity.sample_step};
    uint64_t *number = numbers[rng_below(random, sizeof numbers / sizeof *numbers)];
    switch (rng_below(random, 8)) {
    case 0:
    case 1:
        *number = strange_number(*number, index->manifest.record_count, random);
        /* A plain shard is refused at once unless both sizes are equal. */
        if (rng_one_in(random, 2)) shard->file_size = shard->size;
        break;
    case 2: shard->compression = (enum compression)rng_below(random, 3); break;
    case 3: shard->mtime_ns++; break;
    case 4: rename_shard(index, shard, random); break;
    case 5: reframe_shard(index, shard, random); break;
    case 6: { /* records that are said to be in another shard */
        uint64_t moved = rng_below(random, shard->record_count + 1);
        shard->record_count -= moved;
        other->record_count += moved;
        break;
    }
    default: { /* bytes that are */
        uint64_t moved = rng_below(random, shard->size + 1);
        shard->size -= moved;
        other->size += moved;
    }
    }
}

static void change_damage(struct forged *index, struct rng *random) {
    if (!index->damage_count) return;
    struct damage_entry *damage = &index->damages[rng_below(random, index->damage_count)];
    uint64_t *const numbers[] = {&damage->shard, &damage->offset, &damage->length};
    uint64_t *number = numbers[rng_below(random, 3)];
    if (rng_one_in(random, 2)) *number = strange_number(*number, index->shard_count, random);
    else *number += rng_below(random, 400) - 200;
}

/* So that the changes are not refused for the sums alone. */
static void add_up(struct forged *index) {
    struct manifest *manifest = &index->manifest;
    manifest->byte_count = manifest->record_count = 0;
    manifest->damage_count = manifest->damaged_byte_count = 0;
    for (size_t i = 0; i < index->shard_count; i++) {
        manifest->byte_count += index->shards[i].file_size;
        manifest->record_count += index->shards[i].record_count;
        manifest->damage_count += index->shards[i].damage_count;
    }
    for (size_t i = 0; i < index->damage_count; i++)
        manifest->damaged_byte_count += index->damages[i].length;
}

static void change_messages(struct forged *index, struct rng *random) {
    switch (rng_below(random, 9)) {
    case 0: change_manifest(index, random); break;
    case 1: change_column(index, random); break;
    case 2: change_damage(index, random); break;
    case 3: change_counted(index, random); break;
    default: change_shard(index, random);
    }
    if (!rng_one_in(random, 4)) add_up(index);
}

static void swap(uint64_t *a, uint64_t *b) {
    uint64_t kept = *a;
    *a = *b;
    *b = kept;
}

/* Offsets that descend, repeat, leave their shard or point into the middle of frames; `frames` are
 * those that are right. */
static void change_offsets(uint64_t *offsets, const uint64_t *frames, size_t count,
                           struct rng *random) {
    size_t first = (size_t)rng_below(random, count);
    size_t end = first + (size_t)rng_below(random, count - first) + 1;
    size_t other = (size_t)rng_below(random, count);
    uint64_t shift = rng_below(random, 600) - 300;
    switch (rng_below(random, 8)) {
    case 0: swap(&offsets[first], &offsets[other]); break;
    case 1: offsets[first] = offsets[other]; break;
    case 2: offsets[first] += shift; break;
    case 3: offsets[first] = strange_number(offsets[first], count, random); break;
    case 4:
        for (size_t i = first, k = end; i + 1 < k; i++) swap(&offsets[i], &offsets[--k]);
        break;
    case 5:
        for (size_t i = first; i < end; i++) offsets[i] += shift;
        break;
    case 6: /* a stretch of other frames */
        for (size_t i = first; i < end && other + i - first < count; i++)
            offsets[i] = frames[other + i - first];
        break;
    default: /* whole frames in any order, each a right one */
        for (size_t i = first; i + 1 < end; i += 2) {
            size_t frame = (size_t)rng_below(random, count - 1);
            offsets[i] = frames[frame];
            offsets[i + 1] = frames[frame + 1];
        }
    }
}

/* Decodes the offset table, changes a few offsets or shard hints, and encodes it again. The result
 * is a well-formed table with wrong content, which random byte changes would rarely produce. */
static void repack_offsets(struct forged *index, uint64_t record_count, struct rng *random) {
    if (!index->tables[STORE_OFFSETS].count) return;
    struct forged_value *value = &index->tables[STORE_OFFSETS].values[0];
    struct offsets_chunk chunk;
    size_t count = (size_t)record_count;
    if (count < 2 || count > OFFSETS_CHUNK_RECORDS ||
        !offsets_open(&chunk, value->data, value->size, count))
        return;
    uint64_t *frames = must_realloc(NULL, 2 * count * sizeof *frames), *offsets = frames + count;
    uint32_t *shards = must_realloc(NULL, count * sizeof *shards);
    for (size_t i = 0; i < count; i++) {
        frames[i] = offsets[i] = offsets_at(&chunk, i);
        shards[i] = offsets_shard_hint(&chunk, i);
    }
    for (uint64_t left = 1 + rng_below(random, 3); left > 0; left--)
        change_offsets(offsets, frames, count, random);
    if (rng_one_in(random, 8)) {
        uint32_t hint = (uint32_t)strange_number(shards[0], index->shard_count, random);
        for (size_t i = (size_t)rng_below(random, count); i < count; i++) shards[i] = hint;
    }
    free(value->data);
    value->data = must_realloc(NULL, offsets_capacity(count));
    value->size = offsets_pack(value->data, offsets, shards, count);
    free(frames);
    free(shards);
}

/* Decodes the id table, swaps or replaces a few hashes and numbers, and encodes it again. Order and
 * encoding may become wrong, as in a forged index. */
static void repack_ids(struct forged *index, uint64_t id_count, uint64_t record_count,
                       struct rng *random) {
    struct forged_table *table = &index->tables[STORE_IDS];
    unsigned number_size = ids_number_size(record_count);
    size_t count = (size_t)id_count;
    if (table->count < 2 || !count || table->values[0].size != ids_packed_size(count, number_size))
        return;
    struct ids_chunk chunk = {table->values[0].data, count, number_size};
    struct id_pair *pairs = must_realloc(NULL, count * sizeof *pairs);
    for (size_t i = 0; i < count; i++) pairs[i] = ids_at(&chunk, i);
    for (uint64_t left = 1 + rng_below(random, 4); left > 0; left--) {
        struct id_pair *pair = &pairs[rng_below(random, count)],
                       *other = &pairs[rng_below(random, count)];
        switch (rng_below(random, 4)) {
        case 0: swap(&pair->number, &other->number); break;
        case 1: swap(&pair->hash, &other->hash); break;
        case 2: pair->number = strange_number(pair->number, record_count, random); break;
        default: pair->hash = other->hash;
        }
    }
    ids_pack(table->values[0].data, pairs, count, number_size);
    free(pairs);
}

/* Decodes a chunk of element counts, changes a few or swaps them, and encodes it again. Counts
 * above the limit, and sums above it, are among the results. */
static void repack_counts(struct forged *index, uint64_t record_count, struct rng *random) {
    struct forged_table *table = &index->tables[STORE_COUNTS];
    size_t count = (size_t)record_count;
    struct count_chunk chunk;
    if (!table->count || !count || count > COUNT_CHUNK_RECORDS) return;
    struct forged_value *value = &table->values[rng_below(random, table->count)];
    if (!count_chunk_open(&chunk, value->data, value->size, count)) return;
    uint64_t *counts = must_realloc(NULL, count * sizeof *counts);
    for (size_t i = 0; i < count; i++) counts[i] = count_chunk_at(&chunk, i);
    for (uint64_t left = 1 + rng_below(random, 4); left > 0; left--) {
        uint64_t *changed = &counts[rng_below(random, count)];
        if (rng_one_in(random, 3)) swap(changed, &counts[rng_below(random, count)]);
        else *changed = strange_number(*changed, record_count, random);
    }
    free(value->data);
    value->data = must_realloc(NULL, count_chunk_capacity(count));
    value->size = count_chunk_pack(value->data, counts, count);
    free(counts);
}

/* Makes another value null, or a null a value. Texts are taken as they are: empty if null. */
static void change_nulls(struct column_values *values, uint8_t *nulls, struct rng *random) {
    for (uint64_t left = rng_below(random, 4); left > 0; left--) {
        size_t i = (size_t)rng_below(random, values->count);
        nulls[i] ^= 1;
        if (values->type != RECMAP_TYPE_BYTES && rng_one_in(random, 2))
            ((uint64_t *)values->words)[i] = rng_next(random);
    }
    if (rng_one_in(random, 8)) memset(nulls, (int)rng_below(random, 2), values->count);
}

/* Changes what a chunk says of its nulls, or of its dictionary: its prefix, its bits, its codes,
 * its ends. */
static void change_chunk(struct forged_value *value, struct rng *random) {
    size_t reach = rng_one_in(random, 2) ? COLUMN_PREFIX_SIZE : 40;
    if (reach > value->size) reach = value->size;
    for (uint64_t left = rng_below(random, 3); left > 0; left--) {
        uint8_t *place = &value->data[rng_below(random, reach)];
        *place = rng_one_in(random, 2) ? (uint8_t)rng_below(random, 8)
                                       : (uint8_t)(*place ^ 1 << rng_below(random, 8));
    }
}

/* Decodes a chunk of a column, changes which values are null, and encodes it again, with a few
 * wrong bytes now and then. The manifest then may have another number of nulls. */
static void repack_column(struct forged *index, uint64_t record_count, struct rng *random) {
    struct forged_table *table = &index->tables[STORE_COLUMNS];
    size_t count = (size_t)record_count, size = 0;
    struct column_chunk chunk;
    if (!table->count || !count || count > COLUMN_CHUNK_RECORDS) return;
    struct forged_value *value = &table->values[rng_below(random, table->count)];
    if (!column_open(&chunk, value->data, value->size, count)) return;
    uint64_t *words = must_realloc(NULL, count * sizeof *words);
    uint8_t *nulls = must_realloc(NULL, count);
    struct buffer bytes = BUFFER_INIT;
    for (size_t i = 0; i < count; i++) {
        recmap_value item = column_at(&chunk, i);
        nulls[i] = item.type == RECMAP_TYPE_NONE;
        words[i] = column_word(&item);
        if (chunk.type != RECMAP_TYPE_BYTES) continue;
        if (!nulls[i]) buffer_add(&bytes, item.as.bytes.data, item.as.bytes.size);
        words[i] = bytes.size;
    }
    struct column_values values = {chunk.type, count, words, bytes.data, nulls};
    change_nulls(&values, nulls, random);
    uint8_t *packed = column_pack(&size, &values);
    free(value->data);
    value->data = must_realloc(packed, size);
    value->size = size;
    if (rng_one_in(random, 2)) change_chunk(value, random);
    buffer_deinit(&bytes);
    free(nulls);
    free(words);
}

static void change_points(struct forged *index, struct rng *random) {
    enum { HEAD = 8, ENTRY = 24 };
    static const int fields[] = {0, 8, 16, 20}, widths[] = {8, 8, 4, 4};
    struct forged_table *table = &index->tables[STORE_POINTS];
    if (!table->count) return;
    struct forged_value *value = &table->values[rng_below(random, table->count)];
    struct forged_value *other = &table->values[rng_below(random, table->count)];
    if (value->size < HEAD + ENTRY) return;
    size_t entries = load32(value->data);
    if (!entries || entries > (value->size - HEAD) / ENTRY) return;
    uint8_t *entry = value->data + HEAD + rng_below(random, entries) * ENTRY;
    uint8_t *next = value->data + HEAD + rng_below(random, entries) * ENTRY;
    size_t field = (size_t)rng_below(random, 4);
    uint8_t *place = entry + fields[field], kept[ENTRY];
    uint64_t number = widths[field] == 8 ? load64(place) : load32(place);
    switch (rng_below(random, 5)) {
    case 0: number ^= (uint64_t)1 << rng_below(random, 64); break;
    case 1:
        memcpy(kept, entry, ENTRY);
        memcpy(entry, next, ENTRY);
        memcpy(next, kept, ENTRY);
        return;
    case 2: {
        struct forged_value moved = *value;
        value->data = other->data;
        value->size = other->size;
        other->data = moved.data;
        other->size = moved.size;
        return;
    }
    case 3: /* the point's entry for one number takes the value of another's */
        number = load64(next + (rng_one_in(random, 2) ? 8 : 0));
        break;
    default: number = strange_number(number, 40000, random);
    }
    if (widths[field] == 8) store64(place, number);
    else store32(place, (uint32_t)number);
}

/* Values are large, heads and directories small: half of the changes hit the first bytes. */
static void change_bytes(struct forged *index, struct rng *random) {
    struct forged_table *table = &index->tables[rng_below(random, STORE_TABLE_COUNT)];
    if (!table->count) return;
    struct forged_value *value = &table->values[rng_below(random, table->count)];
    size_t reach = rng_one_in(random, 2) && value->size > 128 ? 128 : value->size;
    if (!reach) return;
    uint8_t *place = &value->data[rng_below(random, reach)];
    switch (rng_below(random, 5)) {
    case 0: *place ^= (uint8_t)(1 << rng_below(random, 8)); break;
    case 1: *place = 0xff; break;
    case 2: *place = 0; break;
    case 3: *place = (uint8_t)rng_next(random); break;
    default: value->size = (size_t)rng_below(random, value->size + 1);
    }
}

static void move_value(struct forged *index, struct rng *random) {
    enum store_table table = (enum store_table)rng_below(random, STORE_TABLE_COUNT);
    struct forged_table *values = &index->tables[table];
    if (!values->count || values->count == FORGED_VALUES_MAX) return;
    struct store_key last = values->values[values->count - 1].key;
    switch (rng_below(random, 3)) {
    case 0: forged_remove(index, table); break;
    case 1: values->values[values->count - 1].key.series++; break;
    default:
        forged_add(index, table, (struct store_key){last.chunk, last.series + 1},
                   values->values[0].data, values->values[0].size);
    }
}

/* Applies one to three random changes. Tables whose errors are hardest to detect (offsets, seek
 * points) are changed most often. */
void mutate_index(struct forged *index, struct rng *random) {
    uint64_t record_count = index->manifest.record_count, id_count = index->manifest.id_count;
    bool has_messages = rng_one_in(random, 3);
    for (uint64_t left = has_messages ? 1 + rng_below(random, 2) : 0; left > 0; left--)
        change_messages(index, random);
    if (has_messages) forged_encode(index);
    for (uint64_t left = has_messages ? rng_below(random, 2) : 1 + rng_below(random, 2); left > 0;
         left--)
        switch (rng_below(random, 22)) {
        case 0:
        case 1:
        case 2: change_bytes(index, random); break;
        case 3: move_value(index, random); break;
        case 4:
        case 5: repack_ids(index, id_count, record_count, random); break;
        case 6:
        case 7:
        case 8:
        case 9: change_points(index, random); break;
        case 10:
        case 11: repack_counts(index, record_count, random); break;
        case 12:
        case 13:
        case 14:
        case 15: repack_column(index, record_count, random); break;
        default: repack_offsets(index, record_count, random);
        }
}
