/* Builds an index with ids and a lifted column: index NAME.rmx SHARD|GLOB|FOLDER... */
#include <inttypes.h>

#include <recmap/recmap.h>

static int print_progress(const recmap_progress *progress, void *context) {
    (void)context;
    fprintf(stderr, "\r%" PRIu64 " of %" PRIu64 " bytes", progress->bytes_done,
            progress->bytes_total);
    return 0; /* any other value cancels the build */
}

/* Expands the names to shards first, so that a misspelled name fails before anything is scanned. */
static recmap_status build(const char *path, char **names, int name_count,
                           recmap_index_summary *summary, recmap_error *error) {
    recmap_lift label = {.name = "label", .default_value = "-1"};
    recmap_index_options options = RECMAP_INDEX_OPTIONS_INIT;
    options.id_feature = "id";
    options.lifts = &label;
    options.lift_count = 1;
    options.progress = print_progress;
    recmap_shards *shards = NULL;
    recmap_index_builder *builder = NULL;
    recmap_status status = recmap_shards_create(&shards, error);
    for (int i = 0; status == RECMAP_OK && i < name_count; i++)
        status = recmap_shards_add(shards, names[i], error);
    if (status == RECMAP_OK) status = recmap_index_builder_create(&builder, path, &options, error);
    for (size_t i = 0; status == RECMAP_OK && i < recmap_shards_count(shards); i++)
        status = recmap_index_builder_add_shard(builder, recmap_shards_path(shards, i), error);
    if (status == RECMAP_OK) status = recmap_index_builder_finish(summary, builder, error);
    recmap_index_builder_destroy(builder);
    recmap_shards_destroy(shards);
    return status;
}

static int print_usage(void) {
    fprintf(stderr, "usage: index NAME.rmx SHARD|GLOB|FOLDER...\n");
    return 2;
}

int main(int argc, char **argv) {
    recmap_index_summary summary;
    recmap_error error = RECMAP_ERROR_INIT;
    if (argc < 3) return print_usage();
    if (build(argv[1], argv + 2, argc - 2, &summary, &error) != RECMAP_OK)
        return recmap_error_print(&error, stderr);
    printf("%" PRIu64 " records in %" PRIu64 " shards, %" PRIu64 " with an id\n",
           summary.record_count, summary.shard_count, summary.id_count);
    return 0;
}
