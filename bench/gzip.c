/* GZIP shards: what do indexing, single records and epochs cost against inflating alone?
 *
 * The yardstick inflates each shard from its beginning with ISA-L, which checks the GZIP checksum,
 * and runs CRC-32C over what comes out, in the same process. FOLDER/SET holds compressed shards
 * (bench/run makes them). usage: bench_gzip FOLDER SET [REPEATS] */
#include <stdio.h>
#include <stdlib.h>

#include <isa-l/igzip_lib.h>

#include "base/crc32c.h"
#include "measure.h"
#include "random.h"
#include "set.h"

enum { PIECE = 1 << 20, BATCH = 256, THREADS = 2, GETS = 40 };

static volatile uint32_t crc_sum; /* so that it is computed */

typedef struct bench {
    const char *folder, *set;
    int repeats;
    char index_path[SET_PATH_SIZE];
    double alone; /* ns on a core to inflate all, with both checksums */
} bench;

/* Inflates a file of one member. */
static uint64_t inflate_file(const char *path) {
    static struct inflate_state state;
    static uint8_t in[PIECE], out[PIECE];
    uint64_t size = 0;
    FILE *file = must_have(fopen(path, "rb"));
    isal_inflate_init(&state);
    state.crc_flag = ISAL_GZIP;
    while (state.block_state != ISAL_BLOCK_FINISH) {
        if (!state.avail_in) {
            state.next_in = in;
            state.avail_in = (uint32_t)fread(in, 1, PIECE, file);
        }
        state.next_out = out;
        state.avail_out = PIECE;
        if (isal_inflate(&state) != ISAL_DECOMP_OK) exit(3);
        crc_sum += crc32c(out, PIECE - state.avail_out);
        size += PIECE - state.avail_out;
    }
    fclose(file);
    return size;
}

static double inflate_alone(const bench *of, uint64_t *size) {
    recmap_shards *shards;
    if (!set_find(&shards, of->folder, of->set)) exit(2);
    uint64_t begun = process_cpu_ns();
    *size = 0;
    for (size_t i = 0; i < recmap_shards_count(shards); i++)
        *size += inflate_file(recmap_shards_path(shards, i));
    recmap_shards_destroy(shards);
    return (double)(process_cpu_ns() - begun);
}

static void measure_index(bench *of, unsigned threads) {
    samples cpu = {.count = 0}, alone = {.count = 0};
    recmap_index_summary summary;
    recmap_index_options options = RECMAP_INDEX_OPTIONS_INIT;
    options.thread_count = threads;
    uint64_t size;
    for (int r = 0; r <= of->repeats; r++) {
        double bare = inflate_alone(of, &size);
        uint64_t begun = process_cpu_ns();
        set_build(&summary, of->folder, of->set, of->index_path, &options);
        double took = (double)(process_cpu_ns() - begun);
        if (r == 0) continue; /* warms the page cache */
        samples_add(&cpu, bare / took);
        samples_add(&alone, bare);
    }
    of->alone = samples_median(&alone);
    print_row(&cpu, "x inflating", AT_LEAST(0.9), "index %s, %u thread%s: rate by time on cores",
              of->set, threads, threads == 1 ? "" : "s");
}

static recmap_dataset *open_set(const bench *of) {
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_dataset *dataset;
    must(recmap_dataset_open(&dataset, of->index_path, NULL, &error), &error);
    return dataset;
}

/* Records of which no span is there yet: each from a data set that was just opened. */
static void measure_get(const bench *of) {
    recmap_error error = RECMAP_ERROR_INIT;
    samples times = {.count = 0};
    recmap_span_info info;
    uint64_t seed = 5;
    for (int i = 0; i < GETS; i++) {
        recmap_dataset *dataset = open_set(of);
        recmap_record record;
        uint64_t number = random_next(&seed) % recmap_dataset_count(dataset);
        uint64_t begun = thread_cpu_ns();
        must(recmap_dataset_get(dataset, number, &record, &error), &error);
        samples_add(&times, (double)(thread_cpu_ns() - begun) / 1e6);
        recmap_record_release(&record);
        must(recmap_dataset_get_span_info(&info, dataset, &error), &error);
        recmap_dataset_close(dataset);
    }
    print_row(&times, "ms", NO_GOAL, "%s: a first record, at random", of->set);
    samples ratio = {.count = 0};
    double half_shard = of->alone / 1e6 / (double)info.shard_count / 2;
    samples_add(&ratio, half_shard / samples_median(&times));
    print_row(&ratio, "x as fast", NO_GOAL, "%s: than inflating up to it (half a shard)", of->set);
}

static recmap_order *make_order(recmap_dataset *dataset, bool is_windowed) {
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_order *order;
    uint64_t count = recmap_dataset_count(dataset);
    must(is_windowed ? recmap_order_windowed(&order, count, BATCH, 16, 1, &error)
                     : recmap_order_shuffled(&order, count, 1, &error),
         &error);
    return order;
}

static double walk_epoch(recmap_dataset *dataset, recmap_order *order, unsigned threads) {
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_loader_options options = RECMAP_LOADER_OPTIONS_INIT;
    recmap_loader *loader;
    options.thread_count = threads;
    options.batch_size = BATCH;
    must(recmap_loader_create(&loader, dataset, order, &options, &error), &error);
    uint64_t begun = process_cpu_ns();
    recmap_batch *batch = NULL;
    do {
        must(recmap_loader_next(&batch, loader, &error), &error);
    } while (batch);
    double took = (double)(process_cpu_ns() - begun);
    recmap_loader_destroy(loader);
    return took;
}

static void measure_epoch(const bench *of, bool is_windowed, unsigned threads) {
    recmap_error error = RECMAP_ERROR_INIT;
    samples ratio = {.count = 0}, times = {.count = 0};
    const char *kind = is_windowed ? "windowed" : "shuffled";
    for (int r = 0; r < of->repeats; r++) {
        uint64_t size;
        double bare = inflate_alone(of, &size);
        recmap_dataset *dataset = open_set(of);
        recmap_order *order = make_order(dataset, is_windowed);
        recmap_span_info info;
        samples_add(&ratio, bare / walk_epoch(dataset, order, threads));
        must(recmap_dataset_get_span_info(&info, dataset, &error), &error);
        samples_add(&times, (double)recmap_dataset_get_span_statistics(dataset).inflate_count /
                                (double)info.span_count);
        recmap_order_release(order);
        recmap_dataset_close(dataset);
    }
    print_row(&ratio, "x inflating", NO_GOAL, "%s, a %s epoch, %u threads: rate by time on cores",
              of->set, kind, threads);
    print_row(&times, "times", NO_GOAL, "%s, a %s epoch: a span is inflated", of->set, kind);
}

int main(int argc, char **argv) {
    if (argc < 3) {
        fprintf(stderr, "usage: bench_gzip FOLDER SET [REPEATS]\n");
        return 2;
    }
    bench of = {.folder = argv[1], .set = argv[2], .repeats = parse_repeats(argv[3], 5)};
    set_index_path(of.index_path, of.folder, of.set, "");
    measure_index(&of, 1);
    measure_index(&of, THREADS);
    measure_get(&of);
    measure_epoch(&of, true, THREADS);
    measure_epoch(&of, false, THREADS);
    return 0;
}
