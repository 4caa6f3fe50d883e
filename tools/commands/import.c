/* recmap import: writes a TFRecord file of records given as JSON, one per line. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include <recmap/example.h>
#include <recmap/example_builder.h>

#include "base/words/shell_word.h"
#include "commands/commands.h"
#include "output/output.h"
#include "output/same_file.h"
#include "records/line_reader.h"
#include "records/view_output.h"
#include "terminal/interrupt.h"
#include "terminal/message.h"
#include "terminal/progress_bar.h"

struct import_job {
    struct args args;
    const char *path; /* or NULL: stdout */
    recmap_example_builder *builder;
    recmap_kind_check *kinds;
    size_t kind_warning_count; /* of the check's warnings, those that were printed */
    struct output output;
    struct progress_bar progress;
    recmap_progress done; /* bytes_total is 0 if the size of an input is unknown */
};

static bool is_blank(const struct line_reader *reader) {
    for (size_t i = 0; i < reader->size; i++)
        if (!memchr(" \t\r\n", reader->line[i], 4)) return false;
    return true;
}

/* Adds the file and the line to the message, and makes the offset in the line one of the file. */
static void place_error(const struct line_reader *reader, recmap_error *error) {
    char message[sizeof error->message];
    int size = snprintf(message, sizeof message, "line %" PRIu64 ": ", reader->number);
    snprintf(message + size, sizeof message - (size_t)size, "%.*s",
             (int)(sizeof message - (size_t)size) - 1, error->message);
    memcpy(error->message, message, sizeof message);
    snprintf(error->path, sizeof error->path, "%s", reader->name);
    if (error->offset != RECMAP_NO_OFFSET) error->offset += reader->offset;
}

static void print_warning(struct import_job *job, const struct line_reader *reader,
                          const recmap_error *warning) {
    recmap_error placed = *warning;
    placed.record = RECMAP_NO_RECORD; /* the line says it */
    place_error(reader, &placed);
    progress_bar_clear(&job->progress);
    message_print(&placed);
}

/* Warns of values that change, and of features whose kind does. */
static recmap_status check_record(struct import_job *job, const struct line_reader *reader,
                                  const recmap_record *record, recmap_error *error) {
    const recmap_error *warning = recmap_example_builder_warning(job->builder);
    if (warning) print_warning(job, reader, warning);
    RETURN_IF_FAILED(recmap_kind_check_add(job->kinds, record->data, record->size, error));
    while ((warning = recmap_kind_check_warning(job->kinds, job->kind_warning_count))) {
        job->kind_warning_count++;
        print_warning(job, reader, warning);
    }
    return RECMAP_OK;
}

static recmap_status import_line(struct import_job *job, const struct line_reader *reader,
                                 recmap_error *error) {
    recmap_record record = {.number = job->done.record_count};
    size_t text_size = reader->size - (reader->line[reader->size - 1] == '\n');
    recmap_status status = recmap_example_builder_read_json(
        &record.data, &record.size, job->builder, reader->line, text_size, error);
    if (status == RECMAP_INVALID) { /* the input is at fault, not the usage */
        place_error(reader, error);
        error->status = RECMAP_CORRUPT;
        return RECMAP_CORRUPT;
    }
    if (status == RECMAP_OK) status = check_record(job, reader, &record, error);
    if (status != RECMAP_OK) return status;
    RETURN_IF_FAILED(output_write(&job->output, &record, error));
    job->done.record_count++;
    job->done.bytes_done += reader->size;
    bool is_shown = job->done.bytes_total && job->done.record_count % 256 == 0;
    if (is_shown && progress_bar_report(&job->done, &job->progress)) return interrupt_fail(error);
    return RECMAP_OK;
}

static recmap_status import_input(struct import_job *job, const char *path, recmap_error *error) {
    struct line_reader reader;
    bool is_end = false;
    recmap_status status = line_reader_open(&reader, path, error);
    if (status == RECMAP_OK) {
        mode_t denied = output_denied_by(path, output_group(&job->output));
        status = output_deny(&job->output, denied, error);
    }
    while (status == RECMAP_OK) {
        status = line_reader_next(&is_end, &reader, error);
        if (status != RECMAP_OK || is_end) break;
        if (!is_blank(&reader)) status = import_line(job, &reader, error);
    }
    line_reader_close(&reader);
    return status;
}

static recmap_status import_all(struct import_job *job, recmap_error *error) {
    recmap_status status = RECMAP_OK;
    if (!job->args.operand_count) status = import_input(job, "-", error);
    for (int i = 0; status == RECMAP_OK && i < job->args.operand_count; i++)
        status = import_input(job, job->args.operands[i], error);
    return status;
}

/* Returns the size of all inputs, or 0 if one of them is not a regular file. */
static uint64_t total_size(const struct import_job *job) {
    uint64_t total = 0;
    if (!job->path) return 0; /* no progress bar while records go to standard output */
    for (int i = 0; i < job->args.operand_count; i++) {
        struct stat input;
        if (line_reader_is_stdin(job->args.operands[i]) || stat(job->args.operands[i], &input) ||
            !S_ISREG(input.st_mode))
            return 0;
        total += (uint64_t)input.st_size;
    }
    return total;
}

