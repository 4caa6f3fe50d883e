/* recmap cat: records in order. */
#include <recmap/dataset.h>

#include "commands.h"
#include "interrupt.h"
#include "iterate.h"
#include "order_iterator.h"
#include "output.h"
#include "progress_bar.h"

enum { OPTION_FORMAT = ARGS_LONG };

static const struct option options[] = {{"output", required_argument, NULL, 'o'},
                                        {"format", required_argument, NULL, OPTION_FORMAT},
                                        {"framing", required_argument, NULL, ARGS_FRAMING},
                                        {NULL, 0, NULL, 0}};

struct cat_job {
    struct args args;
    const char *path; /* or NULL: stdout */
    enum output_format format;
    struct order_options order;
};

static int set_option(struct cat_job *job, int option) {
    switch (option) {
    case 'o':
        job->path = optarg;
        return *optarg ? 0 : args_usage_error(&job->args, "-o names no file");
    case OPTION_FORMAT:
        if (output_format_parse(&job->format, optarg)) return 0;
        return args_usage_error(&job->args, "--format is raw, tfrecord, json or number, not '%s'",
                                optarg);
    default: return order_options_set(&job->order, &job->args, option);
    }
}

static recmap_status write_record(void *context, const recmap_record *record, recmap_error *error) {
    return output_write(context, record, error);
}

static recmap_status write_records(recmap_dataset *dataset, struct order_iterator *order,
                                   struct output *output, recmap_error *error) {
    struct number_source source = {order->left, order_iterator_next, order};
    if (output->format == OUTPUT_NUMBER) return order_iterator_print(order, output, error);
    /* A bar would be drawn between records on a terminal, and a pipe may lead to one. */
    if (!output->path)
        return iterate_records(dataset, source, write_record, output, NULL, NULL, error);
    struct progress_bar progress = progress_bar_start("writing");
    recmap_status status = iterate_records(dataset, source, write_record, output,
                                           progress_bar_report, &progress, error);
    progress_bar_clear(&progress);
    return status;
}

static int run_cat(const struct cat_job *job, recmap_dataset *dataset) {
    struct order_iterator order;
    int exit_status =
        order_iterator_init(&order, &job->order, recmap_dataset_count(dataset), &job->args);
    if (exit_status) return exit_status;
    struct output output;
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_status status = output_open(&output, job->path, job->format, &error);
    if (status == RECMAP_OK) status = write_records(dataset, &order, &output, &error);
    if (status == RECMAP_OK) status = output_finish(&output, &error);
    output_close(&output);
    order_iterator_deinit(&order);
    return interrupt_finish(status == RECMAP_OK ? 0 : recmap_error_print(&error, stderr));
}

static int run(int argc, char **argv) {
    struct cat_job job = {.format = OUTPUT_DEFAULT};
    args_init(&job.args, &cmd_cat, options, argc, argv);
    order_options_init(&job.order, &job.args);
    for (int option; (option = args_next(&job.args)) != ARGS_END;) {
        if (option == ARGS_STOP) return job.args.exit_status;
        int exit_status = set_option(&job, option);
        if (exit_status) return exit_status;
    }
    int exit_status = order_options_check(&job.order, &job.args);
    if (exit_status) return exit_status;
    if (job.args.operand_count > 1)
        return args_usage_error(&job.args, "only one index can be named");
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

const struct command cmd_cat = {"cat", "write records in order", help, true, run};
