#include "simulation/world/model.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "simulation/world/random.h"
#include "simulation/world/report.h"

enum { LARGE_PLAIN = SHARDS_MAX - 2, LARGE_GZIP = SHARDS_MAX - 1, HEADER = 12, FOOTER = 4 };

struct model_shard model_shards[SHARDS_MAX];
unsigned model_shard_count;

static struct model_shard large[2];

/* ---- Records. */

static size_t put_varint(uint8_t *out, uint64_t value) {
    size_t size = 0;
    for (; value >= 128; value >>= 7) out[size++] = (uint8_t)(value | 128);
    out[size++] = (uint8_t)value;
    return size;
}

static size_t varint_size(uint64_t value) {
    uint8_t bytes[10];
    return put_varint(bytes, value);
}

static size_t put_tag(uint8_t *out, unsigned field, size_t size) {
    out[0] = (uint8_t)(field << 3 | 2);
    return 1 + put_varint(out + 1, size);
}

/* An entry of the map of features: its name, and a list with one value. */
static size_t put_feature(uint8_t *out, const char *name, unsigned list_field, unsigned value_tag,
                          const void *value, size_t size) {
    size_t name_size = strlen(name), value_size = 1 + varint_size(size) + size;
    size_t list_size = 1 + varint_size(value_size) + value_size;
    size_t entry_size = 1 + varint_size(name_size) + name_size + 1 + varint_size(list_size) +
                        list_size;
    uint8_t *start = out;
    out += put_tag(out, 1, entry_size);
    out += put_tag(out, 1, name_size);
    memcpy(out, name, name_size);
    out += name_size;
    out += put_tag(out, 2, list_size);
    out += put_tag(out, list_field, value_size);
    out += put_tag(out, value_tag, size);
    if (size) memcpy(out, value, size);
    return (size_t)(out + size - start);
}

static void fill_pad(uint8_t *pad, size_t size, uint64_t seed) {
    for (size_t i = 0; i < size; i += 8) {
        uint64_t word = random_mix(seed + i / 64);
        memcpy(pad + i, &word, size - i < 8 ? size - i : 8);
    }
}

/* The place in the shard's file of its record `number`, of those without damage. */
static unsigned place_in_file(const struct model_shard *shard, unsigned number) {
    return number + (number >= shard->damaged);
}

void model_id(char id[32], unsigned shard, unsigned number) {
    snprintf(id, 32, "%08" PRIx64 "-%u", model_shards[shard].seed & 0xffffffff,
             place_in_file(&model_shards[shard], number));
}

int64_t model_value(unsigned column, unsigned shard, unsigned number) {
    return (int64_t)(random_mix(model_shards[shard].seed ^ number) >> 16) + column;
}

static size_t make_record(uint8_t *record, const struct model_shard *shard, unsigned number) {
    static uint8_t pad[RECORD_SIZE_MAX];
    static uint8_t features[RECORD_SIZE_MAX];
    char id[32];
    uint8_t v[10];
    struct random_stream choices = random_stream(shard->seed, number);
    size_t pad_size = (size_t)random_below(&choices, shard->pad_max + 1);
    fill_pad(pad, pad_size, random_next(&choices));
    snprintf(id, sizeof id, "%08" PRIx64 "-%u", shard->seed & 0xffffffff, number);
    size_t v_size = put_varint(v, number), size = 0;
    size += put_feature(features + size, "id", 1, 1, id, strlen(id));
    size += put_feature(features + size, "pad", 1, 1, pad, pad_size);
    size += put_feature(features + size, "v", 3, 1, v, v_size);
    size_t tag = put_tag(record, 1, size);
    memcpy(record + tag, features, size);
    return tag + size;
}

size_t model_record(uint8_t *record, unsigned shard, unsigned number) {
    return make_record(record, &model_shards[shard], place_in_file(&model_shards[shard], number));
}

/* ---- Files. */

