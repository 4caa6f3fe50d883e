/* What does a record cost that is a message of another type, compared with a tf.Example that holds
 * the same values? From memory, on one core, in batches of 256 records. Times are CPU times of the
 * thread, taken in turns.
 *
 * The first figure of each case is the goal: values per second, as a ratio to tf.Example. The
 * second is the bytes of records per second, as a ratio; a message takes fewer bytes for small
 * values.
 *
 * usage: bench_message [REPEATS] */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <recmap/message.h>

#include "example.h"
#include "measure.h"
#include "parse/varints/message_writer.h"

enum { BATCH = 256, RECORDS = 4096, LONG = 1024, SMALL = 12, IMAGE = 50000, SAMPLE_NS = 50000000 };

/* The records of one encoding. */
struct encoded {
    struct message_writer writer;
    size_t ends[RECORDS];
    size_t count;
    recmap_record records[RECORDS];
    recmap_parser *parser;
    recmap_columns *columns;
};

static void reserve(struct message_writer *writer, size_t size) {
    if (!message_reserve(writer, size)) abort();
}

static void put_bytes(struct message_writer *writer, unsigned field, const void *data,
                      size_t size) {
    reserve(writer, size + 16);
    message_put_prefix(writer, (uint8_t)(field << 3 | 2), size);
    message_put_bytes(writer, data, size);
}

static void put_number(struct message_writer *writer, unsigned field, uint64_t value) {
    reserve(writer, 16);
    writer->data[writer->size++] = (uint8_t)(field << 3);
    message_put_varint(writer, value);
}

static void put_packed(struct message_writer *writer, unsigned field, const uint64_t *values,
                       size_t count) {
    struct message_writer packed = {NULL, 0, 0};
    reserve(&packed, count * 10);
    for (size_t i = 0; i < count; i++) message_put_varint(&packed, values[i]);
    put_bytes(writer, field, packed.data, packed.size);
    message_deinit(&packed);
}

static void end_record(struct encoded *encoded) {
    encoded->ends[encoded->count++] = encoded->writer.size;
}

/* ---- The descriptor set: a file of one type. */

/* Fields 1 to 15: int64, then bytes, repeated int64, repeated float and bytes. */
static void put_field(struct message_writer *type, const char *name, unsigned number, unsigned kind,
                      unsigned label) {
    struct message_writer field = {NULL, 0, 0};
    put_bytes(&field, 1, name, strlen(name));
    put_number(&field, 3, number);
    put_number(&field, 4, label);
    put_number(&field, 5, kind);
    put_bytes(type, 2, field.data, field.size);
    message_deinit(&field);
}

enum { KIND_FLOAT = 2, KIND_INT64 = 3, KIND_BYTES = 12 };

static const char *const small_names[SMALL] = {"label", "user", "item", "hour", "day",  "city",
                                               "age",   "pos",  "size", "kind", "week", "rank"};

static recmap_message_type *make_type(void) {
    struct message_writer type = {NULL, 0, 0}, file = {NULL, 0, 0}, set = {NULL, 0, 0};
    recmap_message_type *made;
    recmap_error error = RECMAP_ERROR_INIT;
    put_bytes(&type, 1, "Record", 6);
    for (unsigned i = 0; i < SMALL; i++) put_field(&type, small_names[i], i + 1, KIND_INT64, 1);
    put_field(&type, "id", 13, KIND_BYTES, 1);
    put_field(&type, "tokens", 14, KIND_INT64, 3);
    put_field(&type, "weights", 15, KIND_FLOAT, 3);
    put_bytes(&file, 4, type.data, type.size);
    put_bytes(&set, 1, file.data, file.size);
    must(recmap_message_type_create(&made, set.data, set.size, "Record", &error), &error);
    message_deinit(&type);
    message_deinit(&file);
    message_deinit(&set);
    return made;
}

/* ---- The records of each case, in both encodings. */

static uint64_t state = 7;

static uint64_t draw(uint64_t limit) {
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (state >> 33) % limit;
}

static struct example example;

static void add_example(struct encoded *encoded) {
    example_end(&example);
    reserve(&encoded->writer, example.end - example.start);
    message_put_bytes(&encoded->writer, example.bytes + example.start, example.end - example.start);
    end_record(encoded);
}

static void make_small(struct encoded *examples, struct encoded *messages) {
    char id[16];
    uint64_t value;
    snprintf(id, sizeof id, "id-%08u", (unsigned)draw(100000000));
    example_begin(&example);
    example_add_bytes(&example, "id", id, strlen(id));
    for (unsigned i = 0; i < SMALL; i++) {
        value = draw(UINT64_C(1) << (4 + i));
        example_add_int64(&example, small_names[i], &value, 1);
        put_number(&messages->writer, i + 1, value);
    }
    put_bytes(&messages->writer, 13, id, strlen(id));
    end_record(messages);
    add_example(examples);
}

static void make_tokens(struct encoded *examples, struct encoded *messages) {
    uint64_t values[LONG];
    for (size_t i = 0; i < LONG; i++) values[i] = draw(50000);
    example_begin(&example);
    example_add_int64(&example, "tokens", values, LONG);
    add_example(examples);
    put_packed(&messages->writer, 14, values, LONG);
    end_record(messages);
}

static void make_weights(struct encoded *examples, struct encoded *messages) {
    float values[LONG];
    for (size_t i = 0; i < LONG; i++) values[i] = (float)draw(1000) / 8;
    example_begin(&example);
    example_add_float(&example, "weights", values, LONG);
    add_example(examples);
    put_bytes(&messages->writer, 15, values, sizeof values);
    end_record(messages);
}

