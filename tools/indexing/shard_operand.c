#include "indexing/shard_operand.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <recmap/index.h>
#include <recmap/shards.h>

#include "base/words/url_prefix.h"
#include "indexing/missing_shards.h"
#include "output/same_file.h"
#include "terminal/interrupt.h"
#include "terminal/message.h"
#include "terminal/progress_bar.h"

enum { PATH_SIZE = 4096 };

/* ---- What the operand is. */

static bool is_index_name(const char *path) {
    size_t size = strncmp(path, "http", 4) != 0 ? strlen(path) : strcspn(path, "?");
    return size > 4 && !strncmp(path + size - 4, ".rmx", 4);
}

/* Everything that can be opened as an index is one, whatever its name. */
static bool is_index(const char *path) {
    recmap_dataset *dataset = NULL;
    recmap_dataset_options options = RECMAP_DATASET_OPTIONS_INIT;
    options.allow_absolute_paths = options.allow_urls = options.allow_missing_shards = 1;
    recmap_status status = recmap_dataset_open(&dataset, path, &options, NULL);
    recmap_dataset_close(dataset);
    return status != RECMAP_CORRUPT;
}

/* A file that is not there is reported as such, unless its name stands for several. */
bool shard_operand_is_named(const struct args *args) {
    const char *path = args->operands[0];
    struct stat file;
    if (url_is_url(path)) return !is_index_name(path);
    if (stat(path, &file)) return strpbrk(path, "*?[@") && !is_index_name(path);
    if (S_ISDIR(file.st_mode)) return true;
    return S_ISREG(file.st_mode) && !is_index_name(path) && !is_index(path);
}

/* ---- Its index. */

/* What the index has of a shard. */
struct listed_shard {
    char *name;     /* the path of the shard in the index; NULL: the index lacks the shard */
    uint64_t first; /* the number of its first entry */
    uint64_t end;   /* the byte of the shard at which its last entry ends */
};

/* The shards that an operand stands for, and the index at their default path. */
struct source {
    const struct args *args;
    recmap_dataset_options options;
    recmap_shards *shards;
    char path[PATH_SIZE];
    recmap_dataset *dataset;
    struct listed_shard *listed; /* one for each shard; NULL: there is no index */
    size_t known;                /* how many shards the index has */
    uint64_t missing; /* how many entries of the index are of shards that are not there */
    size_t next;      /* the shard after the last compared entry's */
};

/* The library's advice names options of `recmap index`. */
static void advise_on_sets(recmap_error *error) {
    if (!strstr(error->advice, "`--sets all`")) return;
    snprintf(error->advice, sizeof error->advice,
             "name the shards of one; or choose them by `recmap index` with --split or --sets and "
             "-o NAME.rmx, and name that index");
}

/* What to do about several sets is what `recmap index` can do. */
static void print_warning(const char *text) {
    const char *end = strstr(text, ". To read one,");
    int size = end ? (int)(end - text) : (int)strlen(text);
    message("%.*s%s", size, text,
            end ? ". To read one, name its shards; or choose by `recmap index` with --split or "
                  "--sets and -o NAME.rmx, and name that index"
                : "");
}

static recmap_status list_shards(struct source *source, recmap_error *error) {
    recmap_status status = args_prepare_storage(&source->options, error);
    if (status == RECMAP_OK) status = recmap_shards_create(&source->shards, error);
    if (status == RECMAP_OK)
        status = recmap_shards_set_storage(source->shards, source->options.storage, error);
    if (status == RECMAP_OK)
        status = recmap_shards_add(source->shards, source->args->operands[0], error);
    if (status != RECMAP_OK) advise_on_sets(error);
    if (status != RECMAP_OK) return status;
    for (size_t i = 0; i < recmap_shards_warning_count(source->shards); i++)
        print_warning(recmap_shards_warning(source->shards, i));
    for (size_t i = 0; i < recmap_shards_left_out_note_count(source->shards); i++)
        message("%s", recmap_shards_left_out_note(source->shards, i));
    return recmap_shards_find_index(source->path, sizeof source->path, source->shards, error);
}

static recmap_status open_index(struct source *source, recmap_error *error) {
    recmap_dataset_close(source->dataset);
    source->dataset = NULL;
    return recmap_dataset_open(&source->dataset, source->path, &source->options, error);
}

