#include "parse/varints/message_writer.h"

#include <stdlib.h>

#include "base/core/array.h"

bool message_reserve(struct message_writer *writer, size_t size) {
    if (size > SIZE_MAX - writer->size) return false;
    return array_reserve(&writer->data, &writer->capacity, writer->size + size, 1);
}

void message_deinit(struct message_writer *writer) {
    free(writer->data);
    *writer = (struct message_writer){0};
}
