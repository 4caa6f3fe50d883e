/* recmap cat: records in order. */
#include <recmap/dataset.h>

#include "commands.h"
#include "interrupt.h"
#include "output.h"
#include "progress.h"
#include "walk.h"

enum { OPTION_FORMAT = ARGS_LONG, OPTION_FROM, OPTION_COUNT };

static const struct option options[] = {{"output", required_argument, NULL, 'o'},
                                        {"format", required_argument, NULL, OPTION_FORMAT},
                                        {"from", required_argument, NULL, OPTION_FROM},
                                        {"count", required_argument, NULL, OPTION_COUNT},
                                        {NULL, 0, NULL, 0}};

typedef struct cat_job {
    tool_args args;
    const char *path; /* or NULL: stdout */
    output_format format;
    uint64_t from;
    uint64_t count;
} cat_job;

static int take_option(cat_job *job, int option) {
    switch (option) {
    case 'o': job->path = optarg; return *optarg ? 0 : args_wrong(&job->args, "-o names no file");
    case OPTION_FROM:
        return args_number(&job->args, "--from", optarg, UINT64_MAX, &job->from) ? 0 : 2;
    case OPTION_COUNT:
        return args_number(&job->args, "--count", optarg, UINT64_MAX, &job->count) ? 0 : 2;
    default:
        if (output_format_of(&job->format, optarg)) return 0;
        return args_wrong(&job->args, "--format is raw, tfrecord, json or number, not '%s'",
                          optarg);
    }
}

static recmap_status write_record(void *context, const recmap_record *record, recmap_error *error) {
    return output_write(context, record, error);
}

/* Numbers need no data. */
static recmap_status write_numbers(tool_output *output, walk_range range, recmap_error *error) {
    for (uint64_t i = 0; i < range.count; i++) {
        recmap_record record = {.number = range.first + i};
        recmap_status status = output_write(output, &record, error);
        if (status != RECMAP_OK) return status;
    }
    return RECMAP_OK;
}

static recmap_status write_range(recmap_dataset *dataset, walk_range range, tool_output *output,
                                 recmap_error *error) {
    recmap_status status;
    if (output->format == OUTPUT_NUMBER) {
        status = write_numbers(output, range, error);
    } else if (output->path) {
        /* A bar would be drawn between records on a terminal, and a pipe may lead to one. */
        tool_progress progress = progress_begin("writing");
        status =
            walk_records(dataset, range, write_record, output, progress_report, &progress, error);
        progress_end(&progress);
    } else {
        status = walk_records(dataset, range, write_record, output, NULL, NULL, error);
    }
    return status == RECMAP_OK ? output_finish(output, error) : status;
}

static int run_cat(cat_job *job, recmap_dataset *dataset) {
    uint64_t total = recmap_dataset_count(dataset);
    if (job->from > total)
        return args_wrong(&job->args, "--from is at most %llu, the number of records, not %llu",
                          (unsigned long long)total, (unsigned long long)job->from);
    uint64_t count = total - job->from < job->count ? total - job->from : job->count;
    walk_range range = {.first = job->from, .count = count, .sample = count};
    tool_output output;
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_status status = output_open(&output, job->path, job->format, &error);
    if (status == RECMAP_OK) status = write_range(dataset, range, &output, &error);
    output_close(&output);
    return interrupt_finish(status == RECMAP_OK ? 0 : recmap_error_print(&error, stderr));
}

static int run(int argc, char **argv) {
    cat_job job = {.format = OUTPUT_DEFAULT, .count = UINT64_MAX};
    args_begin(&job.args, &cmd_cat, options, argc, argv);
    for (int option; (option = args_next(&job.args)) != ARGS_END;) {
        if (option == ARGS_STOP) return job.args.exit_status;
        int exit_status = take_option(&job, option);
        if (exit_status) return exit_status;
    }
    if (job.args.operand_count > 1) return args_wrong(&job.args, "only one index can be named");
    recmap_dataset *dataset;
    int exit_status = args_open(&dataset, &job.args);
    if (exit_status) return exit_status;
    exit_status = output_check(job.path, job.args.operands[0], dataset);
    if (!exit_status) exit_status = run_cat(&job, dataset);
    recmap_dataset_close(dataset);
    return exit_status;
}

static const char help[] =
    "usage: recmap cat [OPTION]... NAME.rmx\n"
    "\n"
    "Writes records in order.\n"
    "\n"
    "      --from POSITION   begin there instead of at 0\n"
    "      --count N         at most N records\n"
    "      --format F        raw: the payloads, one behind another\n"
    "                        tfrecord: a TFRecord file of them\n"
    "                        json: a record a line, in protobuf's JSON mapping of tf.Example\n"
    "                        number: their numbers; no data is read\n"
    "                        without it: raw into a file or pipe, a preview on a terminal\n"
    "  -o, --output FILE     a file, which appears when it is whole\n"
    "      --access A        map (the default) or pread: how the bytes of shards are reached\n"
    "      --check C         data (the default) or header: what of a record is checked\n"
    "      --help\n";

const tool_command cmd_cat = {"cat", "write records in order", help, true, run};
