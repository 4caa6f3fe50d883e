/* recmap verify: verifies every byte of an index and its shards. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <recmap/dataset.h>

#include "commands/commands.h"
#include "records/verify_view.h"
#include "terminal/interrupt.h"
#include "terminal/message.h"
#include "terminal/progress_bar.h"

/* Prints PATH: record N at byte B: REASON. A size of 0 means the whole shard: no byte is printed.
 */
static void print_damage(const recmap_damage *damage) {
    print_safe(stdout, damage->path);
    fputs(": ", stdout);
    if (damage->record != RECMAP_NO_RECORD) printf("record %" PRIu64 " at ", damage->record);
    if (damage->record != RECMAP_NO_RECORD || damage->size)
        printf("byte %" PRIu64 ": ", damage->offset);
    print_safe(stdout, damage->reason);
    putchar('\n');
}

/* Returns true if each shard as a whole is a finding and no file has its name, as if all were
 * elsewhere. */
static bool is_without_shards(const recmap_report *report, const recmap_dataset_info *info) {
    size_t count = recmap_report_damage_count(report);
    for (size_t i = 0; i < count; i++) {
        recmap_damage damage = recmap_report_damage(report, i);
        if (damage.size || !access(damage.path, F_OK)) return false;
    }
    return count && count == info->shard_count && !recmap_report_record_count(report);
}

/* Returns true if another entry of the index has bytes of the file: one that grew. */
static bool has_grown(const recmap_dataset *dataset, uint64_t count,
                      const recmap_shard_info *empty) {
    recmap_shard_info part;
    for (uint64_t i = 0; i < count; i++)
        if (recmap_dataset_get_shard(&part, dataset, i, NULL) == RECMAP_OK && part.size &&
            !strcmp(part.path, empty->path))
            return true;
    return false;
}

/* Says that nothing of empty shards could be verified. */
static void print_empty(const recmap_dataset *dataset) {
    uint64_t count = recmap_dataset_get_info(dataset)->shard_count, file_count = 0, empty_count = 0;
    char first[4096] = "";
    for (uint64_t i = 0; i < count; i++) {
        recmap_shard_info shard;
        if (recmap_dataset_get_shard(&shard, dataset, i, NULL) != RECMAP_OK) continue;
        if (!shard.first_byte && (shard.size || !has_grown(dataset, count, &shard))) file_count++;
        if (shard.size || has_grown(dataset, count, &shard)) continue;
        if (!empty_count++ &&
            recmap_dataset_shard_path(first, sizeof first, dataset, i, NULL) != RECMAP_OK)
            first[0] = 0;
    }
    if (!empty_count) return;
    message("%" PRIu64 " of %" PRIu64 " shard%s %s empty (0 bytes), which leaves nothing to "
            "verify; the first is %s",
            empty_count, file_count, plural(file_count), empty_count == 1 ? "is" : "are", first);
}

/* Prints what the summary counts besides good records, each by its own words. */
static void print_counts(const recmap_report *report, const recmap_dataset_info *info) {
    size_t grown_count = recmap_report_grown_count(report);
    size_t count = recmap_report_damage_count(report) - grown_count;
    if (count) printf("; %zu damaged place%s not in the index", count, plural(count));
    if (info->damage_count)
        printf("; %" PRIu64 " damaged place%s in the index", info->damage_count,
               plural(info->damage_count));
    if (grown_count)
        printf("; %zu shard%s", grown_count, grown_count == 1 ? " has grown" : "s have grown");
}

/* Prints the damage first and the summary last, where a terminal shows it. */
static void print_human(const recmap_report *report, const recmap_dataset *dataset,
                        const char *path, bool index_only) {
    const recmap_dataset_info *info = recmap_dataset_get_info(dataset);
    size_t count = recmap_report_damage_count(report);
    for (size_t i = 0; i < count; i++) {
        recmap_damage damage = recmap_report_damage(report, i);
        print_damage(&damage);
    }
    print_safe(stdout, path);
    if (index_only) {
        puts(": the index is good; no shard was read");
        return;
    }
    printf(": %" PRIu64 " of %" PRIu64 " record%s good", recmap_report_record_count(report),
           info->record_count, info->record_count == 1 ? " is" : "s are");
    print_counts(report, info);
    putchar('\n');
    if (is_without_shards(report, info))
        message("no shard can be read: if they are elsewhere, name their folder with --shards");
    print_empty(dataset);
}

