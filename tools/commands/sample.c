/* recmap sample: writes random records, each at most once. */
#include <inttypes.h>
#include <stdlib.h>

#include <recmap/order.h>

#include "commands/commands.h"
#include "indexing/shard_set.h"
#include "records/view_output.h"
#include "terminal/message.h"

enum { OPTION_SEED = ARGS_LONG, OPTION_WHERE, OPTION_FORMAT };

static const struct option options[] = {{"seed", required_argument, NULL, OPTION_SEED},
                                        {"where", required_argument, NULL, OPTION_WHERE},
                                        {"format", required_argument, NULL, OPTION_FORMAT},
                                        {"output", required_argument, NULL, 'o'},
                                        ARGS_SHARED_OPTIONS,
                                        ARGS_SELECTION_OPTIONS,
                                        {NULL, 0, NULL, 0}};

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
    case OPTION_SEED:
        return args_number(&job->args, "--seed", optarg, UINT64_MAX, &job->seed) ? 0 : 2;
    case OPTION_WHERE: job->expression = optarg; return 0;
    case 'o':
        job->path = output_path(optarg);
        return *optarg ? 0 : args_usage_error(&job->args, "-o needs a file name");
    default:
        if (output_format_parse(&job->format, optarg)) return 0;
        return args_usage_error(&job->args,
                                "invalid --format '%s': use raw, tfrecord, json or number", optarg);
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
                            "cannot sample %" PRIu64 " records: there are %" PRIu64, job->size,
                            view->count);
    uint64_t *numbers = malloc((size_t)(job->size + 1) * sizeof *numbers);
    if (!numbers) return message_fail(error, RECMAP_NO_MEMORY, NULL, NULL, "out of memory");
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
    return status == RECMAP_OK ? 0 : recmap_error_print(&error, stderr);
}

static int run(int argc, char **argv) {
    struct sample_job job = {.format = OUTPUT_DEFAULT};
    args_init(&job.args, &cmd_sample, options, argc, argv);
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
    "json.\n" HELP_SHARDS "\n"
    "      --seed S            seed of the sample (default 0)\n"
    "      --where EXPRESSION  only records for which this is true; see 'recmap select --help'\n"
    "      --format F          raw: payloads, concatenated\n"
    "                          tfrecord: a TFRecord file\n"
    "                          json: one record per line, in protobuf's JSON mapping\n"
    "                          number: record numbers; no data is read\n"
    "                          default: raw to a file or pipe, a preview to a terminal\n"
    "  -o, --output FILE       write to FILE, which appears when it is complete; NAME.rmv is a\n"
    "                          selection of the records; default: -, standard output\n"
    "  -o, --output X.tfrecord without --format: write a TFRecord file and its index X.rmx, with\n"
    "                          the ids, counts and lifted columns of the records\n"
    "  -o, --output NAME@N     write N TFRecord files and their index NAME.rmx; see 'recmap cat'\n"
    "      --access A          how to read shards: map (default), read, direct or auto\n"
    "      --check C           what to verify in a record: data (default) or header\n"
    "      --framing ./MY.so   load the custom framing of the shards\n"
    "      --index NAME.rmx    open a selection (.rmv) with this index, if it was moved\n"
    "      --shards FOLDER     read the shards from FOLDER or URL, if the index was moved\n"
    "      --storage K=V       an option for remote stores: endpoint, key, ...; repeatable\n"
    "      --cache FOLDER      keep what is read from remote stores on the local disk\n"
    "      --cache-size SIZE   its maximum size, such as 200GB; default: a tenth stays free\n"
    "      --help              print this help\n";

const struct command cmd_sample = {"sample", "write random records", help, true, run};
