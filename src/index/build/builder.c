/* recmap_index_builder: collects shards and existing indexes, and builds one index from them. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <recmap/index.h>

#include "base/core/array.h"
#include "base/core/error.h"
#include "base/core/interrupt.h"
#include "base/os/file.h"
#include "base/os/list.h"
#include "base/os/lock_file.h"
#include "base/os/map.h"
#include "base/os/process.h"
#include "base/words/url_prefix.h"
#include "format/shards/framings.h"
#include "index/build/options.h"
#include "index/build/packer.h"
#include "index/build/part_check.h"
#include "index/build/replay.h"
#include "index/build/sample_keys.h"
#include "index/build/shard_notices.h"
#include "index/build/target.h"
#include "index/build/text_parts.h"
#include "index/extract/extract.h"
#include "index/scan/scan.h"
#include "index/scan/scanner.h"
#include "index/scan/side_index.h"
#include "index/tables/index.h"
#include "storage/remote/remote.h"

enum {
    PROGRESS_NS = 50 * 1000 * 1000,
    RESOLVE_WORK = 8 << 10, /* for the interrupt, in bytes: resolving a path */
};

struct recmap_index_builder {
    char *path;
    recmap_index_options options; /* its strings, lifts and counted features are copies */
    char **texts;                 /* the copied strings */
    size_t text_count;
    size_t text_capacity;
    recmap_lift *lifts;
    recmap_counted_feature *counted_features;
    struct extractor *extractor;
    struct framing framing;
    recmap_storage *storage; /* NULL: the defaults */
    struct build_part *parts;
    size_t part_count;
    size_t part_capacity;
    struct packer *packer;
    struct sample_keys *sample_keys;
    struct text_parts text;
    struct shard_notices notices;
    struct lock_file lock; /* held while appending */
    bool appends;
    bool replaces; /* a file that was at the path when the builder was created or appended to it */
    int replaced_fd; /* that file, or -1 if it could not be opened. While it is open, no other file
                        can get its inode number */
    struct file_stat replaced;
    size_t next_part; /* the next shard of a scan */
    recmap_progress progress;
    uint64_t progress_at_ns;
    bool is_finished;
};

/* Replaces a string of the caller, which may be NULL, by a copy that the builder owns. */
static recmap_status copy_text(const char **text, recmap_index_builder *builder,
                               recmap_error *error) {
    if (!*text) return RECMAP_OK;
    if (!array_reserve(&builder->texts, &builder->text_capacity, builder->text_count + 1,
                       sizeof *builder->texts))
        return fail_memory(error);
    char *copy = strdup(*text);
    if (!copy) return fail_memory(error);
    builder->texts[builder->text_count++] = copy;
    *text = copy;
    return RECMAP_OK;
}

static recmap_status copy_counted(recmap_index_builder *builder, recmap_error *error) {
    size_t count = builder->options.counted_feature_count;
    builder->counted_features = calloc(count + 1, sizeof *builder->counted_features);
    if (!builder->counted_features) return fail_memory(error);
    for (size_t i = 0; i < count; i++) {
        builder->counted_features[i] = builder->options.counted_features[i];
        RETURN_IF_FAILED(copy_text(&builder->counted_features[i].name, builder, error));
    }
    builder->options.counted_features = builder->counted_features;
    return RECMAP_OK;
}

static recmap_status copy_lifts(recmap_index_builder *builder, recmap_error *error) {
    size_t count = builder->options.lift_count;
    builder->lifts = calloc(count + 1, sizeof *builder->lifts);
    if (!builder->lifts) return fail_memory(error);
    for (size_t i = 0; i < count; i++) {
        builder->lifts[i] = builder->options.lifts[i];
        RETURN_IF_FAILED(copy_text(&builder->lifts[i].name, builder, error));
        RETURN_IF_FAILED(copy_text(&builder->lifts[i].default_value, builder, error));
    }
    builder->options.lifts = builder->lifts;
    return RECMAP_OK;
}

static void free_lists(recmap_index_builder *builder) {
    free(builder->lifts);
    free(builder->counted_features);
    builder->lifts = NULL;
    builder->counted_features = NULL;
}

