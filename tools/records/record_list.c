#include "records/record_list.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "records/find_id.h"
#include "terminal/interrupt.h"
#include "terminal/message.h"

void record_list_deinit(struct record_list *list) {
    free(list->ranges);
    *list = (struct record_list)RECORD_LIST_INIT;
}

static recmap_status add_range(struct record_list *list, struct number_range range,
                               recmap_error *error) {
    if (list->count == list->capacity) {
        size_t capacity = list->capacity ? 2 * list->capacity : 64;
        struct number_range *ranges = realloc(list->ranges, capacity * sizeof *ranges);
        if (!ranges)
            return message_fail(error, RECMAP_NO_MEMORY, NULL, NULL,
                                "out of memory for %zu numbers of records", list->count);
        list->ranges = ranges;
        list->capacity = capacity;
    }
    list->ranges[list->count++] = range;
    return RECMAP_OK;
}

/* Cuts `text`, which is writable like all of argv, at the colon. Returns false after printing the
 * error. */
static bool parse_operand(struct number_range *range, const struct args *args, char *text) {
    char *colon = strchr(text, ':');
    range->count = 1;
    if (!colon) return args_number(args, "NUMBER", text, UINT64_MAX, &range->first);
    uint64_t end;
    *colon = 0;
    if (!args_number(args, "FIRST of FIRST:END", text, UINT64_MAX, &range->first) ||
        !args_number(args, "END of FIRST:END", colon + 1, UINT64_MAX, &end))
        return false;
    if (end < range->first) {
        args_usage_error(args, "FIRST:END must not end before it starts, as %s:%s does", text,
                         colon + 1);
        return false;
    }
    range->count = end - range->first;
    return true;
}

int record_list_add_operands(struct record_list *list, const struct args *args) {
    for (int i = 1; i < args->operand_count; i++) {
        struct number_range range;
        recmap_error error = RECMAP_ERROR_INIT;
        if (!parse_operand(&range, args, args->operands[i])) return 2;
        if (add_range(list, range, &error) != RECMAP_OK) return recmap_error_print(&error, stderr);
    }
    return 0;
}

recmap_status record_list_add_id(struct record_list *list, struct view *view, const char *id,
                                 recmap_error *error) {
    struct match_list matches = MATCH_LIST_INIT;
    recmap_status status = find_id(&matches, view, id, error);
    if (status == RECMAP_OK && !matches.count) status = find_id_fail(&matches, view, id, error);
    for (size_t i = 0; status == RECMAP_OK && i < matches.count; i++)
        status = add_range(list, (struct number_range){matches.numbers[i], 1}, error);
    match_list_deinit(&matches);
    return status;
}

/* Parses decimal digits and moves *text after them. Returns false if there are none, or if the
 * number is too large. */
static bool parse_digits(uint64_t *number, const char **text) {
    const char *start = *text;
    uint64_t value = 0;
    for (; **text >= '0' && **text <= '9'; (*text)++) {
        uint64_t digit = (uint64_t)(**text - '0');
        if (value > (UINT64_MAX - digit) / 10) return false;
        value = value * 10 + digit;
    }
    *number = value;
    return *text != start;
}

static bool parse_line(struct number_range *range, const char *line) {
    uint64_t end;
    range->count = 1;
    if (!parse_digits(&range->first, &line)) return false;
    if (!*line) return true;
    if (*line++ != ':' || !parse_digits(&end, &line) || *line || end < range->first) return false;
    range->count = end - range->first;
    return true;
}

/* Where the lines of a file come from, and what they name. */
struct line_reader {
    FILE *stream;
    const char *name;
    char *line; /* of getline */
    size_t capacity;
    size_t size;     /* of the line, which may contain NUL bytes */
    uint64_t number; /* of the line, from 1 */
};

/* Returns false at the end of the file or after an error. Newlines are removed. */
static bool next_line(struct line_reader *reader) {
    errno = 0;
    ssize_t size = getline(&reader->line, &reader->capacity, reader->stream);
    if (size < 0) return false;
    while (size && (reader->line[size - 1] == '\n' || reader->line[size - 1] == '\r'))
        reader->line[--size] = 0;
    reader->size = (size_t)size;
    reader->number++;
    return true;
}

static recmap_status add_line(struct record_list *list, const struct line_reader *reader,
                              recmap_error *error) {
    struct number_range range;
    if (parse_line(&range, reader->line)) return add_range(list, range, error);
    return message_fail(error, RECMAP_INVALID, reader->name,
                        "write one record number, or one range such as 5:20, on each line; lines "
                        "of ids need --by id",
                        "line %" PRIu64 " is neither a record number nor a range: '%.60s'",
                        reader->number, reader->line);
}

static recmap_status check_line(const struct line_reader *reader, recmap_error *error) {
    if (strlen(reader->line) == reader->size) return RECMAP_OK;
    return message_fail(error, RECMAP_INVALID, reader->name,
                        "write one record on each line, as text without NUL bytes",
                        "line %" PRIu64 " contains a NUL byte", reader->number);
}

static recmap_status open_reader(struct line_reader *reader, const char *file_path,
                                 recmap_error *error) {
    bool is_stdin = !strcmp(file_path, "-");
    *reader = (struct line_reader){.name = is_stdin ? "standard input" : file_path};
    reader->stream = is_stdin ? stdin : fopen(file_path, "r");
    if (reader->stream) return RECMAP_OK;
    return message_fail_errno(error, file_path, "open the file");
}

recmap_status record_list_add_file(struct record_list *list, struct view *view,
                                   const char *file_path, bool has_ids, recmap_error *error) {
    struct line_reader reader;
    recmap_status status = open_reader(&reader, file_path, error);
    if (status != RECMAP_OK) return status;
    while (status == RECMAP_OK && next_line(&reader)) {
        status = interrupt_is_pending() ? interrupt_fail(error) : check_line(&reader, error);
        if (status != RECMAP_OK || !*reader.line) continue;
        if (has_ids) status = record_list_add_id(list, view, reader.line, error);
        else status = add_line(list, &reader, error);
    }
    if (status == RECMAP_OK && !feof(reader.stream))
        status = message_fail_errno(error, reader.name, "read");
    if (reader.stream != stdin) fclose(reader.stream);
    free(reader.line);
    return status;
}
