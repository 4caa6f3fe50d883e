/* recmap split: divides records among selections by a hash. */
#include <stdlib.h>
#include <string.h>

#include "commands/commands.h"
#include "records/partition.h"
#include "records/view_output.h"
#include "terminal/message.h"

enum { PARTS_MAX = 256, NAME_SIZE_MAX = 200 };

struct split_job {
    struct args args;
    uint64_t seed;
    const char *folder; /* of the selections */
    const char *names[PARTS_MAX];
    double shares[PARTS_MAX];
    uint64_t limits[PARTS_MAX];
    size_t part_count;
    struct partition partition;
};

static bool is_repeated(const struct split_job *job, const char *name) {
    for (size_t i = 0; i < job->part_count; i++)
        if (!strcmp(job->names[i], name)) return true;
    return false;
}

/* Parses NAME=SHARE in place. Returns 0, or the exit status after printing the error. */
static int parse_part(struct split_job *job, char *text) {
    char *equals = strrchr(text, '='), *end;
    if (!equals) return args_usage_error(&job->args, "'%s' is not NAME=SHARE", text);
    *equals = 0;
    double share = strtod(equals + 1, &end);
    if (end == equals + 1 || *end || !(share >= 0 && share <= 1))
        return args_usage_error(&job->args, "the share of '%s' must be from 0 to 1, not '%s'", text,
                                equals + 1);
    if (!*text || strchr(text, '/') || *text == '.' || strlen(text) > NAME_SIZE_MAX)
        return args_usage_error(&job->args, "'%s' cannot be the name of a part", text);
    if (is_repeated(job, text)) return args_usage_error(&job->args, "'%s' occurs twice", text);
    if (job->part_count == PARTS_MAX)
        return args_usage_error(&job->args, "there can be at most %d parts", PARTS_MAX);
    job->names[job->part_count] = text;
    job->shares[job->part_count++] = share;
    return 0;
}

static int parse_parts(struct split_job *job) {
    if (job->args.operand_count == 1)
        return args_usage_error(&job->args, "no parts given, such as train=0.9 validation=0.1");
    for (int i = 1; i < job->args.operand_count; i++) {
        int exit_status = parse_part(job, job->args.operands[i]);
        if (exit_status) return exit_status;
    }
    if (!job->part_count ||
        partition_init(&job->partition, job->limits, job->shares, job->part_count, job->seed))
        return 0;
    return args_usage_error(&job->args, "the shares must add up to 1");
}

/* Copies the numbers of the items in the part. */
static recmap_status take_part(struct view *part, const struct view *view,
                               const struct split_job *job, size_t index, const uint64_t *id_hashes,
                               recmap_error *error) {
    uint64_t *numbers = malloc((size_t)(view->count + 1) * sizeof *numbers), count = 0;
    if (!numbers) return message_fail_memory(error);
    for (uint64_t i = 0; i < view->count; i++) {
        uint64_t number = view_number(view, i);
        uint64_t hash = id_hashes ? id_hashes[number] : RECMAP_NO_ID_HASH;
        if (partition_part(&job->partition, number, hash) == index) numbers[count++] = number;
    }
    *part = (struct view){.dataset = view->dataset, .index_path = view->index_path};
    view_choose(part, numbers, count);
    return RECMAP_OK;
}

/* The path of the selection of a part, which the caller frees; NULL if memory runs out. */
static char *part_path(const struct split_job *job, size_t index) {
    size_t size = strlen(job->folder) + strlen(job->names[index]) + 8;
    char *path = malloc(size);
    const char *slash = *job->folder ? "/" : "";
    if (path) snprintf(path, size, "%s%s%s.rmv", job->folder, slash, job->names[index]);
    return path;
}

/* Checks that no part would overwrite an input. Returns 0, or the exit status after printing the
 * error. */
static int check_paths(const struct view *view, const struct split_job *job) {
    int exit_status = 0;
    for (size_t i = 0; !exit_status && i < job->part_count; i++) {
        char *path = part_path(job, i);
        if (!path) return message_error(RECMAP_NO_MEMORY, NULL, NULL, "out of memory");
        exit_status = view_output_check(view, path);
        free(path);
    }
    return exit_status;
}

/* Checks all paths, then creates the folder. Returns 0, or the exit status after printing the
 * error. */
static int prepare_folder(const struct view *view, const struct split_job *job) {
    int exit_status = check_paths(view, job);
    return exit_status || !*job->folder ? exit_status : output_create_folder(job->folder);
}

static recmap_status save_part(const struct view *view, const struct split_job *job, size_t index,
                               const uint64_t *id_hashes, recmap_error *error) {
    struct view part;
    recmap_status status = take_part(&part, view, job, index, id_hashes, error);
    if (status != RECMAP_OK) return status;
    char *path = part_path(job, index);
    status = path ? view_output_save(&part, path, view->count, error) : message_fail_memory(error);
    free(path);
    free(part.chosen);
    return status;
}

static recmap_status save_parts(const struct view *view, const struct split_job *job,
                                recmap_error *error) {
    uint64_t *id_hashes = NULL;
    recmap_status status = RECMAP_OK;
    if (recmap_dataset_get_info(view->dataset)->id_name) {
        id_hashes = malloc((size_t)(recmap_dataset_count(view->dataset) + 1) * sizeof *id_hashes);
        if (!id_hashes) return message_fail_memory(error);
        status = recmap_dataset_read_id_hashes(id_hashes, view->dataset, error);
    }
    for (size_t i = 0; status == RECMAP_OK && i < job->part_count; i++)
        status = save_part(view, job, i, id_hashes, error);
    free(id_hashes);
    return status;
}

static int run(int argc, char **argv) {
    struct split_job job = {.folder = ""};
    args_init(&job.args, &cmd_split, argc, argv);
    for (int option; (option = args_next(&job.args)) != ARGS_END;) {
        if (option == ARGS_STOP) return job.args.exit_status;
        if (option == OPTION_OUTPUT) job.folder = optarg;
        else if (args_option_number(&job.args, UINT64_MAX, &job.seed)) return 2;
    }
    int exit_status = parse_parts(&job);
    if (exit_status) return exit_status;
    struct view view;
    recmap_error error = RECMAP_ERROR_INIT;
    exit_status = view_open(&view, &job.args);
    if (!exit_status) exit_status = prepare_folder(&view, &job);
    if (!exit_status && save_parts(&view, &job, &error) != RECMAP_OK)
        exit_status = message_print(&error);
    view_close(&view);
    return exit_status;
}

static const char help[] =
    "usage: recmap split [OPTION]... NAME.rmx|NAME.rmv|SHARDS NAME=SHARE...\n"
    "\n"
    "Divides the records among selections NAME.rmv by a hash of their ids, or of their numbers\n"
    "if they have none: recmap split all.rmx train=0.9 validation=0.1. The shares add up to 1.\n"
    "Records with the same id stay together, and appending shards moves no record to another\n"
    "part. The same seed gives the same parts, here and in Python (ds.split).\n" HELP_SHARDS;

const struct command cmd_split = {"split", "divide records among selections", help, run};
