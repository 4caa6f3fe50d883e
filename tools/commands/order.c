/* recmap order: the record numbers of an epoch, and the position of a record in it. */
#include <inttypes.h>
#include <stdio.h>

#include <recmap/dataset.h>

#include "commands/commands.h"
#include "orders/order_iterator.h"
#include "orders/row_options.h"
#include "orders/row_printer.h"
#include "orders/state_order.h"
#include "records/view.h"
#include "terminal/message.h"

struct order_job {
    struct args args;
    struct order_options order;
    struct row_options rows;
    bool is_json;
    bool is_description;
    bool asks_position;
    uint64_t number;        /* of the record whose position is asked */
    const char *state_path; /* of a state of the run, or NULL */
};

static int set_option(struct order_job *job, int option) {
    switch (option) {
    case OPTION_JSON: job->is_json = true; return 0;
    case OPTION_DESCRIBE: job->is_description = true; return 0;
    case OPTION_STATE: job->state_path = optarg; return 0;
    case OPTION_POSITION_OF:
        job->asks_position = true;
        return args_option_number(&job->args, UINT64_MAX, &job->number);
    default: break;
    }
    return row_options_has(option) ? row_options_set(&job->rows, &job->args, option)
                                   : order_options_set(&job->order, &job->args, option);
}

/* Options that ask for something else than the numbers or rows of a part of the epoch. */
static int check_request(const struct order_job *job) {
    bool has_rows = row_options_has_rows(&job->rows);
    if (job->asks_position && (order_options_has_part(&job->order) || has_rows))
        return args_usage_error(
            &job->args, "--position-of can only be combined with --shuffle, --seed and --epoch");
    if (job->asks_position && job->is_description)
        return args_usage_error(&job->args, "--describe and --position-of cannot be combined");
    if (job->is_description && order_options_has_step(&job->order))
        return args_usage_error(&job->args, "--describe and --step cannot be combined");
    if (job->is_json && !has_rows && !job->state_path)
        return args_usage_error(&job->args, "--json requires --chunked, --packed or --windows");
    return 0;
}

/* A state says which order, and where the run begins. */
static int check_state(const struct order_job *job) {
    if (!job->state_path) return 0;
    if (!order_options_has_step(&job->order))
        return args_usage_error(&job->args, "--state requires --step");
    if (order_options_has_start(&job->order) || row_options_has_rows(&job->rows))
        return args_usage_error(&job->args, "--state already says which order, epoch and position: "
                                            "leave out --shuffle, --seed, --epoch, --from and "
                                            "the options of rows");
    return 0;
}

static int check_options(const struct order_job *job) {
    bool has_rows = row_options_has_rows(&job->rows);
    int exit_status = row_options_check(&job->rows, &job->args);
    if (!exit_status) exit_status = order_options_check(&job->order, has_rows, &job->args);
    if (!exit_status) exit_status = check_request(job);
    if (!exit_status) exit_status = check_state(job);
    if (exit_status) return exit_status;
    if (job->args.operand_count > 1)
        return args_usage_error(&job->args, "only one index can be given");
    return 0;
}

static int out_of_range(const struct order_job *job, uint64_t record_count) {
    char range[64] = "no records";
    if (record_count == 1) snprintf(range, sizeof range, "only record 0");
    if (record_count > 1) snprintf(range, sizeof range, "records 0 to %" PRIu64, record_count - 1);
    return message_error(RECMAP_INVALID, job->args.operands[0],
                         "records are numbered from 0, in the order of the shards",
                         "record %" PRIu64 " is out of range: the data set has %s", job->number,
                         range);
}

static int print_position(const struct order_job *job, const recmap_order *order) {
    uint64_t record_count = recmap_order_count(order), position;
    if (job->number >= record_count) return out_of_range(job, record_count);
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_status status =
        recmap_order_position_of(&position, order, job->order.epoch, job->number, &error);
    if (status != RECMAP_OK) return message_print(&error);
    printf("%" PRIu64 "\n", position);
    return 0;
}

static int print_description(const recmap_order *order) {
    recmap_text text = RECMAP_TEXT_INIT;
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_status status = recmap_order_describe(&text, order, &error);
    if (status == RECMAP_OK) puts(text.data);
    recmap_text_deinit(&text);
    return status == RECMAP_OK ? 0 : message_print(&error);
}

static recmap_status print_numbers(struct order_iterator *iterator, recmap_error *error) {
    struct output output;
    recmap_status status = output_open(&output, NULL, OUTPUT_NUMBER, error);
    if (status == RECMAP_OK) status = order_iterator_print(iterator, &output, error);
    if (status == RECMAP_OK) status = output_finish(&output, error);
    output_close(&output);
    return status;
}

