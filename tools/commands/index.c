/* recmap index: builds an index of shards, or appends shards to one. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <recmap/annotation.h>
#include <recmap/index.h>
#include <recmap/shards.h>

#include "commands/commands.h"
#include "indexing/build_report.h"
#include "indexing/counted.h"
#include "indexing/inherited.h"
#include "indexing/missing_shards.h"
#include "indexing/replaced.h"
#include "output/same_file.h"
#include "records/message_type.h"
#include "terminal/interrupt.h"
#include "terminal/message.h"
#include "terminal/progress_bar.h"

enum { PATH_SIZE = 4096 };

struct index_job {
    struct args args;
    const char *path;            /* of the index */
    char path_buffer[PATH_SIZE]; /* holds the default path */
    bool appends;
    bool only_lifts; /* no option but --lift and --missing-values was given */
    bool missing_is_null;
    const char *split;
    recmap_index_options options;
    recmap_lift *lifts;                       /* malloc'ed; borrows names and defaults from argv */
    recmap_counted_feature *counted_features; /* malloc'ed; borrows names from argv */
    recmap_shards *shards;
    struct inherited appended;         /* the index that --append adds to */
    recmap_message_type *message_type; /* of the records, if there is a descriptor set */
    recmap_message_lift *lift;         /* what reads their ids and columns */
    struct progress_bar progress;
};

static int set_id(struct index_job *job, const char *name) {
    if (!*name) return args_usage_error(&job->args, "--id needs a feature name");
    job->options.id_feature = name;
    return 0;
}

/* Parses FEATURE or FEATURE=DEFAULT in place: the first `=` becomes a NUL. */
static int add_lift(struct index_job *job, char *argument) {
    char *equals = strchr(argument, '=');
    if (equals) *equals = 0;
    if (!*argument) return args_usage_error(&job->args, "--lift needs a feature name");
    recmap_lift *lifts = realloc(job->lifts, (job->options.lift_count + 1) * sizeof *lifts);
    if (!lifts) return message_error(RECMAP_NO_MEMORY, NULL, NULL, "out of memory");
    lifts[job->options.lift_count++] = (recmap_lift){argument, equals ? equals + 1 : NULL, 0};
    job->lifts = lifts;
    job->options.lifts = lifts;
    return 0;
}

/* Parses FEATURE, FEATURE:DTYPE or FEATURE: in place: the last `:` becomes a NUL. The last form is
 * for names that contain `:` themselves. */
static int add_counted(struct index_job *job, char *argument) {
    recmap_counted_feature feature = {argument, RECMAP_ELEMENT_NONE};
    char *colon = strrchr(argument, ':');
    if (colon && colon[1]) {
        feature.element = recmap_element_of_name(colon + 1);
        if (!feature.element || feature.element == RECMAP_ELEMENT_BYTES)
            return args_usage_error(&job->args,
                                    "--count %s: '%s' is not a type of numbers, such as uint16; "
                                    "if it is part of the name, add a ':' at the end",
                                    argument, colon + 1);
    }
    if (colon) *colon = 0;
    if (!*argument) return args_usage_error(&job->args, "--count needs a feature name");
    size_t count = job->options.counted_feature_count;
    recmap_counted_feature *features =
        realloc(job->counted_features, (count + 1) * sizeof *features);
    if (!features) return message_error(RECMAP_NO_MEMORY, NULL, NULL, "out of memory");
    features[count] = feature;
    job->options.counted_feature_count++;
    job->options.counted_features = job->counted_features = features;
    return 0;
}

/* Lets features that are lifted without a default be null, by the options or by the index that is
 * appended to. */
static void set_nullable(struct index_job *job) {
    recmap_lift *lifts = job->lifts ? job->lifts : job->appended.lifts;
    for (size_t i = 0; i < job->options.lift_count; i++) lifts[i].is_nullable = 1;
}

static int check_missing(const struct index_job *job) {
    if (!job->missing_is_null || job->options.lift_count) return 0;
    return args_usage_error(
        &job->args, job->appends ? "--missing-values null needs lifted columns, and the index "
                                   "that is appended to has none"
                                 : "--missing-values null needs --lift: it is about records "
                                   "without a lifted feature");
}

/* A text with a slash is the path of a shared object; any other is the name of a framing. */
static int set_framing(struct index_job *job, const char *text) {
    if (strchr(text, '/')) return args_load_framing(&job->options.framing, text);
    job->options.framing = text;
    return 0;
}