/* Copies the options and the strings they refer to. */
static recmap_status copy_options(recmap_index_builder *builder,
                                  const recmap_index_options *options, recmap_error *error) {
    free_lists(builder);
    builder->options = *options;
    RETURN_IF_FAILED(copy_text(&builder->options.id_feature, builder, error));
    RETURN_IF_FAILED(copy_text(&builder->options.text_index_folder, builder, error));
    RETURN_IF_FAILED(copy_lifts(builder, error));
    return copy_counted(builder, error);
}

static recmap_status open_replaced(recmap_index_builder *builder, recmap_error *error) {
    RETURN_IF_FAILED(file_open(&builder->replaced_fd, builder->path, error));
    return file_get_stat(&builder->replaced, builder->replaced_fd, builder->path, error);
}

/* A file that cannot be opened may also be replaced. */
static void find_replaced(recmap_index_builder *builder) {
    if (open_replaced(builder, NULL) == RECMAP_OK) builder->replaces = true;
    else builder->replaces = file_stat_path(&builder->replaced, builder->path);
}

static void close_replaced(recmap_index_builder *builder) {
    file_close(builder->replaced_fd);
    builder->replaced_fd = -1;
}

/* Everything that can be checked without the shards is checked here, before the caller adds them.
 * The packer already creates the temporary file, so that a folder that cannot be written to is
 * found too. */
static recmap_status prepare(recmap_index_builder *builder, const char *path,
                             const recmap_index_options *options, recmap_error *error) {
    RETURN_IF_FAILED(storage_retain(&builder->storage, options->storage, error));
    RETURN_IF_FAILED(copy_options(builder, options, error));
    builder->path = strdup(path);
    if (!builder->path) return fail_memory(error);
    RETURN_IF_FAILED(extractor_create(&builder->extractor, &builder->options, error));
    RETURN_IF_FAILED(framings_choose(&builder->framing, options->framing, error));
    builder->options.framing = builder->framing.name;
    RETURN_IF_FAILED(target_check(path, error));
    builder->sample_keys = sample_keys_create();
    if (!builder->sample_keys) return fail_memory(error);
    RETURN_IF_FAILED(
        packer_create(&builder->packer, path, &builder->options, LEFTOVERS_REMOVE, error));
    find_replaced(builder);
    return options->guard ? guard_install(error) : RECMAP_OK;
}

recmap_status recmap_index_builder_create(recmap_index_builder **builder, const char *path,
                                          const recmap_index_options *options,
                                          recmap_error *error) {
    static const recmap_index_options defaults = RECMAP_INDEX_OPTIONS_INIT;
    if (!options) options = &defaults;
    RETURN_IF_FAILED(index_options_check(options, error));
    if (!path || !*path) return fail(error, RECMAP_INVALID, "the index has no path");
    recmap_index_builder *fresh = calloc(1, sizeof *fresh);
    if (!fresh) return fail_memory(error);
    fresh->lock = (struct lock_file)LOCK_FILE_INIT;
    fresh->replaced_fd = -1;
    recmap_status status = prepare(fresh, path, options, error);
    if (status == RECMAP_OK) *builder = fresh;
    else recmap_index_builder_destroy(fresh);
    return status;
}

static void free_part(struct build_part *part) {
    index_close(part->index);
    free(part->path);
    free(part->resolved);
    free(part->target);
}

/* A builder may be destroyed at any stage, finished or not: members that were never set are NULL,
 * -1 or empty. */
void recmap_index_builder_destroy(recmap_index_builder *builder) {
    if (!builder) return;
    packer_destroy(builder->packer);
    sample_keys_destroy(builder->sample_keys);
    for (size_t i = 0; i < builder->part_count; i++) free_part(&builder->parts[i]);
    free(builder->parts);
    extractor_destroy(builder->extractor);
    for (size_t i = 0; i < builder->text_count; i++) free(builder->texts[i]);
    free(builder->texts);
    free_lists(builder);
    free(builder->path);
    text_parts_deinit(&builder->text);
    recmap_storage_release(builder->storage);
    file_close(builder->replaced_fd);
    lock_file_release(&builder->lock);
    free(builder);
}

