#include "records/line_reader.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "terminal/interrupt.h"
#include "terminal/message.h"

bool line_reader_is_stdin(const char *path) {
    return !strcmp(path, "-");
}

recmap_status line_reader_open(struct line_reader *reader, const char *path, recmap_error *error) {
    *reader = (struct line_reader){.stream = stdin, .name = "standard input"};
    if (line_reader_is_stdin(path)) return RECMAP_OK;
    reader->name = path;
    reader->stream = fopen(path, "r");
    return reader->stream ? RECMAP_OK : message_fail_errno(error, path, "open the file");
}

void line_reader_close(struct line_reader *reader) {
    if (reader->stream && reader->stream != stdin) fclose(reader->stream);
    free(reader->line);
}

recmap_status line_reader_next(bool *is_end, struct line_reader *reader, recmap_error *error) {
    reader->offset += reader->size;
    reader->number++;
    errno = 0;
    ssize_t size = getline(&reader->line, &reader->capacity, reader->stream);
    *is_end = size < 0 && feof(reader->stream) && !ferror(reader->stream);
    reader->size = size < 0 ? 0 : (size_t)size;
    if (size >= 0 || *is_end) return RECMAP_OK;
    if (interrupt_is_pending()) return interrupt_fail(error);
    return message_fail_errno(error, reader->name, "read");
}
