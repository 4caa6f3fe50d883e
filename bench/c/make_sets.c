/* Writes the sets that are measured, always the same bytes:
 *
 *   small   1,000,000 tf.Examples of 14 features, about 240 bytes; in every second shard the
 * features of each record are in an order of their own, as many writers leave them
 *   medium    200,000 of 2.6 KB: tokens
 *   large      20,000 of 50 KB on average: bytes as long as JPEGs, sigma 20 KB
 *   tokens     32,768 of 1,024 token ids, nothing else
 *   equal   1,000,000 of 32 bytes each
 *   few        10,000 empty ones
 *   empty 100,000,000 empty ones, 1.6 GB     (only by name)
 *   ids    20,000,000 tf.Examples of about 60 bytes: an id and a label     (only by name)
 *
 * usage: bench_make_sets FOLDER [--divide N] [SET]...   without SET: all but the last two; N times
 * fewer records with --divide. Sets that are there stay. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <recmap/recmap.h>

#include "base/os/file.h"
#include "example.h"
#include "measure.h"
#include "random.h"
#include "set.h"

enum { SMALL_FEATURES = 14, TOKENS_MAX = 2000, TOKENS_FEW = 1024 };

struct recipe {
    const char *name;
    uint64_t record_count;
    void (*make)(struct example *example, uint64_t number, unsigned shard);
    bool only_by_name;
};

static void add_id(struct example *example, uint64_t number) {
    char id[32];
    example_add_bytes(example, "id", id,
                      (size_t)snprintf(id, sizeof id, "img-%09llu", (unsigned long long)number));
}

static void add_label(struct example *example, uint64_t *seed) {
    uint64_t label = random_below(seed, 1000);
    example_add_int64(example, "label", &label, 1);
}

/* Features imitate a click log: an id, small and large integers, prices, short texts and a list of
 * four. Each feature has its own range of values. */
static void add_small_feature(struct example *example, unsigned feature, uint64_t number,
                              uint64_t *seed) {
    static const char *const names[SMALL_FEATURES] = {"id",  "label", "user", "item",  "hour",
                                                      "day", "city",  "age",  "price", "ctr",
                                                      "cat", "brand", "pos",  "hist"};
    const char *name = names[feature];
    if (feature == 0) {
        add_id(example, number);
    } else if (feature == 8 || feature == 9) {
        float value = (float)random_below(seed, 100000) / 100;
        example_add_float(example, name, &value, 1);
    } else if (feature == 10 || feature == 11) {
        uint32_t text = (uint32_t)random_next(seed) | 0x40404040;
        text &= 0x7f7f7f7f;
        example_add_bytes(example, name, &text, sizeof text);
    } else {
        uint64_t values[4];
        size_t count = feature == 13 ? 4 : 1;
        for (size_t i = 0; i < count; i++)
            values[i] = random_below(seed, feature < 4 ? 100000 : 100);
        example_add_int64(example, name, values, count);
    }
}

static void make_small(struct example *example, uint64_t number, unsigned shard) {
    uint64_t seed = number;
    unsigned order[SMALL_FEATURES];
    for (unsigned i = 0; i < SMALL_FEATURES; i++) {
        uint64_t other = shard % 2 ? random_below(&seed, i + 1) : i;
        order[i] = i;
        order[i] = order[other];
        order[other] = i;
    }
    for (unsigned i = 0; i < SMALL_FEATURES; i++)
        add_small_feature(example, order[i], number, &seed);
}

static void make_medium(struct example *example, uint64_t number, unsigned shard) {
    (void)shard;
    uint64_t seed = number, tokens[TOKENS_MAX];
    size_t count = (size_t)(1075 + 180 * random_normal(&seed));
    if (count > TOKENS_MAX) count = TOKENS_MAX;
    for (size_t i = 0; i < count; i++) {
        uint64_t wide = random_next(&seed);
        tokens[i] = (wide >> 32) % (wide & 3 ? 32000 : 2000);
    }
    add_id(example, number);
    add_label(example, &seed);
    example_add_int64(example, "tokens", tokens, count);
}