static recmap_status check_unfinished(const recmap_index_builder *builder, recmap_error *error) {
    if (!builder->is_finished) return RECMAP_OK;
    return fail(error, RECMAP_INVALID, "the index was finished before, or failed");
}

static recmap_status add_part(recmap_index_builder *builder, const char *path,
                              struct index_file *index, recmap_error *error) {
    RETURN_IF_FAILED(check_unfinished(builder, error));
    if (!array_reserve(&builder->parts, &builder->part_capacity, builder->part_count + 1,
                       sizeof *builder->parts))
        return fail_memory(error);
    struct build_part part = {.path = strdup(path)};
    if (!part.path) return fail_memory(error);
    part.index = index;
    builder->parts[builder->part_count++] = part;
    return RECMAP_OK;
}

recmap_status recmap_index_builder_add_shard(recmap_index_builder *builder, const char *path,
                                             recmap_error *error) {
    return add_part(builder, path, NULL, error);
}

/* Returns true if two texts are equal, or both are NULL. */
static bool same_text(const char *a, const char *b) {
    return a && b ? !strcmp(a, b) : a == b;
}

static bool counts_fit(const struct manifest *manifest, const recmap_index_options *options) {
    bool fit = manifest->counted_feature_count == options->counted_feature_count;
    for (size_t i = 0; fit && i < manifest->counted_feature_count; i++)
        fit = !strcmp(manifest->counted_features[i].name, options->counted_features[i].name) &&
              manifest->counted_features[i].element == options->counted_features[i].element;
    return fit;
}

/* An index can be added only if its ids, columns and counts have the definition that the new index
 * has: names, defaults, element types and their order. It is
 * known that a callback read ids and columns, but not which one. */
static recmap_status check_fits(const recmap_index_builder *builder, const struct index_file *index,
                                const char *path, recmap_error *error) {
    const struct manifest *part = index_manifest(index);
    const recmap_index_options *options = &builder->options;
    bool fits = same_text(part->id_name, options->id_feature) &&
                part->column_count == options->lift_count &&
                part->extracted_by_caller == (options->lift != NULL) && counts_fit(part, options);
    for (size_t i = 0; fits && i < part->column_count; i++)
        fits = same_text(part->columns[i].name, options->lifts[i].name) &&
               same_text(part->columns[i].default_value, options->lifts[i].default_value);
    if (fits) return RECMAP_OK;
    fail(error, RECMAP_MISMATCH, "the index was built with other ids, columns or counts");
    fail_file(error, path);
    fail_advise(error,
                part->extracted_by_caller
                    ? "its ids and columns were read by a callback, or from messages: use the same "
                      "callback, in C, or the same fields"
                    : "see `recmap info` for its ids, columns and counts, and name the same with "
                      "--id, --lift and --count, in the same order; or build it again");
    return RECMAP_MISMATCH;
}

/* Finds out if `path` is a path of `file`. */
static recmap_status is_named(bool *is_same, const char *path, const struct file_stat *file,
                              recmap_error *error) {
    struct file_stat now;
    bool is_there;
    recmap_status status = file_find_stat(&now, &is_there, path, error);
    if (status == RECMAP_OK) *is_same = is_there && file_is_same(&now, file);
    return status;
}

static recmap_status report_wait(const recmap_index_builder *builder, recmap_error *error) {
    recmap_progress progress = {.path = builder->path, .is_waiting = 1};
    recmap_progress_fn report = builder->options.progress;
    if (!report || !report(&progress, builder->options.progress_context)) return RECMAP_OK;
    fail(error, RECMAP_CANCELLED, "cancelled while waiting for another append to the index");
    fail_file(error, builder->path);
    return RECMAP_CANCELLED;
}

static void unlock_replaced(recmap_index_builder *builder) {
    close_replaced(builder);
    builder->appends = false;
    lock_file_release(&builder->lock);
}

/* Appending to an index replaces it. The lock makes concurrent appends wait for each other: two
 * that read the same index would each publish one without the other's shards. The callback can
 * cancel the wait, and a signal ends a pause early, so that an interrupt is answered at once. */
