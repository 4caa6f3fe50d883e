#include "records/whole_file.h"

#include <stdlib.h>

#include "terminal/message.h"

enum { READ_SIZE = 1 << 16 };

static bool read_all(char **data, size_t *size, FILE *stream, size_t limit) {
    size_t capacity = 0;
    for (*data = NULL, *size = 0; *size <= limit;) {
        if (*size + READ_SIZE > capacity) {
            capacity = 2 * capacity + READ_SIZE;
            char *grown = realloc(*data, capacity);
            if (!grown) return false;
            *data = grown;
        }
        size_t count = fread(*data + *size, 1, READ_SIZE, stream);
        *size += count;
        if (!count) return !ferror(stream);
    }
    return true;
}

int whole_file_read(char **data, size_t *size, const char *path, size_t limit) {
    FILE *stream = fopen(path, "rb");
    recmap_error error = RECMAP_ERROR_INIT;
    if (stream && read_all(data, size, stream, limit)) {
        fclose(stream);
        return 0;
    }
    message_fail_errno(&error, path, stream ? "read" : "open");
    if (stream) {
        free(*data);
        *data = NULL;
        fclose(stream);
    }
    return message_print(&error);
}
