#include "indexing/temporary_index.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <recmap/index.h>
#include <recmap/warning.h>

#include "terminal/message.h"
#include "terminal/progress_bar.h"

enum { PATH_SIZE = 4096 };

recmap_status temporary_index_list(recmap_shards **shards, const struct args *args,
                                   recmap_error *error) {
    recmap_dataset_options options = args->dataset_options;
    *shards = NULL;
    RETURN_IF_FAILED(args_prepare_storage(&options, error));
    RETURN_IF_FAILED(recmap_shards_create(shards, error));
    RETURN_IF_FAILED(recmap_shards_set_storage(*shards, options.storage, error));
    RETURN_IF_FAILED(recmap_shards_choose_sets(*shards, NULL, RECMAP_SETS_ALL, error));
    recmap_shards_set_framing(*shards, args->framing);
    RETURN_IF_FAILED(recmap_shards_add(*shards, args->operands[0], error));
    for (size_t i = 0; i < recmap_shards_left_out_note_count(*shards); i++)
        message("%s", recmap_shards_left_out_note(*shards, i));
    return RECMAP_OK;
}

/* ---- The index that is there. */

static const char *name_of(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* Returns true if the index has exactly these shards, in their order. */
static bool has_shards(const recmap_dataset *dataset, const recmap_shards *shards) {
    uint64_t count = recmap_dataset_get_info(dataset)->shard_count;
    if (count != recmap_shards_count(shards)) return false;
    for (uint64_t i = 0; i < count; i++) {
        recmap_shard_info shard;
        if (recmap_dataset_get_shard(&shard, dataset, i, NULL) != RECMAP_OK) return false;
        if (strcmp(name_of(shard.path), name_of(recmap_shards_path(shards, i))) != 0) return false;
    }
    return true;
}

/* Does without the warning about indexes of some of the shards: it says how an index that is built
 * beside them gets their columns, but a temporary one is not for keeping. */
static bool find_existing(char *path, size_t capacity, const recmap_shards *shards) {
    recmap_set_warn(NULL, NULL);
    recmap_status status = recmap_shards_find_index(path, capacity, shards, NULL);
    recmap_set_warn(message_print_warning, NULL);
    return status == RECMAP_OK && access(path, R_OK) == 0;
}

/* An index that cannot be opened is none for this purpose: `recmap info` says what is wrong. */
static bool open_existing(recmap_dataset **dataset, const recmap_shards *shards,
                          const recmap_dataset_options *options) {
    char path[PATH_SIZE];
    if (!find_existing(path, sizeof path, shards) ||
        recmap_dataset_open(dataset, path, options, NULL) != RECMAP_OK)
        return false;
    if (has_shards(*dataset, shards)) return true;
    recmap_dataset_close(*dataset);
    return false;
}

/* ---- A temporary index. */

static recmap_status build(const char *path, const recmap_shards *shards, const struct args *args,
                           const recmap_dataset_options *opening, recmap_error *error) {
    recmap_index_builder *builder = NULL;
    recmap_index_summary summary;
    struct progress_bar progress = progress_bar_start("indexing");
    recmap_index_options options = RECMAP_INDEX_OPTIONS_INIT;
    options.on_bad_record = RECMAP_ON_BAD_RECORD_SKIP;
    options.progress = progress_bar_report;
    options.progress_context = &progress;
    options.guard = 1;
    options.framing = args->framing;
    options.reads_shards = opening->access == RECMAP_ACCESS_READ ||
                           opening->access == RECMAP_ACCESS_DIRECT;
    options.storage = opening->storage;
    recmap_status status = recmap_index_builder_create(&builder, path, &options, error);
    for (size_t i = 0; status == RECMAP_OK && i < recmap_shards_count(shards); i++)
        status = recmap_index_builder_add_shard(builder, recmap_shards_path(shards, i), error);
    if (status == RECMAP_OK) status = recmap_index_builder_finish(&summary, builder, error);
    recmap_index_builder_destroy(builder);
    progress_bar_clear(&progress);
    return status;
}

/* The index stays in use after its file was removed. */
static recmap_status build_and_open(recmap_dataset **dataset, const recmap_shards *shards,
                                    const struct args *args, recmap_dataset_options *options,
                                    recmap_error *error) {
    const char *root = getenv("TMPDIR");
    char folder[PATH_SIZE], path[PATH_SIZE + 16];
    snprintf(folder, sizeof folder, "%s/recmap-XXXXXX", root && *root ? root : "/tmp");
    if (!mkdtemp(folder)) return message_fail_errno(error, folder, "create");
    snprintf(path, sizeof path, "%s/index.rmx", folder);
    recmap_status status = build(path, shards, args, options, error);
    options->allow_absolute_paths = options->allow_urls = options->allow_missing_shards = 1;
    if (status == RECMAP_OK) status = recmap_dataset_open(dataset, path, options, error);
    unlink(path);
    rmdir(folder);
    return status;
}

recmap_status temporary_index_open(recmap_dataset **dataset, bool *is_temporary,
                                   const recmap_shards *shards, const struct args *args,
                                   recmap_error *error) {
    recmap_dataset_options options = args->dataset_options;
    RETURN_IF_FAILED(args_prepare_storage(&options, error));
    options.guard = 1;
    *is_temporary = !open_existing(dataset, shards, &options);
    return *is_temporary ? build_and_open(dataset, shards, args, &options, error) : RECMAP_OK;
}
