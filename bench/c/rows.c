/* What do row orders cost: to make, per epoch, to seek, per row, in memory? And how full are packed
 * rows?
 *
 * Documents have log-normal lengths (mean 450, sigma 1.1). Making costs CPU time of all threads,
 * per document; seeks are single calls for random positions. usage: bench_rows [DOCUMENTS
 * [REPEATS]] */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "measure.h"
#include "random.h"

#include <recmap/rows.h>

typedef unsigned long long ull; /* for printf */

enum { SEEKS = 4096, BATCH = 64, BATCHES = 256 };

static uint32_t *make_lengths(size_t count) {
    uint32_t *lengths = must_have(malloc(count * sizeof *lengths));
    uint64_t state = 7;
    for (size_t i = 0; i < count; i++) {
        double length = exp(log(450) - 1.1 * 1.1 / 2 + 1.1 * random_normal(&state));
        lengths[i] = length < 1 ? 1 : (uint32_t)length;
    }
    return lengths;
}

static recmap_counts *make_counts(size_t count) {
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_counts *counts = NULL;
    uint32_t *lengths = make_lengths(count);
    must(recmap_counts_create(&counts, lengths, sizeof *lengths, count, &error), &error);
    free(lengths);
    return counts;
}

/* Memory of this process that belongs to no file, in MB. */
static double anonymous_memory(void) {
    char line[256];
    double kib = 0;
    FILE *status = fopen("/proc/self/status", "r");
    if (!status) return 0;
    while (fgets(line, sizeof line, status))
        if (!strncmp(line, "RssAnon:", 8)) kib = strtod(line + 8, NULL);
    fclose(status);
    return kib * 1024 / 1e6;
}

/* ---- Making orders and their epochs. */

static recmap_order *make_chunked(recmap_counts *counts, uint64_t size) {
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_order *order = NULL;
    recmap_chunked_options options = RECMAP_CHUNKED_OPTIONS_INIT;
    options.size = size;
    options.overlap = options.add = 1;
    must(recmap_order_chunked(&order, counts, &options, &error), &error);
    return order;
}

static recmap_order *make_packed(recmap_counts *counts, uint64_t size) {
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_order *order = NULL;
    recmap_packed_options options = RECMAP_PACKED_OPTIONS_INIT;
    options.size = size;
    must(recmap_order_packed(&order, counts, &options, &error), &error);
    return order;
}

static recmap_order *make_windows(recmap_counts *counts, uint64_t size) {
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_order *order = NULL;
    recmap_windows_options options = RECMAP_WINDOWS_OPTIONS_INIT;
    options.size = size;
    must(recmap_order_windows(&order, counts, &options, &error), &error);
    return order;
}

/* The tables of some epochs; the first two also touch their memory. */
static void measure_epochs(const recmap_order *order, const char *name, uint64_t documents,
                           struct goal goal, int repeats) {
    struct samples times = {.count = 0}, waits = {.count = 0};
    recmap_error error = RECMAP_ERROR_INIT;
    for (int epoch = 0; epoch < repeats + 2; epoch++) {
        uint64_t start = process_cpu_ns(), begin = now_ns();
        must(recmap_order_prepare(order, (uint64_t)epoch, &error), &error);
        if (epoch < 2) continue;
        samples_add(&times, (double)(process_cpu_ns() - start) / (double)documents);
        samples_add(&waits, (double)(now_ns() - begin) / 1e6);
    }
    print_row(&times, "ns a document and core", goal, "%s: table of an epoch", name);
    print_row(&waits, "ms", NO_GOAL, "%s: table of an epoch, on the clock", name);
}

/* ---- Rows. */

/* The epoch whose rows are measured. */
enum { EPOCH = 2 };

/* The first row after a seek costs the most, because the rows before it in its group must be
 * packed. The slowest of a series is printed too. The table is made first: measure_epochs has
 * replaced it by the table of a later epoch. */
static void measure_seeks(const recmap_order *order, const char *name, int repeats) {
    struct samples medians = {.count = 0}, slowest = {.count = 0};
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_pieces pieces = RECMAP_PIECES_INIT;
    uint64_t state = 9;
    must(recmap_order_prepare(order, EPOCH, &error), &error);
    for (int r = 0; r < repeats; r++) {
        double sum = 0, max = 0;
        for (int i = 0; i < SEEKS; i++) {
            uint64_t position = random_next(&state) % recmap_order_count(order);
            uint64_t start = thread_cpu_ns();
            must(recmap_order_pieces(&pieces, order, EPOCH, &position, 1, &error), &error);
            double taken = (double)(thread_cpu_ns() - start) / 1e3;
            sum += taken;
            if (taken > max) max = taken;
        }
        samples_add(&medians, sum / SEEKS);
        samples_add(&slowest, max);
    }
    recmap_pieces_deinit(&pieces);
    print_row(&medians, "us", AT_MAX(1000), "%s: seek to a random row, mean", name);
    print_row(&slowest, "us", AT_MAX(1000), "%s: seek to a random row, slowest", name);
}