static int set_option(struct index_job *job, int option) {
    int choice = job->args.choice;
    switch (option) {
    case OPTION_OUTPUT: job->path = optarg; return 0;
    case OPTION_ID: return set_id(job, optarg);
    case OPTION_LIFT: return add_lift(job, optarg);
    case OPTION_MISSING_VALUES: job->missing_is_null = choice == 1; return 0;
    case OPTION_COUNT: return add_counted(job, optarg);
    case OPTION_THREADS: return args_option_threads(&job->args, &job->options.thread_count);
    case OPTION_ON_BAD_RECORD: job->options.on_bad_record = (recmap_on_bad_record)choice; return 0;
    case OPTION_MEMORY_LIMIT: return args_option_size(&job->args, &job->options.memory_limit);
    case OPTION_FRAMING: return set_framing(job, optarg);
    case OPTION_FROM_IDX: job->options.text_index_folder = optarg; return 0;
    case OPTION_COMPRESSION: job->options.compression = (recmap_compression)choice; return 0;
    case OPTION_SPLIT: job->split = optarg; return 0;
    case OPTION_SETS: job->options.sets = (recmap_sets)choice; return 0;
    default: job->appends = true; return 0;
    }
}

static void print_warnings(const struct index_job *job) {
    for (size_t i = 0; i < recmap_shards_warning_count(job->shards); i++)
        message("%s", recmap_shards_warning(job->shards, i));
}

static int list_shards(struct index_job *job) {
    recmap_error error = RECMAP_ERROR_INIT;
    if (!job->args.operand_count) return args_usage_error(&job->args, "no shards given");
    recmap_status status = args_prepare_storage(&job->args.dataset_options, &error);
    if (status == RECMAP_OK) status = recmap_shards_create(&job->shards, &error);
    recmap_access access = job->args.dataset_options.access;
    job->options.storage = job->args.dataset_options.storage;
    job->options.reads_shards = access == RECMAP_ACCESS_READ || access == RECMAP_ACCESS_DIRECT;
    if (status == RECMAP_OK)
        status = recmap_shards_set_storage(job->shards, job->options.storage, &error);
    if (status == RECMAP_OK)
        status = recmap_shards_choose_sets(job->shards, job->split, job->options.sets, &error);
    if (status == RECMAP_OK) recmap_shards_set_framing(job->shards, job->options.framing);
    for (int i = 0; status == RECMAP_OK && i < job->args.operand_count; i++)
        status = recmap_shards_add(job->shards, job->args.operands[i], &error);
    if (status != RECMAP_OK) return message_print(&error);
    print_warnings(job);
    return 0;
}

static bool exists(const char *path) {
    struct stat status;
    return !stat(path, &status);
}

/* The default path. Shards to append may not be in the index yet, so an index of 0.2.0 is found by
 * its name alone. */
static recmap_status find_path(char path[PATH_SIZE], const struct index_job *job,
                               recmap_error *error) {
    char old[PATH_SIZE];
    RETURN_IF_FAILED(recmap_shards_find_index(path, PATH_SIZE, job->shards, error));
    if (!job->appends) return RECMAP_OK;
    RETURN_IF_FAILED(recmap_shards_old_index_path(old, PATH_SIZE, job->shards, error));
    if (!exists(path) && exists(old)) memcpy(path, old, strlen(old) + 1);
    return RECMAP_OK;
}

static int choose_path(struct index_job *job) {
    recmap_error error = RECMAP_ERROR_INIT;
    job->options.is_part = job->path != NULL; /* parts are named: the default name is the set's */
    if (job->path) return 0;
    if (find_path(job->path_buffer, job, &error) != RECMAP_OK) return message_print(&error);
    job->path = job->path_buffer;
    return 0;
}

/* The index replaces the file at its path, so that file must not be one of the shards. */
static int check_path(const struct index_job *job) {
    struct stat target;
    const char *advice = "name the index with -o";
    if (!strcmp(job->path, "-"))
        return message_error(RECMAP_INVALID, NULL, advice,
                             "an index cannot be written to standard output");
    if (stat(job->path, &target)) {
        if (!job->appends) return 0;
        return message_error(RECMAP_INVALID, job->path, advice, "no such index to append to");
    }
    if (S_ISDIR(target.st_mode))
        return message_error(RECMAP_INVALID, job->path, advice, "is a folder");
    for (size_t i = 0; i < recmap_shards_count(job->shards); i++)
        if (same_file(recmap_shards_path(job->shards, i), &target))
            return message_error(RECMAP_INVALID, job->path, advice,
                                 "is one of the shards and would be overwritten");
    return 0;
}

/* Appended shards get the ids, columns and counts of the index, unless options name them again. */
static int inherit_options(struct index_job *job) {
    recmap_error error = RECMAP_ERROR_INIT;
    job->options.inherits = !job->options.id_feature && !job->options.lift_count &&
                            !job->options.counted_feature_count;
    recmap_status status = inherited_open(&job->appended, &job->options, job->path,
                                          &job->args.dataset_options, &error);
    return status == RECMAP_OK ? 0 : message_print(&error);
}

