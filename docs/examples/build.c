/* Builds a tf.Example and a tf.SequenceExample from values, and a record from JSON, and writes them
 * to a TFRecord file: build NAME.tfrecord */
#include <string.h>

#include <recmap/recmap.h>

static const float weights[] = {0.5f, 1.5f};
static const int64_t label = 7, frames[][2] = {{1, 2}, {3, 4}, {5, 6}};
static const recmap_bytes id = {(const uint8_t *)"img-1", 5};
static const char json[] =
    "{\"features\":{\"feature\":{\"label\":{\"int64List\":{\"value\":[8]}}}}}";

static recmap_status build_example(recmap_example_builder *builder, recmap_error *error) {
    recmap_example_builder_begin(builder, RECMAP_MESSAGE_EXAMPLE);
    recmap_status status = recmap_example_builder_add_bytes(builder, "id", &id, 1, error);
    if (status == RECMAP_OK)
        status = recmap_example_builder_add_int64(builder, "label", &label, 1, error);
    if (status == RECMAP_OK)
        status = recmap_example_builder_add_float(builder, "weights", weights, 2, error);
    return status;
}

/* A context with one feature, and a feature list whose steps have two values each. */
static recmap_status build_sequence(recmap_example_builder *builder, recmap_error *error) {
    recmap_example_builder_begin(builder, RECMAP_MESSAGE_SEQUENCE_EXAMPLE);
    recmap_status status = recmap_example_builder_add_int64(builder, "label", &label, 1, error);
    if (status == RECMAP_OK) status = recmap_example_builder_begin_list(builder, "frames", error);
    for (size_t i = 0; status == RECMAP_OK && i < 3; i++)
        status = recmap_example_builder_add_int64(builder, NULL, frames[i], 2, error);
    recmap_example_builder_end_list(builder);
    return status;
}

/* A finished record stays in the builder's memory until the next one is begun. */
static recmap_status write_records(recmap_writer *writer, recmap_example_builder *builder,
                                   recmap_error *error) {
    const uint8_t *data;
    size_t size;
    recmap_status status = build_example(builder, error);
    for (int i = 0; status == RECMAP_OK && i < 2; i++) {
        status = recmap_example_builder_finish(&data, &size, builder, error);
        if (status == RECMAP_OK) status = recmap_writer_write(writer, data, size, error);
        if (status == RECMAP_OK && i == 0) status = build_sequence(builder, error);
    }
    if (status == RECMAP_OK)
        status = recmap_example_builder_read_json(&data, &size, builder, json, strlen(json), error);
    return status == RECMAP_OK ? recmap_writer_write(writer, data, size, error) : status;
}

static int print_usage(void) {
    fprintf(stderr, "usage: build NAME.tfrecord\n");
    return 2;
}

int main(int argc, char **argv) {
    recmap_error error = RECMAP_ERROR_INIT;
    if (argc != 2) return print_usage();
    recmap_example_builder *builder = NULL;
    recmap_writer *writer = NULL;
    recmap_status status = recmap_example_builder_create(&builder, &error);
    if (status == RECMAP_OK) status = recmap_writer_create(&writer, argv[1], NULL, &error);
    if (status == RECMAP_OK) status = write_records(writer, builder, &error);
    if (status == RECMAP_OK) status = recmap_writer_finish(writer, &error);
    recmap_writer_destroy(writer);
    recmap_example_builder_destroy(builder);
    if (status != RECMAP_OK) return recmap_error_print(&error, stderr);
    return 0;
}
