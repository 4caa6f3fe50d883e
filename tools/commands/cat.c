/* recmap cat: writes records in order. */
#include <recmap/dataset.h>

#include "commands/commands.h"
#include "indexing/shard_set.h"
#include "orders/order_iterator.h"
#include "records/view_output.h"
#include "terminal/interrupt.h"
#include "terminal/message.h"

struct cat_job {
    struct args args;
    const char *path; /* of the output; NULL: standard output */
    enum output_format format;
    const char *expression; /* selects records; or NULL */
    bool decompresses;
    struct order_options order;
};

static int set_option(struct cat_job *job, int option) {
    switch (option) {
    case OPTION_OUTPUT: job->path = output_path(optarg); return 0;
    case OPTION_FORMAT: job->format = (enum output_format)(OUTPUT_RAW + job->args.choice); return 0;
    case OPTION_WHERE: job->expression = optarg; return 0;
    case OPTION_DECOMPRESS: job->decompresses = true; return 0;
    default: return order_options_set(&job->order, &job->args, option);
    }
}

static recmap_status write_file(const struct cat_job *job, struct view *view,
                                struct number_source positions, recmap_error *error) {
    struct output output;
    recmap_status status = view_output_open(&output, view, job->path, job->format, error);
    if (status == RECMAP_OK) status = view_output_write(&output, view, positions, error);
    if (status == RECMAP_OK) status = output_finish(&output, error);
    output_close(&output);
    return status;
}

static recmap_status write_records(const struct cat_job *job, struct view *view,
                                   struct order_iterator *order, recmap_error *error) {
    struct number_source positions = {order->left, order_iterator_next, order};
    if (shard_set_is_named(job->path, job->format))
        return shard_set_write(job->path, view, positions, error);
    return write_file(job, view, positions, error);
}

static int run_cat(const struct cat_job *job, struct view *view) {
    recmap_order *records = NULL;
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_status status = job->expression ? view_filter(view, job->expression, &error) : RECMAP_OK;
    if (status == RECMAP_OK)
        status = order_options_create_order(&records, &job->order, view->count, &error);
    if (status != RECMAP_OK) return interrupt_finish(message_print(&error));
    struct order_iterator order;
    int exit_status = order_iterator_init(&order, records, &job->order, &job->args);
    recmap_order_release(records);
    if (exit_status) return exit_status;
    status = write_records(job, view, &order, &error);
    order_iterator_deinit(&order);
    return interrupt_finish(status == RECMAP_OK ? 0 : message_print(&error));
}

/* A set that is decompressed has all records in their order, so that they keep their numbers.
 * Returns 0, or the exit status after printing the error. */
static int check_decompress(const struct cat_job *job) {
    if (!job->decompresses) return 0;
    if (!shard_set_is_named(job->path, job->format))
        return args_usage_error(&job->args,
                                "--decompress needs -o NAME@N, the shards that it writes");
    if (shard_set_is_compressed(job->path))
        return args_usage_error(&job->args,
                                "--decompress writes plain shards, but -o '%.300s' names "
                                "compressed ones",
                                job->path);
    if (job->expression || job->order.given)
        return args_usage_error(&job->args,
                                "--decompress writes all records in their order: leave out "
                                "%s",
                                job->expression ? "--where" : "the options of an order");
    return 0;
}

/* All options are parsed and checked before the index is opened, so that usage errors are reported
 * first. The output must not be a file of the data set. */
static int run(int argc, char **argv) {
    struct cat_job job = {.format = OUTPUT_DEFAULT};
    args_init(&job.args, &cmd_cat, argc, argv);
    order_options_init(&job.order);
    for (int option; (option = args_next(&job.args)) != ARGS_END;) {
        if (option == ARGS_STOP) return job.args.exit_status;
        int exit_status = set_option(&job, option);
        if (exit_status) return exit_status;
    }
    int exit_status = shard_set_check(&job.args, job.path, job.format);
    if (!exit_status) exit_status = check_decompress(&job);
    if (!exit_status) exit_status = order_options_check(&job.order, false, &job.args);
    if (exit_status) return exit_status;
    if (job.args.operand_count > 1)
        return args_usage_error(&job.args, "only one index can be given");
    struct view view;
    exit_status = view_open(&view, &job.args);
    if (!exit_status) exit_status = view_output_check_records(&view, job.path);
    if (!exit_status) exit_status = run_cat(&job, &view);
    view_close(&view);
    return exit_status;
}

static const char help[] =
    "usage: recmap cat [OPTION]... NAME.rmx|NAME.rmv|SHARDS\n"
    "\n"
    "Writes the records of a data set or selection, in their order or shuffled.\n" HELP_SHARDS;

const struct command cmd_cat = {"cat", "write records in order", help, run};
