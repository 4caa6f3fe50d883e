/* recmap order: the record numbers of an epoch, and the position of a record in it. */
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
    uint64_t number; /* of the record whose position is asked */
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
            &job->args, "--position-of can only be combined with --shuffle, --seed and --epoch");
    if (job->args.operand_count > 1)
        return args_usage_error(&job->args, "only one index can be given");
    return 0;
}

static int out_of_range(const struct order_job *job, uint64_t record_count) {
    char range[64] = "no records";
    if (record_count == 1) snprintf(range, sizeof range, "only record 0");
    if (record_count > 1)
        snprintf(range, sizeof range, "records 0 to %llu", (unsigned long long)record_count - 1);
    return message_error(RECMAP_NOT_FOUND, job->args.operands[0],
                         "records are numbered from 0, in the order of the shards",
                         "record %llu is out of range: the data set has %s",
                         (unsigned long long)job->number, range);
}

static int print_position(const struct order_job *job, uint64_t record_count) {
    if (job->number >= record_count) return out_of_range(job, record_count);
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
    "Prints the record numbers of an epoch in order, one per line. No shard is read.\n"
    "\n"
    "      --shuffle             shuffle; the order depends only on the seed and the epoch\n"
    "      --seed S              seed of the shuffle (default 0)\n"
    "      --epoch E             epoch of the shuffle (default 0)\n"
    "      --from POSITION       start at this position of the epoch (default 0)\n"
    "      --count N             print at most N numbers\n"
    "      --rank R              print only the share of this rank; needs --world and --batch\n"
    "      --world W             number of ranks\n"
    "      --batch B             records per rank and step\n"
    "      --last keep|drop|pad  what to do with a last step that is not full: share it evenly\n"
    "                            (keep, the default), drop it, or fill it from the epoch's start\n"
    "      --position-of NUMBER  print the position of this record; exit status 1 if it has none\n"
    "      --framing ./MY.so     load the custom framing of the shards\n"
    "      --help                print this help\n";

const struct command cmd_order = {"order", "print record numbers in order", help, false, run};
