#include "indexing/replaced.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "terminal/message.h"

static bool is_lifted(const recmap_index_options *options, const char *name) {
    for (size_t i = 0; i < options->lift_count; i++)
        if (!strcmp(options->lifts[i].name, name)) return true;
    return false;
}

static int refuse(const char *path, const char *name) {
    char advice[512];
    snprintf(advice, sizeof advice,
             "add shards with --append and columns with `recmap index --lift FEATURE NAME.rmx`, "
             "which keep it; or remove it with `recmap annotate NAME.rmx --drop %s`",
             name);
    return message_error(RECMAP_INVALID, path, advice,
                         "the index would lose its annotated column \"%s\"", name);
}

int replaced_check(const char *path, const recmap_index_options *options,
                   const recmap_dataset_options *dataset_options) {
    recmap_dataset_options opening = *dataset_options;
    recmap_dataset *dataset = NULL;
    int exit_status = 0;
    opening.allow_absolute_paths = opening.allow_urls = opening.allow_missing_shards = 1;
    if (recmap_dataset_open(&dataset, path, &opening, NULL) != RECMAP_OK) return 0;
    size_t count = recmap_dataset_get_info(dataset)->lifted_column_count;
    for (size_t i = 0; !exit_status && i < count; i++) {
        recmap_lifted_column column;
        if (recmap_dataset_get_lifted_column(&column, dataset, i, NULL) == RECMAP_OK &&
            column.is_annotated && !is_lifted(options, column.name))
            exit_status = refuse(path, column.name);
    }
    recmap_dataset_close(dataset);
    return exit_status;
}
