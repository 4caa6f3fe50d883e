#include "records/record_list.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/words/character.h"
#include "records/find_id.h"
#include "records/line_reader.h"
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

static bool names_index(const char *text) {
    const char *extension = strrchr(text, '.');
    return extension && (!strcmp(extension, ".rmx") || !strcmp(extension, ".rmv"));
}

/* Refuses what is not a number. It may be an id, or the index, which comes first. */
static bool refuse_word(const struct args *args, const char *text) {
    char advice[96];
    snprintf(advice, sizeof advice, "%s; try 'recmap %s --help'",
             names_index(text) ? "the index comes before the numbers"
                               : "if it is an id, add `--by id`",
             args->command->name);
    message_error(RECMAP_INVALID, args->command->name, advice,
                  args_is_negative(text) ? "NUMBER must not be negative, but is %s"
                                         : "NUMBER must be a whole number, not '%s'",
                  text);
    return false;
}

/* Cuts `text`, which is writable like all of argv, at the colon. Returns false after printing the
 * error. */
static bool parse_operand(struct number_range *range, const struct args *args, char *text) {
    char *colon = strchr(text, ':');
    *range = (struct number_range){.count = 1, .is_slice = colon != NULL};
    if (!colon && strspn(text, "0123456789") < strlen(text)) return refuse_word(args, text);
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
        if (add_range(list, range, &error) != RECMAP_OK) return message_print(&error);
    }
    return 0;
}

void record_list_clamp(struct record_list *list, const struct view *view) {
    const char *items = view->selection ? "selection" : "data set";
    uint64_t cut_count = 0, first = 0, end = 0;
    for (size_t i = 0; i < list->count; i++) {
        struct number_range *range = &list->ranges[i];
        uint64_t left = range->first < view->count ? view->count - range->first : 0;
        if (!range->is_slice || range->count <= left) continue;
        if (!cut_count++) first = range->first, end = range->first + range->count;
        range->count = left;
    }
    if (!cut_count) return;
    message("%s: the slice %" PRIu64 ":%" PRIu64 "%s beyond the last record: the %s has %" PRIu64
            " record%s",
            view->path, first, end, cut_count > 1 ? " and others end" : " ends", items, view->count,
            plural(view->count));
}

recmap_status record_list_add_id(struct record_list *list, struct view *view, const char *id,
                                 recmap_error *error) {
    struct match_list matches = MATCH_LIST_INIT;
    recmap_status status = find_id(&matches, view, id, error);
    if (status == RECMAP_OK && !matches.count) status = find_id_fail(&matches, view, id, error);
    for (size_t i = 0; status == RECMAP_OK && i < matches.count; i++)
        status =
            add_range(list, (struct number_range){.first = matches.numbers[i], .count = 1}, error);
    match_list_deinit(&matches);
    return status;
}

/* Parses decimal digits and moves *text after them. Returns false if there are none, or if the
 * number is too large. */
static bool parse_digits(uint64_t *number, const char **text) {
    const char *start = *text;
    uint64_t value = 0;
    for (; is_digit(**text); (*text)++) {
        uint64_t digit = (uint64_t)(**text - '0');
        if (value > (UINT64_MAX - digit) / 10) return false;
        value = value * 10 + digit;
    }
    *number = value;
    return *text != start;
}

static bool parse_line(struct number_range *range, const char *line) {
    uint64_t end;
    *range = (struct number_range){.count = 1};
    if (!parse_digits(&range->first, &line)) return false;
    if (!*line) return true;
    if (*line++ != ':' || !parse_digits(&end, &line) || *line || end < range->first) return false;
    range->count = end - range->first;
    range->is_slice = true;
    return true;
}

/* Cuts the newline off the current line. Returns the size that is left. */
static size_t trim_line(struct line_reader *reader) {
    size_t size = reader->size;
    while (size && (reader->line[size - 1] == '\n' || reader->line[size - 1] == '\r'))
        reader->line[--size] = 0;
    return size;
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

static recmap_status check_line(const struct line_reader *reader, size_t size,
                                recmap_error *error) {
    if (strlen(reader->line) == size) return RECMAP_OK;
    return message_fail(error, RECMAP_INVALID, reader->name,
                        "write one record on each line, as text without NUL bytes",
                        "line %" PRIu64 " contains a NUL byte", reader->number);
}

static recmap_status add_current(struct record_list *list, struct view *view,
                                 struct line_reader *reader, bool is_id, recmap_error *error) {
    if (interrupt_is_pending()) return interrupt_fail(error);
    RETURN_IF_FAILED(check_line(reader, trim_line(reader), error));
    if (!*reader->line) return RECMAP_OK;
    return is_id ? record_list_add_id(list, view, reader->line, error)
                 : add_line(list, reader, error);
}

recmap_status record_list_add_file(struct record_list *list, struct view *view,
                                   const char *file_path, bool has_ids, recmap_error *error) {
    struct line_reader reader;
    bool is_end = false;
    recmap_status status = line_reader_open(&reader, file_path, error);
    while (status == RECMAP_OK) {
        status = line_reader_next(&is_end, &reader, error);
        if (status != RECMAP_OK || is_end) break;
        status = add_current(list, view, &reader, has_ids, error);
    }
    line_reader_close(&reader);
    return status;
}

/* A number_source_next_fn. */
static recmap_status next_positions(void *context, uint64_t *positions, size_t count,
                                    recmap_error *error) {
    (void)error;
    struct record_list_cursor *cursor = context;
    for (size_t i = 0; i < count; i++) {
        while (cursor->used == cursor->list->ranges[cursor->range].count) {
            cursor->range++;
            cursor->used = 0;
        }
        positions[i] = cursor->list->ranges[cursor->range].first + cursor->used++;
    }
    return RECMAP_OK;
}

struct number_source record_list_source(const struct record_list *list,
                                        struct record_list_cursor *cursor) {
    uint64_t total = 0;
    *cursor = (struct record_list_cursor){.list = list};
    for (size_t i = 0; i < list->count; i++) total += list->ranges[i].count;
    return (struct number_source){total, next_positions, cursor};
}
