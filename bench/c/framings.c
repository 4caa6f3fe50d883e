/* Containers other than TFRecord: what do indexing and fetching cost against loops that know the
 * layout?
 *
 * The payloads of the small set are written as OFRecords, as lines and as records of one size, into
 * FOLDER/framed-..., unless they are there. The bare loops step from record to record and run the
 * library's hash over each payload, which is what the index does where no check is stored. Users of
 * records read them, so both sides hash the payloads. usage: bench_framings FOLDER [REPEATS] */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/core/bytes.h"
#include "base/os/file.h"
#include "base/os/map.h"
#include "format/framing/framing.h"
#include "measure.h"
#include "random.h"
#include "set.h"

enum { SHARDS = 4, FIXED_SIZE = 240, OFRECORD_HEADER = 8, GATHERED = 256, GETS = 256 << 10 };

static volatile uint32_t hash_sum; /* so that it is computed */

/* A layout: how a payload is written, and where the next one lies. */
struct layout {
    const char *set, *framing;
    void (*write)(FILE *file, const uint8_t *data, size_t size);
    const uint8_t *(*next)(const uint8_t **data, size_t *size, const uint8_t *position,
                           const uint8_t *end);
};

static void write_ofrecord(FILE *file, const uint8_t *data, size_t size) {
    uint8_t header[OFRECORD_HEADER];
    store64(header, size);
    fwrite(header, 1, sizeof header, file);
    fwrite(data, 1, size, file);
}

static const uint8_t *next_ofrecord(const uint8_t **data, size_t *size, const uint8_t *position,
                                    const uint8_t *end) {
    (void)end;
    *data = position + OFRECORD_HEADER;
    *size = (size_t)load64(position);
    return *data + *size;
}

/* Bytes that would end a line become others. */
static void write_line(FILE *file, const uint8_t *data, size_t size) {
    for (size_t i = 0; i < size; i++)
        fputc(data[i] == '\n' || data[i] == '\r' ? ' ' : data[i], file);
    fputc('\n', file);
}

static const uint8_t *next_line(const uint8_t **data, size_t *size, const uint8_t *position,
                                const uint8_t *end) {
    const uint8_t *newline = memchr(position, '\n', (size_t)(end - position));
    *data = position;
    *size = (size_t)(newline - position);
    return newline + 1;
}

static void write_fixed(FILE *file, const uint8_t *data, size_t size) {
    uint8_t record[FIXED_SIZE] = {0};
    memcpy(record, data, size < FIXED_SIZE ? size : FIXED_SIZE);
    fwrite(record, 1, sizeof record, file);
}

static const uint8_t *next_fixed(const uint8_t **data, size_t *size, const uint8_t *position,
                                 const uint8_t *end) {
    (void)end;
    *data = position;
    *size = FIXED_SIZE;
    return position + FIXED_SIZE;
}

static const struct layout layouts[] = {
    {"framed-ofrecord", "ofrecord", write_ofrecord, next_ofrecord},
    {"framed-lines", "lines", write_line, next_line},
    {"framed-fixed", "fixed:0,240,0", write_fixed, next_fixed},
};

/* A shard of as many records as one of the small set has. */
static void write_shard(const char *path, const struct layout *layout, recmap_dataset *dataset,
                        uint64_t first, uint64_t end) {
    recmap_error error = RECMAP_ERROR_INIT;
    char part[SET_PATH_SIZE + 8];
    snprintf(part, sizeof part, "%s.tmp", path);
    FILE *file = must_have(fopen(part, "wb"));
    for (uint64_t i = first; i < end; i++) {
        recmap_record record;
        must(recmap_dataset_get(&record, dataset, i, &error), &error);
        layout->write(file, record.data, record.size);
        recmap_record_release(&record);
    }
    if (fclose(file) || rename(part, path)) exit(4);
}

static void shard_path(char path[SET_PATH_SIZE], const char *folder, const struct layout *layout,
                       unsigned shard) {
    snprintf(path, SET_PATH_SIZE, "%s/%s/part-%05u", folder, layout->set, shard);
}

