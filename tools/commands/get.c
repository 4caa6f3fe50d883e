/* recmap get: writes records by number. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <recmap/dataset.h>

#include "commands/commands.h"
#include "indexing/shard_set.h"
#include "output/feature_output.h"
#include "records/record_list.h"
#include "records/view_output.h"
#include "terminal/interrupt.h"
#include "terminal/message.h"

struct get_job {
    struct args args;
    const char *path; /* of the output; NULL: standard output */
    enum output_format format;
    struct feature_values values; /* to write instead of records, if they have a name */
    const char *list_path;        /* a file with more records, or NULL */
    bool by_id;
    struct record_list list;
};

/* Checks all numbers before the first record is written, so that an error leaves no output. */
static recmap_status check_ranges(const struct view *view, const struct record_list *list,
                                  recmap_error *error) {
    for (size_t i = 0; i < list->count; i++) {
        struct number_range range = list->ranges[i];
        if (!range.count) continue;
        RETURN_IF_FAILED(view_check(view, range.first, error));
        RETURN_IF_FAILED(view_check(view, range.first + (range.count - 1), error));
    }
    return RECMAP_OK;
}

/* Replaces the offset in the record by the place of the record in its shard. */
static void place_error(recmap_error *error, const struct view *view) {
    recmap_location location;
    char path[sizeof error->path], message[sizeof error->message];
    if (recmap_dataset_locate(&location, view->dataset, error->record, 1, NULL) != RECMAP_OK ||
        recmap_dataset_shard_path(path, sizeof path, view->dataset, location.shard_index, NULL) !=
            RECMAP_OK)
        return;
    memcpy(error->path, path, sizeof path);
    memcpy(message, error->message, sizeof message);
    if (error->offset != RECMAP_NO_OFFSET)
        snprintf(error->message, sizeof message, "%.900s at byte %" PRIu64 " of its data", message,
                 error->offset);
    error->offset = location.offset;
}

/* Returns true if a record or a picture in it is to blame, which its place in the shard finds. */
static bool is_of_record(recmap_status status) {
    return status == RECMAP_CORRUPT || status == RECMAP_FEATURE || status == RECMAP_UNSUPPORTED;
}

static recmap_status write_one(const struct get_job *job, const struct view *view,
                               uint64_t position, struct output *output, recmap_error *error) {
    uint64_t number = view_number(view, position);
    recmap_record record = {.number = number};
    if (output->format == OUTPUT_NUMBER) return output_write(output, &record, error);
    RETURN_IF_FAILED(recmap_dataset_get(&record, view->dataset, number, error));
    recmap_status status = job->values.name
                               ? feature_output_write(output, &job->values, &record, error)
                               : output_write(output, &record, error);
    recmap_record_release(&record);
    if (is_of_record(status)) place_error(error, view);
    else if (status != RECMAP_OK && status != RECMAP_CANCELLED && !*error->path)
        snprintf(error->path, sizeof error->path, "%s", job->args.operands[0]);
    return status;
}

static recmap_status write_range(const struct get_job *job, const struct view *view,
                                 struct number_range range, struct output *output,
                                 recmap_error *error) {
    for (uint64_t i = 0; i < range.count; i++)
        RETURN_IF_FAILED(write_one(job, view, range.first + i, output, error));
    return RECMAP_OK;
}

static recmap_status write_records(const struct get_job *job, const struct view *view,
                                   struct output *output, recmap_error *error) {
    for (size_t i = 0; i < job->list.count; i++)
        RETURN_IF_FAILED(write_range(job, view, job->list.ranges[i], output, error));
    return output_finish(output, error);
}

static recmap_status write_output(const struct get_job *job, const struct view *view,
                                  recmap_error *error) {
    struct record_list_cursor cursor;
    if (!job->values.name && shard_set_is_named(job->path, job->format))
        return shard_set_write(job->path, view, record_list_source(&job->list, &cursor), error);
    struct output output = {.stream = NULL};
    recmap_status status = view_output_open(&output, view, job->path, job->format, error);
    if (status == RECMAP_OK) status = write_records(job, view, &output, error);
    output_close(&output);
    return status;
}

/* Adds the records that only the open data set can find, and the records that the file names. */
static recmap_status complete_list(struct get_job *job, struct view *view, recmap_error *error) {
    recmap_status status = RECMAP_OK;
    for (int i = 1; job->by_id && status == RECMAP_OK && i < job->args.operand_count; i++)
        status = record_list_add_id(&job->list, view, job->args.operands[i], error);
    if (status == RECMAP_OK && job->list_path)
        status = record_list_add_file(&job->list, view, job->list_path, job->by_id, error);
    return status;
}

