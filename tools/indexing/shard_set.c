#include "indexing/shard_set.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include <recmap/index.h>
#include <recmap/writer.h>

#include "indexing/carried_columns.h"
#include "indexing/inherited.h"
#include "terminal/interrupt.h"
#include "terminal/message.h"
#include "terminal/progress_bar.h"

enum { SHARD_COUNT_MAX = 1000000 };

/* A set that is being written, one shard after the other. */
struct set_writer {
    const struct shard_set *set;
    uint64_t record_count; /* of all shards */
    uint64_t written;      /* records */
    uint64_t *numbers;     /* of the records written, in the source; NULL: not needed */
    unsigned finished;     /* shards that are complete */
    recmap_writer *shard;  /* the one after them; NULL: not created yet */
};

static bool parse_file(struct shard_set *set, const char *path) {
    static const char *const ends[] = {".tfrecord", ".tfrecord.gz", ".tfrecord.gzip",
                                       ".tfrecord.zlib"};
    size_t size = path ? strlen(path) : 0;
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        size_t end_size = strlen(ends[i]);
        if (size <= end_size || strcasecmp(path + size - end_size, ends[i]) != 0) continue;
        *set = (struct shard_set){path, size - end_size, 0, path + size - end_size};
        return set->path[set->stem_size - 1] != '/';
    }
    return false;
}

/* What follows NAME@; NULL if the path is not of that form. */
static const char *find_set_number(const char *path) {
    const char *sign = path ? strrchr(path, '@') : NULL;
    return sign && sign != path && sign[-1] != '/' && !strchr(sign, '/') ? sign + 1 : NULL;
}

static bool parse_set(struct shard_set *set, const char *path) {
    const char *number = find_set_number(path), *digit = number;
    unsigned count = 0;
    if (!number || *number == '0') return false;
    for (; *digit >= '0' && *digit <= '9' && count <= SHARD_COUNT_MAX; digit++)
        count = count * 10 + (unsigned)(*digit - '0');
    *set = (struct shard_set){path, (size_t)(number - 1 - path), count, digit};
    return count && count <= SHARD_COUNT_MAX;
}

/* Whether the path means a set, NAME@N or NAME@N.END, but no set has the number N: it is 0 or too
 * large. Other names with an @ are those of files. */
static bool has_invalid_count(const char *path) {
    struct shard_set set;
    const char *number = find_set_number(path);
    size_t size = number ? strspn(number, "0123456789") : 0;
    if (!size || (number[size] && number[size] != '.')) return false;
    return strspn(number, "0") == size || (*number != '0' && !parse_set(&set, path));
}

bool shard_set_parse(struct shard_set *set, const char *path, enum output_format format) {
    return parse_set(set, path) || (format == OUTPUT_DEFAULT && parse_file(set, path));
}

int shard_set_check(const struct args *args, const char *path, enum output_format format) {
    struct shard_set set;
    if (has_invalid_count(path))
        return args_usage_error(args, "invalid -o '%.300s': -o NAME@N writes N files, from 1 to %d",
                                path, SHARD_COUNT_MAX);
    bool is_tfrecord = format == OUTPUT_DEFAULT || format == OUTPUT_TFRECORD;
    if (is_tfrecord || !parse_set(&set, path)) return 0;
    return args_usage_error(args,
                            "-o NAME@N writes TFRecord files: use --format tfrecord, or none");
}

static unsigned shard_count(const struct shard_set *set) {
    return set->count ? set->count : 1;
}

static recmap_status fail_memory(recmap_error *error) {
    return message_fail(error, RECMAP_NO_MEMORY, NULL, NULL, "out of memory");
}

/* The path of a shard; NULL without memory. */
static char *shard_path(const struct shard_set *set, unsigned i) {
    char *path = NULL;
    if (!set->count) return strdup(set->path);
    int size = asprintf(&path, "%.*s-%05u-of-%05u%s", (int)set->stem_size, set->path, i, set->count,
                        set->end);
    return size < 0 ? NULL : path;
}

static char *index_path(const struct shard_set *set) {
    char *path = NULL;
    int size = asprintf(&path, "%.*s.rmx", (int)set->stem_size, set->path);
    return size < 0 ? NULL : path;
}

/* Takes ownership of `path`. */
static recmap_status check_is_new(char *path, recmap_error *error) {
    struct stat file;
    if (!path) return fail_memory(error);
    recmap_status status = RECMAP_OK;
    if (!lstat(path, &file))
        status = message_fail(error, RECMAP_INVALID, path, "remove it, or name another set with -o",
                              "exists already");
    free(path);
    return status;
}

static recmap_status check_all_are_new(const struct shard_set *set, recmap_error *error) {
    RETURN_IF_FAILED(check_is_new(index_path(set), error));
    for (unsigned i = 0; i < shard_count(set); i++)
        RETURN_IF_FAILED(check_is_new(shard_path(set, i), error));
    return RECMAP_OK;
}

/* The number of records in the shards up to and including shard i. */
static uint64_t shard_end(const struct set_writer *writer, unsigned i) {
    uint64_t each = writer->record_count / shard_count(writer->set);
    uint64_t rest = writer->record_count % shard_count(writer->set);
    uint64_t shards = (uint64_t)i + 1;
    return each * shards + (shards < rest ? shards : rest);
}

