/* recmap get: records by number. */
#include <stdlib.h>

#include <recmap/dataset.h>

#include "commands.h"
#include "interrupt.h"
#include "message.h"
#include "output.h"

enum { OPTION_FORMAT = ARGS_LONG };

static const struct option options[] = {{"output", required_argument, NULL, 'o'},
                                        {"format", required_argument, NULL, OPTION_FORMAT},
                                        {"framing", required_argument, NULL, ARGS_FRAMING},
                                        {NULL, 0, NULL, 0}};

/* The records asked for, in that order. */
struct number_list {
    uint64_t *numbers;
    size_t count;
};

/* Returns 0, or the exit status after saying what is wrong. */
static int parse_numbers(struct number_list *list, const struct args *args) {
    if (args->operand_count == 1) return args_usage_error(args, "no record number is given");
    if (!args->operand_count) return args_usage_error(args, "no index is named");
    size_t count = (size_t)args->operand_count - 1;
    list->numbers = malloc(count * sizeof *list->numbers);
    if (!list->numbers) return message_error(RECMAP_NO_MEMORY, NULL, NULL, "out of memory");
    for (; list->count < count; list->count++)
        if (!args_number(args, "NUMBER", args->operands[list->count + 1], UINT64_MAX,
                         &list->numbers[list->count]))
            return 2;
    return 0;
}

/* Nothing is written when a number is out of range. */
static recmap_status check_numbers(recmap_dataset *dataset, const struct number_list *list,
                                   recmap_error *error) {
    for (size_t i = 0; i < list->count; i++) {
        recmap_location location;
        recmap_status status =
            recmap_dataset_locate(&location, dataset, list->numbers[i], 1, error);
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

static recmap_status write_records(recmap_dataset *dataset, const struct number_list *list,
                                   struct output *output, recmap_error *error) {
    for (size_t i = 0; i < list->count; i++) {
        recmap_status status = write_one(dataset, list->numbers[i], output, error);
        if (status != RECMAP_OK) return status;
    }
    return output_finish(output, error);
}

static int run_get(const struct args *args, const struct number_list *list, const char *path,
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
    recmap_status status = check_numbers(dataset, list, &error);
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
            return args_usage_error(&args, "--format is raw, tfrecord, json or number, not '%s'",
                                    optarg);
    }
    if (path && !*path) return args_usage_error(&args, "-o names no file");
    struct number_list list = {NULL, 0};
    int exit_status = parse_numbers(&list, &args);
    if (!exit_status) exit_status = run_get(&args, &list, path, format);
    free(list.numbers);
    return exit_status;
}

static const char help[] =
    "usage: recmap get [OPTION]... NAME.rmx NUMBER...\n"
    "\n"
    "Writes records by number, 0 being the first, in the order asked.\n"
    "\n"
    "      --format F      raw: the payloads, one behind another\n"
    "                      tfrecord: a TFRecord file of them\n"
    "                      json: a record a line, in protobuf's JSON mapping of tf.Example\n"
    "                      number: their numbers\n"
    "                      without it: raw into a file or pipe, a preview on a terminal\n"
    "  -o, --output FILE   a file, which appears when it is whole\n"
    "      --access A      map (the default) or pread: how the bytes of shards are reached\n"
    "      --check C       data (the default) or header: what of a record is checked\n"
    "      --framing ./MY.so  the framing of your own in which its records lie\n"
    "      --help\n";

const struct command cmd_get = {"get", "write records by number", help, true, run};