static recmap_status lock_replaced(recmap_index_builder *builder, recmap_error *error) {
    for (;;) {
        bool is_held = false;
        RETURN_IF_FAILED(lock_file_try(&builder->lock, &is_held, builder->path, error));
        if (is_held) break;
        RETURN_IF_FAILED(report_wait(builder, error));
        lock_file_pause();
    }
    close_replaced(builder);
    recmap_status status = open_replaced(builder, error);
    if (status != RECMAP_OK) unlock_replaced(builder);
    else builder->appends = builder->replaces = true;
    return status;
}

/* Two paths of one file look different if the file is replaced between the two looks. An append
 * would then take its own index for another one, and no lock. So paths differ only if the second
 * still names the file that it named before the look at the first. */
static recmap_status is_same_path(bool *is_same, const char *a, const char *b,
                                  recmap_error *error) {
    for (bool is_certain = false; !is_certain;) {
        struct file_stat stat_b;
        bool is_there;
        *is_same = false;
        RETURN_IF_FAILED(file_find_stat(&stat_b, &is_there, b, error));
        if (!is_there) return RECMAP_OK;
        RETURN_IF_FAILED(is_named(is_same, a, &stat_b, error));
        if (*is_same) return RECMAP_OK;
        RETURN_IF_FAILED(is_named(&is_certain, b, &stat_b, error));
    }
    return RECMAP_OK;
}

/* The progress function, as the interrupt of a build. */
static int ask_progress(void *context) {
    recmap_index_builder *builder = context;
    uint64_t now = clock_ns();
    if (now - builder->progress_at_ns < PROGRESS_NS) return 0;
    builder->progress_at_ns = now;
    return builder->options.progress(&builder->progress, builder->options.progress_context);
}

/* Opening an index takes milliseconds; a data set may have thousands of parts. */
static recmap_status ask_before_open(recmap_index_builder *builder, const char *path,
                                     recmap_error *error) {
    struct interrupt former =
        thread_interrupt_replace(builder->options.progress ? ask_progress : NULL, builder);
    builder->progress.path = path;
    recmap_status status = interrupt_check(thread_interrupt(), INTERRUPT_WORK, error);
    builder->progress.path = NULL;
    thread_interrupt_restore(&former);
    return status;
}

static bool is_nullable(const recmap_index_builder *builder, const char *name) {
    for (size_t i = 0; i < builder->options.lift_count; i++)
        if (!strcmp(builder->lifts[i].name, name)) return builder->lifts[i].is_nullable;
    return false;
}

/* Takes ids, columns and counts from an index instead of from the options. */
static recmap_status take_contents(recmap_index_builder *builder, const struct manifest *manifest,
                                   recmap_lift *lifts, recmap_counted_feature *counted,
                                   recmap_error *error) {
    recmap_index_options options = builder->options;
    options.id_feature = manifest->id_name;
    for (size_t i = 0; i < manifest->column_count; i++)
        lifts[i] = (recmap_lift){manifest->columns[i].name, manifest->columns[i].default_value,
                                 is_nullable(builder, manifest->columns[i].name)};
    for (size_t i = 0; i < manifest->counted_feature_count; i++)
        counted[i] = (recmap_counted_feature){manifest->counted_features[i].name,
                                              manifest->counted_features[i].element};
    options.lifts = lifts;
    options.lift_count = manifest->column_count;
    options.counted_features = counted;
    options.counted_feature_count = manifest->counted_feature_count;
    return copy_options(builder, &options, error);
}

/* The index that is appended to may have been annotated since the caller read its contents. It is
 * locked now, so the new index takes over what it contains. */
static recmap_status inherit(recmap_index_builder *builder, const struct index_file *index,
                             const char *path, recmap_error *error) {
    const struct manifest *manifest = index_manifest(index);
    if (builder->part_count || check_fits(builder, index, path, NULL) == RECMAP_OK)
        return RECMAP_OK;
    recmap_lift *lifts = calloc(manifest->column_count + 1, sizeof *lifts);
    recmap_counted_feature *counted = calloc(manifest->counted_feature_count + 1, sizeof *counted);
    recmap_status status = lifts && counted
                               ? take_contents(builder, manifest, lifts, counted, error)
                               : fail_memory(error);
    free(lifts);
    free(counted);
    if (status != RECMAP_OK) return status;
    packer_destroy(builder->packer);
    builder->packer = NULL;
    extractor_destroy(builder->extractor);
    builder->extractor = NULL;
    RETURN_IF_FAILED(extractor_create(&builder->extractor, &builder->options, error));
    return packer_create(&builder->packer, builder->path, &builder->options, LEFTOVERS_REMOVE,
                         error);
}