static recmap_status fail_other(const struct source *source, const char *shard,
                                recmap_error *error) {
    return message_fail(error, RECMAP_STALE, source->path,
                        "name the index itself to use it, or build another one with "
                        "`recmap index -o NAME.rmx`, and name that",
                        "the index is of other shards: one is %.1000s", shard);
}

/* Some entries of the index are of shards that are not there. */
static recmap_status fail_missing(const struct source *source, const char *shard,
                                  recmap_error *error) {
    uint64_t indexed = recmap_dataset_get_info(source->dataset)->file_count;
    size_t given = recmap_shards_count(source->shards);
    if (!source->known || indexed <= given) return fail_other(source, shard, error);
    struct stat file;
    if (!url_is_url(shard) && !stat(shard, &file))
        return message_fail(error, RECMAP_STALE, source->path,
                            "name all of its shards; or build an index of these alone with "
                            "`recmap index -o NAME.rmx`, and name that",
                            "the index has %" PRIu64
                            " shards, but only %zu %s given: it is also of %.1000s",
                            indexed, given, given == 1 ? "was" : "were", shard);
    return message_fail(error, RECMAP_STALE, source->path,
                        "restore it, or name it too. To continue without its records, build "
                        "another index with `recmap index -o NAME.rmx`, and name that",
                        "the index has %" PRIu64
                        " shards, but only %zu %s given; the first that is "
                        "missing is %.1000s",
                        indexed, given, given == 1 ? "was" : "were", shard);
}

static recmap_status fail_order(const struct source *source, const char *shard,
                                recmap_error *error) {
    return message_fail(error, RECMAP_STALE, source->path,
                        "list new shards last; or name the index itself to use it",
                        "the list has another order than the index, of which the next shard is "
                        "%.1000s",
                        shard);
}

static size_t folder_size(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? (size_t)(slash - path) + 1 : 0;
}

static bool same_folder(const char *a, const char *b) {
    char folder_a[PATH_SIZE], folder_b[PATH_SIZE];
    struct stat stat_a;
    snprintf(folder_a, sizeof folder_a, "%.*s.", (int)folder_size(a), a);
    snprintf(folder_b, sizeof folder_b, "%.*s.", (int)folder_size(b), b);
    return !stat(folder_a, &stat_a) && same_file(folder_b, &stat_a);
}

/* Returns true if the paths name one entry of a folder: a file or a link. */
static bool same_entry(const char *a, const char *b) {
    if (!strcmp(a, b)) return true;
    return !url_is_url(a) && !strcmp(a + folder_size(a), b + folder_size(b)) && same_folder(a, b);
}

static bool same_target(const char *a, const char *b) {
    struct stat stat_a;
    return !stat(a, &stat_a) && same_file(b, &stat_a);
}

/* Finds the shard of an entry of the index, or returns the number of shards. Entries mostly have
 * the order of the shards, but what was appended to a shard, or between two, follows all others. A
 * shard has one name: several links to one file are several shards. */
static size_t find_shard(const struct source *source, const char *path,
                         bool is_same(const char *a, const char *b)) {
    size_t count = recmap_shards_count(source->shards);
    for (size_t i = 0; i < count; i++) {
        size_t shard = (source->next + i) % count;
        const char *name = source->listed[shard].name;
        if (name ? !strcmp(name, path) : is_same(recmap_shards_path(source->shards, shard), path))
            return shard;
    }
    return count;
}

/* Whoever writes a list chooses the order of its shards. */
static bool is_list(const struct source *source) {
    return source->args->operands[0][0] == '@';
}

static recmap_status add_entry(struct source *source, size_t shard, uint64_t entry,
                               const char *path, recmap_error *error) {
    struct listed_shard *listed = &source->listed[shard];
    recmap_shard_info info;
    RETURN_IF_FAILED(recmap_dataset_get_shard(&info, source->dataset, entry, error));
    if (!listed->name) {
        listed->first = entry;
        listed->name = strdup(path);
        source->known++;
    }
    if (!listed->name) return message_fail_memory(error);
    listed->end = info.first_byte + info.size;
    source->next = shard + 1;
    return RECMAP_OK;
}

/* Finds the shards of all entries. `missing` becomes the number of those without one, and
 * `first_missing` the path of the first. */
