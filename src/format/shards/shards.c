#include <recmap/shards.h>

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/core/bytes.h"
#include "base/core/error.h"
#include "base/core/interrupt.h"
#include "base/core/plural.h"
#include "base/os/file.h"
#include "base/os/list.h"
#include "base/os/tree.h"
#include "base/text/natural.h"
#include "base/words/character.h"
#include "base/words/url_prefix.h"
#include "format/shards/index_name.h"
#include "format/shards/no_shards.h"
#include "format/shards/set_choice.h"
#include "format/shards/set_name.h"
#include "format/shards/shard_name.h"
#include "format/shards/shard_source.h"
#include "format/shards/sift.h"
#include "storage/remote/signed_urls.h"

/* A larger file is not a list file. */
#define LIST_FILE_LIMIT ((uint64_t)1 << 30)
#define LIST_PIECE ((uint64_t)1 << 20)

/* List files may name list files. The limit catches those that name each other in a circle. */
#define LIST_DEPTH_LIMIT 16

struct recmap_shards {
    struct path_list list;
    struct path_list left_out; /* files in folders that are not taken for shards */
    struct path_list notes;    /* which of them may have been meant */
    enum sift_contents contents;
    bool names_one;
    struct path_list signed_urls; /* the URLs with a query, complete */
    recmap_storage *storage;      /* to list remote stores with; NULL: the defaults */
    struct set_choice choice;
    struct path_list warnings;
    struct set_register sets;
};

/* The state of expanding a name, which may lead to nested list files. */
struct list_expansion {
    unsigned depth; /* of nested list files */
    bool is_placed; /* the error already names a list file and line */
    struct path_list *left_out;
    struct path_list *signed_urls;
    recmap_storage *storage; /* or NULL */
    recmap_shards *shards;   /* to which the names are added */
};

recmap_status recmap_shards_create(recmap_shards **shards, recmap_error *error) {
    recmap_shards *fresh = calloc(1, sizeof *fresh);
    if (!fresh) return fail_memory(error);
    fresh->sets = (struct set_register)SET_REGISTER_INIT;
    *shards = fresh;
    return RECMAP_OK;
}

static void erase_signed(recmap_shards *shards) {
    for (size_t i = 0; i < shards->signed_urls.count; i++)
        explicit_bzero(shards->signed_urls.paths[i], strlen(shards->signed_urls.paths[i]));
}

void recmap_shards_destroy(recmap_shards *shards) {
    if (!shards) return;
    path_list_deinit(&shards->list);
    path_list_deinit(&shards->left_out);
    path_list_deinit(&shards->notes);
    erase_signed(shards);
    path_list_deinit(&shards->signed_urls);
    path_list_deinit(&shards->warnings);
    set_register_clear(&shards->sets);
    free(shards->choice.split);
    recmap_storage_release(shards->storage);
    free(shards);
}

recmap_status recmap_shards_set_storage(recmap_shards *shards, recmap_storage *storage,
                                        recmap_error *error) {
    recmap_storage *reference;
    RETURN_IF_FAILED(storage_retain(&reference, storage, error));
    recmap_storage_release(shards->storage);
    shards->storage = reference;
    return RECMAP_OK;
}

void recmap_shards_set_framing(recmap_shards *shards, const char *framing) {
    bool is_default = !framing || !strcmp(framing, "auto") || !strcmp(framing, "tfrecord");
    bool is_lines = !is_default && !strcmp(framing, "lines");
    shards->contents = is_default ? SIFT_TFRECORDS : is_lines ? SIFT_LINES : SIFT_OTHERS;
}

size_t recmap_shards_count(const recmap_shards *shards) {
    return shards->list.count;
}

const char *recmap_shards_path(const recmap_shards *shards, size_t index) {
    return index < shards->list.count ? shards->list.paths[index] : NULL;
}

size_t recmap_shards_left_out_count(const recmap_shards *shards) {
    return shards->left_out.count;
}

