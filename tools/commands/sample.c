/* recmap sample: writes random records, each at most once. */
#include <inttypes.h>
#include <stdlib.h>

#include <recmap/order.h>

#include "commands/commands.h"
#include "indexing/shard_set.h"
#include "records/view_output.h"
#include "terminal/message.h"

struct sample_job {
    struct args args;
    uint64_t size; /* of the sample */
    uint64_t seed;
    const char *expression; /* or NULL */
    enum output_format format;
    const char *path; /* of the output; NULL: standard output */
};

static int set_option(struct sample_job *job, int option) {
    switch (option) {
    case OPTION_SEED: return args_option_number(&job->args, UINT64_MAX, &job->seed);
    case OPTION_WHERE: job->expression = optarg; return 0;
    case OPTION_FORMAT: job->format = (enum output_format)(OUTPUT_RAW + job->args.choice); return 0;
    default: job->path = output_path(optarg); return 0;
    }
}

static int compare_numbers(const void *a, const void *b) {
    uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;
    return (left > right) - (left < right);
}

/* The first positions of a shuffled epoch, sorted. */
static recmap_status draw(uint64_t *positions, uint64_t size, uint64_t count, uint64_t seed,
                          recmap_error *error) {
    recmap_order *order = NULL;
    recmap_status status = recmap_order_shuffled(&order, count, seed, error);
    if (status == RECMAP_OK)
        status = recmap_order_read(positions, order, 0, 0, (size_t)size, error);
    recmap_order_release(order);
    if (size) qsort(positions, (size_t)size, sizeof *positions, compare_numbers);
    return status;
}

static recmap_status choose(struct view *view, const struct sample_job *job, recmap_error *error) {
    if (job->size > view->count)
        return message_fail(error, RECMAP_INVALID, job->args.operands[0], "ask for fewer records",
                            "cannot sample %" PRIu64 " record%s: there %s %" PRIu64, job->size,
                            plural(job->size), view->count == 1 ? "is" : "are", view->count);
    uint64_t *numbers = malloc((size_t)(job->size + 1) * sizeof *numbers);
    if (!numbers) return message_fail_memory(error);
    recmap_status status = RECMAP_OK;
    if (job->size) status = draw(numbers, job->size, view->count, job->seed, error);
    for (uint64_t i = 0; status == RECMAP_OK && i < job->size; i++)
        numbers[i] = view_number(view, numbers[i]);
    if (status == RECMAP_OK) view_choose(view, numbers, job->size);
    else free(numbers);
    return status;
}

static int run_sample(struct view *view, const struct sample_job *job) {
    recmap_error error = RECMAP_ERROR_INIT;
    uint64_t total = view->count;
    recmap_status status = RECMAP_OK;
    if (job->expression) status = view_filter(view, job->expression, &error);
    if (status == RECMAP_OK) status = choose(view, job, &error);
    if (status == RECMAP_OK && shard_set_is_named(job->path, job->format))
        return shard_set_write_all(job->path, view);
    if (status == RECMAP_OK && !view_output_is_selection(job->path))
        return view_output_write_all(view, job->path, job->format);
    if (status == RECMAP_OK) status = view_output_save(view, job->path, total, &error);
    return status == RECMAP_OK ? 0 : message_print(&error);
}

static int run(int argc, char **argv) {
    struct sample_job job = {.format = OUTPUT_DEFAULT};
    args_init(&job.args, &cmd_sample, argc, argv);
    for (int option; (option = args_next(&job.args)) != ARGS_END;) {
        if (option == ARGS_STOP) return job.args.exit_status;
        int exit_status = set_option(&job, option);
        if (exit_status) return exit_status;
    }
    if (job.args.operand_count == 1)
        return args_usage_error(&job.args, "no number of records given");
    if (job.args.operand_count > 2)
        return args_usage_error(&job.args, "only one index and one number can be given");
    if (job.args.operand_count &&
        !args_number(&job.args, "N", job.args.operands[1], UINT64_MAX / 16, &job.size))
        return 2;
    if (job.format != OUTPUT_DEFAULT && view_output_is_selection(job.path))
        return args_usage_error(&job.args, "-o NAME.rmv writes a selection: leave out --format");
    int exit_status = shard_set_check(&job.args, job.path, job.format);
    if (exit_status) return exit_status;
    struct view view;
    exit_status = view_open(&view, &job.args);
    if (!exit_status)
        exit_status = view_output_is_selection(job.path)
                          ? view_output_check(&view, job.path)
                          : view_output_check_records(&view, job.path);
    if (!exit_status) exit_status = run_sample(&view, &job);
    view_close(&view);
    return exit_status;
}

static const char help[] =
    "usage: recmap sample [OPTION]... NAME.rmx|NAME.rmv|SHARDS N\n"
    "\n"
    "Writes N random records, each at most once, in their order in the data set, in the formats\n"
    "of 'recmap cat'. The same seed gives the same records, here and in Python (ds.sample).\n"
    "--format json prints text, also to a pipe: recmap sample train.rmx 3 --format "
    "json.\n" HELP_SHARDS;

const struct command cmd_sample = {"sample", "write random records", help, run};
