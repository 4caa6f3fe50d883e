#define _GNU_SOURCE
#include "fuzz/small_set.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <recmap/recmap.h>

enum { PATHS_MAX = 16, PATH_ROOM = 64 };

static char folder[] = "/tmp/recmap-fuzz-XXXXXX";
static char paths[PATHS_MAX][PATH_ROOM];
static size_t path_count;
static recmap_dataset *dataset;

void check(bool holds) {
    if (!holds) abort();
}

static void remove_folder(void) {
    recmap_dataset_close(dataset);
    for (size_t i = 0; i < path_count; i++) remove(paths[i]);
    rmdir(folder);
}

const char *small_set_folder(void) {
    static bool exists;
    if (!exists) {
        check(mkdtemp(folder) != NULL);
        atexit(remove_folder);
        exists = true;
    }
    return folder;
}

const char *small_set_path(const char *name) {
    check(path_count < PATHS_MAX);
    char *path = paths[path_count++];
    int size = snprintf(path, PATH_ROOM, "%s/%s", small_set_folder(), name);
    check(size > 0 && size < PATH_ROOM);
    return path;
}

void small_set_write(const char *path, const void *data, size_t size) {
    FILE *file = fopen(path, "wb");
    check(file && fwrite(data, 1, size, file) == size && !fclose(file));
}

static void add_text(recmap_example_builder *builder, const char *name, const char *text) {
    recmap_bytes value = {(const uint8_t *)text, strlen(text)};
    check(recmap_example_builder_add_bytes(builder, name, &value, 1, NULL) == RECMAP_OK);
}

/* Features that some records lack, so that their columns have nulls. None has "absent". */
static void add_nullable(recmap_example_builder *builder, int i) {
    int64_t rank = i * 1000;
    float tone = (float)i / 2;
    if (i % 3)
        check(recmap_example_builder_add_int64(builder, "rank", &rank, 1, NULL) == RECMAP_OK);
    if (i % 4)
        check(recmap_example_builder_add_float(builder, "tone", &tone, 1, NULL) == RECMAP_OK);
    if (i % 2) add_text(builder, "source", i % 6 == 1 ? "web" : "books and magazines");
}

static void write_record(recmap_writer *writer, recmap_example_builder *builder, int i) {
    static const char *const languages[] = {"de", "fr", "", "a 'b' \"c\""};
    int64_t label = i % 5 - 2;
    float score = (float)i / 8;
    const uint8_t *data;
    size_t size;
    recmap_example_builder_begin(builder, RECMAP_MESSAGE_EXAMPLE);
    check(recmap_example_builder_add_int64(builder, "label", &label, 1, NULL) == RECMAP_OK);
    check(recmap_example_builder_add_float(builder, "score", &score, 1, NULL) == RECMAP_OK);
    add_text(builder, "lang", languages[i % 4]);
    add_nullable(builder, i);
    check(recmap_example_builder_finish(&data, &size, builder, NULL) == RECMAP_OK);
    check(recmap_writer_write(writer, data, size, NULL) == RECMAP_OK);
}

static void write_set(const char *path, const char *index_path) {
    static const recmap_lift lifts[] = {
        {.name = "label"},
        {.name = "score"},
        {.name = "lang"},
        {.name = "rank", .is_nullable = 1},
        {.name = "tone", .is_nullable = 1},
        {.name = "source", .is_nullable = 1},
        {.name = "absent", .is_nullable = 1},
    };
    recmap_index_options index = RECMAP_INDEX_OPTIONS_INIT;
    index.lifts = lifts;
    index.lift_count = sizeof lifts / sizeof *lifts;
    recmap_writer_options options = RECMAP_WRITER_OPTIONS_INIT;
    options.index_path = index_path;
    options.index = &index;
    recmap_writer *writer;
    recmap_example_builder *builder;
    check(recmap_writer_create(&writer, path, &options, NULL) == RECMAP_OK);
    check(recmap_example_builder_create(&builder, NULL) == RECMAP_OK);
    for (int i = 0; i < SMALL_SET_RECORDS; i++) write_record(writer, builder, i);
    check(recmap_writer_finish(writer, NULL) == RECMAP_OK);
    recmap_example_builder_destroy(builder);
    recmap_writer_destroy(writer);
}

recmap_dataset *small_set(void) {
    if (dataset) return dataset;
    const char *index_path = small_set_path("set.rmx");
    write_set(small_set_path("set.tfrecord"), index_path);
    check(recmap_dataset_open(&dataset, index_path, NULL, NULL) == RECMAP_OK);
    return dataset;
}