const char *recmap_shards_left_out_path(const recmap_shards *shards, size_t index) {
    return index < shards->left_out.count ? shards->left_out.paths[index] : NULL;
}

int recmap_shards_name_one(const recmap_shards *shards) {
    return shards->names_one && shards->list.count == 1;
}

size_t recmap_shards_left_out_note_count(const recmap_shards *shards) {
    return shards->notes.count;
}

const char *recmap_shards_left_out_note(const recmap_shards *shards, size_t index) {
    return index < shards->notes.count ? shards->notes.paths[index] : NULL;
}

size_t recmap_shards_signed_count(const recmap_shards *shards) {
    return shards->signed_urls.count;
}

const char *recmap_shards_signed_url(const recmap_shards *shards, size_t index) {
    return index < shards->signed_urls.count ? shards->signed_urls.paths[index] : NULL;
}

size_t recmap_shards_warning_count(const recmap_shards *shards) {
    return shards->warnings.count;
}

const char *recmap_shards_warning(const recmap_shards *shards, size_t index) {
    return index < shards->warnings.count ? shards->warnings.paths[index] : NULL;
}

static recmap_status fail_name(recmap_error *error, const char *name, const char *what,
                               const char *advice) {
    fail(error, RECMAP_INVALID, "%s", what);
    fail_file(error, name);
    fail_advise(error, "%s", advice);
    return RECMAP_INVALID;
}

/* The error for a name that does not exist. Bindings use the errno to raise the fitting exception
 * of their language. */
static recmap_status fail_missing(recmap_error *error, const char *name, const char *what) {
    fail_name(error, name, what, "");
    if (error) error->system_errno = ENOENT;
    return RECMAP_INVALID;
}

static int compare_paths(const void *a, const void *b) {
    return natural_compare(*(char *const *)a, *(char *const *)b);
}

static recmap_status add_file(struct path_list *list, const char *path, recmap_error *error) {
    return path_list_add(list, strdup(path)) ? RECMAP_OK : fail_memory(error);
}

/* A folder may contain links to files that do not exist. Such a shard is an error, like one that
 * was named. */
static recmap_status check_links(const struct path_list *list, size_t first, recmap_error *error) {
    for (size_t i = first; i < list->count; i++) {
        enum path_kind kind;
        RETURN_IF_FAILED(path_get_kind(&kind, list->paths[i], error));
        RETURN_IF_FAILED(interrupt_check(thread_interrupt(), PATH_WORK, error));
        if (kind != PATH_MISSING) continue;
        fail_missing(error, list->paths[i], "there is no such file: the link is broken");
        fail_advise(error, "restore the file that it leads to, or remove the link");
        return RECMAP_INVALID;
    }
    return RECMAP_OK;
}

static struct sift sift_of(const struct list_expansion *expansion) {
    recmap_shards *shards = expansion->shards;
    return (struct sift){shards->contents, expansion->storage, expansion->left_out, &shards->notes};
}

static recmap_status list_files(struct path_list *list, const char *folder,
                                struct list_expansion *expansion, recmap_error *error) {
    size_t first = list->count;
    struct sift sift = sift_of(expansion);
    RETURN_IF_FAILED(list_folder(list, folder, shard_name_is_possible, error));
    RETURN_IF_FAILED(path_list_sort(list, first, compare_paths, error));
    RETURN_IF_FAILED(sift_folder(list, first, folder, &sift, error));
    return check_links(list, first, error);
}

static recmap_status add_folder(struct path_list *list, const char *name,
                                struct list_expansion *expansion, recmap_error *error) {
    char *folder = strdup(name);
    if (!folder) return fail_memory(error);
    for (size_t end = strlen(folder); end > 1 && folder[end - 1] == '/';) folder[--end] = 0;
    size_t first = list->count, first_left_out = expansion->left_out->count;
    recmap_status status = list_files(list, folder, expansion, error);
    free(folder);
    RETURN_IF_FAILED(status);
    if (list->count == first)
        return no_shards_fail_folder(name, expansion->left_out, first_left_out, error);
    return path_list_sort(expansion->left_out, first_left_out, compare_paths, error);
}