static void make_large(struct example *example, uint64_t number, unsigned shard) {
    (void)shard;
    static uint64_t image[EXAMPLE_CAPACITY / 8];
    uint64_t seed = number;
    double size = 50000 + 20000 * random_normal(&seed);
    if (size < 4000) size = 4000 + (double)random_below(&seed, 2000);
    size_t words = (size_t)size / 8;
    for (size_t i = 0; i < words + 1; i++) image[i] = random_next(&seed);
    add_id(example, number);
    add_label(example, &seed);
    example_add_bytes(example, "image/encoded", image, (size_t)size);
}

static void make_tokens(struct example *example, uint64_t number, unsigned shard) {
    (void)shard;
    uint64_t seed = number, tokens[TOKENS_FEW];
    for (size_t i = 0; i < TOKENS_FEW; i++) tokens[i] = random_below(&seed, 32000);
    example_add_int64(example, "tokens", tokens, TOKENS_FEW);
}

static void make_equal(struct example *example, uint64_t number, unsigned shard) {
    (void)shard;
    uint64_t seed = number, words[4] = {random_next(&seed), random_next(&seed)};
    memcpy(example->bytes + example->end, words, sizeof words);
    example->end += sizeof words;
}

static void make_id_only(struct example *example, uint64_t number, unsigned shard) {
    (void)shard;
    uint64_t seed = number;
    add_id(example, number);
    add_label(example, &seed);
}

static const struct recipe recipes[] = {
    {"small", 1000000, make_small, false}, {"medium", 200000, make_medium, false},
    {"large", 20000, make_large, false},   {"equal", 1000000, make_equal, false},
    {"tokens", 32768, make_tokens, false}, {"few", 10000, NULL, false},
    {"empty", 100000000, NULL, true},      {"ids", 20000000, make_id_only, true},
};

static void write_record(recmap_writer *writer, const struct recipe *recipe, uint64_t number,
                         unsigned shard) {
    static struct example made;
    recmap_error error = RECMAP_ERROR_INIT;
    example_begin(&made);
    if (recipe->make) recipe->make(&made, number, shard);
    if (recipe->make && recipe->make != make_equal) example_end(&made);
    must(recmap_writer_write(writer, made.bytes + made.start, made.end - made.start, &error),
         &error);
}

static void write_shard(const struct recipe *recipe, const char *folder, unsigned shard,
                        uint64_t first, uint64_t end) {
    recmap_error error = RECMAP_ERROR_INIT;
    char path[SET_PATH_SIZE];
    struct file_stat stat;
    set_shard_path(path, folder, recipe->name, shard, SET_SHARD_COUNT);
    if (file_stat_path(&stat, path)) return;
    recmap_writer *writer;
    must(recmap_writer_create(&writer, path, NULL, &error), &error);
    for (uint64_t i = first; i < end; i++) write_record(writer, recipe, i, shard);
    must(recmap_writer_finish(writer, &error), &error);
    recmap_writer_destroy(writer);
}

static void write_set(const struct recipe *recipe, const char *folder, uint64_t divisor) {
    char path[SET_PATH_SIZE];
    snprintf(path, sizeof path, "%s/%s", folder, recipe->name);
    mkdir(folder, 0777);
    mkdir(path, 0777);
    uint64_t count = recipe->record_count / divisor;
    for (unsigned s = 0; s < SET_SHARD_COUNT; s++)
        write_shard(recipe, folder, s, count * s / SET_SHARD_COUNT,
                    count * (s + 1) / SET_SHARD_COUNT);
}

static bool is_named(const struct recipe *recipe, char **names, int count) {
    for (int i = 0; i < count; i++)
        if (!strcmp(recipe->name, names[i])) return true;
    return !count && !recipe->only_by_name;
}

int main(int argc, char **argv) {
    uint64_t divisor = 1;
    int first = 2;
    if (argc >= 4 && !strcmp(argv[2], "--divide")) {
        divisor = strtoull(argv[3], NULL, 10);
        first = 4;
    }
    if (argc < 2 || !divisor) {
        fprintf(stderr, "usage: %s FOLDER [--divide N] [SET]...\n", argv[0]);
        return 2;
    }
    for (size_t i = 0; i < sizeof recipes / sizeof *recipes; i++)
        if (is_named(&recipes[i], argv + first, argc - first))
            write_set(&recipes[i], argv[1], divisor);
    return 0;
}
