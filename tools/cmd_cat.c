/* recmap cat: records in order. */
#include <recmap/dataset.h>

#include "commands.h"
#include "interrupt.h"
#include "order_walk.h"
#include "output.h"
#include "progress.h"
#include "walk.h"

enum { OPTION_FORMAT = ARGS_LONG };

static const struct option options[] = {{"output", required_argument, NULL, 'o'},
                                        {"format", required_argument, NULL, OPTION_FORMAT},
                                        {"framing", required_argument, NULL, ARGS_FRAMING},
                                        {NULL, 0, NULL, 0}};

typedef struct cat_job {
    tool_args args;
    const char *path; /* or NULL: stdout */
    output_format format;
    order_options order;
} cat_job;

static int take_option(cat_job *job, int option) {
    switch (option) {
    case 'o': job->path = optarg; return *optarg ? 0 : args_wrong(&job->args, "-o names no file");
    case OPTION_FORMAT:
        if (output_format_of(&job->format, optarg)) return 0;
        return args_wrong(&job->args, "--format is raw, tfrecord, json or number, not '%s'",
                          optarg);
    default: return order_options_take(&job->order, &job->args, option);
    }
}

static recmap_status write_record(void *context, const recmap_record *record, recmap_error *error) {
    return output_write(context, record, error);
}

static recmap_status write_records(recmap_dataset *dataset, order_walk *order, tool_output *output,
                                   recmap_error *error) {
    walk_source source = {order->left, order_walk_next, order};
    if (output->format == OUTPUT_NUMBER) return order_walk_print(order, output, error);
    /* A bar would be drawn between records on a terminal, and a pipe may lead to one. */
    if (!output->path)
        return walk_records(dataset, source, write_record, output, NULL, NULL, error);
    tool_progress progress = progress_begin("writing");
    recmap_status status =
        walk_records(dataset, source, write_record, output, progress_report, &progress, error);
    progress_end(&progress);
    return status;
}

static int run_cat(const cat_job *job, recmap_dataset *dataset) {
    order_walk order;
    int exit_status =
        order_walk_begin(&order, &job->order, recmap_dataset_count(dataset), &job->args);
    if (exit_status) return exit_status;
    tool_output output;
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_status status = output_open(&output, job->path, job->format, &error);
    if (status == RECMAP_OK) status = write_records(dataset, &order, &output, &error);
    if (status == RECMAP_OK) status = output_finish(&output, &error);
    output_close(&output);
    order_walk_end(&order);
    return interrupt_finish(status == RECMAP_OK ? 0 : recmap_error_print(&error, stderr));
}

static int run(int argc, char **argv) {
    cat_job job = {.format = OUTPUT_DEFAULT};
    args_begin(&job.args, &cmd_cat, options, argc, argv);
    order_options_begin(&job.order, &job.args);
    for (int option; (option = args_next(&job.args)) != ARGS_END;) {
        if (option == ARGS_STOP) return job.args.exit_status;
        int exit_status = take_option(&job, option);
        if (exit_status) return exit_status;
    }
    int exit_status = order_options_check(&job.order, &job.args);
    if (exit_status) return exit_status;
    if (job.args.operand_count > 1) return args_wrong(&job.args, "only one index can be named");
    recmap_dataset *dataset = NULL;
    exit_status = args_open(&dataset, &job.args);
    if (!exit_status) exit_status = output_check(job.path, job.args.operands[0], dataset);
    if (!exit_status) exit_status = run_cat(&job, dataset);
    recmap_dataset_close(dataset);
    return exit_status;
}

static const char help[] =
    "usage: recmap cat [OPTION]... NAME.rmx\n"
    "\n"
    "Writes records in order.\n"
    "\n"
    "      --shuffle             in an order that depends on seed and epoch, and on nothing else\n"
    "      --seed S              0 without it\n"
    "      --epoch E             0 without it\n"
    "      --from POSITION       begin there instead of at 0\n"
    "      --count N             at most N records\n"
    "      --rank R              with --world and --batch: only the share of this rank\n"
    "      --world W             ranks in all\n"
    "      --batch B             records a rank and step\n"
    "      --last keep|drop|pad  what becomes of a last step that is not full: it is dealt\n"
    "                            evenly (keep), left out, or filled up from the epoch's start\n"
    "      --format F            raw: the payloads, one behind another\n"
    "                            tfrecord: a TFRecord file of them\n"
    "                            json: a record a line, in protobuf's JSON mapping of tf.Example\n"
    "                            number: their numbers; no data is read\n"
    "                            without it: raw into a file or pipe, a preview on a terminal\n"
    "  -o, --output FILE         a file, which appears when it is whole\n"
    "      --access A            map (the default) or pread: how the bytes of shards are reached\n"
    "      --check C             data (the default) or header: what of a record is checked\n"
    "      --framing ./MY.so     the framing of your own in which its records lie\n"
    "      --help\n";

const tool_command cmd_cat = {"cat", "write records in order", help, true, run};