static const char *start_of_names(unsigned depth) {
    return depth ? "relative names start at the list file's folder"
                 : "relative paths start at the current folder";
}

static recmap_status add_matches(struct path_list *list, const char *pattern,
                                 struct list_expansion *expansion, recmap_error *error) {
    char advice[160];
    struct path_list *left_out = expansion->left_out;
    size_t first = list->count, first_left_out = left_out->count;
    struct sift sift = sift_of(expansion);
    RETURN_IF_FAILED(tree_list(list, pattern, shard_name_is_possible, error));
    RETURN_IF_FAILED(path_list_sort(list, first, compare_paths, error));
    RETURN_IF_FAILED(sift_matches(list, first, pattern, &sift, error));
    RETURN_IF_FAILED(path_list_sort(left_out, first_left_out, compare_paths, error));
    snprintf(advice, sizeof advice, "check the pattern; %s%s", start_of_names(expansion->depth),
             strchr(pattern, '[') ? "; write [[] for a [ that is part of a name" : "");
    if (list->count == first)
        return no_shards_fail(pattern, "no file matches", advice, left_out, first_left_out, error);
    return check_links(list, first, error);
}

/* Names the files that the set consists of, because the end of their names is often forgotten. */
static void advise_set(const struct set_name *set, recmap_error *error) {
    char *last = set_name_format(set, set->count - 1);
    const char *shown = last ? last : "the last";
    char shards[32] = "the only shard";
    if (set->count > 1) snprintf(shards, sizeof shards, "all %u shards", set->count);
    if (set->end[0])
        fail_advise(error,
                    "%.100s means %s of a set, up to %.100s; restore the file, or correct the "
                    "number",
                    set->path, shards, shown);
    else
        fail_advise(error,
                    "%.100s means %s of a set, up to %.100s; write what follows in their names "
                    "after the number, such as %.*s@%u.tfrecord",
                    set->path, shards, shown, (int)(set->name_size < 100 ? set->name_size : 100),
                    set->path, set->count);
    free(last);
}

static recmap_status fail_set(const struct set_name *set, const char *missing,
                              recmap_error *error) {
    fail_missing(error, missing, "there is no such file");
    advise_set(set, error);
    return RECMAP_INVALID;
}

static recmap_status check_is_there(const struct set_name *set, const char *path,
                                    recmap_error *error) {
    enum path_kind kind;
    RETURN_IF_FAILED(path_get_kind(&kind, path, error));
    if (kind == PATH_MISSING) return fail_set(set, path, error);
    return interrupt_check(thread_interrupt(), PATH_WORK, error);
}

static recmap_status add_set(struct path_list *list, const struct set_name *set,
                             recmap_error *error) {
    for (unsigned i = 0; i < set->count; i++) {
        char *path = set_name_format(set, i);
        if (!path) return fail_memory(error);
        recmap_status status = check_is_there(set, path, error);
        if (status != RECMAP_OK) {
            free(path);
            return status;
        }
        if (!path_list_add(list, path)) return fail_memory(error);
    }
    return RECMAP_OK;
}

static recmap_status add_name(struct path_list *list, const char *name,
                              struct list_expansion *expansion, recmap_error *error);

/* A line of the list file at `list_path`; `line` is NUL-terminated. */
static recmap_status add_line(struct path_list *list, const char *list_path, const char *line,
                              struct list_expansion *expansion, recmap_error *error) {
    bool is_list = line[0] == '@';
    const char *name = line + is_list;
    if (shard_name_is_absolute(name)) return add_name(list, line, expansion, error);
    char *folder = path_folder(list_path);
    /* Names in a list file of the current folder are used as they are written. */
    char *path = !folder ? NULL : strcmp(folder, ".") ? path_join(folder, name) : strdup(name);
    free(folder);
    if (!path) return fail_memory(error);
    size_t size = strlen(path) + 2;
    char *whole = malloc(size);
    if (whole) snprintf(whole, size, "%s%s", is_list ? "@" : "", path);
    free(path);
    if (!whole) return fail_memory(error);
    recmap_status status = add_name(list, whole, expansion, error);
    free(whole);
    return status;
}

