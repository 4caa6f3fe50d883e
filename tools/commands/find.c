/* recmap find: prints the numbers of the records that have an id. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <recmap/dataset.h>

#include "commands/commands.h"
#include "records/find_id.h"
#include "terminal/message.h"

/* On a terminal, control characters of the id are escaped; a pipe or file gets the id unchanged. */
static void print_match(const char *id, uint64_t number) {
    if (isatty(STDOUT_FILENO) == 1) print_readable(stdout, id, strlen(id));
    else fputs(id, stdout);
    printf("\t%" PRIu64 "\n", number);
}

/* An id without a record is reported and the search continues, so that a script gets all matches;
 * any other error ends it. */
static int find_operands(struct view *view, const struct args *args) {
    struct match_list matches = MATCH_LIST_INIT;
    recmap_error error = RECMAP_ERROR_INIT;
    int exit_status = 0;
    for (int i = 1; i < args->operand_count; i++) {
        const char *id = args->operands[i];
        if (find_id(&matches, view, id, &error) != RECMAP_OK) {
            exit_status = message_print(&error);
            break;
        }
        for (size_t k = 0; k < matches.count; k++) print_match(id, matches.numbers[k]);
        if (matches.count) continue;
        find_id_fail(&matches, view, id, &error);
        exit_status = message_print(&error);
    }
    match_list_deinit(&matches);
    return exit_status;
}

static int run(int argc, char **argv) {
    struct args args;
    args_init(&args, &cmd_find, argc, argv);
    for (int option; (option = args_next(&args)) != ARGS_END;)
        if (option == ARGS_STOP) return args.exit_status;
    if (args.operand_count == 1) return args_usage_error(&args, "no id given");
    struct view view;
    int exit_status = view_open(&view, &args);
    if (!exit_status) exit_status = find_operands(&view, &args);
    view_close(&view);
    return exit_status;
}

static const char help[] =
    "usage: recmap find [OPTION]... NAME.rmx|NAME.rmv|SHARDS ID...\n"
    "\n"
    "Prints ID <tab> NUMBER for each record that has the ID. The index must have been built\n"
    "with --id. An ID is compared as bytes first, then, if no record has it and it is a decimal\n"
    "integer, as an int64. The exit status is 1 if an ID was not found. In a selection, NUMBER is\n"
    "the position in it, as for get. Write -- before an ID that begins with a dash.\n" HELP_SHARDS;

const struct command cmd_find = {"find", "find record numbers by id", help, run};