static void measure_rows(const recmap_order *order, const char *name, int repeats) {
    struct samples times = {.count = 0};
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_pieces pieces = RECMAP_PIECES_INIT;
    uint64_t count = recmap_order_count(order), position = 0;
    for (int r = 0; r < repeats; r++) {
        uint64_t start = thread_cpu_ns(), positions[BATCH];
        for (int b = 0; b < BATCHES; b++) {
            for (int i = 0; i < BATCH; i++) positions[i] = position++ % count;
            must(recmap_order_pieces(&pieces, order, EPOCH, positions, BATCH, &error), &error);
        }
        samples_add(&times, (double)(thread_cpu_ns() - start) / (BATCH * BATCHES));
    }
    recmap_pieces_deinit(&pieces);
    print_row(&times, "ns a row", NO_GOAL, "%s: rows in batches of %d", name, BATCH);
}

static void measure_memory(const char *name, double memory_before) {
    struct samples memory = {.count = 0};
    samples_add(&memory, anonymous_memory() - memory_before);
    print_row(&memory, "MB", AT_MAX(16), "%s: memory besides the counts", name);
}

static void measure_chunked(recmap_counts *counts, uint64_t size, int repeats) {
    char name[64];
    uint64_t documents = recmap_counts_record_count(counts);
    snprintf(name, sizeof name, "chunked %llu, %llu documents", (ull)size, (ull)documents);
    double before = anonymous_memory();
    recmap_order *order = make_chunked(counts, size);
    measure_epochs(order, name, documents, AT_MAX(20), repeats);
    measure_seeks(order, name, repeats);
    measure_rows(order, name, repeats);
    measure_memory(name, before);
    recmap_order_release(order);
}

/* Everything about one packed order: how long it takes to create, how full its rows are, and the
 * costs of reading it. */
static void measure_packed(recmap_counts *counts, uint64_t size, double fill, int repeats) {
    char name[64];
    struct samples times = {.count = 0}, fills = {.count = 0};
    uint64_t documents = recmap_counts_record_count(counts);
    snprintf(name, sizeof name, "packed %llu, %llu documents", (ull)size, (ull)documents);
    double before = anonymous_memory();
    recmap_order *order = NULL;
    for (int r = 0; r < repeats; r++) {
        recmap_order_release(order);
        uint64_t start = process_cpu_ns();
        order = make_packed(counts, size);
        samples_add(&times, (double)(process_cpu_ns() - start) / (double)documents);
    }
    samples_add(&fills, recmap_order_fill(order));
    print_row(&times, "ns a document and core", AT_MAX(45), "%s: making it", name);
    print_row(&fills, "of 1", AT_MIN(fill), "%s: fill", name);
    measure_epochs(order, name, documents, NO_GOAL, repeats);
    measure_seeks(order, name, repeats);
    measure_rows(order, name, repeats);
    measure_memory(name, before);
    recmap_order_release(order);
}

static void measure_windows(recmap_counts *counts, uint64_t size, int repeats) {
    char name[64];
    struct samples times = {.count = 0};
    uint64_t documents = recmap_counts_record_count(counts);
    snprintf(name, sizeof name, "windows %llu, %llu episodes", (ull)size, (ull)documents);
    double before = anonymous_memory();
    recmap_order *order = NULL;
    for (int r = 0; r < repeats; r++) {
        recmap_order_release(order);
        uint64_t start = process_cpu_ns();
        order = make_windows(counts, size);
        samples_add(&times, (double)(process_cpu_ns() - start) / (double)documents);
    }
    print_row(&times, "ns an episode and core", NO_GOAL, "%s: making it", name);
    measure_seeks(order, name, repeats);
    measure_rows(order, name, repeats);
    measure_memory(name, before);
    recmap_order_release(order);
}

int main(int argc, char **argv) {
    size_t documents = argc > 1 ? strtoull(argv[1], NULL, 10) : 1000000;
    int repeats = parse_repeats(argc > 2 ? argv[2] : NULL, 8);
    struct samples sizes = {.count = 0};
    double before = anonymous_memory();
    recmap_counts *counts = make_counts(documents);
    samples_add(&sizes, (anonymous_memory() - before) * 1e6 / (double)documents);
    print_row(&sizes, "bytes a document", AT_MAX(2.5), "counts, %zu documents: memory", documents);
    measure_chunked(counts, 4096, repeats);
    measure_packed(counts, 2048, 0.999, repeats);
    measure_packed(counts, 8192, 0.997, repeats);
    measure_windows(counts, 16, repeats);
    recmap_counts_release(counts);
    return 0;
}