static void make_set(const char *folder, const struct layout *layout) {
    recmap_dataset *dataset = set_open(folder, "small", false, NULL);
    uint64_t count = recmap_dataset_count(dataset) / 2;
    char path[SET_PATH_SIZE];
    snprintf(path, sizeof path, "%s/%s", folder, layout->set);
    mkdir(path, 0777);
    for (unsigned s = 0; s < SHARDS; s++) {
        struct file_stat stat;
        shard_path(path, folder, layout, s);
        if (!file_stat_path(&stat, path))
            write_shard(path, layout, dataset, count * s / SHARDS, count * (s + 1) / SHARDS);
    }
    recmap_dataset_close(dataset);
}

/* A record, as the bare loops know it. */
struct known_record {
    const uint8_t *data;
    size_t size;
};

/* The shards, mapped, and where each record lies if that was asked for. */
struct bare_set {
    struct file_map *maps[SHARDS];
    struct known_record *records;
    uint64_t count;
};

static void bare_open(struct bare_set *bare, const char *folder, const struct layout *layout) {
    recmap_error error = RECMAP_ERROR_INIT;
    char path[SET_PATH_SIZE];
    *bare = (struct bare_set){.count = 0};
    for (unsigned s = 0; s < SHARDS; s++) {
        struct file_stat stat;
        int fd;
        shard_path(path, folder, layout, s);
        must(file_open(&fd, path, &error), &error);
        must(file_get_stat(&stat, fd, path, &error), &error);
        must(map_create(&bare->maps[s], fd, (size_t)stat.size, path, &error), &error);
        map_advise(bare->maps[s], 0, stat.size, MAP_ADVICE_SEQUENTIAL);
        file_close(fd);
    }
}

static void bare_close(struct bare_set *bare) {
    for (unsigned s = 0; s < SHARDS; s++) map_destroy(bare->maps[s]);
    free(bare->records);
}

/* Steps over all records; keeps them where there is room, else hashes each. */
static void bare_scan(struct bare_set *bare, const struct layout *layout, bool keeps) {
    uint64_t count = 0;
    uint32_t sum = 0;
    for (unsigned s = 0; s < SHARDS; s++) {
        const uint8_t *cursor = bare->maps[s]->data, *end = cursor + bare->maps[s]->size;
        for (; cursor < end; count++) {
            struct known_record record;
            cursor = layout->next(&record.data, &record.size, cursor, end);
            if (keeps) bare->records[count] = record;
            else sum += framing_hash(record.data, record.size);
        }
    }
    hash_sum += sum;
    bare->count = count;
}

static double time_bare_scan(const char *folder, const struct layout *layout) {
    struct bare_set bare;
    uint64_t begun = process_cpu_ns();
    bare_open(&bare, folder, layout);
    bare_scan(&bare, layout, false);
    bare_close(&bare);
    return (double)(process_cpu_ns() - begun);
}

static void measure_index(const char *folder, const struct layout *layout, int repeats) {
    struct samples rates = {.count = 0}, ratios = {.count = 0};
    recmap_index_summary summary;
    recmap_index_options options = RECMAP_INDEX_OPTIONS_INIT;
    char path[SET_PATH_SIZE];
    options.framing = layout->framing;
    options.thread_count = 1;
    set_index_path(path, folder, layout->set, "");
    for (int r = 0; r <= repeats; r++) {
        double bare = time_bare_scan(folder, layout);
        uint64_t begun = process_cpu_ns();
        set_build(&summary, folder, layout->set, path, &options);
        double took = (double)(process_cpu_ns() - begun);
        if (r == 0) continue; /* warms the page cache */
        samples_add(&rates, (double)summary.record_count / took * 1e3);
        samples_add(&ratios, bare / took);
    }
    print_row(&rates, "M/s and core", NO_GOAL, "index %s, 240 B: records", layout->framing);
    print_row(&ratios, "x bare loop", NO_GOAL, "index %s, 240 B: rate by time on cores",
              layout->framing);
}

