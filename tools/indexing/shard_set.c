#include "indexing/shard_set.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include <recmap/index.h>
#include <recmap/shards.h>
#include <recmap/writer.h>

#include "indexing/carried_columns.h"
#include "indexing/inherited.h"
#include "records/view_output.h"
#include "terminal/interrupt.h"
#include "terminal/message.h"
#include "terminal/progress_bar.h"

enum { SHARD_COUNT_MAX = 1000000, PATH_SIZE = 4096 };

/* A set that is being written, one shard after the other. */
struct set_writer {
    recmap_shards *shards;
    char index[PATH_SIZE]; /* the path of the index */
    uint64_t record_count; /* of all shards */
    uint64_t written;      /* records */
    uint64_t *numbers;     /* of the records written, in the source; NULL: not needed */
    unsigned finished;     /* shards that are complete */
    recmap_writer *shard;  /* the one after them; NULL: not created yet */
};

/* The size of NAME in NAME.tfrecord[.gz]; 0 for another path. */
static size_t file_stem_size(const char *path) {
    static const char *const ends[] = {".tfrecord", ".tfrecord.gz", ".tfrecord.gzip",
                                       ".tfrecord.zlib"};
    size_t size = strlen(path);
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        size_t end_size = strlen(ends[i]);
        if (size > end_size && !strcasecmp(path + size - end_size, ends[i]))
            return path[size - end_size - 1] == '/' ? 0 : size - end_size;
    }
    return 0;
}

/* The shards that the path means. Errors: INVALID if it is NAME@N with an N that no set has. */
static recmap_status list_shards(recmap_shards **shards, const char *path, recmap_error *error) {
    *shards = NULL;
    RETURN_IF_FAILED(recmap_shards_create(shards, error));
    return recmap_shards_add_planned(*shards, path, error);
}

static bool is_set(const char *path) {
    recmap_shards *shards;
    bool is_set = list_shards(&shards, path, NULL) == RECMAP_OK &&
                  strcmp(recmap_shards_path(shards, 0), path) != 0;
    recmap_shards_destroy(shards);
    return is_set;
}

static bool has_invalid_count(const char *path) {
    recmap_shards *shards;
    bool is_invalid = list_shards(&shards, path, NULL) == RECMAP_INVALID;
    recmap_shards_destroy(shards);
    return is_invalid;
}

bool shard_set_is_named(const char *path, enum output_format format) {
    return path && (is_set(path) || (format == OUTPUT_DEFAULT && file_stem_size(path)));
}

bool shard_set_is_compressed(const char *path) {
    static const char *const ends[] = {".gz", ".gzip", ".zlib"};
    size_t size = strlen(path);
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        size_t end_size = strlen(ends[i]);
        if (size > end_size && !strcasecmp(path + size - end_size, ends[i])) return true;
    }
    return false;
}

int shard_set_check(const struct args *args, const char *path, enum output_format format) {
    if (!path) return 0;
    if (has_invalid_count(path))
        return args_usage_error(args, "invalid -o '%.300s': -o NAME@N writes N files, from 1 to %d",
                                path, SHARD_COUNT_MAX);
    if (format == OUTPUT_DEFAULT || format == OUTPUT_TFRECORD || !is_set(path)) return 0;
    return args_usage_error(args,
                            "-o NAME@N writes TFRecord files: use --format tfrecord, or none");
}

static unsigned shard_count(const struct set_writer *writer) {
    return (unsigned)recmap_shards_count(writer->shards);
}

static const char *shard_path(const struct set_writer *writer, unsigned i) {
    return recmap_shards_path(writer->shards, i);
}

static recmap_status check_is_new(const char *path, recmap_error *error) {
    struct stat file;
    if (lstat(path, &file)) return RECMAP_OK;
    return message_fail(error, RECMAP_INVALID, path, "remove it, or name another set with -o",
                        "exists already");
}

static recmap_status check_all_are_new(const struct set_writer *writer, recmap_error *error) {
    RETURN_IF_FAILED(check_is_new(writer->index, error));
    for (unsigned i = 0; i < shard_count(writer); i++)
        RETURN_IF_FAILED(check_is_new(shard_path(writer, i), error));
    return RECMAP_OK;
}