static void make_image(struct encoded *examples, struct encoded *messages) {
    static uint8_t image[IMAGE];
    example_begin(&example);
    example_add_bytes(&example, "id", image, sizeof image);
    add_example(examples);
    put_bytes(&messages->writer, 13, image, sizeof image);
    end_record(messages);
}

#define SCALAR(field_name, its_element)                                                            \
    { .name = (field_name), .kind = RECMAP_FEATURE_FIXED_LEN, .element = (its_element) }
#define LIST(field_name, its_element)                                                              \
    { .name = (field_name), .kind = RECMAP_FEATURE_VAR_LEN, .element = (its_element) }

static const recmap_feature small_features[] = {
    SCALAR("label", RECMAP_ELEMENT_INT64), SCALAR("user", RECMAP_ELEMENT_INT64),
    SCALAR("item", RECMAP_ELEMENT_INT64),  SCALAR("hour", RECMAP_ELEMENT_INT64),
    SCALAR("day", RECMAP_ELEMENT_INT64),   SCALAR("city", RECMAP_ELEMENT_INT64),
    SCALAR("age", RECMAP_ELEMENT_INT64),   SCALAR("pos", RECMAP_ELEMENT_INT64),
    SCALAR("size", RECMAP_ELEMENT_INT64),  SCALAR("kind", RECMAP_ELEMENT_INT64),
    SCALAR("week", RECMAP_ELEMENT_INT64),  SCALAR("rank", RECMAP_ELEMENT_INT64),
    SCALAR("id", RECMAP_ELEMENT_BYTES)};
static const recmap_feature token_features[] = {LIST("tokens", RECMAP_ELEMENT_INT64)};
static const recmap_feature int32_features[] = {LIST("tokens", RECMAP_ELEMENT_INT32)};
static const recmap_feature weight_features[] = {LIST("weights", RECMAP_ELEMENT_FLOAT32)};
static const recmap_feature image_features[] = {SCALAR("id", RECMAP_ELEMENT_BYTES)};

static const struct message_case {
    const char *title;
    void (*make)(struct encoded *examples, struct encoded *messages);
    const recmap_feature *features;
    size_t feature_count, record_count;
} cases[] = {
    {"13 small fields", make_small, small_features, 13, RECORDS},
    {"1,024 token ids", make_tokens, token_features, 1, 1024},
    {"1,024 token ids as int32", make_tokens, int32_features, 1, 1024},
    {"1,024 floats", make_weights, weight_features, 1, 1024},
    {"50 KB of image, viewed", make_image, image_features, 1, 256},
};

/* ---- Measuring. */

static void place_records(struct encoded *encoded) {
    size_t begin = 0;
    for (size_t i = 0; i < encoded->count; i++) {
        encoded->records[i] =
            (recmap_record){encoded->writer.data + begin, encoded->ends[i] - begin, i, NULL};
        begin = encoded->ends[i];
    }
}

static double time_parse(struct encoded *encoded) {
    recmap_error error = RECMAP_ERROR_INIT;
    uint64_t start = thread_cpu_ns(), taken = 0;
    size_t rounds = 0;
    for (; taken < SAMPLE_NS; rounds++) {
        for (size_t i = 0; i < encoded->count; i += BATCH)
            must(recmap_parser_parse(encoded->columns, encoded->parser, encoded->records + i, BATCH,
                                     RECMAP_PARSE_RAISE, &error),
                 &error);
        taken = thread_cpu_ns() - start;
    }
    return (double)taken / (double)rounds / (double)encoded->count;
}

static void release(struct encoded *encoded) {
    recmap_columns_destroy(encoded->columns);
    recmap_parser_release(encoded->parser);
    message_deinit(&encoded->writer);
    free(encoded);
}

static void run_case(const struct message_case *this, recmap_message_type *type, int repeats) {
    struct encoded *examples = must_have(calloc(1, sizeof *examples));
    struct encoded *messages = must_have(calloc(1, sizeof *messages));
    struct samples values = {.count = 0}, bytes = {.count = 0}, times = {.count = 0};
    recmap_error error = RECMAP_ERROR_INIT;
    for (size_t i = 0; i < this->record_count; i++) this->make(examples, messages);
    place_records(examples);
    place_records(messages);
    must(recmap_columns_create(&examples->columns, &error), &error);
    must(recmap_columns_create(&messages->columns, &error), &error);
    must(recmap_parser_create(&examples->parser, this->features, this->feature_count, &error),
         &error);
    must(recmap_parser_create_message(&messages->parser, type, this->features, this->feature_count,
                                      &error),
         &error);
    for (int i = 0; i < repeats; i++) {
        double example_ns = time_parse(examples), message_ns = time_parse(messages);
        samples_add(&times, message_ns);
        samples_add(&values, example_ns / message_ns);
        samples_add(&bytes, example_ns / message_ns * (double)messages->writer.size /
                                (double)examples->writer.size);
    }
    print_row(&times, "ns", NO_GOAL, "message: %s", this->title);
    print_row(&values, "ratio", AT_MIN(0.7), "values per second beside tf.Example: %s",
              this->title);
    print_row(&bytes, "ratio", NO_GOAL, "bytes per second beside tf.Example: %s", this->title);
    release(examples);
    release(messages);
}

int main(int argc, char **argv) {
    int repeats = parse_repeats(argc > 1 ? argv[1] : NULL, 5);
    recmap_message_type *type = make_type();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) run_case(&cases[i], type, repeats);
    recmap_message_type_release(type);
    return 0;
}
