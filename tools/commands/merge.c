/* recmap merge: merges indexes of parts of a data set into the index of all its shards. */
#include <inttypes.h>
#include <stdio.h>
#include <sys/stat.h>

#include <recmap/index.h>

#include "commands/commands.h"
#include "indexing/build_report.h"
#include "indexing/inherited.h"
#include "indexing/missing_shards.h"
#include "indexing/replaced.h"
#include "output/same_file.h"
#include "records/feature_names.h"
#include "terminal/interrupt.h"
#include "terminal/message.h"
#include "terminal/progress_bar.h"

struct merge_job {
    struct args args;
    const char *path; /* of the merged index */
    recmap_index_options options;
    struct inherited first; /* the part that gives ids, columns and counts; all others must have the
                               same */
    struct progress_bar progress;
};

/* The merged index replaces the file at its path, so that file must not be one of the parts. */
static int check_path(const struct merge_job *job) {
    struct stat target;
    const char *advice = "name another file with -o";
    if (stat(job->path, &target)) return 0;
    if (S_ISDIR(target.st_mode))
        return message_error(RECMAP_INVALID, job->path, advice, "is a folder");
    for (int i = 0; i < job->args.operand_count; i++)
        if (same_file(job->args.operands[i], &target))
            return message_error(RECMAP_INVALID, job->path, advice,
                                 "is one of the parts and would be overwritten");
    return 0;
}

/* Takes the ids, columns and counts of the first part. Returns 0, or the exit status after printing
 * the error: also if the merged index would replace one whose annotated columns they lack. */
static int prepare(struct merge_job *job) {
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_status status = inherited_open(&job->first, &job->options, job->args.operands[0],
                                          &job->args.dataset_options, &error);
    if (status != RECMAP_OK) return message_print(&error);
    return replaced_check_annotated(job->path, &job->options, &job->args.dataset_options);
}

static recmap_status merge(struct merge_job *job, recmap_index_summary *summary,
                           recmap_error *error) {
    recmap_index_builder *builder = NULL;
    recmap_status status = recmap_index_builder_create(&builder, job->path, &job->options, error);
    for (int i = 0; status == RECMAP_OK && i < job->args.operand_count; i++)
        status = recmap_index_builder_add_index(builder, job->args.operands[i], error);
    if (status == RECMAP_OK) status = recmap_index_builder_finish(summary, builder, error);
    recmap_index_builder_destroy(builder);
    return status;
}

static recmap_status add_name(const recmap_example_part *part, void *context) {
    feature_names_add(context, part);
    return RECMAP_OK;
}

/* Merging reads no records. If no part has the id, the first record tells what may be meant, unless
 * the shard is on another machine. */
static void advise_id(const struct merge_job *job, recmap_error *error) {
    struct feature_names names = {.count = 0};
    recmap_record record;
    if (error->status != RECMAP_FEATURE || !job->options.id_feature ||
        recmap_dataset_get(&record, job->first.dataset, 0, NULL) != RECMAP_OK ||
        recmap_example_visit(add_name, &names, record.data, record.size, NULL) != RECMAP_OK)
        return;
    const char *near = feature_names_suggest(&names, job->options.id_feature);
    if (near)
        snprintf(error->advice, sizeof error->advice,
                 "did you mean '%s'? index the parts again with that --id", near);
}

static int run_merge(struct merge_job *job) {
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_index_summary summary;
    interrupt_watch();
    int exit_status = prepare(job);
    if (exit_status) return interrupt_finish(exit_status);
    job->progress = progress_bar_start("merging");
    job->options.progress = progress_bar_report;
    job->options.progress_context = &job->progress;
    recmap_status status = merge(job, &summary, &error);
    progress_bar_clear(&job->progress);
    if (status != RECMAP_OK) {
        advise_id(job, &error);
        return interrupt_finish(message_print(&error));
    }
    /* No shard was read, so rates would mean nothing. */
    message("%s: %" PRIu64 " record%s in %" PRIu64 " shard%s", job->path, summary.record_count,
            plural(summary.record_count), summary.shard_count, plural(summary.shard_count));
    build_report_empty(job->path, &summary);
    missing_shards_warn(job->path, false, true, &job->args.dataset_options);
    return interrupt_finish(0);
}

static int run(int argc, char **argv) {
    struct merge_job job = {.options = RECMAP_INDEX_OPTIONS_INIT};
    args_init(&job.args, &cmd_merge, argc, argv);
    for (int option; (option = args_next(&job.args)) != ARGS_END;) {
        if (option == ARGS_STOP) return job.args.exit_status;
        if (option == OPTION_SETS) job.options.sets = (recmap_sets)job.args.choice;
        else job.path = optarg;
    }
    if (!job.path) return args_usage_error(&job.args, "no output given (-o NAME.rmx)");
    if (!job.args.operand_count) return args_usage_error(&job.args, "no parts given");
    int exit_status = check_path(&job);
    if (!exit_status) exit_status = run_merge(&job);
    inherited_close(&job.first);
    return exit_status;
}

static const char help[] =
    "usage: recmap merge -o NAME.rmx PART.rmx...\n"
    "\n"
    "Merges the indexes of parts of a data set, in this order. The result is byte for byte the\n"
    "index that 'recmap index' builds from all their shards. No shard is read, so each machine\n"
    "can index its own shards. Parts must have the same ids and columns, and no common shard.\n"
    "Some parts may lack ids, but not all.\n";

const struct command cmd_merge = {"merge", "merge indexes of parts of a data set", help, run};