/* The number of records in the shards up to and including shard i. */
static uint64_t shard_end(const struct set_writer *writer, unsigned i) {
    uint64_t each = writer->record_count / shard_count(writer);
    uint64_t rest = writer->record_count % shard_count(writer);
    uint64_t shards = (uint64_t)i + 1;
    return each * shards + (shards < rest ? shards : rest);
}

static recmap_status begin_shard(struct set_writer *writer, recmap_error *error) {
    if (writer->shard) return RECMAP_OK;
    recmap_writer_options options = RECMAP_WRITER_OPTIONS_INIT;
    options.keeps_leftovers = 1;
    const char *path = shard_path(writer, writer->finished);
    return recmap_writer_create(&writer->shard, path, &options, error);
}

/* Another command may have written the same set in the meantime. */
static recmap_status finish_shard(struct set_writer *writer, recmap_error *error) {
    RETURN_IF_FAILED(check_is_new(shard_path(writer, writer->finished), error));
    RETURN_IF_FAILED(recmap_writer_finish(writer->shard, error));
    recmap_writer_destroy(writer->shard);
    writer->shard = NULL;
    writer->finished++;
    return RECMAP_OK;
}

/* A record_visit_fn. With more shards than records, some remain empty. */
static recmap_status write_record(void *context, const recmap_record *record, recmap_error *error) {
    struct set_writer *writer = context;
    if (interrupt_is_pending()) return interrupt_fail(error);
    RETURN_IF_FAILED(begin_shard(writer, error));
    while (writer->written == shard_end(writer, writer->finished)) {
        RETURN_IF_FAILED(finish_shard(writer, error));
        RETURN_IF_FAILED(begin_shard(writer, error));
    }
    if (writer->numbers) writer->numbers[writer->written] = record->number;
    writer->written++;
    return recmap_writer_write(writer->shard, record->data, record->size, error);
}

static recmap_status write_shards(struct set_writer *writer, const struct view *view,
                                  struct number_source positions, recmap_error *error) {
    struct view_source mapping = {view, positions};
    struct progress_bar progress = progress_bar_start("writing");
    recmap_status status = iterate_records(view->dataset, view_source_numbers(&mapping),
                                           write_record, writer, progress_bar_report, &progress,
                                           error);
    progress_bar_clear(&progress);
    while (status == RECMAP_OK && writer->finished < shard_count(writer)) {
        status = interrupt_is_pending() ? interrupt_fail(error) : begin_shard(writer, error);
        if (status == RECMAP_OK) status = finish_shard(writer, error);
    }
    return status;
}

/* Removes what a killed run left. Each writer would list the folder for its own file. */
static recmap_status remove_leftovers(const struct set_writer *writer, recmap_error *error) {
    unsigned count = shard_count(writer);
    const char **paths = calloc(count, sizeof *paths);
    if (!paths) return message_fail_memory(error);
    for (unsigned i = 0; i < count; i++) paths[i] = shard_path(writer, i);
    recmap_writer_remove_leftovers(paths, count);
    free(paths);
    return RECMAP_OK;
}

static recmap_status add_shards(recmap_index_builder *builder, const struct set_writer *writer,
                                recmap_error *error) {
    for (unsigned i = 0; i < shard_count(writer); i++)
        RETURN_IF_FAILED(recmap_index_builder_add_shard(builder, shard_path(writer, i), error));
    return RECMAP_OK;
}

static recmap_status build(recmap_index_summary *summary, const struct set_writer *writer,
                           const recmap_index_options *options, recmap_error *error) {
    recmap_index_builder *builder = NULL;
    recmap_status status = recmap_index_builder_create(&builder, writer->index, options, error);
    if (status == RECMAP_OK) status = add_shards(builder, writer, error);
    if (status == RECMAP_OK) status = recmap_index_builder_finish(summary, builder, error);
    recmap_index_builder_destroy(builder);
    return status;
}

/* The shards were just written, so reading them again for the index is cheap. */
static recmap_status build_index(recmap_index_summary *summary, const struct set_writer *writer,
                                 recmap_dataset *source, recmap_error *error) {
    struct progress_bar progress = progress_bar_start("indexing");
    struct inherited inherited = {0};
    recmap_index_options options = RECMAP_INDEX_OPTIONS_INIT;
    options.progress = progress_bar_report;
    options.progress_context = &progress;
    options.guard = 1;
    options.is_part = 1; /* the chosen records may lack the id that others of the source have */
    recmap_status status = inherited_borrow(&inherited, &options, source, error);
    if (status == RECMAP_OK) status = build(summary, writer, &options, error);
    progress_bar_clear(&progress);
    inherited_close(&inherited);
    return status;
}

