/* recmap get: records by number. */
#include <recmap/dataset.h>

#include "commands.h"
#include "output.h"

enum { OPTION_FORMAT = ARGS_LONG };

static const struct option options[] = {{"output", required_argument, NULL, 'o'},
                                        {"format", required_argument, NULL, OPTION_FORMAT},
                                        {NULL, 0, NULL, 0}};

static recmap_status write_records(recmap_dataset *dataset, const tool_args *args,
                                   tool_output *output, recmap_error *error) {
    for (int i = 1; i < args->operand_count; i++) {
        uint64_t number;
        recmap_record record;
        /* Checked before; here it only is read again. */
        if (!args_number(args, "NUMBER", args->operands[i], UINT64_MAX, &number)) break;
        recmap_status status = recmap_dataset_get(dataset, number, &record, error);
        if (status != RECMAP_OK) return status;
        status = output_write(output, &record, error);
        recmap_record_release(&record);
        if (status != RECMAP_OK) return status;
    }
    return output_finish(output, error);
}

static int run_get(const tool_args *args, const char *path, output_format format) {
    recmap_dataset *dataset;
    int exit_status = args_open(&dataset, args);
    if (exit_status) return exit_status;
    tool_output output;
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_status status = output_open(&output, path, format, &error);
    if (status == RECMAP_OK) status = write_records(dataset, args, &output, &error);
    output_close(&output);
    recmap_dataset_close(dataset);
    return status == RECMAP_OK ? 0 : recmap_error_print(&error, stderr);
}

static int run(int argc, char **argv) {
    tool_args args;
    const char *path = NULL;
    output_format format = OUTPUT_DEFAULT;
    args_begin(&args, &cmd_get, options, argc, argv);
    for (int option; (option = args_next(&args)) != ARGS_END;) {
        if (option == ARGS_STOP) return args.exit_status;
        if (option == 'o') path = optarg;
        else if (!output_format_of(&format, optarg))
            return args_wrong(&args, "--format is raw, tfrecord, json or number, not '%s'", optarg);
    }
    if (args.operand_count == 1) return args_wrong(&args, "no record number is given");
    for (int i = 1; i < args.operand_count; i++) {
        uint64_t number;
        if (!args_number(&args, "NUMBER", args.operands[i], UINT64_MAX, &number)) return 2;
    }
    return run_get(&args, path, format);
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
    "      --help\n";

const tool_command cmd_get = {"get", "write records by number", help, true, run};
