/* recmap warm: reads what a run will read, so that the run finds it in memory or in a cache. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <recmap/warm.h>

#include "commands/commands.h"
#include "orders/order_options.h"
#include "records/view.h"
#include "terminal/interrupt.h"
#include "terminal/message.h"
#include "terminal/progress_bar.h"

struct warm_job {
    struct args args;
    struct order_options order;
    bool has_order;   /* an option was given that selects a part of the records */
    bool is_shuffled; /* --seed or --epoch was given */
    bool has_batch_size;
    bool has_deal;       /* an option was given that needs --node */
    bool has_world_size; /* --world-size was given */
    uint64_t node;
    uint64_t node_count; /* 0: no --node */
};

/* K/N: the node, and the number of nodes. */
static int set_node(struct warm_job *job) {
    const char *slash = strchr(optarg, '/');
    char node[24];
    if (!slash || (size_t)(slash - optarg) >= sizeof node)
        return args_usage_error(&job->args, "--node must be K/N, such as 0/4, not '%s'", optarg);
    snprintf(node, sizeof node, "%.*s", (int)(slash - optarg), optarg);
    if (!args_number(&job->args, "K of --node K/N", node, UINT32_MAX, &job->node) ||
        !args_number(&job->args, "N of --node K/N", slash + 1, UINT32_MAX, &job->node_count))
        return 2;
    if (job->node < job->node_count) return 0;
    return args_usage_error(&job->args, "K of --node K/N must be less than N, not %s", optarg);
}

static int set_option(struct warm_job *job, int option) {
    job->has_order = true;
    job->is_shuffled |= option == OPTION_SEED || option == OPTION_EPOCH;
    job->has_batch_size |= option == OPTION_BATCH_SIZE;
    job->has_world_size |= option == OPTION_WORLD_SIZE;
    job->has_deal |= option == OPTION_BATCH_SIZE || option == OPTION_WORLD_SIZE ||
                     option == OPTION_LAST;
    return option == OPTION_NODE ? set_node(job)
                                 : order_options_set(&job->order, &job->args, option);
}

static int check_options(struct warm_job *job) {
    const struct args *args = &job->args;
    if (args->operand_count > 1) return args_usage_error(args, "only one index can be given");
    if (!job->order.count) return args_usage_error(args, "--count must be at least 1");
    if (!job->order.batch_size) return args_usage_error(args, "--batch-size must be at least 1");
    if (!job->node_count && job->has_deal)
        return args_usage_error(args, "--world-size, --batch-size and --last need --node");
    if (!job->node_count) return 0;
    if (!job->has_world_size) job->order.world_size = job->node_count;
    if (job->order.world_size && job->order.world_size % job->node_count == 0) return 0;
    return args_usage_error(
        args, "--world-size must be a multiple of the %" PRIu64 " node%s of --node, not %" PRIu64,
        job->node_count, plural(job->node_count), job->order.world_size);
}

/* Which records a node reads depends on the size of batches, which a loader knows. */
static void say_batch_size(const struct warm_job *job) {
    if (job->node_count > 1 && !job->has_batch_size)
        message("--node without --batch-size is for batches of 1 record");
}

/* The records of a selection are positions in the order. */
static recmap_status create_order(recmap_order **order, const struct warm_job *job,
                                  const struct view *view, recmap_error *error) {
    recmap_order *base;
    RETURN_IF_FAILED(job->is_shuffled
                         ? recmap_order_shuffled(&base, view->count, job->order.seed, error)
                         : recmap_order_sequential(&base, view->count, error));
    if (!view->numbers) {
        *order = base;
        return RECMAP_OK;
    }
    recmap_status status =
        recmap_order_view_list(order, base, view->numbers, (size_t)view->count, error);
    recmap_order_release(base);
    return status;
}

/* Without --node, one rank reads everything, in steps of one batch. */
static void set_share(recmap_warm_options *options, const struct warm_job *job) {
    const struct order_options *order = &job->order;
    options->epoch = order->epoch;
    options->position = order->from;
    if (order->count != UINT64_MAX) options->record_limit = order->count;
    if (!job->node_count) {
        options->dealing.batch_size = UINT32_MAX;
        return;
    }
    options->dealing.world_size = (uint32_t)order->world_size;
    options->dealing.batch_size = order->batch_size;
    options->dealing.last = order->last;
    options->rank_count = (uint32_t)(order->world_size / job->node_count);
    options->first_rank = (uint32_t)job->node * options->rank_count;
}

static void print_report(const recmap_warm_report *report, const struct view *view) {
    char read[HUMAN_SIZE], present[HUMAN_SIZE];
    printf("%s read, %s already there\n", human_bytes(read, (double)report->read_size),
           human_bytes(present, (double)report->present_size));
    if (report->end == RECMAP_WARM_MEMORY)
        message("%s: memory has no room for the rest, which was not read", view->path);
    if (report->end == RECMAP_WARM_CACHE)
        message("%s: the cache is full, and the rest was not read; give it more room with "
                "--cache-size SIZE, or another folder",
                view->path);
}

static int warm(const struct warm_job *job, const struct view *view) {
    recmap_warm_options options = RECMAP_WARM_OPTIONS_INIT;
    recmap_warm_report report;
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_status status = RECMAP_OK;
    if (job->has_order || view->numbers) {
        status = create_order(&options.order, job, view, &error);
        set_share(&options, job);
    }
    if (status != RECMAP_OK) return message_print(&error);
    struct progress_bar progress = progress_bar_start("warming");
    options.progress = progress_bar_report;
    options.progress_context = &progress;
    interrupt_watch();
    status = recmap_dataset_warm(&report, view->dataset, &options, &error);
    progress_bar_clear(&progress);
    recmap_order_release(options.order);
    int exit_status = 0;
    if (status == RECMAP_OK) print_report(&report, view);
    else if (status == RECMAP_CANCELLED)
        exit_status = message_error(status, view->path, "the same command continues",
                                    "interrupted before everything was read");
    else exit_status = message_print(&error);
    return interrupt_finish(exit_status);
}

static int run(int argc, char **argv) {
    struct warm_job job = {.node_count = 0};
    args_init(&job.args, &cmd_warm, argc, argv);
    order_options_init(&job.order);
    for (int option; (option = args_next(&job.args)) != ARGS_END;) {
        if (option == ARGS_STOP) return job.args.exit_status;
        int exit_status = set_option(&job, option);
        if (exit_status) return exit_status;
    }
    struct view view;
    int exit_status = check_options(&job);
    if (exit_status) return exit_status;
    exit_status = view_open(&view, &job.args);
    if (!exit_status) {
        say_batch_size(&job);
        exit_status = warm(&job, &view);
    }
    view_close(&view);
    return exit_status;
}

static const char help[] =
    "usage: recmap warm [OPTION]... NAME.rmx|NAME.rmv|SHARDS\n"
    "       recmap warm --node K/N [--world-size W] --batch-size B [--seed S] [--epoch E]\n"
    "                   [--from P] [--count N] [OPTION]... NAME.rmx|NAME.rmv|SHARDS\n"
    "\n"
    "Reads the shards in their order into memory, so that a run need not read them at random from\n"
    "a disk. With --cache, reads remote shards, and inflates compressed ones, into the cache on\n"
    "the disk. Ends early when memory or the cache is full. What is there already is not fetched\n"
    "again. Without options of an epoch, reads everything.\n" HELP_SHARDS;

const struct command cmd_warm = {"warm", "read what a run will read into memory or a cache", help,
                                 run};
