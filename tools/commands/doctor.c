/* recmap doctor: says what is wrong with a data set. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <recmap/doctor.h>

#include "commands/commands.h"
#include "indexing/shard_operand.h"
#include "indexing/temporary_index.h"
#include "records/view_output.h"
#include "terminal/decoders.h"
#include "terminal/interrupt.h"
#include "terminal/message.h"
#include "terminal/progress_bar.h"

struct doctor_job {
    struct args args;
    recmap_doctor_options options;
    const char *reading_option; /* the last one given that is about reading records, or NULL */
    bool as_json;
    const char *path; /* of the selection; NULL: none */
};

/* ---- Printing. */

static void print_finding(const recmap_finding *finding) {
    printf("%s: ", recmap_severity_name(finding->severity));
    if (finding->shard) {
        print_safe(stdout, finding->shard);
        fputs(": ", stdout);
    }
    if (finding->record != RECMAP_NO_RECORD) printf("record %" PRIu64 ": ", finding->record);
    printf("%s [%s]\n  %s\n", finding->message, finding->check, finding->advice);
}

static void print_count(uint64_t count, const char *noun, const char *separator) {
    printf("%s%" PRIu64 " %s%s", separator, count, noun, plural(count));
}

static void print_summary(const recmap_diagnosis *diagnosis, const struct doctor_job *job,
                          uint64_t record_count) {
    uint64_t counts[RECMAP_SEVERITY_ERROR + 1] = {0};
    for (size_t i = 0; i < recmap_diagnosis_count(diagnosis); i++)
        counts[recmap_diagnosis_finding(diagnosis, i).severity]++;
    print_safe(stdout, job->args.operands[0]);
    print_count(counts[RECMAP_SEVERITY_ERROR], "error", ": ");
    print_count(counts[RECMAP_SEVERITY_WARNING], "warning", ", ");
    print_count(counts[RECMAP_SEVERITY_NOTE], "note", ", ");
    if (job->options.index_only) puts("; no record was read");
    else
        printf("; %" PRIu64 " of %" PRIu64 " record%s read\n",
               recmap_diagnosis_read_count(diagnosis), record_count,
               record_count == 1 ? " was" : "s were");
}

static recmap_status print_json(const recmap_diagnosis *diagnosis, recmap_error *error) {
    recmap_text text = RECMAP_TEXT_INIT;
    recmap_status status = recmap_diagnosis_to_json(&text, diagnosis, error);
    if (status == RECMAP_OK) puts(text.data);
    recmap_text_deinit(&text);
    return status;
}

static recmap_status print(const recmap_diagnosis *diagnosis, const struct doctor_job *job,
                           uint64_t record_count, recmap_error *error) {
    if (job->as_json) return print_json(diagnosis, error);
    for (size_t i = 0; i < recmap_diagnosis_count(diagnosis); i++) {
        recmap_finding finding = recmap_diagnosis_finding(diagnosis, i);
        print_finding(&finding);
    }
    print_summary(diagnosis, job, record_count);
    return RECMAP_OK;
}

/* ---- Examining. */

/* Findings are a result, not an error. */
static int exit_status_of(const recmap_diagnosis *diagnosis) {
    return recmap_diagnosis_severity(diagnosis) > RECMAP_SEVERITY_NOTE;
}

static recmap_status examine(recmap_diagnosis **diagnosis, struct doctor_job *job,
                             const struct view *view, recmap_error *error) {
    struct progress_bar progress = progress_bar_start("examining");
    job->options.decoders = decoders_loaded(&job->options.decoder_count);
    job->options.lists_records = job->path != NULL;
    job->options.progress = progress_bar_report;
    job->options.progress_context = &progress;
    interrupt_watch();
    recmap_status status = recmap_dataset_examine(diagnosis, view->dataset, view->numbers,
                                                  (size_t)view->count, &job->options, error);
    progress_bar_clear(&progress);
    return status;
}

/* Saves the records that findings are about. */
static recmap_status save(struct view *view, const recmap_diagnosis *diagnosis, const char *path,
                          recmap_error *error) {
    size_t count = recmap_diagnosis_record_count(diagnosis);
    const uint64_t *positions = recmap_diagnosis_records(diagnosis);
    uint64_t *numbers = malloc((count + 1) * sizeof *numbers), total = view->count;
    if (!numbers) return message_fail_memory(error);
    for (size_t i = 0; i < count; i++) numbers[i] = view_number(view, positions[i]);
    view_choose(view, numbers, count);
    return view_output_save(view, path, total, error);
}

static int run_examination(struct doctor_job *job, struct view *view) {
    recmap_diagnosis *diagnosis = NULL;
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_status status = examine(&diagnosis, job, view, &error);
    if (status == RECMAP_OK) status = print(diagnosis, job, view->count, &error);
    fflush(stdout); /* what is printed next goes to another stream */
    if (status == RECMAP_OK && job->path) status = save(view, diagnosis, job->path, &error);
    int exit_status = status == RECMAP_OK ? exit_status_of(diagnosis) : message_print(&error);
    recmap_diagnosis_destroy(diagnosis);
    return interrupt_finish(exit_status);
}

