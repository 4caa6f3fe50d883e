#include "support/index/build.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "support/folder.h"

void assert_ok(recmap_status status, const recmap_error *error, const char *call, const char *file,
               int line) {
    if (status == RECMAP_OK) return;
    char text[8192];
    recmap_error_format(text, sizeof text, error);
    print_error("%s: %s\n%s\n", call, recmap_status_name(status), text);
    _fail(file, line);
}

recmap_status index_try(const char *path, const recmap_index_options *options,
                        const char *const *shards, size_t count, recmap_error *error) {
    recmap_index_builder *builder = NULL;
    recmap_status status = recmap_index_builder_create(&builder, path, options, error);
    for (size_t i = 0; i < count && status == RECMAP_OK; i++)
        status = recmap_index_builder_add_shard(builder, shards[i], error);
    if (status == RECMAP_OK) status = recmap_index_builder_finish(NULL, builder, error);
    recmap_index_builder_destroy(builder);
    return status;
}

recmap_index_summary index_build(const char *path, const recmap_index_options *options,
                                 const char *const *shards, size_t count) {
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_index_builder *builder;
    recmap_index_summary summary;
    ASSERT_OK(recmap_index_builder_create(&builder, path, options, &error), &error);
    for (size_t i = 0; i < count; i++)
        ASSERT_OK(recmap_index_builder_add_shard(builder, shards[i], &error), &error);
    ASSERT_OK(recmap_index_builder_finish(&summary, builder, &error), &error);
    recmap_index_builder_destroy(builder);
    return summary;
}

recmap_index_summary index_bytes(const char *path, const recmap_index_options *options,
                                 const char *shard, const struct buffer *bytes) {
    file_write(shard, bytes->data, bytes->size);
    return index_build(path, options, &shard, 1);
}

recmap_dataset *dataset_open(const char *path, const recmap_dataset_options *options) {
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_dataset *dataset;
    ASSERT_OK(recmap_dataset_open(&dataset, path, options, &error), &error);
    return dataset;
}

const char *const *shard_names(size_t count) {
    enum { NAMES_MAX = 64 };
    static char names[NAMES_MAX][24];
    static const char *list[NAMES_MAX];
    assert_true(count <= NAMES_MAX);
    for (size_t i = 0; i < count; i++) {
        snprintf(names[i], sizeof names[i], "s%05zu", i);
        list[i] = names[i];
    }
    return list;
}

recmap_value text_value(const char *text) {
    recmap_value value = {.type = RECMAP_TYPE_BYTES};
    value.as.bytes.data = (const uint8_t *)text;
    value.as.bytes.size = strlen(text);
    return value;
}

recmap_value int64_value(int64_t value) {
    recmap_value made = {.type = RECMAP_TYPE_INT64};
    made.as.int64 = value;
    return made;
}