/* The index is removed if its columns cannot be added. */
static recmap_status add_index(const struct set_writer *writer, recmap_dataset *source,
                               recmap_error *error) {
    recmap_index_summary summary;
    RETURN_IF_FAILED(check_is_new(writer->index, error));
    RETURN_IF_FAILED(build_index(&summary, writer, source, error));
    recmap_status status = RECMAP_OK;
    if (writer->numbers)
        status =
            carried_columns_add(writer->index, source, writer->numbers, writer->written, error);
    if (status != RECMAP_OK) unlink(writer->index);
    else
        message("%s: %" PRIu64 " record%s in %" PRIu64 " shard%s", writer->index,
                summary.record_count, plural(summary.record_count), summary.shard_count,
                plural(summary.shard_count));
    return status;
}

static void remove_shards(const struct set_writer *writer) {
    for (unsigned i = 0; i < writer->finished; i++) unlink(shard_path(writer, i));
}

/* The index is NAME.rmx, also of compressed shards. */
static recmap_status name_index(struct set_writer *writer, const char *path, recmap_error *error) {
    size_t size = is_set(path) ? (size_t)(strrchr(path, '@') - path) : file_stem_size(path);
    if (size + sizeof ".rmx" > sizeof writer->index)
        return message_fail(error, RECMAP_INVALID, path, "write to a shorter path with -o",
                            "the path of its index would be too long");
    snprintf(writer->index, sizeof writer->index, "%.*s.rmx", (int)size, path);
    return RECMAP_OK;
}

/* The group that new files beside the path get. */
static gid_t find_group(const char *path) {
    char folder[PATH_SIZE];
    struct stat file;
    const char *slash = strrchr(path, '/');
    snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - path) + 1 : 1,
             slash ? path : ".");
    return !stat(folder, &file) && file.st_mode & S_ISGID ? file.st_gid : getegid();
}

/* Nobody but the owner of the set may read it who cannot read its source. All files that the
 * command creates are of the set. */
static recmap_status restrict_files(const char *path, const struct view *view,
                                    recmap_error *error) {
    mode_t denied;
    RETURN_IF_FAILED(view_output_denied(&denied, view, find_group(path), error));
    umask(umask(0777) | denied);
    return RECMAP_OK;
}

/* Names the files, checks that they are new, and makes room for the numbers of the records. */
static recmap_status prepare(struct set_writer *writer, const char *path, const struct view *view,
                             recmap_error *error) {
    RETURN_IF_FAILED(list_shards(&writer->shards, path, error));
    RETURN_IF_FAILED(name_index(writer, path, error));
    RETURN_IF_FAILED(check_all_are_new(writer, error));
    RETURN_IF_FAILED(remove_leftovers(writer, error));
    RETURN_IF_FAILED(restrict_files(path, view, error));
    if (!carried_columns_exist(view->dataset)) return RECMAP_OK;
    writer->numbers = malloc((size_t)(writer->record_count + 1) * sizeof *writer->numbers);
    return writer->numbers ? RECMAP_OK : message_fail_memory(error);
}

static recmap_status write_set(struct set_writer *writer, const struct view *view,
                               struct number_source positions, recmap_error *error) {
    interrupt_watch();
    recmap_status status = write_shards(writer, view, positions, error);
    recmap_writer_destroy(writer->shard);
    if (status == RECMAP_OK) status = add_index(writer, view->dataset, error);
    if (status != RECMAP_OK) remove_shards(writer);
    return status;
}

recmap_status shard_set_write(const char *path, const struct view *view,
                              struct number_source positions, recmap_error *error) {
    struct set_writer writer = {.record_count = positions.count};
    recmap_status status = prepare(&writer, path, view, error);
    if (status == RECMAP_OK) status = write_set(&writer, view, positions, error);
    recmap_shards_destroy(writer.shards);
    free(writer.numbers);
    return status;
}

int shard_set_write_all(const char *path, const struct view *view) {
    uint64_t next = 0;
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_status status = shard_set_write(path, view, view_all_positions(view, &next), &error);
    return interrupt_finish(status == RECMAP_OK ? 0 : message_print(&error));
}