static recmap_status print_json(const recmap_report *report, recmap_error *error) {
    recmap_text text = RECMAP_TEXT_INIT;
    recmap_status status = recmap_report_to_json(&text, report, error);
    if (status == RECMAP_OK) puts(text.data);
    recmap_text_deinit(&text);
    return status;
}

/* Damage is a result, not an error: the exit status 1 comes from the report, and an error status
 * only from a verification that could not finish. */
static int run_verify(recmap_dataset *dataset, recmap_verify_options *verify, const char *path,
                      bool as_json) {
    recmap_report *report = NULL;
    recmap_error error = RECMAP_ERROR_INIT;
    struct progress_bar progress = progress_bar_start("verifying");
    verify->progress = progress_bar_report;
    verify->progress_context = &progress;
    interrupt_watch();
    recmap_status status = recmap_dataset_verify(&report, dataset, verify, &error);
    progress_bar_clear(&progress);
    int exit_status = 0;
    if (status == RECMAP_OK) {
        exit_status = recmap_report_damage_count(report) ? 1 : 0;
        if (as_json) status = print_json(report, &error);
        else print_human(report, dataset, path, verify->index_only != 0);
    }
    recmap_report_destroy(report);
    if (status == RECMAP_CANCELLED)
        exit_status =
            message_error(status, path, NULL, "interrupted before everything was checked");
    else if (status != RECMAP_OK) exit_status = message_print(&error);
    return interrupt_finish(exit_status);
}

/* Verifies the index alone, without a report. */
static int check_index(recmap_dataset *dataset, const recmap_verify_options *verify) {
    recmap_report *report = NULL;
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_status status = recmap_dataset_verify(&report, dataset, verify, &error);
    recmap_report_destroy(report);
    return status == RECMAP_OK ? 0 : message_print(&error);
}

struct verify_job {
    struct args args;
    recmap_verify_options options;
    bool as_json;
    int scan_option; /* the last one given that is about scanning shards, or OPTION_NONE */
};

/* Applies an option. Returns 0, or the exit status after printing the error. */
static int set_option(struct verify_job *job, int option) {
    switch (option) {
    case OPTION_INDEX_ONLY: job->options.index_only = 1; return 0;
    case OPTION_JSON: job->as_json = true; return 0;
    case OPTION_MEMORY_LIMIT:
        job->scan_option = option;
        return args_option_size(&job->args, &job->options.memory_limit);
    default:
        job->scan_option = option;
        return args_option_threads(&job->args, &job->options.thread_count);
    }
}

/* Verifies the index of a selection, then reads the selected records one after the other. */
static int verify_selection(struct verify_job *job, const struct view *view) {
    if (job->scan_option)
        return args_usage_error(&job->args, "--%s is for a whole index, not for a selection",
                                option_name(job->scan_option));
    job->options.index_only = 1;
    int exit_status = check_index(view->dataset, &job->options);
    return exit_status ? exit_status : verify_view(view, view->path, job->as_json);
}

static int run(int argc, char **argv) {
    struct verify_job job = {.options = RECMAP_VERIFY_OPTIONS_INIT};
    args_init(&job.args, &cmd_verify, argc, argv);
    for (int option; (option = args_next(&job.args)) != ARGS_END;) {
        if (option == ARGS_STOP) return job.args.exit_status;
        int exit_status = set_option(&job, option);
        if (exit_status) return exit_status;
    }
    if (job.args.operand_count > 1)
        return args_usage_error(&job.args, "only one index can be given");
    struct view view;
    int exit_status = view_open(&view, &job.args);
    if (!exit_status && view.selection && !job.options.index_only)
        exit_status = verify_selection(&job, &view);
    else if (!exit_status)
        exit_status = run_verify(view.dataset, &job.options, view.path, job.as_json);
    view_close(&view);
    return exit_status;
}

static const char help[] =
    "usage: recmap verify [OPTION]... NAME.rmx|NAME.rmv|SHARDS\n"
    "\n"
    "Verifies every byte of the index and of its shards, and prints all damage that the index\n"
    "does not list. The exit status is 0 if there is none, 1 if there is some, 3 if the index\n"
    "itself is damaged. Of a selection, verifies the index and the selected records.\n" HELP_SHARDS;

const struct command cmd_verify = {"verify", "verify every byte of an index and its shards", help,
                                   run};
