#include "inherit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static recmap_status take_columns(inherited *made, recmap_index_options *options,
                                  recmap_error *error) {
    size_t count = recmap_dataset_get_info(made->from)->column_count;
    /* Column 0 is the length, which every index has. */
    if (count < 2) return RECMAP_OK;
    made->lifts = calloc(count - 1, sizeof *made->lifts);
    if (!made->lifts) {
        *error = (recmap_error)RECMAP_ERROR_INIT;
        error->status = RECMAP_NO_MEMORY;
        snprintf(error->message, sizeof error->message, "out of memory");
        return RECMAP_NO_MEMORY;
    }
    for (size_t i = 1; i < count; i++) {
        recmap_column_info column;
        recmap_status status = recmap_dataset_get_column(&column, made->from, i, error);
        if (status != RECMAP_OK) return status;
        made->lifts[i - 1] = (recmap_lift){column.name, column.default_value};
    }
    options->lifts = made->lifts;
    options->lift_count = count - 1;
    return RECMAP_OK;
}

/* What is added lies as in the last shard. */
static recmap_status take_framing(inherited *made, recmap_index_options *options,
                                  recmap_error *error) {
    recmap_shard_info last;
    uint64_t count = recmap_dataset_get_info(made->from)->shard_count;
    if (!count) return RECMAP_OK;
    recmap_status status = recmap_dataset_get_shard(&last, made->from, count - 1, error);
    if (status == RECMAP_OK) options->framing = last.framing;
    return status;
}

recmap_status inherit(inherited *made, recmap_index_options *options, const char *path,
                      const recmap_dataset_options *reading, recmap_error *error) {
    recmap_status status = recmap_dataset_open(&made->from, path, reading, error);
    if (status == RECMAP_OK && (!options->framing || !strcmp(options->framing, "auto")))
        status = take_framing(made, options, error);
    if (status != RECMAP_OK || options->id_feature || options->lift_count) return status;
    options->id_feature = recmap_dataset_get_info(made->from)->id_name;
    return take_columns(made, options, error);
}

void inherit_end(inherited *ended) {
    recmap_dataset_close(ended->from);
    free(ended->lifts);
}