static recmap_status open_part(recmap_index_builder *builder, struct index_file **index,
                               char **folder, const char *path, bool is_replaced,
                               recmap_error *error) {
    bool is_elsewhere;
    RETURN_IF_FAILED(ask_before_open(builder, path, error));
    RETURN_IF_FAILED(index_open(index, path, NULL, error));
    if (is_replaced && builder->options.inherits)
        RETURN_IF_FAILED(inherit(builder, *index, path, error));
    RETURN_IF_FAILED(check_fits(builder, *index, path, error));
    RETURN_IF_FAILED(index_find_folder(folder, &is_elsewhere, *index, error));
    return add_part(builder, path, *index, error);
}

/* The lock is taken before the index is opened: otherwise another append could replace it in
 * between, and its shards would be lost. */
recmap_status recmap_index_builder_add_index(recmap_index_builder *builder, const char *path,
                                             recmap_error *error) {
    bool is_replaced = false;
    RETURN_IF_FAILED(check_unfinished(builder, error));
    if (!builder->appends) RETURN_IF_FAILED(is_same_path(&is_replaced, path, builder->path, error));
    if (is_replaced) RETURN_IF_FAILED(lock_replaced(builder, error));
    struct index_file *index = NULL;
    char *folder = NULL;
    recmap_status status = open_part(builder, &index, &folder, path, is_replaced, error);
    if (status == RECMAP_OK) {
        builder->parts[builder->part_count - 1].resolved = folder;
    } else {
        free(folder);
        index_close(index);
    }
    return status;
}

/* A link is a shard by its own name: the name of its target may be a hash, as in the cache of a hub
 * or in an annex. */
static recmap_status resolve_file(struct build_part *part, recmap_error *error) {
    char *real_path = NULL;
    RETURN_IF_FAILED(path_resolve(&real_path, part->path, error));
    if (!path_is_link(part->path)) {
        part->resolved = real_path;
        return RECMAP_OK;
    }
    part->target = real_path;
    return path_resolve_entry(&part->resolved, part->path, error);
}

/* Resolves the path of a shard. The folder of an index was resolved when it was opened. */
static recmap_status resolve_part(struct build_part *part, const recmap_storage *storage,
                                  recmap_error *error) {
    if (part->index) return RECMAP_OK;
    if (!url_is_url(part->path)) return resolve_file(part, error);
    part->resolved = strdup(part->path);
    return part->resolved ? remote_check_url(part->path, storage, error) : fail_memory(error);
}

static recmap_status resolve_parts(recmap_index_builder *builder, recmap_error *error) {
    for (size_t i = 0; i < builder->part_count; i++) {
        RETURN_IF_FAILED(resolve_part(&builder->parts[i], builder->storage, error));
        RETURN_IF_FAILED(interrupt_check(thread_interrupt(), RESOLVE_WORK, error));
    }
    return RECMAP_OK;
}

/* Shards whose records an index has already add nothing. */
static void drop_complete_parts(recmap_index_builder *builder) {
    size_t count = 0;
    for (size_t i = 0; i < builder->part_count; i++) {
        if (builder->parts[i].is_complete) free_part(&builder->parts[i]);
        else builder->parts[count++] = builder->parts[i];
    }
    builder->part_count = count;
}

/* The index must not replace one of its own shards. */
static recmap_status check_target(const recmap_index_builder *builder, recmap_error *error) {
    for (size_t i = 0; i < builder->part_count; i++) {
        const struct build_part *part = &builder->parts[i];
        bool is_target = false;
        if (!part->index)
            RETURN_IF_FAILED(is_same_path(&is_target, part->path, builder->path, error));
        RETURN_IF_FAILED(interrupt_check(thread_interrupt(), RESOLVE_WORK, error));
        if (!is_target) continue;
        fail(error, RECMAP_INVALID, "the index would replace this shard");
        fail_file(error, part->path);
        fail_advise(error, "give the index another name");
        return RECMAP_INVALID;
    }
    return RECMAP_OK;
}

