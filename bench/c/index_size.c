/* How large is an index, for a record?
 *
 * An LMDB file has some pages whatever is in it: the index of a single empty record says how many
 * bytes those are; the goals are for what the records of a set add to them.
 * usage: bench_index_size FOLDER */
#include <stdio.h>
#include <sys/stat.h>

#include "measure.h"
#include "set.h"

static uint64_t file_size(const char *path) {
    struct stat stat_of;
    return stat(path, &stat_of) ? 0 : (uint64_t)stat_of.st_size;
}

static uint64_t measure(uint64_t *records, const char *folder, const char *set, const char *id) {
    recmap_index_options options = RECMAP_INDEX_OPTIONS_INIT;
    recmap_index_summary summary;
    options.id_feature = id;
    char path[SET_PATH_SIZE];
    set_index_path(path, folder, set, "-size");
    set_build(&summary, folder, set, path, &options);
    uint64_t size = file_size(path);
    remove(path);
    *records = summary.record_count;
    return size;
}

static void print_size(uint64_t size, uint64_t records, struct goal goal, const char *set,
                       const char *title) {
    struct samples one = {.count = 0};
    samples_add(&one, (double)size / (double)records);
    print_row(&one, "bytes a record", goal, "index size, %s: %s", set, title);
}

/* The size of the index of a single empty record. */
static uint64_t fixed_size(const char *folder) {
    char shard[SET_PATH_SIZE], index[SET_PATH_SIZE];
    recmap_error error = RECMAP_ERROR_INIT;
    snprintf(shard, sizeof shard, "%s/one.tfrecord", folder);
    snprintf(index, sizeof index, "%s/one.rmx", folder);
    recmap_writer_options options = RECMAP_WRITER_OPTIONS_INIT;
    options.index_path = index;
    recmap_writer *writer;
    must(recmap_writer_create(&writer, shard, &options, &error), &error);
    must(recmap_writer_write(writer, NULL, 0, &error), &error);
    must(recmap_writer_finish(writer, &error), &error);
    recmap_writer_destroy(writer);
    uint64_t size = file_size(index);
    remove(shard);
    remove(index);
    return size;
}

/* The size of an index over one empty record is the fixed part. It is subtracted to give the bytes
 * a record costs, with and without ids. */
int main(int argc, char **argv) {
    static const struct {
        const char *name, *kind, *id;
        struct goal wanted;
    } sets[] = {
        {"equal", "equal (equal lengths)", NULL, {GOAL_AT_MAX, 0.5}},
        {"small", "small", "id", {GOAL_NONE, 0}},
        {"medium", "medium", "id", {GOAL_NONE, 0}},
        {"large", "large (image-like)", "id", {GOAL_AT_MAX, 3}},
    };
    if (argc < 2) {
        fprintf(stderr, "usage: %s FOLDER\n", argv[0]);
        return 2;
    }
    struct samples fixed = {.count = 0};
    uint64_t min = fixed_size(argv[1]);
    samples_add(&fixed, (double)min);
    print_row(&fixed, "bytes", NO_GOAL, "index size, one empty record");
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) {
        uint64_t records, size = measure(&records, argv[1], sets[i].name, NULL);
        uint64_t more = size > min ? size - min : 0;
        print_size(more, records, sets[i].wanted, sets[i].kind, "beyond that");
        print_size(size, records, NO_GOAL, sets[i].kind, "all of the file");
        if (!sets[i].id) continue;
        uint64_t with_ids = measure(&records, argv[1], sets[i].name, sets[i].id);
        print_size(with_ids - size, records, AT_MAX(12), sets[i].kind, "ids");
    }
    return 0;
}