static recmap_status match_entries(struct source *source, char first_missing[PATH_SIZE],
                                   bool follows_links, recmap_error *error) {
    uint64_t count = recmap_dataset_get_info(source->dataset)->shard_count;
    size_t shard_count = recmap_shards_count(source->shards);
    source->missing = source->next = 0;
    for (uint64_t i = 0; i < count; i++) {
        char path[PATH_SIZE];
        RETURN_IF_FAILED(recmap_dataset_shard_path(path, sizeof path, source->dataset, i, error));
        size_t shard = find_shard(source, path, same_entry);
        if (shard == shard_count && follows_links) shard = find_shard(source, path, same_target);
        if (shard < shard_count) RETURN_IF_FAILED(add_entry(source, shard, i, path, error));
        else if (!source->missing++) memcpy(first_missing, path, sizeof path);
    }
    return RECMAP_OK;
}

/* The shard of the index that follows the one whose first entry is `previous`. */
static const char *find_following(const struct source *source, uint64_t previous) {
    const struct listed_shard *next = NULL;
    for (size_t i = 0; i < recmap_shards_count(source->shards); i++) {
        const struct listed_shard *listed = &source->listed[i];
        if (listed->name && listed->first >= previous && (!next || listed->first < next->first))
            next = listed;
    }
    return next ? next->name : "";
}

/* The shards of the index must be the first of a list, in the order of the index. */
static recmap_status check_order(const struct source *source, recmap_error *error) {
    uint64_t next = 0;
    for (size_t i = 0; is_list(source) && i < source->known; i++) {
        const char *due = find_following(source, next);
        if (source->listed[i].name != due) return fail_order(source, due, error);
        next = source->listed[i].first + 1;
    }
    return RECMAP_OK;
}

static void forget_listed(struct source *source) {
    for (size_t i = 0; source->listed && i < recmap_shards_count(source->shards); i++)
        free(source->listed[i].name);
    free(source->listed);
    source->listed = NULL;
    source->known = 0;
}

/* All shards of the index must be named. Others, and what those that grew have more, are to be
 * appended; that a shard was cut is found when it is read. */
static recmap_status compare(struct source *source, recmap_error *error) {
    char missing[PATH_SIZE] = "";
    forget_listed(source);
    source->listed = calloc(recmap_shards_count(source->shards), sizeof *source->listed);
    if (!source->listed) return message_fail_memory(error);
    RETURN_IF_FAILED(match_entries(source, missing, false, error));
    if (source->missing) RETURN_IF_FAILED(match_entries(source, missing, true, error));
    if (source->missing) return fail_missing(source, missing, error);
    return check_order(source, error);
}

/* Returns true if the index, if there is one, lacks records of the shard. Reading an object of a
 * store compares it with the index. */
static bool lacks(const struct source *source, size_t i) {
    const char *path = recmap_shards_path(source->shards, i);
    struct stat file;
    if (!source->listed || !source->listed[i].name) return true;
    return !url_is_url(path) && !stat(path, &file) &&
           (uint64_t)file.st_size > source->listed[i].end;
}

static bool is_complete(const struct source *source) {
    size_t count = recmap_shards_count(source->shards), i = 0;
    while (i < count && !lacks(source, i)) i++;
    return i == count;
}

/* Adds the shards that the index lacks, and those that it has, under their names there: the builder
 * checks that they are unchanged. That would take a request for each object of a store, which is
 * compared when it is read. */
static recmap_status add_shards(recmap_index_builder *builder, const struct source *source,
                                recmap_error *error) {
    if (source->dataset)
        RETURN_IF_FAILED(recmap_index_builder_add_index(builder, source->path, error));
    for (size_t i = 0; i < recmap_shards_count(source->shards); i++) {
        const char *path = recmap_shards_path(source->shards, i);
        const char *name = source->listed ? source->listed[i].name : NULL;
        if (name && url_is_url(path)) continue;
        RETURN_IF_FAILED(recmap_index_builder_add_shard(builder, name ? name : path, error));
    }
    return RECMAP_OK;
}