static recmap_status sink_begin_shard(void *context, const char *path, recmap_error *error) {
    recmap_index_builder *builder = context;
    const struct build_part *part = &builder->parts[builder->next_part++];
    if (part->grown) packer_note_parts(builder->packer);
    const struct framing *framing = build_part_framing(part, &builder->framing);
    sample_keys_begin(builder->sample_keys, part->path);
    shard_notices_begin(&builder->notices, part->path, framing);
    return packer_begin_shard(builder->packer, path, framing->name, error);
}

static recmap_status sink_add_run(void *context, const struct record_run *run,
                                  recmap_error *error) {
    recmap_index_builder *builder = context;
    uint64_t first = packer_record_count(builder->packer);
    shard_notices_add(&builder->notices, run, first);
    if (!sample_keys_add(builder->sample_keys, run, first)) return fail_memory(error);
    return packer_add_run(builder->packer, run, error);
}

static recmap_status sink_add_damage(void *context, uint64_t offset, uint64_t length,
                                     const char *reason, recmap_error *error) {
    recmap_index_builder *builder = context;
    shard_notices_add_damage(&builder->notices);
    return packer_add_damage(builder->packer, offset, length, reason, error);
}

static recmap_status sink_end_shard(void *context, const struct shard_end *end,
                                    recmap_error *error) {
    recmap_index_builder *builder = context;
    shard_notices_end(&builder->notices, end);
    return packer_end_shard(builder->packer, end, NULL, error);
}

/* Text indexes are for whole local shards: their records' headers are read from a map. */
static recmap_status check_local(const struct build_part *parts, size_t count,
                                 recmap_error *error) {
    for (size_t i = 0; i < count; i++) {
        if (!url_is_url(parts[i].resolved) && !parts[i].grown) continue;
        fail(error, RECMAP_UNSUPPORTED, "a text index cannot be used for %s",
             parts[i].grown ? "new records of a shard" : "a shard in a remote store");
        fail_file(error, parts[i].resolved);
        fail_advise(error, "index it without --from-idx");
        return RECMAP_UNSUPPORTED;
    }
    return RECMAP_OK;
}

static void list_forms(struct scan_form *forms, const char **paths,
                       const recmap_index_builder *builder, size_t first, size_t end) {
    for (size_t i = first; i < end; i++) {
        const struct build_part *part = &builder->parts[i];
        paths[i - first] = part->resolved;
        forms[i - first] = (struct scan_form){
            .framing = build_part_framing(part, &builder->framing),
            .compression = part->grown ? RECMAP_COMPRESSION_NONE : builder->options.compression,
            .start = build_part_start(part)};
    }
}

static recmap_status scan_forms(recmap_index_builder *builder, const char *const *paths,
                                const struct scan_form *forms, size_t count, recmap_error *error) {
    struct scan_sink sink = {
        .context = builder,
        .begin_shard = sink_begin_shard,
        .add_run = sink_add_run,
        .add_damage = sink_add_damage,
        .end_shard = sink_end_shard,
    };
    const struct text_parts *text = &builder->text;
    const struct scan_header header = {(const uint8_t *)text->header, text->header_size,
                                       text->header_path};
    struct scan_options options = {
        .form = {.framing = &builder->framing, .compression = builder->options.compression},
        .forms = forms,
        .thread_count = builder->options.thread_count,
        .on_bad_record = builder->options.on_bad_record,
        .memory_limit = builder->options.memory_limit,
        .extractor = builder->extractor,
        .header = text->header ? &header : NULL,
        .never_maps = builder->options.reads_shards != 0,
        .refuses_others = true,
        .storage = builder->storage,
        .progress = builder->options.progress,
        .progress_context = builder->options.progress_context,
        .totals = &builder->progress,
    };
    const char *text_index_folder = builder->options.text_index_folder;
    recmap_status status = RECMAP_OK;
    if (!text_index_folder) return scan_shards(paths, count, &sink, &options, error);
    /* A text index gives the places of its shard's records, so shards are read one by one. */
    for (size_t i = 0; status == RECMAP_OK && i < count; i++)
        status = side_index_scan(text_index_folder, paths[i], &sink, &options, error);
    return status;
}

