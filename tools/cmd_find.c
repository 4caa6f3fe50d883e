/* recmap find: ids to numbers. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <recmap/dataset.h>

#include "commands.h"
#include "message.h"

static const struct option options[] = {{"framing", required_argument, NULL, ARGS_FRAMING},
                                        {NULL, 0, NULL, 0}};

/* Numbers of one id, used again from id to id. */
struct match_list {
    uint64_t *numbers;
    size_t count;
    size_t capacity;
};

static recmap_status find(recmap_dataset *dataset, const recmap_value *id,
                          struct match_list *matches, recmap_error *error) {
    for (;;) {
        recmap_status status = recmap_dataset_find_all(matches->numbers, matches->capacity,
                                                       &matches->count, dataset, id, error);
        if (status != RECMAP_OK || matches->count <= matches->capacity) return status;
        uint64_t *numbers = realloc(matches->numbers, matches->count * sizeof *numbers);
        if (!numbers) {
            errno = ENOMEM;
            return message_fail_errno(error, "", "keep the matches");
        }
        matches->numbers = numbers;
        matches->capacity = matches->count;
    }
}

/* Whether `text` is the usual decimal form of an int64. */
static bool parse_int64(const char *text, int64_t *number) {
    const char *digits = text + (*text == '-');
    char *end;
    errno = 0;
    long long value = strtoll(text, &end, 10);
    *number = value;
    return *digits >= '0' && *digits <= '9' && !*end && !errno;
}

/* An id is looked for as bytes; where that finds nothing, as the integer that it may spell. */
static recmap_status find_text(recmap_dataset *dataset, const char *text,
                               struct match_list *matches, recmap_error *error) {
    recmap_value id = {.type = RECMAP_TYPE_BYTES,
                       .as.bytes = {(const uint8_t *)text, strlen(text)}};
    recmap_status status = find(dataset, &id, matches, error);
    int64_t number;
    if (status != RECMAP_OK || matches->count || !parse_int64(text, &number)) return status;
    id = (recmap_value){.type = RECMAP_TYPE_INT64, .as.int64 = number};
    return find(dataset, &id, matches, error);
}

/* A program gets the id as it is, a terminal as it can be shown. */
static void print_match(const char *id, uint64_t number) {
    if (isatty(STDOUT_FILENO) == 1) print_readable(stdout, id, strlen(id));
    else fputs(id, stdout);
    printf("\t%llu\n", (unsigned long long)number);
}

static int find_operands(recmap_dataset *dataset, const struct args *args) {
    struct match_list matches = {NULL, 0, 0};
    recmap_error error = RECMAP_ERROR_INIT;
    int exit_status = 0;
    for (int i = 1; i < args->operand_count; i++) {
        const char *id = args->operands[i];
        if (find_text(dataset, id, &matches, &error) != RECMAP_OK) {
            exit_status = recmap_error_print(&error, stderr);
            break;
        }
        for (size_t k = 0; k < matches.count; k++) print_match(id, matches.numbers[k]);
        if (!matches.count)
            exit_status = message_error(RECMAP_NOT_FOUND, args->operands[0],
                                        "ids are compared byte for byte; 'recmap info' tells "
                                        "which feature holds them",
                                        "no record has the id '%s'", id);
    }
    free(matches.numbers);
    return exit_status;
}

static int run(int argc, char **argv) {
    struct args args;
    args_init(&args, &cmd_find, options, argc, argv);
    for (int option; (option = args_next(&args)) != ARGS_END;)
        if (option == ARGS_STOP) return args.exit_status;
    if (args.operand_count == 1) return args_usage_error(&args, "no id is given");
    recmap_dataset *dataset;
    int exit_status = args_open(&dataset, &args);
    if (exit_status) return exit_status;
    exit_status = find_operands(dataset, &args);
    recmap_dataset_close(dataset);
    return exit_status;
}

static const char help[] =
    "usage: recmap find [OPTION]... NAME.rmx ID...\n"
    "\n"
    "Prints ID <tab> NUMBER for each record that has the id. The index must have been built\n"
    "with --id. An ID that is not found as it stands, and is a decimal integer, is looked for\n"
    "as an int64. The exit status is 1 when an ID is not there.\n"
    "\n"
    "      --access A  map (the default) or pread: how the bytes of shards are reached\n"
    "      --check C   data (the default) or header: what of a record is checked\n"
    "      --framing ./MY.so  the framing of your own in which its records lie\n"
    "      --help\n"
    "      --          before an ID that begins with a dash\n";

const struct command cmd_find = {"find", "find the numbers of records by id", help, true, run};