static bool is_blank(const char *line) {
    return !line[strspn(line, " \t\r")];
}

/* Adds list file and line to an error. Of nested list files, the innermost one is named. */
static void place_error(recmap_error *error, struct list_expansion *expansion,
                        const char *list_path, uint64_t number) {
    if (!error || expansion->is_placed || error->status == RECMAP_NO_MEMORY ||
        error->status == RECMAP_CANCELLED)
        return;
    recmap_error inner = *error;
    fail(error, inner.status, "line %" PRIu64 ": %s: %s", number, inner.path, inner.message);
    fail_at(error, list_path, inner.record, inner.offset);
    fail_advise(error, "%s", inner.advice);
    if (inner.status == RECMAP_IO && inner.system_errno == ENOENT)
        fail_advise(error, "check the path; %s", start_of_names(1));
    error->system_errno = inner.system_errno;
    expansion->is_placed = true;
}

/* Splits the text in place: each line end becomes a NUL. Blank lines and comments are ignored, and
 * a CR before the LF is removed. */
static recmap_status add_lines(struct path_list *list, const char *list_path, char *text,
                               size_t size, struct list_expansion *expansion, recmap_error *error) {
    uint64_t number = 1;
    for (char *line = text, *end = text + size; line < end; number++) {
        char *newline = memchr(line, '\n', (size_t)(end - line));
        char *stop = newline ? newline : end;
        *stop = 0;
        if (stop > line && stop[-1] == '\r') stop[-1] = 0;
        if (!is_blank(line) && line[0] != '#') {
            recmap_status status = add_line(list, list_path, line, expansion, error);
            if (status == RECMAP_OK) status = interrupt_check(thread_interrupt(), PATH_WORK, error);
            if (status != RECMAP_OK) {
                place_error(error, expansion, list_path, number);
                return status;
            }
        }
        line = stop + 1;
    }
    return RECMAP_OK;
}

/* Reads the whole file. The limit and the search for NUL bytes, which stops at the first piece that
 * has one, catch shards that are named with an @ by mistake. The caller frees the text, also after
 * an error. */
static recmap_status read_text(char **text, size_t *size, int fd, const char *path,
                               recmap_error *error) {
    struct file_stat stat;
    RETURN_IF_FAILED(file_get_stat(&stat, fd, path, error));
    if (stat.size > LIST_FILE_LIMIT)
        return fail_name(error, path, "is too large for a list file",
                         "a list file names one shard per line; to add the file itself, omit the "
                         "@");
    *size = (size_t)stat.size;
    *text = malloc(*size + 1);
    if (!*text) return fail_memory(error);
    for (size_t at = 0, piece; at < *size; at += piece) {
        piece = (size_t)min_u64(*size - at, LIST_PIECE);
        RETURN_IF_FAILED(file_read_at(fd, *text + at, piece, at, path, error));
        if (memchr(*text + at, 0, piece))
            return fail_name(
                error, path, "is not a list file: it contains NUL bytes",
                "a list file names one shard per line; to add the file itself, omit the @");
    }
    return RECMAP_OK;
}

static recmap_status read_list(char **text, size_t *size, const char *path, recmap_error *error) {
    int fd;
    RETURN_IF_FAILED(file_open(&fd, path, error));
    recmap_status status = read_text(text, size, fd, path, error);
    file_close(fd);
    return status;
}

static recmap_status add_list(struct path_list *list, const char *path,
                              struct list_expansion *expansion, recmap_error *error) {
    if (expansion->depth >= LIST_DEPTH_LIMIT)
        return fail_name(error, path, "list files are nested too deeply",
                         "look for a list file that names itself");
    char *text = NULL;
    size_t size = 0;
    size_t first = list->count;
    recmap_status status = read_list(&text, &size, path, error);
    expansion->depth++;
    if (status == RECMAP_OK) status = add_lines(list, path, text, size, expansion, error);
    assert(expansion->depth > 0);
    expansion->depth--;
    free(text);
    if (status == RECMAP_OK && list->count == first)
        return fail_name(error, path, "the list file names no shards", "write one name per line");
    return status;
}

