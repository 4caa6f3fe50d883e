/* recmap report: shows in one HTML file what a data set contains. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "base/words/sample.h"
#include "commands/commands.h"
#include "orders/row_options.h"
#include "records/view_output.h"
#include "report/page.h"
#include "terminal/interrupt.h"
#include "terminal/message.h"

/* Without --sample: this many records, or fewer if they are large, but not below the minimum. */
enum { SAMPLE_DEFAULT = 1000, SAMPLE_MIN = 10 };
#define SAMPLE_BYTES_MAX ((double)(256 << 20))

struct report_job {
    struct args args;
    uint64_t sample;
    bool has_sample; /* --sample was given */
    struct report_order order;
    struct row_options rows;
    int needs_shuffle; /* an option that was given, or OPTION_NONE */
    const char *path;  /* of the output; NULL: standard output */
};

/* How many records to read: as asked, or fewer than the default if they are large. */
static uint64_t sample_size(const struct report *report, const struct report_job *job) {
    const recmap_record_sizes *sizes = &report->sizes;
    uint64_t size = job->has_sample ? job->sample : SAMPLE_DEFAULT;
    if (!job->has_sample && sizes->count) {
        double mean = sizes->sum / (double)sizes->count;
        if (mean * SAMPLE_DEFAULT > SAMPLE_BYTES_MAX) size = (uint64_t)(SAMPLE_BYTES_MAX / mean);
        if (size < SAMPLE_MIN) size = SAMPLE_MIN;
    }
    return sample_clamp(size, report->view.count);
}

static recmap_status collect(struct report *report, const struct report_job *job,
                             recmap_error *error) {
    const struct view *view = &report->view;
    RETURN_IF_FAILED(recmap_dataset_read_sizes(&report->sizes, view->dataset, view->numbers,
                                               view->count, error));
    RETURN_IF_FAILED(recmap_dataset_find_repeated_ids(&report->ids, view->dataset, view->numbers,
                                                      (size_t)view->count, error));
    report->sample.size = sample_size(report, job);
    return record_sample_read(&report->sample, &report->view, error);
}

static recmap_status write_sections(struct html *html, struct report *report, recmap_error *error) {
    page_begin(html, report);
    RETURN_IF_FAILED(page_write_totals(html, report, error));
    page_write_sizes(html, report);
    RETURN_IF_FAILED(page_write_shards(html, report, error));
    RETURN_IF_FAILED(page_write_order(html, report, error));
    RETURN_IF_FAILED(page_write_damage(html, report, error));
    page_write_ids(html, report);
    page_write_features(html, report);
    RETURN_IF_FAILED(page_write_records(html, report, error));
    page_end(html);
    return RECMAP_OK;
}

static recmap_status write_file(struct output *output, struct report *report, recmap_error *error) {
    struct html html = {.stream = output->stream};
    RETURN_IF_FAILED(write_sections(&html, report, error));
    if (interrupt_is_pending()) return interrupt_fail(error);
    errno = html.system_errno;
    if (errno)
        return message_fail_errno(error, output->path ? output->path : "standard output", "write");
    return output_finish(output, error);
}

static recmap_status write_report(struct report *report, const char *path, recmap_error *error) {
    struct output output = {.stream = NULL};
    recmap_status status = view_output_open(&output, &report->view, path, OUTPUT_RAW, error);
    if (status == RECMAP_OK) status = write_file(&output, report, error);
    output_close(&output);
    return status;
}

static void print_messages(const struct report *report, const char *path) {
    const struct record_sample *sample = &report->sample;
    uint64_t unreadable = sample->unreadable_count;
    if (unreadable)
        message("%" PRIu64 " of %" PRIu64
                " sampled record%s cannot be read; 'recmap verify' finds all damage",
                unreadable, unreadable + sample->read_count,
                plural(unreadable + sample->read_count));
    if (path)
        message("%s: report of %" PRIu64 " record%s", path, report->view.count,
                plural(report->view.count));
}