static double time_known(const struct bare_set *bare, const uint64_t *numbers) {
    uint64_t begun = thread_cpu_ns();
    uint32_t sum = 0;
    for (size_t i = 0; i < GETS; i++)
        sum += framing_hash(bare->records[numbers[i]].data, bare->records[numbers[i]].size);
    hash_sum += sum;
    return (double)(thread_cpu_ns() - begun) / GETS;
}

static double time_get(recmap_dataset *dataset, const uint64_t *numbers) {
    recmap_error error = RECMAP_ERROR_INIT;
    uint64_t begun = thread_cpu_ns();
    uint32_t sum = 0;
    for (size_t i = 0; i < GETS; i++) {
        recmap_record record;
        must(recmap_dataset_get(&record, dataset, numbers[i], &error), &error);
        sum += framing_hash(record.data, record.size);
        recmap_record_release(&record);
    }
    hash_sum += sum;
    return (double)(thread_cpu_ns() - begun) / GETS;
}

static double time_gather(recmap_dataset *dataset, recmap_batch *batch, const uint64_t *numbers) {
    recmap_error error = RECMAP_ERROR_INIT;
    uint64_t begun = thread_cpu_ns();
    uint32_t sum = 0;
    for (size_t i = 0; i < GETS; i += GATHERED) {
        must(recmap_dataset_gather(batch, dataset, numbers + i, GATHERED, &error), &error);
        const recmap_record *records = recmap_batch_records(batch);
        for (size_t k = 0; k < GATHERED; k++) sum += framing_hash(records[k].data, records[k].size);
    }
    hash_sum += sum;
    return (double)(thread_cpu_ns() - begun) / GETS;
}

static void measure_get(const char *folder, const struct layout *layout, int repeats) {
    recmap_error error = RECMAP_ERROR_INIT;
    struct samples bare_times = {.count = 0}, gets = {.count = 0}, gathers = {.count = 0};
    recmap_dataset *dataset = set_open(folder, layout->set, false, NULL);
    recmap_batch *batch;
    struct bare_set bare;
    uint64_t count = recmap_dataset_count(dataset), seed = 3;
    uint64_t *numbers = must_have(malloc(GETS * sizeof *numbers));
    must(recmap_batch_create(&batch, &error), &error);
    bare_open(&bare, folder, layout);
    bare.records = must_have(malloc((size_t)(count + 1) * sizeof *bare.records));
    bare_scan(&bare, layout, true);
    if (bare.count != count) exit(3);
    for (int r = 0; r <= repeats; r++) {
        for (size_t i = 0; i < GETS; i++) numbers[i] = random_below(&seed, count);
        double known = time_known(&bare, numbers), got = time_get(dataset, numbers);
        double gathered = time_gather(dataset, batch, numbers);
        if (r == 0) continue; /* brings pages into the page tables */
        samples_add(&bare_times, known);
        samples_add(&gets, got / known);
        samples_add(&gathers, gathered / known);
    }
    print_row(&bare_times, "ns a record", NO_GOAL, "%s, 240 B: bare loop, read", layout->framing);
    print_row(&gets, "x bare loop", NO_GOAL, "%s, 240 B: get and read", layout->framing);
    print_row(&gathers, "x bare loop", NO_GOAL, "%s, 240 B: gather of 256 and read",
              layout->framing);
    bare_close(&bare);
    recmap_batch_destroy(batch);
    recmap_dataset_close(dataset);
    free(numbers);
}

int main(int argc, char **argv) {
    if (argc < 2) {
        fprintf(stderr, "usage: bench_framings FOLDER [REPEATS]\n");
        return 2;
    }
    int repeats = parse_repeats(argv[2], 8);
    for (size_t i = 0; i < sizeof layouts / sizeof *layouts; i++) {
        make_set(argv[1], &layouts[i]);
        measure_index(argv[1], &layouts[i], repeats);
        measure_get(argv[1], &layouts[i], repeats);
    }
    return 0;
}
