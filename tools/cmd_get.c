/* recmap get: writes records by number. */
#include <stdlib.h>
#include <string.h>

#include <recmap/dataset.h>

#include "commands.h"
#include "interrupt.h"
#include "message.h"
#include "output.h"

enum { OPTION_FORMAT = ARGS_LONG };

static const struct option options[] = {{"output", required_argument, NULL, 'o'},
                                        {"format", required_argument, NULL, OPTION_FORMAT},
                                        {"framing", required_argument, NULL, ARGS_FRAMING},
                                        {"shards", required_argument, NULL, ARGS_SHARDS},
                                        {"storage", required_argument, NULL, ARGS_STORAGE},
                                        {NULL, 0, NULL, 0}};

/* Records given on the command line: NUMBER, or FIRST:END without END. */
struct number_range {
    uint64_t first;
    uint64_t count;
};

struct range_list {
    struct number_range *ranges; /* in the order of the command line */
    size_t count;
};

/* Cuts `text`, which is writable like all of argv, at the colon. Returns false after printing the
 * error. */
static bool parse_range(struct number_range *range, const struct args *args, char *text) {
    char *colon = strchr(text, ':');
    range->count = 1;
    if (!colon) return args_number(args, "NUMBER", text, UINT64_MAX, &range->first);
    uint64_t end;
    *colon = 0;
    if (!args_number(args, "FIRST of FIRST:END", text, UINT64_MAX, &range->first) ||
        !args_number(args, "END of FIRST:END", colon + 1, UINT64_MAX, &end))
        return false;
    if (end < range->first) {
        args_usage_error(args, "FIRST:END must not end before it starts, as %s:%s does", text,
                         colon + 1);
        return false;
    }
    range->count = end - range->first;
    return true;
}

/* Returns 0, or the exit status after printing the error. */
static int parse_ranges(struct range_list *list, const struct args *args) {
    if (args->operand_count == 1) return args_usage_error(args, "no record number given");
    if (!args->operand_count) return args_usage_error(args, "no index given");
    size_t count = (size_t)args->operand_count - 1;
    list->ranges = malloc(count * sizeof *list->ranges);
    if (!list->ranges) return message_error(RECMAP_NO_MEMORY, NULL, NULL, "out of memory");
    for (; list->count < count; list->count++)
        if (!parse_range(&list->ranges[list->count], args, args->operands[list->count + 1]))
            return 2;
    return 0;
}

/* Checks all numbers before the first record is written, so that an error leaves no output. */
static recmap_status check_ranges(recmap_dataset *dataset, const struct range_list *list,
                                  recmap_error *error) {
    for (size_t i = 0; i < list->count; i++) {
        struct number_range range = list->ranges[i];
        if (!range.count) continue;
        recmap_location location;
        recmap_status status = recmap_dataset_locate(&location, dataset, range.first, 1, error);
        if (status != RECMAP_OK) return status;
        uint64_t last = range.first + (range.count - 1);
        status = recmap_dataset_locate(&location, dataset, last, 1, error);
        if (status != RECMAP_OK) return status;
    }
    return RECMAP_OK;
}

static recmap_status write_one(recmap_dataset *dataset, uint64_t number, struct output *output,
                               recmap_error *error) {
    recmap_record record = {.number = number};
    if (output->format == OUTPUT_NUMBER) return output_write(output, &record, error);
    recmap_status status = recmap_dataset_get(&record, dataset, number, error);
    if (status != RECMAP_OK) return status;
    status = output_write(output, &record, error);
    recmap_record_release(&record);
    return status;
}

static recmap_status write_range(recmap_dataset *dataset, struct number_range range,
                                 struct output *output, recmap_error *error) {
    for (uint64_t i = 0; i < range.count; i++) {
        recmap_status status = write_one(dataset, range.first + i, output, error);
        if (status != RECMAP_OK) return status;
    }
    return RECMAP_OK;
}

static recmap_status write_records(recmap_dataset *dataset, const struct range_list *list,
                                   struct output *output, recmap_error *error) {
    for (size_t i = 0; i < list->count; i++) {
        recmap_status status = write_range(dataset, list->ranges[i], output, error);
        if (status != RECMAP_OK) return status;
    }
    return output_finish(output, error);
}

static int run_get(const struct args *args, const struct range_list *list, const char *path,
                   enum output_format format) {
    recmap_dataset *dataset = NULL;
    int exit_status = args_open(&dataset, args);
    if (!exit_status) exit_status = output_check(path, args->operands[0], dataset);
    if (exit_status) {
        recmap_dataset_close(dataset);
        return exit_status;
    }
    struct output output = {.stream = NULL};
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_status status = check_ranges(dataset, list, &error);
    if (status == RECMAP_OK) status = output_open(&output, path, format, &error);
    if (status == RECMAP_OK) status = write_records(dataset, list, &output, &error);
    output_close(&output);
    recmap_dataset_close(dataset);
    return interrupt_finish(status == RECMAP_OK ? 0 : recmap_error_print(&error, stderr));
}

static int run(int argc, char **argv) {
    struct args args;
    const char *path = NULL;
    enum output_format format = OUTPUT_DEFAULT;
    args_init(&args, &cmd_get, options, argc, argv);
    for (int option; (option = args_next(&args)) != ARGS_END;) {
        if (option == ARGS_STOP) return args.exit_status;
        if (option == 'o') path = optarg;
        else if (!output_format_parse(&format, optarg))
            return args_usage_error(
                &args, "invalid --format '%s': use raw, tfrecord, json or number", optarg);
    }
    if (path && !*path) return args_usage_error(&args, "-o needs a file name");
    struct range_list list = {NULL, 0};
    int exit_status = parse_ranges(&list, &args);
    if (!exit_status) exit_status = run_get(&args, &list, path, format);
    free(list.ranges);
    return exit_status;
}

static const char help[] =
    "usage: recmap get [OPTION]... NAME.rmx NUMBER|FIRST:END...\n"
    "\n"
    "Writes the records with these numbers, in this order. The first record has number 0.\n"
    "5:20 means records 5 to 19, as in Python.\n"
    "\n"
    "      --format F         raw: payloads, concatenated\n"
    "                         tfrecord: a TFRecord file\n"
    "                         json: one record per line, in protobuf's JSON mapping\n"
    "                         number: record numbers\n"
    "                         default: raw to a file or pipe, a preview to a terminal\n"
    "  -o, --output FILE      write to FILE, which appears when it is complete\n"
    "      --access A         how to read shards: map (default), read, direct or auto\n"
    "      --check C          what to verify in a record: data (default) or header\n"
    "      --framing ./MY.so  load the custom framing of the shards\n"
    "      --shards FOLDER    read the shards from FOLDER or URL, if the index was moved\n"
    "      --storage K=V      an option for remote stores: endpoint, key, ...; repeatable\n"
    "      --help             print this help\n";

const struct command cmd_get = {"get", "write records by number", help, true, run};
