/* The values that a path leads to through an array of JSON objects. */
#include "parse/text/json_gather.h"

#include <string.h>

#include "base/text/json_reader.h"

/* The text that is written: no longer than the array, because an object is longer than the value
 * and the comma that take its place. */
struct gathering {
    char *out;
    struct json_fault *fault;
};

static bool refuse(struct gathering *gathering, const char *at, const char *what) {
    *gathering->fault = (struct json_fault){what, at};
    return false;
}

static bool write_array(struct gathering *gathering, const struct text_piece *piece);

/* Writes what the path leads to in an element of an array. */
static bool write_element(struct gathering *gathering, char *path, struct json_reader *reader) {
    const struct text_source source = {.keys = &path, .key_count = 1, .has_paths = true};
    struct text_piece piece = {.data = NULL};
    bool is_object = json_peek(reader) == '{';
    const char *element = reader->at;
    if (!is_object) return refuse(gathering, element, "is not an object");
    if (!json_find_members(&piece, &source, reader))
        return refuse(gathering, reader->at, "is not text in UTF-8");
    if (!piece.data) return refuse(gathering, element, "has no such member");
    if (piece.path) return write_array(gathering, &piece);
    memcpy(gathering->out, piece.data, piece.size);
    gathering->out += piece.size;
    return true;
}

/* The depth of recursion is the number of dots in the key at most: the elements must be objects. */
static bool write_array(struct gathering *gathering, const struct text_piece *piece) {
    struct json_reader reader = {piece->data, piece->data + piece->size};
    if (!json_take(&reader, '[')) return refuse(gathering, piece->data, "is not an object");
    *gathering->out++ = '[';
    bool has_more = !json_take(&reader, ']');
    for (bool is_first = true; has_more; is_first = false, has_more = json_take(&reader, ',')) {
        if (!is_first) *gathering->out++ = ',';
        if (!write_element(gathering, piece->path, &reader)) return false;
    }
    *gathering->out++ = ']';
    return true;
}

bool json_gather(struct text_piece *piece, struct reader_memory *memory, struct json_fault *fault) {
    char *text = reader_memory_take(memory, piece->size);
    struct gathering gathering = {text, fault};
    *fault = (struct json_fault){NULL, piece->data};
    if (!text || !write_array(&gathering, piece)) return false;
    size_t size = (size_t)(gathering.out - text);
    reader_memory_return(memory, piece->size - size);
    *piece = (struct text_piece){.data = text, .size = size};
    return true;
}