/* The error for a name that neither exists nor means anything else. */
static recmap_status fail_unknown(recmap_error *error, const char *name, unsigned depth) {
    const char *count = set_name_find_count(name), *start = start_of_names(depth);
    fail_missing(error, name, "there is no such file or folder");
    if (strchr(name, '{'))
        fail_advise(error,
                    "recmap does not expand braces: use the wildcards * and ?, or name all N "
                    "shards of a set as NAME@N");
    else if (!count) fail_advise(error, "check the path; %s", start);
    else if (is_digit(*count))
        fail_advise(error,
                    "NAME@N means all shards of a set, with N from 1 to %d without leading zeros; "
                    "otherwise check the path; %s",
                    SET_SHARDS_MAX, start);
    else fail_advise(error, "check the path, or name all N shards of a set as NAME@N; %s", start);
    return RECMAP_INVALID;
}

static bool is_folder_url(const char *name) {
    const char *rest = name + url_prefix_size(name);
    return !strchr(rest, '/') || name[strlen(name) - 1] == '/';
}

/* Returns true if the URL has wildcards. The brackets of an IPv6 address are none. */
static bool is_url_pattern(const char *name) {
    const char *rest = name + url_prefix_size(name);
    size_t size = *rest == '[' ? strcspn(rest, "]/") : 0;
    bool is_address = size && rest[size] == ']' && strchr(":/", rest[size + 1]);
    return strpbrk(is_address ? rest + size : rest, "*?[") != NULL;
}

/* All shards of a set, by number, whether they exist or not. */
static recmap_status add_planned_set(struct path_list *list, const struct set_name *set,
                                     recmap_error *error) {
    for (unsigned i = 0; i < set->count; i++)
        if (!path_list_add(list, set_name_format(set, i))) return fail_memory(error);
    return RECMAP_OK;
}

/* The objects of a folder, or those that match a pattern. */
static recmap_status add_objects(struct path_list *list, const char *name, bool is_folder,
                                 const struct list_expansion *expansion, recmap_error *error) {
    recmap_storage *storage = NULL;
    struct path_list *left_out = expansion->left_out;
    struct sift sift = sift_of(expansion);
    size_t first = list->count, first_left_out = left_out->count;
    RETURN_IF_FAILED(storage_retain(&storage, expansion->storage, error));
    recmap_status status = remote_list(list, storage, name, shard_name_is_possible, error);
    recmap_storage_release(storage);
    if (status != RECMAP_OK) return status;
    RETURN_IF_FAILED(path_list_sort(list, first, compare_paths, error));
    RETURN_IF_FAILED(is_folder ? sift_folder(list, first, name, &sift, error)
                               : sift_matches(list, first, name, &sift, error));
    RETURN_IF_FAILED(path_list_sort(left_out, first_left_out, compare_paths, error));
    if (list->count == first)
        return no_shards_fail(name, "no object matches",
                              "check the URL, the endpoint and the credentials", left_out,
                              is_folder ? left_out->count : first_left_out, error);
    return RECMAP_OK;
}

/* A URL: a pattern, a folder, a set, or a single object. */
static recmap_status add_remote(struct path_list *list, const char *name,
                                const struct list_expansion *expansion, recmap_error *error) {
    struct set_name set;
    RETURN_IF_FAILED(remote_check_url(name, expansion->storage, error));
    bool is_pattern = is_url_pattern(name);
    bool is_folder = !is_pattern && is_folder_url(name);
    if (is_folder || is_pattern) return add_objects(list, name, is_folder, expansion, error);
    /* An object that does not exist is noticed when it is read. */
    return set_name_parse(&set, name) ? add_planned_set(list, &set, error)
                                      : add_file(list, name, error);
}

