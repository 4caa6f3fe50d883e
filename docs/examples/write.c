/* Writes and indexes records that are not tf.Examples, then finds one by id:
 * write NAME.tfrecord NAME.rmx ID. A record is a line of text; its id is the first word. */
#include <inttypes.h>
#include <string.h>

#include <recmap/recmap.h>

static recmap_status read_id(const recmap_record *record, recmap_value *id, recmap_value *columns,
                             size_t column_count, char *message, size_t message_capacity,
                             void *context) {
    (void)context, (void)columns, (void)column_count, (void)message, (void)message_capacity;
    const uint8_t *space = memchr(record->data, ' ', record->size);
    if (!id || !space) return RECMAP_OK; /* a line without a space has no id */
    id->type = RECMAP_TYPE_BYTES;
    id->as.bytes.data = record->data;
    id->as.bytes.size = (size_t)(space - record->data);
    return RECMAP_OK;
}

static recmap_status write_lines(const char *path, const char *index_path, recmap_error *error) {
    static const char *const lines[] = {"red apples", "green pears", "blue plums", "nothing"};
    recmap_index_options index = RECMAP_INDEX_OPTIONS_INIT;
    index.id_feature = "color";
    index.lift = read_id;
    recmap_writer_options options = RECMAP_WRITER_OPTIONS_INIT;
    options.index_path = index_path;
    options.index = &index;
    recmap_writer *writer = NULL;
    recmap_status status = recmap_writer_create(&writer, path, &options, error);
    for (size_t i = 0; status == RECMAP_OK && i < sizeof lines / sizeof *lines; i++)
        status = recmap_writer_write(writer, lines[i], strlen(lines[i]), error);
    if (status == RECMAP_OK) status = recmap_writer_finish(writer, error);
    recmap_writer_destroy(writer);
    return status;
}

static recmap_status print_record(const char *index_path, const char *name, recmap_error *error) {
    recmap_dataset_options options = RECMAP_DATASET_OPTIONS_INIT;
    options.lift = read_id; /* find compares ids with those in the records */
    recmap_dataset *dataset = NULL;
    recmap_value id = {.type = RECMAP_TYPE_BYTES};
    id.as.bytes.data = (const uint8_t *)name;
    id.as.bytes.size = strlen(name);
    uint64_t number;
    recmap_record record;
    recmap_status status = recmap_dataset_open(&dataset, index_path, &options, error);
    if (status == RECMAP_OK) status = recmap_dataset_find(&number, dataset, &id, error);
    if (status == RECMAP_OK) status = recmap_dataset_get(&record, dataset, number, error);
    if (status == RECMAP_OK) {
        printf("record %" PRIu64 ": %.*s\n", number, (int)record.size, (const char *)record.data);
        recmap_record_release(&record);
    }
    recmap_dataset_close(dataset);
    return status;
}

static int print_usage(void) {
    fprintf(stderr, "usage: write NAME.tfrecord NAME.rmx ID\n");
    return 2;
}

int main(int argc, char **argv) {
    recmap_error error = RECMAP_ERROR_INIT;
    if (argc != 4) return print_usage();
    if (write_lines(argv[1], argv[2], &error) != RECMAP_OK ||
        print_record(argv[2], argv[3], &error) != RECMAP_OK)
        return recmap_error_print(&error, stderr);
    return 0;
}