/* With a descriptor set, the id and the columns are fields of messages: TYPE:PATH, or PATH. A
 * column is named after its path. */
static int use_messages(struct index_job *job) {
    const char *id = job->options.id_feature;
    const char *first = id ? id : job->options.lift_count ? job->options.lifts[0].name : NULL;
    if (!job->args.descriptor) return 0;
    if (!first) return args_usage_error(&job->args, "--descriptor needs --id or --lift");
    int exit_status = message_type_open(&job->message_type, &job->args, first);
    for (size_t i = 0; !exit_status && i < job->options.lift_count; i++)
        if (job->options.lifts[i].default_value)
            exit_status = args_usage_error(&job->args,
                                           "--lift %s: a field of a message has its "
                                           "own default",
                                           job->options.lifts[i].name);
    if (!exit_status)
        exit_status = message_lift_open(&job->lift, job->message_type, id, job->options.lifts,
                                        job->options.lift_count);
    if (exit_status) return exit_status;
    for (size_t i = 0; job->lifts && i < job->options.lift_count; i++)
        job->lifts[i].name = message_path(job->lifts[i].name);
    job->options.id_feature = recmap_message_lift_id_name(job->lift);
    job->options.lift = recmap_message_lift_read;
    job->options.lift_context = job->lift;
    return 0;
}

static recmap_status build_from(recmap_index_builder *builder, struct index_job *job,
                                recmap_index_summary *summary, recmap_error *error) {
    if (job->appends) RETURN_IF_FAILED(recmap_index_builder_add_index(builder, job->path, error));
    for (size_t i = 0; i < recmap_shards_count(job->shards); i++)
        RETURN_IF_FAILED(
            recmap_index_builder_add_shard(builder, recmap_shards_path(job->shards, i), error));
    return recmap_index_builder_finish(summary, builder, error);
}

static recmap_status build(struct index_job *job, recmap_index_summary *summary,
                           recmap_error *error) {
    recmap_index_builder *builder = NULL;
    recmap_status status = recmap_index_builder_create(&builder, job->path, &job->options, error);
    if (status == RECMAP_OK) status = build_from(builder, job, summary, error);
    recmap_index_builder_destroy(builder);
    return status;
}

/* Lists files in the given folders that were not indexed because of their names. */
static void print_skipped_files(const struct index_job *job) {
    enum { SHOWN_MAX = 3 };
    size_t count = recmap_shards_left_out_count(job->shards);
    if (!count) return;
    fprintf(stderr, "recmap: skipped %zu file%s that %s:", count, plural(count),
            count == 1 ? "is not a shard" : "are not shards");
    for (size_t i = 0; i < count && i < SHOWN_MAX; i++) {
        fputs(i ? ", " : " ", stderr);
        print_safe(stderr, recmap_shards_left_out_path(job->shards, i));
    }
    fputs(count > SHOWN_MAX ? ", ...\n" : "\n", stderr);
}

static void print_summary(const struct index_job *job, const recmap_index_summary *summary) {
    struct build_reused reused = {0};
    if (job->appended.dataset) {
        const recmap_dataset_info *old = recmap_dataset_get_info(job->appended.dataset);
        reused = (struct build_reused){old->record_count, old->byte_count};
    }
    build_report(job->path, summary, reused, job->options.id_feature != NULL, &job->progress);
    for (size_t i = 0; summary->record_count && !job->appends && i < job->options.lift_count; i++)
        if (summary->empty_lifted_features >> i & 1)
            message("no record has the lifted feature '%s': all have %s",
                    job->options.lifts[i].name,
                    job->options.lifts[i].default_value ? "its default" : "null");
    counted_warn(job->path, summary, &job->options, &job->args.dataset_options);
    missing_shards_warn(job->path, recmap_shards_name_one(job->shards), !job->appends,
                        &job->args.dataset_options);
    print_skipped_files(job);
}

static int run_build(struct index_job *job) {
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_index_summary summary;
    interrupt_watch();
    job->progress = progress_bar_start("indexing");
    job->options.progress = progress_bar_report;
    job->options.progress_context = &job->progress;
    job->options.guard = 1;
    recmap_status status = build(job, &summary, &error);
    progress_bar_clear(&job->progress);
    if (status != RECMAP_OK) return interrupt_finish(message_print(&error));
    print_summary(job, &summary);
    return interrupt_finish(0);
}

/* Adds the lifted columns to an index. */
static recmap_status lift(const struct index_job *job, recmap_dataset *dataset,
                          struct progress_bar *progress, recmap_error *error) {
    recmap_annotation *annotation = NULL;
    recmap_annotation_options annotation_options = RECMAP_ANNOTATION_OPTIONS_INIT;
    annotation_options.progress = progress_bar_report;
    annotation_options.progress_context = progress;
    recmap_status status =
        recmap_annotation_create(&annotation, dataset, &annotation_options, error);
    for (size_t i = 0; status == RECMAP_OK && i < job->options.lift_count; i++)
        status = recmap_annotation_lift(annotation, &job->lifts[i], error);
    if (status == RECMAP_OK) status = recmap_annotation_finish(annotation, error);
    recmap_annotation_destroy(annotation);
    return status;
}