/* Keeps the complete URL of a shard that is named without its query. */
static recmap_status keep_signed(const struct list_expansion *expansion, const char *path,
                                 const char *query, recmap_error *error) {
    size_t size = strlen(path) + strlen(query) + 1;
    char *url = malloc(size);
    if (url) snprintf(url, size, "%s%s", path, query);
    recmap_status status = RECMAP_OK;
    if (url && expansion->storage) status = recmap_storage_add_url(expansion->storage, url, error);
    return path_list_add(expansion->signed_urls, url) ? status : fail_memory(error);
}

/* A presigned URL. Shards are named without the query, which is a credential and changes whenever
 * the URL is signed again. A signature that is valid for a whole folder may sign a set. */
static recmap_status add_signed(struct path_list *list, const char *name,
                                const struct list_expansion *expansion, recmap_error *error) {
    size_t first = list->count, size = signed_url_bare_size(name);
    char *bare = strndup(name, size);
    if (!bare) return fail_memory(error);
    recmap_status status = add_remote(list, bare, expansion, error);
    free(bare);
    for (size_t i = first; status == RECMAP_OK && i < list->count; i++)
        status = keep_signed(expansion, list->paths[i], name + size, error);
    return status;
}

static enum set_source source_of(const char *name, enum path_kind kind) {
    if (kind == PATH_FOLDER) return SET_SOURCE_FOLDER;
    if (kind != PATH_MISSING || signed_url_is_signed(name)) return SET_SOURCE_NAME;
    bool is_url = url_is_url(name);
    if (is_url ? is_url_pattern(name) : strpbrk(name, "*?[") != NULL) return SET_SOURCE_PATTERN;
    return is_url && is_folder_url(name) ? SET_SOURCE_FOLDER : SET_SOURCE_NAME;
}

/* The same, but NAME@N of a set that is there is a name, even if it has wildcards. */
static recmap_status find_source(enum set_source *source, const char *name, enum path_kind kind,
                                 recmap_error *error) {
    struct set_name set;
    *source = source_of(name, kind);
    if (*source != SET_SOURCE_PATTERN || url_is_url(name) || !set_name_parse(&set, name))
        return RECMAP_OK;
    char *first = set_name_format(&set, 0);
    if (!first) return fail_memory(error);
    recmap_status status = path_get_kind(&kind, first, error);
    free(first);
    if (status == RECMAP_OK && kind != PATH_MISSING) *source = SET_SOURCE_NAME;
    return status;
}

static recmap_status expand_name(struct path_list *list, const char *name, enum path_kind kind,
                                 enum set_source source, struct list_expansion *expansion,
                                 recmap_error *error) {
    if (kind == PATH_MISSING && signed_url_is_signed(name))
        return add_signed(list, name, expansion, error);
    if (kind == PATH_MISSING && url_is_url(name)) return add_remote(list, name, expansion, error);
    if (kind == PATH_FOLDER) return add_folder(list, name, expansion, error);
    if (kind != PATH_MISSING) return add_file(list, name, error);
    struct set_name set;
    if (source == SET_SOURCE_PATTERN) return add_matches(list, name, expansion, error);
    if (set_name_parse(&set, name)) return add_set(list, &set, error);
    return fail_unknown(error, name, expansion->depth);
}

/* Returns true if the list has one shard, which is named itself, or a pattern with its number. */
static bool shards_name_one(const struct path_list *list, const char *name,
                            enum set_source source) {
    struct set_member member;
    if (list->count != 1 || source == SET_SOURCE_FOLDER) return false;
    if (source == SET_SOURCE_NAME) return !strcmp(list->paths[0], name);
    return set_member_parse(&member, list->paths[0]) && set_member_has_number(&member, name);
}

/* Existing files take precedence over special meanings of a name: a file may be called `@a` or
 * `[1].tfrecord`. Names in a list file are like names that are added one after the other. */