static int run_import(struct import_job *job) {
    recmap_error error = RECMAP_ERROR_INIT;
    job->progress = progress_bar_start("writing");
    job->done.bytes_total = total_size(job);
    recmap_status status = recmap_example_builder_create(&job->builder, &error);
    if (status == RECMAP_OK) status = recmap_kind_check_create(&job->kinds, &error);
    if (status == RECMAP_OK) status = output_open(&job->output, job->path, OUTPUT_TFRECORD, &error);
    if (status == RECMAP_OK) status = import_all(job, &error);
    if (status == RECMAP_OK) status = output_finish(&job->output, &error);
    output_close(&job->output);
    progress_bar_clear(&job->progress);
    recmap_example_builder_destroy(job->builder);
    recmap_kind_check_destroy(job->kinds);
    if (status == RECMAP_OK && job->path)
        message("%s: %" PRIu64 " record%s", job->path, job->done.record_count,
                plural(job->done.record_count));
    return interrupt_finish(status == RECMAP_OK ? 0 : message_print(&error));
}

/* Rejects a terminal as output, the name of an index or a selection, and an output that is one of
 * the inputs. Returns 0, or the exit status after printing the error. */
static int check_output(const struct import_job *job) {
    struct stat output;
    int exit_status = view_output_check_name(job->path);
    if (exit_status) return exit_status;
    if (!job->path && isatty(STDOUT_FILENO) == 1)
        return args_usage_error(&job->args,
                                "refusing to write a TFRecord file to a terminal: use -o FILE");
    if (!job->path || stat(job->path, &output) || !S_ISREG(output.st_mode)) return 0;
    for (int i = 0; i < job->args.operand_count; i++)
        if (!line_reader_is_stdin(job->args.operands[i]) &&
            same_file(job->args.operands[i], &output))
            return message_error(RECMAP_INVALID, job->path, "name another file with -o",
                                 "is one of the inputs and would be overwritten");
    return 0;
}

/* Writes the command of the Python package with the same arguments. Returns "" if it is too long or
 * has words that messages cannot show. */
static const char *write_python_command(char *text, size_t capacity, const struct import_job *job) {
    char word[SHELL_WORD_SIZE];
    size_t size = (size_t)snprintf(text, capacity, "python3 -m recmap import");
    for (int i = 0; i < job->args.operand_count + 2 * !!job->path; i++) {
        const char *given = i < job->args.operand_count    ? job->args.operands[i]
                            : i == job->args.operand_count ? "-o"
                                                           : job->path;
        if (!shell_word_write(word, sizeof word, given)) return "";
        size += (size_t)snprintf(text + size, capacity - size, " %s", word);
        if (size >= capacity) return "";
    }
    return text;
}

static int fail_table(const struct import_job *job, const char *path) {
    char command[1024], advice[1400];
    const char *text = write_python_command(command, sizeof command, job);
    snprintf(advice, sizeof advice,
             "the Python package imports tables (`pip install recmap`): run `%s`; or use `recmap "
             "index --framing csv` to read CSV as it is",
             *text ? text : "python3 -m recmap import");
    return message_error(RECMAP_INVALID, path, advice,
                         "is a table, which this program does not import");
}

/* Tables are imported by the Python package, whose command starts this program for other files. */
static int check_inputs(const struct import_job *job) {
    static const char *const endings[] = {".csv",    ".tsv",    ".parquet",
                                          ".csv.gz", ".tsv.gz", ".parquet.gz"};
    for (int i = 0; i < job->args.operand_count; i++) {
        const char *path = job->args.operands[i];
        for (size_t k = 0; k < sizeof endings / sizeof *endings; k++) {
            size_t size = strlen(path), ending_size = strlen(endings[k]);
            if (size > ending_size && !strcasecmp(path + size - ending_size, endings[k]))
                return fail_table(job, path);
        }
    }
    return 0;
}

static int run(int argc, char **argv) {
    struct import_job job = {.path = NULL};
    args_init(&job.args, &cmd_import, argc, argv);
    for (int option; (option = args_next(&job.args)) != ARGS_END;) {
        if (option == ARGS_STOP) return job.args.exit_status;
        if (option == OPTION_OUTPUT) job.path = output_path(optarg);
    }
    int exit_status = check_inputs(&job);
    if (!exit_status) exit_status = check_output(&job);
    return exit_status ? exit_status : run_import(&job);
}

static const char help[] =
    "usage: recmap import [OPTION]... [FILE]...\n"
    "\n"
    "Reads records as JSON, one per line, as 'recmap cat --format json' writes them, and writes\n"
    "a TFRecord file. Without FILE, or if FILE is -, reads standard input. The command of the\n"
    "Python package also imports tables (.csv, .tsv, .parquet) into shards with an index:\n"
    "python3 -m recmap import table.csv -o OUT@N\n";

const struct command cmd_import = {"import", "write TFRecord files of JSON records, CSV or Parquet",
                                   help, run};
