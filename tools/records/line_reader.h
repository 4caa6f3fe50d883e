/* Reads the lines of a file or of standard input. */
#ifndef RECMAP_TOOLS_RECORDS_LINE_READER_H
#define RECMAP_TOOLS_RECORDS_LINE_READER_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <recmap/status.h>

struct line_reader {
    FILE *stream;
    const char *name; /* of the file, for messages */
    char *line;       /* the current one, with its newline; allocated by getline */
    size_t capacity;
    size_t size;     /* of the line, which may contain NUL bytes */
    uint64_t number; /* of the line, from 1 */
    uint64_t offset; /* of the line's first byte in the file */
};

/* Returns true if the path means standard input: `-`. */
bool line_reader_is_stdin(const char *path);

/* Opens a file, or standard input. The reader may also be closed after an error. */
recmap_status line_reader_open(struct line_reader *reader, const char *path, recmap_error *error);
void line_reader_close(struct line_reader *reader);

/* Reads the next line. Sets *is_end after the last one. Errors: IO; CANCELLED by a signal. */
recmap_status line_reader_next(bool *is_end, struct line_reader *reader, recmap_error *error);

#endif