static int run_report(struct report *report, const struct report_job *job) {
    recmap_error error = RECMAP_ERROR_INIT;
    interrupt_watch();
    recmap_status status = collect(report, job, &error);
    if (status == RECMAP_OK) status = write_report(report, job->path, &error);
    if (status == RECMAP_OK) print_messages(report, job->path);
    recmap_record_sizes_deinit(&report->sizes);
    record_sample_deinit(&report->sample);
    return interrupt_finish(status == RECMAP_OK ? 0 : message_print(&error));
}

static int set_order_number(struct report_job *job, int option, uint64_t *number) {
    job->needs_shuffle = option;
    return args_option_number(&job->args, UINT64_MAX, number);
}

static int set_option(struct report_job *job, int option) {
    if (row_options_has(option)) return row_options_set(&job->rows, &job->args, option);
    switch (option) {
    case OPTION_SAMPLE:
        job->has_sample = true;
        return args_option_number(&job->args, UINT32_MAX, &job->sample);
    case OPTION_SHUFFLE: job->order.is_shuffled = true; return 0;
    case OPTION_SEED: return set_order_number(job, option, &job->order.seed);
    case OPTION_EPOCH: return set_order_number(job, option, &job->order.epoch);
    default: job->path = output_path(optarg); return 0;
    }
}

static int check_options(const struct report_job *job) {
    if (job->args.operand_count > 1)
        return args_usage_error(&job->args, "only one index can be given");
    int exit_status = row_options_check(&job->rows, &job->args);
    if (exit_status) return exit_status;
    bool has_rows = row_options_has_rows(&job->rows);
    if (has_rows && job->order.is_shuffled)
        return args_usage_error(&job->args, "rows are always shuffled: omit --shuffle");
    if (job->needs_shuffle && !job->order.is_shuffled && !has_rows)
        return args_usage_error(&job->args, "--%s requires --shuffle",
                                option_name(job->needs_shuffle));
    if (!job->path && isatty(STDOUT_FILENO) == 1)
        return args_usage_error(&job->args, "no output file given: -o FILE.html");
    return 0;
}

static int check_output(const struct report_job *job, const struct view *view) {
    int exit_status = view_output_check(view, job->path);
    if (exit_status) return exit_status;
    if (!view_output_is_selection(job->path) && !view_output_is_index(job->path)) return 0;
    return args_usage_error(&job->args, "-o needs the name of an HTML file, not '%s'", job->path);
}

static int create_rows(recmap_order **rows, const struct report_job *job, const struct view *view) {
    if (!row_options_has_rows(&job->rows)) return 0;
    if (view->selection)
        return args_usage_error(&job->args, "rows need a whole index, not a selection");
    return row_options_create_order(rows, &job->rows, job->order.seed, view->dataset, &job->args);
}

/* Every option is checked before the index is opened, and the output before a record is read. */
static int run(int argc, char **argv) {
    struct report_job job = {.path = NULL};
    args_init(&job.args, &cmd_report, argc, argv);
    row_options_init(&job.rows);
    for (int option; (option = args_next(&job.args)) != ARGS_END;) {
        if (option == ARGS_STOP) return job.args.exit_status;
        int exit_status = set_option(&job, option);
        if (exit_status) return exit_status;
    }
    int exit_status = check_options(&job);
    if (exit_status) return exit_status;
    struct report report = {.order = job.order};
    exit_status = view_open(&report.view, &job.args);
    if (!exit_status) exit_status = check_output(&job, &report.view);
    if (!exit_status) exit_status = create_rows(&report.order.rows, &job, &report.view);
    if (!exit_status) exit_status = run_report(&report, &job);
    recmap_order_release(report.order.rows);
    view_close(&report.view);
    return exit_status;
}

static const char help[] =
    "usage: recmap report [OPTION]... [-o FILE.html] NAME.rmx|NAME.rmv|SHARDS\n"
    "\n"
    "Writes one HTML file that shows what the records contain: their sizes, the shards and their\n"
    "damage, duplicate ids, each feature with its range and values, and sample records with their\n"
    "pictures, sounds, text and numbers. The file needs no network and contains no "
    "script.\n" HELP_SHARDS;

const struct command cmd_report = {"report", "show in an HTML file what a data set contains", help,
                                   run};