/* Empty output alone would look like a mistake of the command. */
static void report_no_rows(const struct order_job *job, const recmap_order *order) {
    uint64_t width = recmap_order_row_width(order);
    if (width && !recmap_order_count(order))
        message("%s: the order has no rows: the elements fill no row of %" PRIu64
                "; 'recmap info' shows how many there are",
                job->args.operands[0], width);
}

/* Says which elements the rows lack, as the classes of Python do. */
static void report_left_out(const struct order_job *job, const recmap_order *order) {
    uint64_t all = recmap_order_element_count(order), left_out = recmap_order_left_out(order);
    if (recmap_order_count(order) && left_out > all / 10)
        message("%s: the rows leave out %" PRIu64 " of %" PRIu64 " element%s",
                job->args.operands[0], left_out, all, plural(all));
}

static int print_epoch(const struct order_job *job, recmap_order *order) {
    struct order_iterator iterator;
    int exit_status = order_iterator_init(&iterator, order, &job->order, &job->args);
    if (exit_status) return exit_status;
    report_no_rows(job, order);
    report_left_out(job, order);
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_status status =
        recmap_order_row_width(order)
            ? row_printer_print(&iterator, job->is_json ? ROW_JSON : ROW_TEXT, &error)
            : print_numbers(&iterator, &error);
    order_iterator_deinit(&iterator);
    return status == RECMAP_OK ? 0 : message_print(&error);
}

static int create_order(recmap_order **order, const struct order_job *job,
                        const struct view *view) {
    if (row_options_has_rows(&job->rows) && view->selection)
        return args_usage_error(&job->args, "rows need a whole index, not a selection");
    if (row_options_has_rows(&job->rows))
        return row_options_create_order(order, &job->rows, job->order.seed, view->dataset,
                                        &job->args);
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_status status = order_options_create_order(order, &job->order, view->count, &error);
    return status == RECMAP_OK ? 0 : message_print(&error);
}

/* Continues the run from its state. */
static int resume(recmap_order **order, struct order_job *job, const struct view *view) {
    recmap_state *state = NULL;
    if (view->selection)
        return args_usage_error(&job->args, "--state needs a whole index, not a selection");
    int exit_status = state_read(&state, job->state_path);
    if (exit_status) return exit_status;
    exit_status =
        state_order_create(order, state, job->state_path, &job->rows, view->dataset, &job->args);
    job->order.epoch = recmap_state_get_info(state)->epoch;
    job->order.from = recmap_state_get_info(state)->position;
    recmap_state_destroy(state);
    return exit_status;
}

static int run_order(struct order_job *job) {
    struct view view;
    recmap_order *order = NULL;
    int exit_status = view_open(&view, &job->args);
    if (!exit_status)
        exit_status = job->state_path ? resume(&order, job, &view)
                                      : create_order(&order, job, &view);
    view_close(&view);
    if (exit_status) return exit_status;
    if (job->asks_position) exit_status = print_position(job, order);
    else exit_status = job->is_description ? print_description(order) : print_epoch(job, order);
    recmap_order_release(order);
    return exit_status;
}

static int run(int argc, char **argv) {
    struct order_job job = {.asks_position = false};
    args_init(&job.args, &cmd_order, argc, argv);
    order_options_init(&job.order);
    row_options_init(&job.rows);
    for (int option; (option = args_next(&job.args)) != ARGS_END;) {
        if (option == ARGS_STOP) return job.args.exit_status;
        int exit_status = set_option(&job, option);
        if (exit_status) return exit_status;
    }
    int exit_status = check_options(&job);
    return exit_status ? exit_status : run_order(&job);
}

static const char help[] =
    "usage: recmap order [OPTION]... NAME.rmx|NAME.rmv|SHARDS\n"
    "       recmap order --chunked|--packed|--windows SIZE [OPTION]... NAME.rmx|SHARDS\n"
    "       recmap order --step N --world-size W --batch-size B [--rank R] [--state FILE]\n"
    "                    [OPTION]... NAME.rmx|SHARDS\n"
    "       recmap order --position-of NUMBER [--shuffle [--seed S] [--epoch E]] NAME.rmx|SHARDS\n"
    "\n"
    "Prints the record numbers of an epoch in order, one per line; or its rows of tokens or "
    "windows\n"
    "of episodes, each as the pieces RECORD:FIRST:COUNT of which it consists. No shard is read.\n"
    "In a selection, numbers are positions in it, as for get. With --step, prints what a run\n"
    "reads in one of its steps, also if it resumed from a state.\n" HELP_SHARDS;

const struct command cmd_order = {"order", "print record numbers in order, or the pieces of rows",
                                  help, run};
