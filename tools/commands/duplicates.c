/* recmap duplicates: lists records that equal earlier ones, or selects the others. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <recmap/duplicates.h>

#include "commands/commands.h"
#include "records/view_output.h"
#include "terminal/interrupt.h"
#include "terminal/message.h"
#include "terminal/progress_bar.h"

/* Prints POSITION <tab> POSITION of the first equal record, for each duplicate. */
static void print_duplicates(const uint64_t *firsts, uint64_t count) {
    for (uint64_t i = 0; i < count; i++)
        if (firsts[i] != i) printf("%" PRIu64 "\t%" PRIu64 "\n", i, firsts[i]);
}

/* Keeps the items that are not duplicates. Uses the memory of `firsts`. */
static void choose_firsts(struct view *view, uint64_t *firsts) {
    uint64_t kept = 0;
    for (uint64_t i = 0; i < view->count; i++)
        if (firsts[i] == i) firsts[kept++] = view_number(view, i);
    view_choose(view, firsts, kept);
}

static recmap_status find(uint64_t *firsts, const struct view *view, const char *subject,
                          recmap_error *error) {
    struct progress_bar progress = progress_bar_start("comparing");
    recmap_duplicates_options duplicates_options = RECMAP_DUPLICATES_OPTIONS_INIT;
    duplicates_options.by_id = !strcmp(subject, "id");
    if (!duplicates_options.by_id && strcmp(subject, "content") != 0)
        duplicates_options.feature = subject;
    duplicates_options.progress = progress_bar_report;
    duplicates_options.progress_context = &progress;
    interrupt_watch();
    recmap_status status = recmap_dataset_find_duplicates(
        firsts, view->dataset, view->numbers, (size_t)view->count, &duplicates_options, error);
    progress_bar_clear(&progress);
    return status;
}

static int run_duplicates(struct view *view, const char *subject, const char *path) {
    recmap_error error = RECMAP_ERROR_INIT;
    uint64_t *firsts = malloc((size_t)(view->count + 1) * sizeof *firsts), total = view->count;
    if (!firsts) return message_error(RECMAP_NO_MEMORY, NULL, NULL, "out of memory");
    recmap_status status = find(firsts, view, subject, &error);
    if (status == RECMAP_OK && path) {
        choose_firsts(view, firsts);
        status = view_output_save(view, path, total, &error);
    } else {
        if (status == RECMAP_OK) print_duplicates(firsts, total);
        free(firsts);
    }
    bool is_misspelt = status == RECMAP_FEATURE && error.record == RECMAP_NO_RECORD;
    if (is_misspelt) error.status = RECMAP_INVALID;
    return interrupt_finish(status == RECMAP_OK ? 0 : message_print(&error));
}

static int run(int argc, char **argv) {
    struct args args;
    const char *subject = "content", *path = NULL;
    args_init(&args, &cmd_duplicates, argc, argv);
    for (int option; (option = args_next(&args)) != ARGS_END;) {
        if (option == ARGS_STOP) return args.exit_status;
        if (option == OPTION_BY) subject = optarg;
        else path = optarg;
    }
    if (!*subject) return args_usage_error(&args, "--by needs id, content or a feature");
    if (path && !view_output_is_selection(path))
        return args_usage_error(&args, "-o needs a name that ends in .rmv, not '%s'", path);
    if (args.operand_count > 1) return args_usage_error(&args, "only one index can be given");
    struct view view;
    int exit_status = view_open(&view, &args);
    if (!exit_status) exit_status = view_output_check(&view, path);
    if (!exit_status) exit_status = run_duplicates(&view, subject, path);
    view_close(&view);
    return exit_status;
}

static const char help[] =
    "usage: recmap duplicates [OPTION]... [-o NAME.rmv] NAME.rmx|NAME.rmv|SHARDS\n"
    "\n"
    "Prints NUMBER <tab> FIRST for each record that equals an earlier one: its number, and that\n"
    "of the first equal record. In a selection (NAME.rmv), numbers are positions. With -o, writes\n"
    "a selection without the duplicates instead.\n" HELP_SHARDS;

const struct command cmd_duplicates = {"duplicates", "find records that equal earlier ones", help,
                                       run};
