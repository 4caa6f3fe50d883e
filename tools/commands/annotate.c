/* recmap annotate: adds columns from files to an index, removes and renames columns. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <recmap/annotation.h>

#include "commands/commands.h"
#include "terminal/interrupt.h"
#include "terminal/message.h"
#include "terminal/progress_bar.h"

/* An option and its argument NAME=VALUE, which borrows from argv. */
struct change {
    int option;
    const char *name, *value; /* `value` is NULL for --drop */
};

struct annotate_job {
    struct args args;
    struct change *changes; /* malloc'ed */
    size_t change_count;
    recmap_key key;
    bool refuses_missing, has_missing;     /* --missing-values */
    bool ignores_unmatched, has_unmatched; /* --unmatched */
    struct progress_bar progress;
};

/* Parses NAME=VALUE in place: the first `=` becomes a NUL. */
static int add_change(struct annotate_job *job, int option, char *argument) {
    char *equals = option == OPTION_DROP ? NULL : strchr(argument, '=');
    bool needs_value = option == OPTION_COLUMN || option == OPTION_RENAME;
    if (!*argument || equals == argument || (option != OPTION_DROP && !equals) ||
        (needs_value && !equals[1]))
        return args_usage_error(&job->args, "%s needs %s, not '%s'", job->args.name,
                                job->args.row->argument, argument);
    if (equals) *equals = 0;
    struct change *changes = realloc(job->changes, (job->change_count + 1) * sizeof *changes);
    if (!changes) return message_error(RECMAP_NO_MEMORY, NULL, NULL, "out of memory");
    job->changes = changes;
    changes[job->change_count++] = (struct change){option, argument, equals ? equals + 1 : NULL};
    return 0;
}

/* Applies an option and its argument. */
static int set_option(struct annotate_job *job, int option, char *argument) {
    switch (option) {
    case OPTION_BY: job->key = job->args.choice ? RECMAP_KEY_NUMBER : RECMAP_KEY_ID; return 0;
    case OPTION_MISSING_VALUES:
        job->has_missing = true;
        job->refuses_missing = job->args.choice == 0;
        return 0;
    case OPTION_UNMATCHED:
        job->has_unmatched = true;
        job->ignores_unmatched = job->args.choice == 1;
        return 0;
    default: return add_change(job, option, argument);
    }
}

static size_t count_changes(const struct annotate_job *job, int option) {
    size_t count = 0;
    for (size_t i = 0; i < job->change_count; i++) count += job->changes[i].option == option;
    return count;
}

/* The argument of the only --default of a column, or NULL. */
static const char *default_of(const struct annotate_job *job, const char *name) {
    for (size_t i = 0; i < job->change_count; i++)
        if (job->changes[i].option == OPTION_DEFAULT && !strcmp(job->changes[i].name, name))
            return job->changes[i].value;
    return NULL;
}

/* Each --default belongs to one --column, and no column has two. */
static int check_defaults(const struct annotate_job *job) {
    for (size_t i = 0; i < job->change_count; i++) {
        const struct change *change = &job->changes[i];
        bool is_used = false;
        if (change->option != OPTION_DEFAULT) continue;
        for (size_t j = 0; j < job->change_count; j++)
            is_used |= job->changes[j].option == OPTION_COLUMN &&
                       !strcmp(job->changes[j].name, change->name);
        if (!is_used)
            return args_usage_error(&job->args, "--default %s: there is no --column %s",
                                    change->name, change->name);
        if (default_of(job, change->name) != change->value)
            return args_usage_error(&job->args, "--default %s is given twice", change->name);
    }
    return 0;
}

/* --by, --missing-values and --unmatched are about the values of new columns. */
static int check_column_options(const struct annotate_job *job) {
    if (count_changes(job, OPTION_COLUMN)) return 0;
    if (job->key != RECMAP_KEY_AUTO) return args_usage_error(&job->args, "--by needs --column");
    if (job->has_unmatched) return args_usage_error(&job->args, "--unmatched needs --column");
    return job->has_missing ? args_usage_error(&job->args, "--missing-values needs --column") : 0;
}

static recmap_status apply(recmap_annotation *annotation, const struct annotate_job *job,
                           const struct change *change, recmap_error *error) {
    if (change->option == OPTION_DROP)
        return recmap_annotation_drop(annotation, change->name, error);
    if (change->option == OPTION_RENAME)
        return recmap_annotation_rename(annotation, change->name, change->value, error);
    return recmap_annotation_add_file(annotation, change->name, change->value, job->key,
                                      default_of(job, change->name), error);
}

