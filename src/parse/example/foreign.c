#include "parse/example/foreign.h"

#include "parse/example/reader.h"
#include "parse/example/tensor_proto.h"

enum {
    EVENT_TIME_TAG = 1 << 3 | WIRE_FIXED64,
    EVENT_FIELD_MAX = 10,
    EXAMPLES_TAG = 1 << 3 | WIRE_BYTES, /* of an ExampleListWithContext */
    CONTEXT_TAG = 2 << 3 | WIRE_BYTES,  /* the same; of a SequenceExample: its lists */
};

static bool is_gzip(const uint8_t *data, size_t size) {
    return size > 2 && data[0] == 0x1f && data[1] == 0x8b && data[2] == 8;
}

static bool is_tensor(const uint8_t *data, size_t size) {
    char text[TENSOR_PROTO_TEXT_SIZE];
    return tensor_proto_describe(text, data, size);
}

/* tensorflow.Event begins with its time, and has few fields. */
static bool is_event(const uint8_t *data, size_t size) {
    struct wire event = {data, data + size};
    struct wire_trace trace = {0};
    if (data[0] != EVENT_TIME_TAG) return false;
    while (!wire_done(&event)) {
        uint32_t tag;
        if (!wire_read_tag(&tag, &event, &trace) || tag >> 3 > EVENT_FIELD_MAX ||
            (tag >> 3 == 1 && tag != EVENT_TIME_TAG) || !wire_skip(&event, tag, 0, &trace))
            return false;
    }
    return true;
}

/* What one reading of bytes as an Example found. */
struct reading {
    bool is_good;
    bool has_entries; /* of features, */
    bool has_values;  /* of which one has a kind */
    bool has_unknown;
};

static struct reading read_example(const uint8_t *data, size_t size) {
    struct reading reading = {.has_entries = false};
    struct example_reader reader = example_reader_begin(data, size);
    struct example_entry entry;
    while (example_reader_next(&entry, &reader)) {
        reading.has_entries = true;
        reading.has_values |= entry.feature.kind != RECMAP_TYPE_NONE;
    }
    reading.is_good = example_reader_end(&reader, NULL);
    reading.has_unknown = reader.trace.saw_unknown;
    return reading;
}

/* tensorflow.serving.ExampleListWithContext consists of Examples. If one is read as an Example, its
 * Examples are features, each named by the bytes of its own first feature and without a value. */
static bool is_example_list(const uint8_t *data, size_t size) {
    struct wire list = {data, data + size}, example;
    struct wire_trace trace = {0};
    bool has_examples = false, has_values = false;
    while (!wire_done(&list)) {
        uint32_t tag;
        if (!wire_read_tag(&tag, &list, &trace) || (tag != EXAMPLES_TAG && tag != CONTEXT_TAG) ||
            !wire_read_bytes(&example, &list, &trace))
            return false;
        struct reading reading = read_example(example.at, wire_left(&example));
        if (!reading.is_good || reading.has_unknown) return false;
        has_examples |= tag == EXAMPLES_TAG;
        has_values |= reading.has_values;
    }
    return has_examples && has_values;
}

/* Returns true if the message has a field that no SequenceExample has. */
static bool has_other_fields(const uint8_t *data, size_t size) {
    struct wire message = {data, data + size};
    struct wire_trace trace = {0};
    while (!wire_done(&message)) {
        uint32_t tag;
        if (!wire_read_tag(&tag, &message, &trace)) return false;
        if (tag != EXAMPLES_TAG && tag != CONTEXT_TAG) return true;
        if (!wire_skip(&message, tag, 0, &trace)) return false;
    }
    return false;
}

bool foreign_is_stream(struct foreign *foreign, const uint8_t *data, size_t size) {
    if (!is_gzip(data, size)) return false;
    *foreign = (struct foreign){"a gzip stream",
                                "decompress each record before it is decoded, or write the records "
                                "without compressing them one by one"};
    return true;
}

bool foreign_find(struct foreign *foreign, const uint8_t *data, size_t size) {
    if (size == 0) return false;
    struct reading reading = read_example(data, size);
    if (reading.has_values) return false;
    if (foreign_is_stream(foreign, data, size)) return true;
    if (is_example_list(data, size))
        *foreign = (struct foreign){"an ExampleListWithContext (ELWC)",
                                    "its field 1 has Examples and its field 2 a context: write "
                                    "each of these Examples as a record, or decode the records "
                                    "without features"};
    else if (is_tensor(data, size))
        *foreign = (struct foreign){"a tensor that tf.io.serialize_tensor wrote",
                                    "read the records without features, and decode them with "
                                    "tf.io.parse_tensor"};
    else if (is_event(data, size))
        *foreign = (struct foreign){"an event of TensorBoard",
                                    "open the files of the data set, without the log of the "
                                    "training"};
    else if (reading.is_good && !reading.has_entries && has_other_fields(data, size))
        *foreign = (struct foreign){"a message of another type, which has no features",
                                    "name its fields with recmap.Message (in C: message.h), or "
                                    "decode the records without features"};
    else return false;
    return true;
}