/* ---- Shards. */

/* Prints what the names of the shards show. */
static int examine_names(struct doctor_job *job, const recmap_shards *shards) {
    recmap_diagnosis *diagnosis = NULL;
    recmap_error error = RECMAP_ERROR_INIT;
    job->options.index_only = 1;
    recmap_status status = recmap_shards_examine(&diagnosis, shards, &job->options, &error);
    if (status == RECMAP_OK) status = print(diagnosis, job, 0, &error);
    int exit_status = status == RECMAP_OK ? exit_status_of(diagnosis) : message_print(&error);
    recmap_diagnosis_destroy(diagnosis);
    return exit_status;
}

/* If the shards cannot be indexed at all, their names may show why. */
static int examine_indexed(struct doctor_job *job, const recmap_shards *shards) {
    recmap_error error = RECMAP_ERROR_INIT;
    struct view view = {.path = job->args.operands[0]};
    bool is_temporary;
    recmap_status status =
        temporary_index_open(&view.dataset, &is_temporary, shards, &job->args, &error);
    if (status == RECMAP_CANCELLED || status == RECMAP_NO_MEMORY) return message_print(&error);
    if (status != RECMAP_OK) {
        examine_names(job, shards);
        return message_print(&error);
    }
    view.count = recmap_dataset_count(view.dataset);
    job->options.shards = shards;
    job->options.is_joined = is_temporary;
    int exit_status = run_examination(job, &view);
    view_close(&view);
    return exit_status;
}

static int examine_shards(struct doctor_job *job) {
    recmap_shards *shards = NULL;
    recmap_error error = RECMAP_ERROR_INIT;
    int exit_status;
    interrupt_watch();
    if (temporary_index_list(&shards, &job->args, &error) != RECMAP_OK)
        exit_status = message_print(&error);
    else if (job->options.index_only) exit_status = examine_names(job, shards);
    else exit_status = examine_indexed(job, shards);
    recmap_shards_destroy(shards);
    return interrupt_finish(exit_status);
}

/* ---- The command. */

static int set_option(struct doctor_job *job, int option) {
    switch (option) {
    case OPTION_JSON: job->as_json = true; return 0;
    case OPTION_INDEX_ONLY: job->options.index_only = 1; return 0;
    case OPTION_SAMPLE:
        job->reading_option = "--sample";
        return args_option_number(&job->args, UINT64_MAX, &job->options.sample);
    case OPTION_THREADS:
        job->reading_option = "--threads";
        return args_option_threads(&job->args, &job->options.thread_count);
    default:
        job->reading_option = "-o";
        job->path = optarg;
        return 0;
    }
}

static int check_options(const struct doctor_job *job) {
    const struct args *args = &job->args;
    if (args->operand_count > 1) return args_usage_error(args, "only one index can be given");
    if (job->path && !view_output_is_selection(job->path))
        return args_usage_error(args, "-o needs a name that ends in .rmv, not '%s'", job->path);
    if (job->options.index_only && job->reading_option)
        return args_usage_error(args, "--index-only reads no record: omit %s", job->reading_option);
    return args_check_opening(args);
}

/* A selection needs an index that stays, so with -o shards are indexed as by other commands. */
static int run(int argc, char **argv) {
    struct doctor_job job = {.options = RECMAP_DOCTOR_OPTIONS_INIT};
    args_init(&job.args, &cmd_doctor, argc, argv);
    for (int option; (option = args_next(&job.args)) != ARGS_END;) {
        if (option == ARGS_STOP) return job.args.exit_status;
        int exit_status = set_option(&job, option);
        if (exit_status) return exit_status;
    }
    int exit_status = check_options(&job);
    if (exit_status) return exit_status;
    bool are_shards = !args_name_selection(&job.args) && shard_operand_is_named(&job.args);
    if (are_shards && !job.path) return examine_shards(&job);
    struct view view;
    exit_status = view_open(&view, &job.args);
    if (!exit_status) exit_status = view_output_check(&view, job.path);
    if (!exit_status) exit_status = run_examination(&job, &view);
    view_close(&view);
    return exit_status;
}

static const char help[] =
    "usage: recmap doctor [OPTION]... [-o NAME.rmv] FOLDER|NAME.rmx|NAME.rmv|SHARDS\n"
    "\n"
    "Says what is wrong with a data set before it costs a training run: missing shards, damage,\n"
    "features that some records lack, NaN, pictures that cannot be decoded, equal records in\n"
    "train and test, and so on. Prints each finding with its shard, its first record and what to\n"
    "do. The exit status is 1 if there is an error or a warning. Without -o, nothing is written:\n"
    "an index of the shards is used if there is one.\n";

const struct command cmd_doctor = {"doctor", "say what is wrong with a data set", help, run};