/* A file of numbers or ids is also an input. */
static int check_output(const struct get_job *job, const struct view *view) {
    int exit_status = view_output_check_records(view, job->path);
    if (exit_status || !job->list_path || !strcmp(job->list_path, "-")) return exit_status;
    return output_check_input(job->path, job->list_path, "the file of --from");
}

static int run_get(struct get_job *job) {
    struct view view;
    int exit_status = view_open(&view, &job->args);
    if (!exit_status) exit_status = check_output(job, &view);
    if (exit_status) {
        view_close(&view);
        return exit_status;
    }
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_status status = complete_list(job, &view, &error);
    if (status == RECMAP_OK) record_list_clamp(&job->list, &view);
    if (status == RECMAP_OK) status = check_ranges(&view, &job->list, &error);
    if (status == RECMAP_OK) status = write_output(job, &view, &error);
    view_close(&view);
    return interrupt_finish(status == RECMAP_OK ? 0 : message_print(&error));
}

/* Returns 0, or the exit status after printing the error. */
static int set_option(struct get_job *job, int option) {
    if (pixel_options_have(option))
        return pixel_options_set(&job->values.pixels, &job->args, option);
    switch (option) {
    case OPTION_OUTPUT: job->path = output_path(optarg); break;
    case OPTION_FEATURE: job->values.name = optarg; break;
    case OPTION_FROM: job->list_path = optarg; break;
    case OPTION_BY: job->by_id = job->args.choice == 1; break;
    default: job->format = (enum output_format)(OUTPUT_RAW + job->args.choice); break;
    }
    return 0;
}

static int check_feature(const struct get_job *job) {
    const struct args *args = &job->args;
    const char *name = job->values.name;
    bool has_pixels = job->values.pixels.are_wanted;
    if (name && !*name) return args_usage_error(args, "--feature needs a name");
    if (name && job->format != OUTPUT_DEFAULT && job->format != OUTPUT_RAW)
        return args_usage_error(args, "--feature writes values: it can only have --format raw");
    if (has_pixels && !name)
        return args_usage_error(args, "--pixels needs --feature, the name of the pictures");
    if (has_pixels && !job->path && isatty(STDOUT_FILENO) == 1)
        return args_usage_error(args, "--pixels needs an output file: -o FILE.ppm");
    return pixel_options_check(&job->values.pixels, args);
}

/* Checks the options, and reads the numbers among the operands, before the index is opened. */
static int check_options(struct get_job *job) {
    const struct args *args = &job->args;
    int exit_status = check_feature(job);
    if (exit_status) return exit_status;
    if (!args->operand_count) return args_usage_error(args, "no index given");
    if (args->operand_count == 1 && !job->list_path)
        return args_usage_error(args, job->by_id ? "no id given" : "no record number given");
    return job->by_id ? 0 : record_list_add_operands(&job->list, args);
}

static int run(int argc, char **argv) {
    struct get_job job = {.format = OUTPUT_DEFAULT};
    args_init(&job.args, &cmd_get, argc, argv);
    pixel_options_init(&job.values.pixels);
    for (int option; (option = args_next(&job.args)) != ARGS_END;) {
        if (option == ARGS_STOP) return job.args.exit_status;
        int exit_status = set_option(&job, option);
        if (exit_status) return exit_status;
    }
    int exit_status = check_options(&job);
    if (!exit_status && !job.values.name)
        exit_status = shard_set_check(&job.args, job.path, job.format);
    if (!exit_status) exit_status = run_get(&job);
    record_list_deinit(&job.list);
    return exit_status;
}

static const char help[] =
    "usage: recmap get [OPTION]... NAME.rmx|NAME.rmv|SHARDS NUMBER|FIRST:END...\n"
    "       recmap get [OPTION]... --by id NAME.rmx|NAME.rmv|SHARDS ID...\n"
    "\n"
    "Writes the records with these numbers, in this order. The first record has number 0.\n"
    "5:20 means records 5 to 19, as in Python, or those of them that exist. In a selection\n"
    "(NAME.rmv), numbers are positions.\n" HELP_SHARDS;

const struct command cmd_get = {"get", "write records by number", help, run};