/* Columns are dropped first, then renamed, then added, so that one call can replace a column. */
static recmap_status apply_all(recmap_annotation *annotation, const struct annotate_job *job,
                               recmap_error *error) {
    static const int order[] = {OPTION_DROP, OPTION_RENAME, OPTION_COLUMN};
    recmap_annotation_set_nullable(annotation, !job->refuses_missing);
    recmap_annotation_ignore_unmatched(annotation, job->ignores_unmatched);
    for (size_t i = 0; i < sizeof order / sizeof *order; i++)
        for (size_t j = 0; j < job->change_count; j++)
            if (job->changes[j].option == order[i])
                RETURN_IF_FAILED(apply(annotation, job, &job->changes[j], error));
    return recmap_annotation_finish(annotation, error);
}

static void print_nulls(const recmap_dataset *dataset, const char *name) {
    recmap_lifted_column column;
    size_t index;
    if (recmap_dataset_find_lifted_column(&index, dataset, name, NULL) == RECMAP_OK &&
        recmap_dataset_get_lifted_column(&column, dataset, index, NULL) == RECMAP_OK &&
        column.null_count)
        message("column '%s' is null for %" PRIu64 " of %" PRIu64 " record%s", name,
                column.null_count, recmap_dataset_count(dataset),
                plural(recmap_dataset_count(dataset)));
}

/* Says how many records have no value of the new columns: a file may have been incomplete. */
static void print_all_nulls(const struct annotate_job *job) {
    recmap_dataset *dataset = NULL;
    if (recmap_dataset_open(&dataset, job->args.operands[0], &job->args.dataset_options, NULL) !=
        RECMAP_OK)
        return;
    for (size_t i = 0; i < job->change_count; i++)
        if (job->changes[i].option == OPTION_COLUMN) print_nulls(dataset, job->changes[i].name);
    recmap_dataset_close(dataset);
}

static void print_warnings(const recmap_annotation *annotation) {
    const recmap_error *warning;
    for (size_t i = 0; (warning = recmap_annotation_warning(annotation, i)); i++)
        message_print(warning);
}

static void print_unmatched(const recmap_annotation *annotation) {
    uint64_t count = recmap_annotation_unmatched_count(annotation);
    if (count) message("%" PRIu64 " row%s ignored: no record has the key", count, plural(count));
}

static int run_annotate(struct annotate_job *job, recmap_dataset *dataset) {
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_annotation *annotation = NULL;
    interrupt_watch();
    job->progress = progress_bar_start("annotating");
    recmap_annotation_options annotation_options = RECMAP_ANNOTATION_OPTIONS_INIT;
    annotation_options.progress = progress_bar_report;
    annotation_options.progress_context = &job->progress;
    recmap_status status =
        recmap_annotation_create(&annotation, dataset, &annotation_options, &error);
    if (status == RECMAP_OK) status = apply_all(annotation, job, &error);
    progress_bar_clear(&job->progress);
    if (status == RECMAP_OK) print_warnings(annotation);
    if (status == RECMAP_OK) print_unmatched(annotation);
    recmap_annotation_destroy(annotation);
    if (status != RECMAP_OK) return interrupt_finish(message_print(&error));
    message("%s: columns: %zu added, %zu dropped, %zu renamed", job->args.operands[0],
            count_changes(job, OPTION_COLUMN), count_changes(job, OPTION_DROP),
            count_changes(job, OPTION_RENAME));
    print_all_nulls(job);
    return interrupt_finish(0);
}

static int run_job(struct annotate_job *job) {
    for (int option; (option = args_next(&job->args)) != ARGS_END;) {
        if (option == ARGS_STOP) return job->args.exit_status;
        int exit_status = set_option(job, option, optarg);
        if (exit_status) return exit_status;
    }
    if (job->args.operand_count > 1)
        return args_usage_error(&job->args, "only one index can be given: files of columns follow "
                                            "--column, as in --column score=scores.csv");
    if (job->args.operand_count && !job->change_count)
        return args_usage_error(&job->args, "no --column, --drop or --rename given");
    int exit_status = check_defaults(job);
    if (!exit_status) exit_status = check_column_options(job);
    if (exit_status) return exit_status;
    recmap_dataset *dataset = NULL;
    exit_status = args_open(&dataset, &job->args);
    if (!exit_status) exit_status = run_annotate(job, dataset);
    recmap_dataset_close(dataset);
    return exit_status;
}

static int run(int argc, char **argv) {
    struct annotate_job job = {.key = RECMAP_KEY_AUTO};
    args_init(&job.args, &cmd_annotate, argc, argv);
    int exit_status = run_job(&job);
    free(job.changes);
    return exit_status;
}

static const char help[] =
    "usage: recmap annotate [OPTION]... NAME.rmx\n"
    "\n"
    "Adds columns to an index, for example scores and labels that were computed later. No shard\n"
    "is changed. Expressions of --where and lifted columns in Python read them.\n";

const struct command cmd_annotate = {"annotate", "add columns to an index, drop or rename them",
                                     help, run};