static recmap_status add_name(struct path_list *list, const char *name,
                              struct list_expansion *expansion, recmap_error *error) {
    enum path_kind kind;
    size_t first = list->count;
    recmap_shards *shards = expansion->shards;
    RETURN_IF_FAILED(path_get_kind(&kind, name, error));
    if (kind == PATH_MISSING && name[0] == '@') return add_list(list, name + 1, expansion, error);
    enum set_source source;
    RETURN_IF_FAILED(find_source(&source, name, kind, error));
    RETURN_IF_FAILED(expand_name(list, name, kind, source, expansion, error));
    RETURN_IF_FAILED(
        set_choice_apply(list, first, name, source, &shards->choice, &shards->warnings, error));
    shards->names_one = shards_name_one(list, name, source);
    if (shards->choice.joins_all) return RECMAP_OK;
    return set_register_check(&shards->sets, list, first, name, error);
}

recmap_status recmap_shards_add(recmap_shards *shards, const char *name, recmap_error *error) {
    size_t first = shards->list.count, left_out = shards->left_out.count;
    size_t first_signed = shards->signed_urls.count, first_warning = shards->warnings.count;
    size_t first_note = shards->notes.count;
    struct list_expansion expansion = {
        0, false, &shards->left_out, &shards->signed_urls, shards->storage, shards};
    recmap_status status = add_name(&shards->list, name, &expansion, error);
    if (status == RECMAP_OK) return RECMAP_OK;
    path_list_cut(&shards->list, first);
    path_list_cut(&shards->left_out, left_out);
    path_list_cut(&shards->signed_urls, first_signed);
    path_list_cut(&shards->warnings, first_warning);
    path_list_cut(&shards->notes, first_note);
    set_register_clear(&shards->sets);
    return status;
}

recmap_status recmap_shards_add_planned(recmap_shards *shards, const char *name,
                                        recmap_error *error) {
    struct set_name set;
    size_t first = shards->list.count;
    if (set_name_is_impossible(name)) {
        fail(error, RECMAP_INVALID, "a set has 1 to %d shards", SET_SHARDS_MAX);
        fail_file(error, name);
        fail_advise(error, "write NAME@N, where N is the number of shards");
        return RECMAP_INVALID;
    }
    recmap_status status = set_name_parse(&set, name) ? add_planned_set(&shards->list, &set, error)
                                                      : add_file(&shards->list, name, error);
    if (status != RECMAP_OK) path_list_cut(&shards->list, first);
    return status;
}

recmap_status recmap_shards_choose_sets(recmap_shards *shards, const char *split, recmap_sets sets,
                                        recmap_error *error) {
    char *copy = NULL;
    if (sets != RECMAP_SETS_ERROR && sets != RECMAP_SETS_ALL)
        return fail(error, RECMAP_INVALID, "invalid choice of sets: %d", (int)sets);
    if (split && (!*split || strchr(split, '/'))) {
        fail(error, RECMAP_INVALID, "'%.100s' is not the name of a split", split);
        fail_advise(error, "a split is a part of the names of shards, such as train");
        return RECMAP_INVALID;
    }
    if (split && !(copy = strdup(split))) return fail_memory(error);
    free(shards->choice.split);
    shards->choice = (struct set_choice){copy, sets == RECMAP_SETS_ALL};
    return RECMAP_OK;
}

typedef recmap_status write_index_name(char *path, size_t capacity, char *const *shards,
                                       size_t count, recmap_error *error);

static recmap_status write_index_path(char *path, size_t capacity, const recmap_shards *shards,
                                      write_index_name *write, recmap_error *error) {
    const struct path_list *list = &shards->list;
    if (list->count) return write(path, capacity, list->paths, list->count, error);
    return fail(error, RECMAP_INVALID,
                "there are no shards from which to derive the name of the index");
}

recmap_status recmap_shards_index_path(char *path, size_t capacity, const recmap_shards *shards,
                                       recmap_error *error) {
    return write_index_path(path, capacity, shards, index_name_write, error);
}

recmap_status recmap_shards_old_index_path(char *path, size_t capacity, const recmap_shards *shards,
                                           recmap_error *error) {
    return write_index_path(path, capacity, shards, index_name_write_old, error);
}
