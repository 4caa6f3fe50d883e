/* What does a record cost that is parsed into columns, from memory, without CRC, on one core?
 *
 * Batches of 256 consecutive records. Times are CPU times of the thread.
 * bench/peers/parse.py asks TensorFlow the same.
 *
 * usage: bench_parse FOLDER [REPEATS [CASE]] */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <recmap/parser.h>

#include "base/core/bytes.h"
#include "measure.h"
#include "parse/varints/varints.h"
#include "set.h"
#include "yardstick.h"

enum { BATCH = 256, RECORDS_MAX = 16384, TOKENS = 1024, SAMPLE_NS = 50000000 };

static const uint64_t hist_shape[] = {4}, tokens_shape[] = {TOKENS};

/* One of FIXED_LEN, a scalar; bytes are viewed. */
#define SMALL_FEATURE(feature_name, its_element)                                                   \
    { .name = (feature_name), .kind = RECMAP_FEATURE_FIXED_LEN, .element = (its_element) }

static const recmap_feature small_features[] = {
    SMALL_FEATURE("id", RECMAP_ELEMENT_BYTES),
    SMALL_FEATURE("label", RECMAP_ELEMENT_INT64),
    SMALL_FEATURE("user", RECMAP_ELEMENT_INT64),
    SMALL_FEATURE("item", RECMAP_ELEMENT_INT64),
    SMALL_FEATURE("hour", RECMAP_ELEMENT_INT64),
    SMALL_FEATURE("day", RECMAP_ELEMENT_INT64),
    SMALL_FEATURE("city", RECMAP_ELEMENT_INT64),
    SMALL_FEATURE("age", RECMAP_ELEMENT_INT64),
    SMALL_FEATURE("price", RECMAP_ELEMENT_FLOAT32),
    SMALL_FEATURE("ctr", RECMAP_ELEMENT_FLOAT32),
    SMALL_FEATURE("cat", RECMAP_ELEMENT_BYTES),
    SMALL_FEATURE("brand", RECMAP_ELEMENT_BYTES),
    SMALL_FEATURE("pos", RECMAP_ELEMENT_INT64),
    {.name = "hist",
     .kind = RECMAP_FEATURE_FIXED_LEN,
     .element = RECMAP_ELEMENT_INT64,
     .shape = hist_shape,
     .dimension_count = 1},
};
static const recmap_feature tokens_features[] = {{.name = "tokens",
                                                  .kind = RECMAP_FEATURE_FIXED_LEN,
                                                  .element = RECMAP_ELEMENT_INT64,
                                                  .shape = tokens_shape,
                                                  .dimension_count = 1}};
static const recmap_feature image_copied[] = {{.name = "image/encoded",
                                               .kind = RECMAP_FEATURE_FIXED_LEN,
                                               .element = RECMAP_ELEMENT_BYTES,
                                               .bytes_mode = RECMAP_BYTES_COPY}};
static const recmap_feature image_viewed[] = {SMALL_FEATURE("image/encoded", RECMAP_ELEMENT_BYTES)};

struct parse_case {
    const char *name; /* on the command line */
    const char *title;
    const char *set;
    unsigned shard; /* the one whose records are parsed */
    const recmap_feature *features;
    size_t feature_count;
    varints_function *varints; /* NULL: the best */
    struct goal wanted;
};

static const struct parse_case cases[] = {
    {"ordered", "14 small features, keys in one order", "small", 0, small_features, 14, NULL,
     AT_MAX(70)},
    {"shuffled", "14 small features, keys in any order", "small", 1, small_features, 14, NULL,
     AT_MAX(130)},
    {"portable", "1,024 token ids, portable", "tokens", 0, tokens_features, 1, varints_portable,
     NO_GOAL},
#ifdef VARINTS_X86
    {"avx2", "1,024 token ids, AVX2", "tokens", 0, tokens_features, 1, varints_avx2, NO_GOAL},
    {"avx512", "1,024 token ids, AVX-512", "tokens", 0, tokens_features, 1, varints_avx512,
     NO_GOAL},
#endif
#ifdef VARINTS_NEON
    {"neon", "1,024 token ids, NEON", "tokens", 0, tokens_features, 1, varints_neon, NO_GOAL},
#endif
    {"copied", "50 KB of image, copied", "large", 0, image_copied, 1, NULL, NO_GOAL},
    {"viewed", "50 KB of image, viewed", "large", 0, image_viewed, 1, NULL, AT_MAX(100)},
};

struct parse_bench {
    recmap_parser *parser;
    recmap_columns *columns;
    recmap_record records[RECORDS_MAX];
    size_t count;
};

/* Whole batches out of the shard, as bench/peers/parse.py takes them too. */
static void find_records(struct parse_bench *bench, const struct mapped_set *set, unsigned shard) {
    uint64_t first = set->record_count * shard / SET_SHARD_COUNT;
    uint64_t there = set->record_count * (shard + 1) / SET_SHARD_COUNT - first;
    bench->count = (size_t)min_u64(there, RECORDS_MAX);
    if (bench->count > BATCH) bench->count -= bench->count % BATCH;
    for (size_t i = 0; i < bench->count; i++) {
        const uint8_t *frame = (const uint8_t *)(uintptr_t)set->addresses[first + i];
        bench->records[i] = (recmap_record){frame + 12, load64(frame), first + i, NULL};
    }
}

static void parse_all(struct parse_bench *bench) {
    recmap_error error = RECMAP_ERROR_INIT;
    for (size_t i = 0; i < bench->count; i += BATCH)
        must(recmap_parser_parse(bench->columns, bench->parser, bench->records + i,
                                 (size_t)min_u64(BATCH, bench->count - i), RECMAP_PARSE_RAISE,
                                 &error),
             &error);
}

/* ns a record, over as many rounds through all batches as fill the time. */
static double time_parse(struct parse_bench *bench) {
    uint64_t start = thread_cpu_ns(), taken = 0;
    size_t rounds = 0;
    for (; taken < SAMPLE_NS; rounds++) {
        parse_all(bench);
        taken = thread_cpu_ns() - start;
    }
    return (double)taken / (double)(rounds * bench->count);
}

static void measure(const char *folder, const struct parse_case *parse_case, int repeats) {
    static struct parse_bench bench;
    recmap_error error = RECMAP_ERROR_INIT;
    struct samples times = {.count = 0};
    struct mapped_set set;
    if (!varints_force(parse_case->varints)) return;
    mapped_set_open(&set, folder, parse_case->set);
    find_records(&bench, &set, parse_case->shard);
    must(recmap_parser_create(&bench.parser, parse_case->features, parse_case->feature_count,
                              &error),
         &error);
    must(recmap_columns_create(&bench.columns, &error), &error);
    time_parse(&bench);
    for (int r = 0; r < repeats; r++) samples_add(&times, time_parse(&bench));
    print_row(&times, "ns a record", parse_case->wanted, "parse: %s", parse_case->title);
    recmap_columns_destroy(bench.columns);
    recmap_parser_release(bench.parser);
    mapped_set_close(&set);
}

int main(int argc, char **argv) {
    if (argc < 2) {
        fprintf(stderr, "usage: %s FOLDER [REPEATS [CASE]]\n", argv[0]);
        return 2;
    }
    int repeats = parse_repeats(argc > 2 ? argv[2] : NULL, 16);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (argc < 4 || !strcmp(argv[3], cases[i].name)) measure(argv[1], &cases[i], repeats);
    return 0;
}