static recmap_status begin_shard(struct set_writer *writer, recmap_error *error) {
    if (writer->shard) return RECMAP_OK;
    char *path = shard_path(writer->set, writer->finished);
    if (!path) return fail_memory(error);
    recmap_writer_options options = RECMAP_WRITER_OPTIONS_INIT;
    options.keeps_leftovers = 1;
    recmap_status status = recmap_writer_create(&writer->shard, path, &options, error);
    free(path);
    return status;
}

/* Another command may have written the same set in the meantime. */
static recmap_status finish_shard(struct set_writer *writer, recmap_error *error) {
    RETURN_IF_FAILED(check_is_new(shard_path(writer->set, writer->finished), error));
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
    while (status == RECMAP_OK && writer->finished < shard_count(writer->set)) {
        status = interrupt_is_pending() ? interrupt_fail(error) : begin_shard(writer, error);
        if (status == RECMAP_OK) status = finish_shard(writer, error);
    }
    return status;
}

/* Removes what a killed run left. Each writer would list the folder for its own file. */
static recmap_status remove_leftovers(const struct shard_set *set, recmap_error *error) {
    unsigned count = 0;
    char **paths = calloc(shard_count(set), sizeof *paths);
    if (!paths) return fail_memory(error);
    while (count < shard_count(set) && (paths[count] = shard_path(set, count))) count++;
    bool is_complete = count == shard_count(set);
    if (is_complete) recmap_writer_remove_leftovers((const char *const *)paths, count);
    while (count) free(paths[--count]);
    free(paths);
    return is_complete ? RECMAP_OK : fail_memory(error);
}

static recmap_status add_shards(recmap_index_builder *builder, const struct shard_set *set,
                                recmap_error *error) {
    for (unsigned i = 0; i < shard_count(set); i++) {
        char *path = shard_path(set, i);
        if (!path) return fail_memory(error);
        recmap_status status = recmap_index_builder_add_shard(builder, path, error);
        free(path);
        if (status != RECMAP_OK) return status;
    }
    return RECMAP_OK;
}

static recmap_status build(recmap_index_summary *summary, const char *path,
                           const struct shard_set *set, const recmap_index_options *options,
                           recmap_error *error) {
    recmap_index_builder *builder = NULL;
    recmap_status status = recmap_index_builder_create(&builder, path, options, error);
    if (status == RECMAP_OK) status = add_shards(builder, set, error);
    if (status == RECMAP_OK) status = recmap_index_builder_finish(summary, builder, error);
    recmap_index_builder_destroy(builder);
    return status;
}

/* The shards were just written, so reading them again for the index is cheap. */
static recmap_status build_index(recmap_index_summary *summary, const char *path,
                                 const struct shard_set *set, recmap_dataset *source,
                                 recmap_error *error) {
    struct progress_bar progress = progress_bar_start("indexing");
    struct inherited inherited = {0};
    recmap_index_options options = RECMAP_INDEX_OPTIONS_INIT;
    options.progress = progress_bar_report;
    options.progress_context = &progress;
    options.guard = 1;
    recmap_status status = inherited_borrow(&inherited, &options, source, error);
    if (status == RECMAP_OK) status = build(summary, path, set, &options, error);
    progress_bar_clear(&progress);
    inherited_close(&inherited);
    return status;
}

/* The index is removed if its columns cannot be added. */
static recmap_status add_index(const struct set_writer *writer, recmap_dataset *source,
                               recmap_error *error) {
    recmap_index_summary summary;
    RETURN_IF_FAILED(check_is_new(index_path(writer->set), error));
    char *path = index_path(writer->set);
    if (!path) return fail_memory(error);
    recmap_status status = build_index(&summary, path, writer->set, source, error);
    if (status == RECMAP_OK && writer->numbers) {
        status = carried_columns_add(path, source, writer->numbers, writer->written, error);
        if (status != RECMAP_OK) unlink(path);
    }
    if (status == RECMAP_OK)
        message("%s: %" PRIu64 " record%s in %" PRIu64 " shard%s", path, summary.record_count,
                plural(summary.record_count), summary.shard_count, plural(summary.shard_count));
    free(path);
    return status;
}

static void remove_shards(const struct set_writer *writer) {
    for (unsigned i = 0; i < writer->finished; i++) {
        char *path = shard_path(writer->set, i);
        if (path) unlink(path);
        free(path);
    }
}

recmap_status shard_set_write(const struct shard_set *set, const struct view *view,
                              struct number_source positions, recmap_error *error) {
    struct set_writer writer = {.set = set, .record_count = positions.count};
    RETURN_IF_FAILED(check_all_are_new(set, error));
    RETURN_IF_FAILED(remove_leftovers(set, error));
    if (carried_columns_exist(view->dataset)) {
        writer.numbers = malloc((size_t)(positions.count + 1) * sizeof *writer.numbers);
        if (!writer.numbers) return fail_memory(error);
    }
    interrupt_watch();
    recmap_status status = write_shards(&writer, view, positions, error);
    recmap_writer_destroy(writer.shard);
    if (status == RECMAP_OK) status = add_index(&writer, view->dataset, error);
    if (status != RECMAP_OK) remove_shards(&writer);
    free(writer.numbers);
    return status;
}

int shard_set_write_all(const struct shard_set *set, const struct view *view) {
    uint64_t next = 0;
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_status status = shard_set_write(set, view, view_all_positions(view, &next), &error);
    return interrupt_finish(status == RECMAP_OK ? 0 : recmap_error_print(&error, stderr));
}
