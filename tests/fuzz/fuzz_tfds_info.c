/* Any bytes as dataset_info.json of TFDS: read or refused with a reason, and names of files that
 * fit and have no folder. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "dataset/doctor/tfds_info.h"
#include "fuzz/fuzz.h"

static void check(bool holds) {
    if (!holds) abort();
}

static void check_names(const struct tfds_info *info, const struct tfds_split *split) {
    char name[64];
    check(split->name != NULL);
    for (size_t i = 0; i < split->shard_count && i < 100; i++) {
        tfds_info_write_file(name, sizeof name, info, split, i);
        check(strlen(name) < sizeof name);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct tfds_info info;
    recmap_error error = RECMAP_ERROR_INIT;
    char *text = calloc(size ? size : 1, 1); /* so that reads past the end show */
    check(text != NULL);
    if (size) memcpy(text, data, size);
    recmap_status status = tfds_info_read(&info, text, size, &error);
    check(status == RECMAP_OK || status == RECMAP_UNSUPPORTED ||
          (status == RECMAP_CORRUPT && error.message[0]));
    for (size_t i = 0; status == RECMAP_OK && i < info.split_count; i++)
        check_names(&info, &info.splits[i]);
    tfds_info_deinit(&info);
    free(text);
    return 0;
}