/* Scans parts [first, end), all of them shards. */
static recmap_status scan_parts(recmap_index_builder *builder, size_t first, size_t end,
                                recmap_error *error) {
    size_t count = end - first;
    const char **paths = calloc(count + 1, sizeof *paths);
    struct scan_form *forms = calloc(count + 1, sizeof *forms);
    recmap_status status = paths && forms ? RECMAP_OK : fail_memory(error);
    builder->progress.record_count = packer_record_count(builder->packer);
    builder->next_part = first;
    if (status == RECMAP_OK) list_forms(forms, paths, builder, first, end);
    if (status == RECMAP_OK && builder->options.text_index_folder)
        status = check_local(builder->parts + first, count, error);
    if (status == RECMAP_OK) status = scan_forms(builder, paths, forms, count, error);
    free(forms);
    free(paths);
    return status;
}

/* Finds what must be known of records of text before they are read. */
static recmap_status prepare_text(recmap_index_builder *builder, recmap_error *error) {
    struct scan_options options = {
        .form = {.framing = &builder->framing, .compression = builder->options.compression},
        .never_maps = true,
        .storage = builder->storage};
    struct text_parts *text = &builder->text;
    RETURN_IF_FAILED(text_parts_prepare(text, builder->parts, builder->part_count, &options,
                                        builder->extractor, builder->options.lift_count, error));
    if (!text->header || packer_set_header(builder->packer, text->header, text->header_size))
        return RECMAP_OK;
    return fail_memory(error);
}

/* The index of shards that only some may read may be read by no others, either. */
static void restrict_to_part(recmap_index_builder *builder, const struct build_part *part) {
    struct file_stat stat;
    if (file_stat_path(&stat, part->path)) packer_restrict(builder->packer, &stat);
}

/* Adds the parts in order. Consecutive shards are scanned together, so that all cores are used even
 * if the shards are small. */
static recmap_status add_parts(recmap_index_builder *builder, recmap_error *error) {
    recmap_status status = RECMAP_OK;
    for (size_t i = 0; i < builder->part_count; i++)
        if (builder->parts[i].index) replay_widen(builder->packer, builder->parts[i].index);
    for (size_t i = 0; status == RECMAP_OK && i < builder->part_count;) {
        struct build_part *part = &builder->parts[i];
        size_t end = i + 1;
        if (part->index) {
            builder->progress.path = part->path;
            restrict_to_part(builder, part);
            status = replay_index(builder->packer, part->index, part->resolved, error);
            if (i == 0 && builder->appends) packer_note_old_records(builder->packer);
        } else {
            while (end < builder->part_count && !builder->parts[end].index) end++;
            status = scan_parts(builder, i, end, error);
        }
        i = end;
    }
    return status;
}

/* The name of an annotated column of `index` that the new index lacks, or NULL. */
static const char *find_lost(const recmap_index_builder *builder, const struct index_file *index) {
    const struct manifest *manifest = index_manifest(index);
    for (size_t i = 0; i < manifest->column_count; i++) {
        const struct manifest_column *column = &manifest->columns[i];
        bool is_kept = !column->is_annotated;
        for (size_t k = 0; !is_kept && k < builder->options.lift_count; k++)
            is_kept = !strcmp(builder->lifts[k].name, column->name);
        if (!is_kept) return column->name;
    }
    return NULL;
}

static bool is_missing(const recmap_error *error) {
    return error->status == RECMAP_IO && error->system_errno == ENOENT;
}

/* Another index has been published at the path. Of two builds, the later one wins, but the values
 * of annotated columns are in no shard. Nothing can be kept of a damaged index. */