/* New shards are assumed to have the framing of the last one. */
static const char *find_framing(const struct source *source) {
    recmap_shard_info last;
    uint64_t count = source->dataset ? recmap_dataset_get_info(source->dataset)->shard_count : 0;
    bool has_last = count &&
                    recmap_dataset_get_shard(&last, source->dataset, count - 1, NULL) == RECMAP_OK;
    return has_last ? last.framing : source->args->framing;
}

/* Says so if shards were appended that are not the last ones: the records are not in the order of
 * the shards, which only building again would change. */
static void report_order(const struct source *source) {
    size_t first = 0, last = recmap_shards_count(source->shards);
    if (!source->listed) return;
    while (last && !source->listed[last - 1].name) last--;
    while (first < last && source->listed[first].name) first++;
    if (first < last)
        message("%s: the records of %s follow those of all other shards, because the index had "
                "shards after it",
                source->path, recmap_shards_path(source->shards, first));
}

static void report(const struct source *source, const recmap_index_summary *summary) {
    message("%s: indexed %" PRIu64 " record%s", source->path, summary->record_count,
            plural(summary->record_count));
    report_order(source);
    bool is_file = recmap_shards_count(source->shards) == 1 &&
                   !strcmp(source->args->operands[0], recmap_shards_path(source->shards, 0));
    missing_shards_warn(source->path, is_file, false, &source->options);
}

/* Builds the index, or appends the shards that the open one lacks. */
static recmap_status build(const struct source *source, recmap_error *error) {
    recmap_index_builder *builder = NULL;
    recmap_index_summary summary;
    struct progress_bar progress = progress_bar_start("indexing");
    recmap_access access = source->options.access;
    recmap_index_options options = RECMAP_INDEX_OPTIONS_INIT;
    options.progress = progress_bar_report;
    options.progress_context = &progress;
    options.guard = 1;
    options.inherits = 1;
    options.framing = find_framing(source);
    options.reads_shards = access == RECMAP_ACCESS_READ || access == RECMAP_ACCESS_DIRECT;
    options.storage = source->options.storage;
    recmap_status status = recmap_index_builder_create(&builder, source->path, &options, error);
    if (status == RECMAP_OK) status = add_shards(builder, source, error);
    if (status == RECMAP_OK) status = recmap_index_builder_finish(&summary, builder, error);
    recmap_index_builder_destroy(builder);
    progress_bar_clear(&progress);
    if (status == RECMAP_OK) report(source, &summary);
    return status;
}

/* Another process may append the same shards meanwhile. The builder then refuses them, but the
 * index has them. */
static recmap_status open_or_extend(struct source *source, recmap_error *error) {
    recmap_status status = open_index(source, error);
    if (status == RECMAP_OK) status = compare(source, error);
    if (status != RECMAP_OK || is_complete(source)) return status;
    status = build(source, error);
    if (status == RECMAP_OK) return open_index(source, error);
    if (status != RECMAP_INVALID && status != RECMAP_STALE) return status;
    recmap_error ignored = RECMAP_ERROR_INIT;
    bool is_extended = open_index(source, &ignored) == RECMAP_OK &&
                       compare(source, &ignored) == RECMAP_OK && is_complete(source);
    return is_extended ? RECMAP_OK : status;
}

static recmap_status find_index(struct source *source, recmap_error *error) {
    struct stat file;
    recmap_status status = list_shards(source, error);
    if (status != RECMAP_OK) return status;
    if (!lstat(source->path, &file)) return open_or_extend(source, error);
    status = build(source, error);
    return status == RECMAP_OK ? open_index(source, error) : status;
}

int shard_operand_open(recmap_dataset **dataset, char **path, const struct args *args) {
    recmap_error error = RECMAP_ERROR_INIT;
    struct source source = {.args = args, .options = args->dataset_options};
    if (args->dataset_options.shards)
        return args_usage_error(args, "--shards is for an index (NAME.rmx), not for shards");
    interrupt_watch();
    recmap_status status = find_index(&source, &error);
    forget_listed(&source);
    recmap_shards_destroy(source.shards);
    if (status == RECMAP_OK && !(*path = strdup(source.path))) status = message_fail_memory(&error);
    if (status != RECMAP_OK) {
        recmap_dataset_close(source.dataset);
        return interrupt_finish(message_print(&error));
    }
    *dataset = source.dataset;
    interrupt_unwatch();
    return interrupt_finish(0);
}
