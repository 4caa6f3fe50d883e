/* What does a concatenation cost, against one index over the same shards: single records, gathered
 * ones, and a loader's batches?
 *
 * The shards of a set are indexed one by one and concatenated. Both data sets get the same random
 * numbers, in turns. Times are CPU times of the process. usage: bench_concat FOLDER [REPEATS] */
#include <stdio.h>
#include <stdlib.h>

#include "measure.h"
#include "random.h"
#include "set.h"

enum { GATHERED = 256, NUMBERS = 200 * 1024 };

struct concat_bench {
    recmap_dataset *parts[SET_SHARD_COUNT];
    recmap_dataset *concat, *merged;
    recmap_batch *batch;
    uint64_t *numbers;
};

static recmap_dataset *open_part(const char *folder, const char *set, unsigned shard) {
    char path[SET_PATH_SIZE], index[SET_PATH_SIZE], suffix[32];
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_index_builder *builder;
    recmap_dataset *part;
    snprintf(suffix, sizeof suffix, "-part-%u", shard);
    set_shard_path(path, folder, set, shard, SET_SHARD_COUNT);
    set_index_path(index, folder, set, suffix);
    must(recmap_index_builder_create(&builder, index, NULL, &error), &error);
    must(recmap_index_builder_add_shard(builder, path, &error), &error);
    must(recmap_index_builder_finish(NULL, builder, &error), &error);
    recmap_index_builder_destroy(builder);
    must(recmap_dataset_open(&part, index, NULL, &error), &error);
    remove(index);
    return part;
}

static void bench_open(struct concat_bench *bench, const char *folder, const char *set) {
    recmap_error error = RECMAP_ERROR_INIT;
    uint64_t state = 3;
    bench->merged = set_open(folder, set, false, NULL);
    for (unsigned i = 0; i < SET_SHARD_COUNT; i++) bench->parts[i] = open_part(folder, set, i);
    must(recmap_dataset_concat(&bench->concat, bench->parts, SET_SHARD_COUNT, &error), &error);
    must(recmap_batch_create(&bench->batch, &error), &error);
    bench->numbers = must_have(malloc(NUMBERS * sizeof *bench->numbers));
    for (size_t i = 0; i < NUMBERS; i++)
        bench->numbers[i] = random_next(&state) % recmap_dataset_count(bench->merged);
}

static void bench_close(struct concat_bench *bench) {
    recmap_dataset_close(bench->concat);
    recmap_dataset_close(bench->merged);
    for (unsigned i = 0; i < SET_SHARD_COUNT; i++) recmap_dataset_close(bench->parts[i]);
    recmap_batch_destroy(bench->batch);
    free(bench->numbers);
}

/* Each reads records of a data set, and returns how many. */
typedef size_t read_function(struct concat_bench *bench, recmap_dataset *dataset);

static size_t get_records(struct concat_bench *bench, recmap_dataset *dataset) {
    recmap_error error = RECMAP_ERROR_INIT;
    for (size_t i = 0; i < NUMBERS; i++) {
        recmap_record record;
        must(recmap_dataset_get(&record, dataset, bench->numbers[i], &error), &error);
        recmap_record_release(&record);
    }
    return NUMBERS;
}

static size_t gather_records(struct concat_bench *bench, recmap_dataset *dataset) {
    recmap_error error = RECMAP_ERROR_INIT;
    for (size_t i = 0; i + GATHERED <= NUMBERS; i += GATHERED)
        must(recmap_dataset_gather(bench->batch, dataset, bench->numbers + i, GATHERED, &error),
             &error);
    return NUMBERS / GATHERED * GATHERED;
}

static size_t load_batches(struct concat_bench *bench, recmap_dataset *dataset) {
    (void)bench;
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_loader_options options = RECMAP_LOADER_OPTIONS_INIT;
    options.batch_size = GATHERED;
    options.thread_count = 1;
    recmap_order *order;
    recmap_loader *loader;
    recmap_batch *batch = NULL;
    size_t count = 0;
    must(recmap_order_shuffled(&order, recmap_dataset_count(dataset), 1, &error), &error);
    must(recmap_loader_create(&loader, dataset, order, &options, &error), &error);
    do {
        must(recmap_loader_next(&batch, loader, &error), &error);
        if (batch) count += recmap_batch_count(batch);
    } while (batch && count < NUMBERS);
    recmap_batch_destroy(batch);
    recmap_loader_destroy(loader);
    recmap_order_release(order);
    return count;
}

static double time_read(read_function *read, struct concat_bench *bench, recmap_dataset *dataset) {
    uint64_t start = process_cpu_ns();
    double count = (double)read(bench, dataset);
    return (double)(process_cpu_ns() - start) / count;
}

static void measure(struct concat_bench *bench, const char *question, read_function *read,
                    int repeats) {
    struct samples merged = {.count = 0}, concat = merged, ratio = merged;
    for (int r = 0; r <= repeats; r++) {
        double one = time_read(read, bench, r % 2 ? bench->concat : bench->merged);
        double other = time_read(read, bench, r % 2 ? bench->merged : bench->concat);
        if (!r) continue; /* the first time brings all pages into the page tables */
        samples_add(&merged, r % 2 ? other : one);
        samples_add(&concat, r % 2 ? one : other);
        samples_add(&ratio, r % 2 ? one / other : other / one);
    }
    print_row(&merged, "ns a record", NO_GOAL, "%s: one index", question);
    print_row(&concat, "ns a record", NO_GOAL, "%s: %d concatenated", question, SET_SHARD_COUNT);
    print_row(&ratio, "x as long", NO_GOAL, "%s: a concatenation", question);
}

int main(int argc, char **argv) {
    static const char *const sets[] = {"small", "medium"};
    if (argc < 2) {
        fprintf(stderr, "usage: %s FOLDER [REPEATS]\n", argv[0]);
        return 2;
    }
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) {
        struct concat_bench bench;
        char question[64];
        int repeats = parse_repeats(argc > 2 ? argv[2] : NULL, 9);
        bench_open(&bench, argv[1], sets[i]);
        snprintf(question, sizeof question, "%s: get", sets[i]);
        measure(&bench, question, get_records, repeats);
        snprintf(question, sizeof question, "%s: gather of %d", sets[i], GATHERED);
        measure(&bench, question, gather_records, repeats);
        snprintf(question, sizeof question, "%s: loader, a thread", sets[i]);
        measure(&bench, question, load_batches, repeats);
        bench_close(&bench);
    }
    return 0;
}
