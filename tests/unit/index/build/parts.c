#include "unit/index/build/parts.h"

#include <stdio.h>
#include <sys/stat.h>

#include "support/folder.h"
#include "support/index/build.h"

recmap_status parts_build(const char *path, const recmap_index_options *options,
                          const struct build_part *parts, size_t count, recmap_error *error) {
    recmap_index_builder *builder = NULL;
    recmap_status status = recmap_index_builder_create(&builder, path, options, error);
    for (size_t i = 0; i < count && status == RECMAP_OK; i++)
        status = parts[i].index ? recmap_index_builder_add_index(builder, parts[i].index, error)
                                : recmap_index_builder_add_shard(builder, parts[i].shard, error);
    if (status == RECMAP_OK) status = recmap_index_builder_finish(NULL, builder, error);
    recmap_index_builder_destroy(builder);
    return status;
}

void parts_append(const char *path, const recmap_index_options *options, const char *const *names,
                  size_t first, size_t end, struct rng *random) {
    recmap_error error = RECMAP_ERROR_INIT;
    while (first < end) {
        struct build_part parts[64] = {{path, NULL}};
        size_t count = 1 + (size_t)rng_below(random, end - first);
        for (size_t i = 0; i < count; i++) parts[1 + i].shard = names[first + i];
        ASSERT_OK(parts_build(path, options, parts, count + 1, &error), &error);
        first += count;
    }
}

/* Indexes groups of shards, some of them in a folder of their own, and merges: now and then a shard
 * stays a shard. */
static void parts_merge(const char *path, const recmap_index_options *options,
                        const char *const *names, size_t count, struct rng *random) {
    recmap_error error = RECMAP_ERROR_INIT;
    struct build_part parts[64];
    char indexes[64][32];
    size_t part_count = 0;
    for (size_t first = 0; first < count; part_count++) {
        size_t group = 1 + (size_t)rng_below(random, count - first);
        if (rng_one_in(random, 4)) {
            parts[part_count] = (struct build_part){NULL, names[first++]};
            continue;
        }
        snprintf(indexes[part_count], sizeof indexes[0], "%spart%zu.rmx",
                 rng_one_in(random, 2) ? "parts/" : "", part_count);
        index_build(indexes[part_count], options, names + first, group);
        parts[part_count] = (struct build_part){indexes[part_count], NULL};
        first += group;
    }
    ASSERT_OK(parts_build(path, options, parts, part_count, &error), &error);
}

void assert_same_by_all_paths(recmap_index_options *options, const char *const *names, size_t count,
                              struct rng *random) {
    mkdir("parts", 0777);
    options->is_part = 1; /* all records of a part may lack the id */
    options->thread_count = 1;
    index_build("once.rmx", options, names, count);
    options->thread_count = 2 + (unsigned)rng_below(random, 7);
    index_build("threads.rmx", options, names, count);
    assert_same_file("once.rmx", "threads.rmx");
    size_t first = (size_t)rng_below(random, count + 1);
    index_build("append.rmx", options, names, first);
    parts_append("append.rmx", options, names, first, count, random);
    assert_same_file("once.rmx", "append.rmx");
    parts_merge("merge.rmx", options, names, count, random);
    assert_same_file("once.rmx", "merge.rmx");
}
