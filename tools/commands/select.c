/* recmap select: writes a selection of the records for which an expression is true. */
#include "commands/commands.h"
#include "records/view_output.h"
#include "terminal/message.h"

static int run_select(struct view *view, const char *expression, const char *path) {
    recmap_error error = RECMAP_ERROR_INIT;
    uint64_t total = view->count;
    recmap_status status = expression ? view_filter(view, expression, &error) : RECMAP_OK;
    if (status == RECMAP_OK && !path) return view_output_write_all(view, NULL, OUTPUT_NUMBER);
    if (status == RECMAP_OK) status = view_output_save(view, path, total, &error);
    return status == RECMAP_OK ? 0 : message_print(&error);
}

static int run(int argc, char **argv) {
    struct args args;
    const char *expression = NULL, *path = NULL;
    args_init(&args, &cmd_select, argc, argv);
    for (int option; (option = args_next(&args)) != ARGS_END;) {
        if (option == ARGS_STOP) return args.exit_status;
        if (option == OPTION_WHERE) expression = optarg;
        else path = optarg;
    }
    if (path && !view_output_is_selection(path))
        return args_usage_error(&args, "-o needs a name that ends in .rmv, not '%s'", path);
    if (args.operand_count > 1) return args_usage_error(&args, "only one index can be given");
    if (args.operand_count && !expression)
        return args_usage_error(&args, "no --where EXPRESSION given");
    struct view view;
    int exit_status = view_open(&view, &args);
    if (!exit_status) exit_status = view_output_check(&view, path);
    if (!exit_status) exit_status = run_select(&view, expression, path);
    view_close(&view);
    return exit_status;
}

static const char help[] =
    "usage: recmap select [OPTION]... --where EXPRESSION [-o NAME.rmv] NAME.rmx|NAME.rmv|SHARDS\n"
    "\n"
    "Selects the records for which an expression over lifted columns is true, and writes them\n"
    "as a selection, which every command that reads records takes in place of an index. No\n"
    "shard is read. Without -o, prints their numbers.\n" HELP_SHARDS;

const struct command cmd_select = {"select", "select records by an expression", help, run};