static uint32_t crc32c(const uint8_t *data, size_t size) {
    static uint32_t table[256];
    if (!table[1])
        for (uint32_t i = 0; i < 256; i++) {
            table[i] = i;
            for (int bit = 0; bit < 8; bit++)
                table[i] = table[i] >> 1 ^ (table[i] & 1 ? 0x82f63b78u : 0);
        }
    uint32_t crc = ~0u;
    for (size_t i = 0; i < size; i++) crc = table[(crc ^ data[i]) & 255] ^ crc >> 8;
    return ~crc;
}

static uint32_t masked(const uint8_t *data, size_t size) {
    uint32_t crc = crc32c(data, size);
    return (crc >> 15 | crc << 17) + 0xa282ead8u;
}

static size_t put_frame(uint8_t *out, const uint8_t *record, size_t size) {
    uint64_t length = size;
    uint32_t header_check, check = masked(record, size);
    memcpy(out, &length, 8);
    header_check = masked(out, 8);
    memcpy(out + 8, &header_check, 4);
    memcpy(out + HEADER, record, size);
    memcpy(out + HEADER + size, &check, FOOTER);
    return HEADER + size + FOOTER;
}

static void compress_file(struct model_shard *shard) {
    z_stream stream = {0};
    uLong bound = compressBound(shard->file_size) + 64;
    uint8_t *out = malloc(bound);
    if (deflateInit2(&stream, 1, Z_DEFLATED, 15 + 16, 5, Z_DEFAULT_STRATEGY) != Z_OK)
        run_fail("the world cannot compress");
    stream.next_in = shard->file;
    stream.avail_in = (uInt)shard->file_size;
    stream.next_out = out;
    stream.avail_out = (uInt)bound;
    deflate(&stream, Z_FINISH);
    free(shard->file);
    shard->file = out;
    shard->file_size = stream.total_out;
    deflateEnd(&stream);
}

static void make_file(struct model_shard *shard) {
    static uint8_t record[RECORD_SIZE_MAX];
    size_t most = shard->pad_max + 128;
    unsigned count = shard->record_count + (shard->damaged != NO_DAMAGE);
    shard->file = malloc(count * most + 1);
    shard->file_size = 0;
    for (unsigned i = 0; i < count; i++) {
        size_t size = make_record(record, shard, i);
        uint8_t *frame = shard->file + shard->file_size;
        size = put_frame(frame, record, size);
        shard->file_size += size;
        if (i == shard->damaged) frame[random_mix(shard->seed) % size] ^= 1 << shard->seed % 8;
    }
    if (shard->is_compressed) compress_file(shard);
}

void model_prepare(void) {
    large[0] = (struct model_shard){"/data/y.tfrecord", 77, 90, NO_DAMAGE, 120000, false, NULL, 0};
    large[1] = (struct model_shard){"/data/z.tfrecord", 78, 70, NO_DAMAGE, 120000, true, NULL, 0};
    make_file(&large[0]);
    make_file(&large[1]);
}

void model_init(uint64_t seed, bool has_large) {
    struct random_stream choices = random_stream(seed, 5);
    unsigned small_count = (unsigned)random_between(&choices, 3, 12);
    for (unsigned i = 0; i < small_count; i++) {
        struct model_shard *shard = &model_shards[i];
        *shard = (struct model_shard){.seed = random_next(&choices)};
        snprintf(shard->path, sizeof shard->path, "/data/%c.tfrecord", 'a' + (int)i);
        shard->record_count = (unsigned)random_scale(&choices, 60);
        shard->pad_max = (unsigned)random_scale(&choices, 2000);
        shard->is_compressed = random_once_in(&choices, 3);
        /* The first record shows what the file is. */
        shard->damaged = NO_DAMAGE;
        if (random_once_in(&choices, 8))
            shard->damaged = (unsigned)random_between(&choices, 1, shard->record_count);
        make_file(shard);
    }
    model_shard_count = small_count;
    if (has_large) {
        model_shards[model_shard_count++] = large[0];
        model_shards[model_shard_count++] = large[1];
    }
}
