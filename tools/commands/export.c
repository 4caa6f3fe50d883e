/* recmap export: writes the offsets of an index as text indexes, one per shard. */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <recmap/dataset.h>

#include "commands/commands.h"
#include "output/output.h"
#include "records/view.h"
#include "terminal/interrupt.h"
#include "terminal/message.h"

/* Bytes of a TFRecord frame in addition to its payload. */
enum { FRAME_OVERHEAD = 16 };

static const char *base_name(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* Sets `path` to the path of a shard's text index, in `folder` or beside the shard. The caller
 * frees it. */
static recmap_status find_idx_path(char **path, const recmap_dataset *dataset, uint64_t shard_index,
                                   const char *folder, recmap_error *error) {
    char shard[PATH_MAX];
    RETURN_IF_FAILED(recmap_dataset_shard_path(shard, sizeof shard, dataset, shard_index, error));
    int size = folder ? asprintf(path, "%s/%s.idx", folder, base_name(shard))
                      : asprintf(path, "%s.idx", shard);
    return size < 0 ? message_fail_memory(error) : RECMAP_OK;
}

/* Returns the malloc'ed real path of the folder of `path`, or NULL with errno. */
static char *resolve_folder(const char *path) {
    size_t size = (size_t)(base_name(path) - path);
    char *folder = size ? strndup(path, size) : strdup(".");
    char *resolved = folder ? realpath(folder, NULL) : NULL;
    free(folder);
    return resolved;
}

/* Returns true if `path` is below the folder of the index and not a symbolic link. A folder that
 * does not exist is harmless: creating the file will fail. The index may be a link. */
static bool is_inside(const char *path, const char *index_path) {
    char *index = realpath(index_path, NULL);
    char *root = index ? resolve_folder(index) : NULL, *folder = resolve_folder(path);
    bool is_missing = !folder && errno == ENOENT;
    size_t size = root ? strlen(root) : 0;
    if (size == 1) size = 0; /* "/" already ends in the separator */
    bool is_below = root && folder && !strncmp(folder, root, size) &&
                    (folder[size] == '/' || !folder[size]);
    struct stat file;
    bool is_link = !lstat(path, &file) && S_ISLNK(file.st_mode);
    free(index);
    free(root);
    free(folder);
    return is_missing || (is_below && !is_link);
}

/* Shard names come from the index, whose author must not decide which files are written. */
static int check_inside(const recmap_dataset *dataset, uint64_t shard_index,
                        const char *index_path) {
    recmap_error error = RECMAP_ERROR_INIT;
    char *path = NULL;
    if (find_idx_path(&path, dataset, shard_index, NULL, &error) != RECMAP_OK)
        return message_print(&error);
    int exit_status = 0;
    if (!is_inside(path, index_path))
        exit_status = message_error(RECMAP_INVALID, path, "name a folder with -o",
                                    "the text index would be written outside the folder of %s",
                                    index_path);
    free(path);
    return exit_status;
}

/* A shard of the index: a file, or the part of it that was added when the file had grown. */
struct part {
    const char *path;
    uint64_t shard_index;
    uint64_t first_byte;
};

/* The parts of each file follow each other. */
struct parts {
    struct part *parts;
    size_t count;
};

/* The parts of a file have the order of their bytes. */
static int compare_parts(const void *a, const void *b) {
    const struct part *left = a, *right = b;
    int order = strcmp(left->path, right->path);
    return order ? order
                 : (left->first_byte > right->first_byte) - (left->first_byte < right->first_byte);
}

static int compare_base_names(const void *a, const void *b) {
    const struct part *left = a, *right = b;
    int order = strcmp(base_name(left->path), base_name(right->path));
    return order ? order : compare_parts(a, b);
}

/* Lists the shards of the index by the order of `compare`. The caller frees parts->parts. */
static recmap_status list_parts(struct parts *parts, const recmap_dataset *dataset,
                                int (*compare)(const void *a, const void *b), recmap_error *error) {
    parts->count = recmap_dataset_get_info(dataset)->shard_count;
    parts->parts = calloc(parts->count + 1, sizeof *parts->parts);
    if (!parts->parts) return message_fail_memory(error);
    for (size_t i = 0; i < parts->count; i++) {
        recmap_shard_info shard;
        RETURN_IF_FAILED(recmap_dataset_get_shard(&shard, dataset, i, error));
        parts->parts[i] = (struct part){shard.path, i, shard.first_byte};
    }
    qsort(parts->parts, parts->count, sizeof *parts->parts, compare);
    return RECMAP_OK;
}

/* The index after the last part of the file whose first part has index `first`. */
static size_t end_of_file(const struct parts *parts, size_t first) {
    size_t end = first + 1;
    while (end < parts->count && !strcmp(parts->parts[end].path, parts->parts[first].path)) end++;
    return end;
}

/* In one folder, shards of the same file name would have the same text index. */
static int check_names(const recmap_dataset *dataset) {
    recmap_error error = RECMAP_ERROR_INIT;
    struct parts parts = {NULL, 0};
    int exit_status = 0;
    if (list_parts(&parts, dataset, compare_base_names, &error) != RECMAP_OK)
        exit_status = message_print(&error);
    for (size_t i = 0, end; !exit_status && i < parts.count; i = end) {
        end = end_of_file(&parts, i);
        const char *path = parts.parts[i].path;
        if (end < parts.count && !strcmp(base_name(path), base_name(parts.parts[end].path)))
            exit_status = message_error(RECMAP_INVALID, parts.parts[end].path,
                                        "omit -o: each text index is then written beside its shard",
                                        "two shards in different folders have this file name");
    }
    free(parts.parts);
    return exit_status;
}

static int check_shards(recmap_dataset *dataset, const char *folder, const char *index_path) {
    recmap_error error = RECMAP_ERROR_INIT;
    uint64_t count = recmap_dataset_get_info(dataset)->shard_count;
    recmap_shard_info shard;
    for (uint64_t i = 0; i < count; i++) {
        if (recmap_dataset_get_shard(&shard, dataset, i, &error) != RECMAP_OK)
            return message_print(&error);
        if (strcmp(shard.framing, "tfrecord") || strcmp(shard.compression, "none"))
            return message_error(RECMAP_UNSUPPORTED, shard.path,
                                 "convert the records with 'recmap cat --format tfrecord'",
                                 "text indexes require uncompressed TFRecord files");
        int exit_status = folder ? 0 : check_inside(dataset, i, index_path);
        if (exit_status) return exit_status;
    }
    return folder ? check_names(dataset) : 0;
}

static recmap_status write_lines(struct output *output, recmap_dataset *dataset,
                                 const recmap_shard_info *shard, recmap_error *error) {
    enum { BATCH_MAX = 1024 };
    recmap_location locations[BATCH_MAX];
    for (uint64_t done = 0; done < shard->record_count;) {
        uint64_t left = shard->record_count - done;
        size_t count = left < BATCH_MAX ? (size_t)left : BATCH_MAX;
        RETURN_IF_FAILED(
            recmap_dataset_locate(locations, dataset, shard->first_record + done, count, error));
        for (size_t i = 0; i < count; i++)
            if (fprintf(output->stream, "%" PRIu64 " %" PRIu64 "\n", locations[i].offset,
                        locations[i].size + FRAME_OVERHEAD) < 0)
                return message_fail_errno(error, output->path, "write");
        if (interrupt_is_pending()) return interrupt_fail(error);
        done += count;
    }
    return RECMAP_OK;
}

static recmap_status write_parts(struct output *output, recmap_dataset *dataset,
                                 const struct part *parts, size_t count, recmap_error *error) {
    for (size_t i = 0; i < count; i++) {
        recmap_shard_info shard;
        RETURN_IF_FAILED(recmap_dataset_get_shard(&shard, dataset, parts[i].shard_index, error));
        RETURN_IF_FAILED(write_lines(output, dataset, &shard, error));
    }
    return RECMAP_OK;
}

/* Whoever cannot read the shard or the index cannot read the text index either. */
static recmap_status deny(struct output *output, const struct view *view, uint64_t shard_index,
                          recmap_error *error) {
    char path[PATH_MAX];
    gid_t group = output_group(output);
    RETURN_IF_FAILED(
        recmap_dataset_shard_path(path, sizeof path, view->dataset, shard_index, error));
    mode_t denied = output_denied_by(path, group) | output_denied_by(view->index_path, group);
    return output_deny(output, denied, error);
}

/* Writes the text index of a file, which has `count` parts. The output is checked not to overwrite
 * the data set, and the file is published only after all its lines are written. */
static int export_file(const struct view *view, const struct part *parts, size_t count,
                       const char *folder) {
    recmap_dataset *dataset = view->dataset;
    recmap_error error = RECMAP_ERROR_INIT;
    char *path = NULL;
    if (find_idx_path(&path, dataset, parts[0].shard_index, folder, &error) != RECMAP_OK)
        return message_print(&error);
    int exit_status = output_check(path, view->index_path, dataset);
    if (!exit_status) {
        struct output output;
        recmap_status status = output_open(&output, path, OUTPUT_RAW, &error);
        if (status == RECMAP_OK) status = deny(&output, view, parts[0].shard_index, &error);
        if (status == RECMAP_OK) status = write_parts(&output, dataset, parts, count, &error);
        if (status == RECMAP_OK) status = output_finish(&output, &error);
        output_close(&output);
        if (status != RECMAP_OK) exit_status = message_print(&error);
    }
    free(path);
    return exit_status;
}

static int export_files(const struct view *view, const char *folder, uint64_t *count) {
    recmap_error error = RECMAP_ERROR_INIT;
    struct parts parts = {NULL, 0};
    int exit_status = 0;
    *count = 0;
    if (list_parts(&parts, view->dataset, compare_parts, &error) != RECMAP_OK)
        exit_status = message_print(&error);
    for (size_t i = 0, end; !exit_status && i < parts.count; i = end, ++*count) {
        end = end_of_file(&parts, i);
        exit_status = export_file(view, parts.parts + i, end - i, folder);
    }
    free(parts.parts);
    return exit_status;
}

/* All shards are checked before the first text index is written, so that a shard that cannot have
 * one leaves no partial result. */
static int export_shards(const struct view *view, const char *folder) {
    if (view->selection)
        return message_error(RECMAP_INVALID, view->path,
                             "name its index, which `recmap info` prints",
                             "text indexes are of whole shards, not of a selection");
    uint64_t count;
    int exit_status = check_shards(view->dataset, folder, view->index_path);
    if (!exit_status && folder) exit_status = output_create_folder(folder);
    if (!exit_status) exit_status = export_files(view, folder, &count);
    if (!exit_status)
        message("%" PRIu64 " text ind%s written %s%s", count, count == 1 ? "ex" : "exes",
                folder ? "to " : "beside the shards", folder ? folder : "");
    return exit_status;
}

static int run(int argc, char **argv) {
    struct args args;
    const char *folder = NULL;
    bool has_form = false;
    args_init(&args, &cmd_export, argc, argv);
    for (int option; (option = args_next(&args)) != ARGS_END;) {
        if (option == ARGS_STOP) return args.exit_status;
        if (option == OPTION_OUTPUT) folder = optarg;
        else has_form = true;
    }
    if (!has_form) return args_usage_error(&args, "--to idx is required");
    if (args.operand_count > 1) return args_usage_error(&args, "only one index can be given");
    struct view view;
    int exit_status = view_open(&view, &args);
    if (!exit_status) exit_status = export_shards(&view, folder);
    view_close(&view);
    return interrupt_finish(exit_status);
}

static const char help[] =
    "usage: recmap export --to idx [-o FOLDER] NAME.rmx|SHARDS\n"
    "\n"
    "Writes a text index for each shard, in the format of DALI's tfrecord2idx: a file SHARD.idx\n"
    "with one line, OFFSET SIZE, per record. Shards must be uncompressed TFRecord "
    "files.\n" HELP_SHARDS;

const struct command cmd_export = {"export", "write text indexes of the shards", help, run};