static int run_lift(struct index_job *job) {
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_dataset *dataset = NULL;
    if (job->args.descriptor)
        return args_usage_error(&job->args, "fields of messages cannot be added to an index: name "
                                            "its shards to build it again");
    if (!job->only_lifts)
        return args_usage_error(&job->args, "only --lift can add to an index: for other options, "
                                            "name its shards");
    int exit_status = args_open(&dataset, &job->args);
    if (exit_status) return exit_status;
    interrupt_watch();
    struct progress_bar progress = progress_bar_start("lifting");
    recmap_status status = lift(job, dataset, &progress, &error);
    progress_bar_clear(&progress);
    recmap_dataset_close(dataset);
    if (status != RECMAP_OK) return interrupt_finish(message_print(&error));
    message("%s: columns: %zu added", job->args.operands[0], job->options.lift_count);
    return interrupt_finish(0);
}

static bool is_index_name(const char *path) {
    size_t size = strlen(path);
    return size > 4 && !strcmp(path + size - 4, ".rmx");
}

/* The only operand is an index, to which columns are added. */
static bool names_index(const struct index_job *job) {
    return job->args.operand_count == 1 && !job->appends && job->options.lift_count &&
           is_index_name(job->args.operands[0]);
}

/* An index among the shards is a mistake, whatever would be done with it. A shard may have such a
 * name, so the file is opened. */
static int check_operands(const struct index_job *job) {
    for (int i = 0; i < job->args.operand_count; i++) {
        const char *path = job->args.operands[i];
        recmap_dataset *dataset = NULL;
        if (!is_index_name(path) ||
            recmap_dataset_open(&dataset, path, &job->args.dataset_options, NULL) != RECMAP_OK)
            continue;
        recmap_dataset_close(dataset);
        return message_error(RECMAP_INVALID, path,
                             "name its shards to build it again; of all options, only --lift can "
                             "add to an index",
                             "is an index, not a shard");
    }
    return 0;
}

static int run_job(struct index_job *job) {
    job->only_lifts = true;
    for (int option; (option = args_next(&job->args)) != ARGS_END;) {
        if (option == ARGS_STOP) return job->args.exit_status;
        int exit_status = set_option(job, option);
        if (exit_status) return exit_status;
        job->only_lifts &= option == OPTION_LIFT || option == OPTION_MISSING_VALUES;
    }
    if (names_index(job)) {
        if (job->missing_is_null) set_nullable(job);
        return run_lift(job);
    }
    int exit_status = job->appends ? 0 : check_missing(job);
    if (!exit_status) exit_status = check_operands(job);
    if (!exit_status) exit_status = list_shards(job);
    if (!exit_status) exit_status = choose_path(job);
    if (!exit_status) exit_status = check_path(job);
    if (!exit_status && job->appends) exit_status = inherit_options(job);
    if (!exit_status) exit_status = use_messages(job);
    if (!exit_status && !job->appends)
        exit_status = replaced_check(job->path, &job->options, &job->args.dataset_options);
    if (!exit_status) exit_status = check_missing(job);
    if (!exit_status && job->missing_is_null) set_nullable(job);
    return exit_status ? exit_status : run_build(job);
}

static int run(int argc, char **argv) {
    struct index_job job = {.options = RECMAP_INDEX_OPTIONS_INIT};
    args_init(&job.args, &cmd_index, argc, argv);
    int exit_status = run_job(&job);
    inherited_close(&job.appended);
    recmap_shards_destroy(job.shards);
    recmap_message_lift_destroy(job.lift);
    recmap_message_type_release(job.message_type);
    free(job.lifts);
    free(job.counted_features);
    return exit_status;
}

static const char help[] =
    "usage: recmap index [OPTION]... SHARD|GLOB|FOLDER|NAME@N|@LISTFILE...\n"
    "       recmap index --lift FEATURE[=DEFAULT]... NAME.rmx\n"
    "\n"
    "Scans TFRecord files (or other files, see --framing) once, verifies every byte, and writes\n"
    "one index. The files are not changed. Records are numbered in the order of the shards; files\n"
    "of a glob or folder are sorted naturally (part-2 before part-10). Subfolders are only\n"
    "searched for a pattern with **, such as 'data/**/*.tfrecord'. train@2.gz means\n"
    "train-00000-of-00002.gz and train-00001-of-00002.gz. The second form adds lifted columns to\n"
    "an index, and reads its records once.\n";

const struct command cmd_index = {"index", "build an index of TFRecord files", help, run};