static recmap_status check_annotated(const recmap_index_builder *builder, recmap_error *error) {
    struct index_file *index = NULL;
    recmap_error problem = RECMAP_ERROR_INIT;
    recmap_status status = index_open(&index, builder->path, NULL, &problem);
    if (status == RECMAP_CORRUPT || is_missing(&problem)) return RECMAP_OK;
    if (status != RECMAP_OK && error) *error = problem;
    if (status != RECMAP_OK) return status;
    const char *lost = find_lost(builder, index);
    if (lost) {
        fail(error, RECMAP_STALE,
             "the index was replaced while another one was built, and has the annotated column "
             "\"%s\", which that one lacks",
             lost);
        fail_file(error, builder->path);
        fail_advise(error, "append to this index, or give the new one another name");
    }
    index_close(index);
    return lost ? RECMAP_STALE : RECMAP_OK;
}

/* Appends hold a lock, but a plain build replaces the index without one. */
static recmap_status check_not_replaced(void *context, recmap_error *error) {
    const recmap_index_builder *builder = context;
    bool is_current = false;
    if (builder->replaces)
        RETURN_IF_FAILED(is_named(&is_current, builder->path, &builder->replaced, error));
    if (is_current) return RECMAP_OK;
    if (!builder->appends) return check_annotated(builder, error);
    fail(error, RECMAP_MISMATCH, "another build replaced the index that was being appended to");
    fail_file(error, builder->path);
    fail_advise(error, "append again");
    return RECMAP_MISMATCH;
}

/* Makes the error name a shard as the caller did, instead of by its absolute path. */
static void restore_name(const recmap_index_builder *builder, recmap_error *error) {
    if (!error) return;
    for (size_t i = 0; i < builder->part_count; i++) {
        const struct build_part *part = &builder->parts[i];
        if (part->index || !part->resolved || strcmp(error->path, part->resolved)) continue;
        fail_file(error, part->path);
        return;
    }
}

/* An index without any id is useless, and in the way of the correct one. Older versions wrote such
 * indexes, and parts of a data set may lack ids: records can be added to both. */
static recmap_status check_ids(const recmap_index_builder *builder, recmap_error *error) {
    if (builder->options.is_part) return RECMAP_OK;
    if (builder->appends && index_manifest(builder->parts[0].index)->record_count) return RECMAP_OK;
    recmap_status status = packer_check_ids(builder->packer, error);
    if (status != RECMAP_OK) fail_file(error, builder->path);
    return status;
}

static recmap_status build(recmap_index_summary *summary, recmap_index_builder *builder,
                           recmap_error *error) {
    uint64_t file_count;
    RETURN_IF_FAILED(resolve_parts(builder, error));
    RETURN_IF_FAILED(check_target(builder, error));
    RETURN_IF_FAILED(part_check(&file_count, builder->parts, builder->part_count,
                                builder->options.sets, builder->storage, error));
    drop_complete_parts(builder);
    RETURN_IF_FAILED(prepare_text(builder, error));
    RETURN_IF_FAILED(add_parts(builder, error));
    RETURN_IF_FAILED(check_ids(builder, error));
    RETURN_IF_FAILED(packer_finish(builder->packer, check_not_replaced, builder, summary, error));
    summary->shard_count = file_count;
    sample_keys_report(summary, builder->sample_keys);
    shard_notices_report(summary, &builder->notices);
    return RECMAP_OK;
}

recmap_status recmap_index_builder_finish(recmap_index_summary *summary,
                                          recmap_index_builder *builder, recmap_error *error) {
    RETURN_IF_FAILED(check_unfinished(builder, error));
    builder->is_finished = true;
    recmap_index_summary result;
    struct interrupt former =
        thread_interrupt_replace(builder->options.progress ? ask_progress : NULL, builder);
    recmap_status status = build(&result, builder, error);
    thread_interrupt_restore(&former);
    if (status == RECMAP_CANCELLED) fail(error, status, "cancelled; nothing was written");
    packer_destroy(builder->packer);
    builder->packer = NULL;
    /* Release the lock now, so that a waiting append need not wait for the builder to be destroyed.
     */
    unlock_replaced(builder);
    if (status != RECMAP_OK) restore_name(builder, error);
    if (status == RECMAP_OK && summary) *summary = result;
    return status;
}
