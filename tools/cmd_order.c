/* recmap order: record numbers in order, and where in it a record comes. */
#include <stdio.h>

#include <recmap/dataset.h>

#include "commands.h"
#include "message.h"
#include "order_iterator.h"

enum { OPTION_POSITION_OF = ARGS_LONG };

static const struct option options[] = {
    {"position-of", required_argument, NULL, OPTION_POSITION_OF},
    {"framing", required_argument, NULL, ARGS_FRAMING},
    {NULL, 0, NULL, 0}};

struct order_job {
    struct args args;
    struct order_options order;
    bool asks_position;
    uint64_t number; /* the record whose position is asked */
};

static int set_option(struct order_job *job, int option) {
    if (option != OPTION_POSITION_OF) return order_options_set(&job->order, &job->args, option);
    job->asks_position = true;
    return args_number(&job->args, "--position-of", optarg, UINT64_MAX, &job->number) ? 0 : 2;
}

static int check_options(const struct order_job *job) {
    int exit_status = order_options_check(&job->order, &job->args);
    if (exit_status) return exit_status;
    if (job->asks_position && order_options_has_part(&job->order))
        return args_usage_error(
            &job->args, "--position-of is about the whole epoch: only --shuffle, --seed and "
                        "--epoch go with it");
    if (job->args.operand_count > 1)
        return args_usage_error(&job->args, "only one index can be named");
    return 0;
}

static int print_position(const struct order_job *job, uint64_t record_count) {
    if (job->number >= record_count)
        return message_error(RECMAP_NOT_FOUND, job->args.operands[0],
                             "numbers run from 0 on, in the order of the shards",
                             "record %llu does not come: there %s %llu record%s",
                             (unsigned long long)job->number, record_count == 1 ? "is" : "are",
                             (unsigned long long)record_count, plural(record_count));
    recmap_order *order = NULL;
    uint64_t position;
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_status status = order_options_create_order(&order, &job->order, record_count, &error);
    if (status == RECMAP_OK)
        status = recmap_order_position_of(&position, order, job->order.epoch, job->number, &error);
    recmap_order_release(order);
    if (status != RECMAP_OK) return recmap_error_print(&error, stderr);
    printf("%llu\n", (unsigned long long)position);
    return 0;
}

static int print_numbers(const struct order_job *job, uint64_t record_count) {
    struct order_iterator iterator;
    int exit_status = order_iterator_init(&iterator, &job->order, record_count, &job->args);
    if (exit_status) return exit_status;
    struct output output;
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_status status = output_open(&output, NULL, OUTPUT_NUMBER, &error);
    if (status == RECMAP_OK) status = order_iterator_print(&iterator, &output, &error);
    if (status == RECMAP_OK) status = output_finish(&output, &error);
    output_close(&output);
    order_iterator_deinit(&iterator);
    return status == RECMAP_OK ? 0 : recmap_error_print(&error, stderr);
}

static int run(int argc, char **argv) {
    struct order_job job = {.asks_position = false};
    args_init(&job.args, &cmd_order, options, argc, argv);
    order_options_init(&job.order, &job.args);
    for (int option; (option = args_next(&job.args)) != ARGS_END;) {
        if (option == ARGS_STOP) return job.args.exit_status;
        int exit_status = set_option(&job, option);
        if (exit_status) return exit_status;
    }
    int exit_status = check_options(&job);
    if (exit_status) return exit_status;
    recmap_dataset *dataset;
    exit_status = args_open(&dataset, &job.args);
    if (exit_status) return exit_status;
    uint64_t record_count = recmap_dataset_count(dataset);
    recmap_dataset_close(dataset);
    return job.asks_position ? print_position(&job, record_count)
                             : print_numbers(&job, record_count);
}

static const char help[] =
    "usage: recmap order [OPTION]... NAME.rmx\n"
    "       recmap order --position-of NUMBER [--shuffle [--seed S] [--epoch E]] NAME.rmx\n"
    "\n"
    "Prints the record numbers of an epoch in order, one a line. No data is read.\n"
    "\n"
    "      --shuffle               in an order that depends on seed and epoch, and on nothing "
    "else\n"
    "      --seed S                0 without it\n"
    "      --epoch E               0 without it\n"
    "      --from POSITION         begin there instead of at 0\n"
    "      --count N               at most N numbers\n"
    "      --rank R                with --world and --batch: only the share of this rank\n"
    "      --world W               ranks in all\n"
    "      --batch B               records a rank and step\n"
    "      --last keep|drop|pad    what becomes of a last step that is not full: it is dealt\n"
    "                              evenly (keep), left out, or filled up from the epoch's start\n"
    "      --position-of NUMBER    print the position of this record; exit status 1: it has none\n"
    "      --framing ./MY.so       the framing of your own in which its records lie\n"
    "      --help\n";

const struct command cmd_order = {"order", "print record numbers in order", help, false, run};
