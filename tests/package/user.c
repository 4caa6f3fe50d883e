/* A user's program, as C and as C++: index the digits of the folder given, find one, read it. */
#include <stdio.h>
#include <string.h>

#include <recmap/recmap.h>

static recmap_status add_shards(recmap_index_builder *builder, const char *folder,
                                recmap_error *error) {
    recmap_shards *shards = NULL;
    recmap_status status = recmap_shards_create(&shards, error);
    if (status != RECMAP_OK) return status;
    status = recmap_shards_add(shards, folder, error);
    for (size_t i = 0; status == RECMAP_OK && i < recmap_shards_count(shards); i++)
        status = recmap_index_builder_add_shard(builder, recmap_shards_path(shards, i), error);
    recmap_shards_destroy(shards);
    return status;
}

static recmap_status build_index(const char *folder, const char *index, recmap_error *error) {
    recmap_index_options options = RECMAP_INDEX_OPTIONS_INIT;
    options.id_feature = "id";
    recmap_index_builder *builder = NULL;
    recmap_status status = recmap_index_builder_create(&builder, index, &options, error);
    if (status != RECMAP_OK) return status;
    status = add_shards(builder, folder, error);
    if (status == RECMAP_OK) status = recmap_index_builder_finish(NULL, builder, error);
    recmap_index_builder_destroy(builder);
    return status;
}

/* Finds the last digit by its id and reads it. */
static recmap_status read_last(const char *index, recmap_error *error) {
    recmap_dataset *dataset = NULL;
    recmap_status status = recmap_dataset_open(&dataset, index, NULL, error);
    if (status != RECMAP_OK) return status;
    const char *name = "digit-01796";
    recmap_value id;
    id.type = RECMAP_TYPE_BYTES;
    id.as.bytes.data = (const uint8_t *)name;
    id.as.bytes.size = strlen(name);
    uint64_t number = 0;
    recmap_record record;
    status = recmap_dataset_find(&number, dataset, &id, error);
    if (status == RECMAP_OK) status = recmap_dataset_get(&record, dataset, number, error);
    if (status == RECMAP_OK) {
        printf("%s: record %llu of %llu, %llu bytes\n", name, (unsigned long long)number,
               (unsigned long long)recmap_dataset_count(dataset), (unsigned long long)record.size);
        recmap_record_release(&record);
    }
    recmap_dataset_close(dataset);
    return status;
}

int main(int argc, char **argv) {
    recmap_error error = RECMAP_ERROR_INIT;
    if (argc != 2 || strcmp(recmap_version(), RECMAP_VERSION) != 0) return 2;
    if (build_index(argv[1], "user.rmx", &error) != RECMAP_OK ||
        read_last("user.rmx", &error) != RECMAP_OK)
        return recmap_error_print(&error, stderr);
    return 0;
}
