#include "dataset/open/shard_folder.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/core/error.h"
#include "base/core/redact.h"
#include "base/os/file.h"
#include "base/words/url_prefix.h"
#include "format/shards/shard_name.h"

/* Shards that are looked for when the data set is opened, at most; one if the first is there. */
enum { PRESENCE_SAMPLES = 16 };

/* The most bytes of a path in a message, as in an error. */
#define PATH_SIZE sizeof(((recmap_error *)0)->path)

static const char *name_of(const struct shard_folder *folder, uint32_t shard_index) {
    return index_shards(folder->index)[shard_index].entry.path;
}

static uint32_t count_of(const struct shard_folder *folder) {
    return (uint32_t)index_manifest(folder->index)->shard_count;
}

/* Returns true if a URL in an index that is in a remote store lies within the index's own folder.
 */
static bool is_in_own_folder(const struct shard_folder *folder, const char *url) {
    size_t size = strlen(folder->path);
    return url_is_url(folder->path) && !strncmp(url, folder->path, size) && url[size] == '/' &&
           shard_name_stays_inside(url + size + 1);
}

static recmap_status check_url(const struct shard_folder *folder, const char *name,
                               recmap_error *error) {
    if (folder->options.allow_urls || is_in_own_folder(folder, name))
        return remote_check_url(name, folder->options.storage, error);
    fail(error, RECMAP_INVALID, "the index names this shard in a remote store");
    fail_file(error, name);
    fail_advise(error, "if you trust the index, open it with allow_urls; or set shards to the "
                       "folder or URL that has the shards");
    return RECMAP_INVALID;
}

static const char *last_part(const char *name) {
    const char *slash = strrchr(name, '/');
    return slash ? slash + 1 : name;
}

/* The part of a name that options.shards does not replace. */
static const char *name_in_folder(const struct shard_folder *folder, const char *name) {
    if (!folder->is_moved) return name;
    if (folder->is_flat) return last_part(name);
    return shard_name_is_absolute(name) ? name + folder->common_length : name;
}

/* options.shards confines all shards to itself, so it allows no name to be used as it is: an index
 * could mix a path and a URL, which have no folder in common, or hide a path, a URL or `..` after
 * the common folder, as in `/a//etc/passwd` next to `/a/b`. */
static recmap_status check_moved_name(const struct shard_folder *folder, const char *name,
                                      recmap_error *error) {
    const char *rest = name_in_folder(folder, name);
    if (!shard_name_is_absolute(rest) && shard_name_stays_inside(rest)) return RECMAP_OK;
    fail(error, RECMAP_INVALID,
         folder->common_length
             ? "the index names this shard in a way that could leave the folder of the shards"
             : "the absolute paths and URLs in the index have no folder in common that shards "
               "could replace");
    fail_file(error, name);
    fail_advise(error, "index the shards in their folder again with `recmap index`; or, if you "
                       "trust the index, open it without shards");
    return RECMAP_INVALID;
}

/* A relative name in an index in a remote store. */
static recmap_status check_beneath(const char *name, recmap_error *error) {
    if (shard_name_stays_inside(name)) return RECMAP_OK;
    fail(error, RECMAP_INVALID,
         "the index names this shard in a way that could leave the index's folder");
    fail_file(error, name);
    fail_advise(error, "index the shards in their folder again with `recmap index`");
    return RECMAP_INVALID;
}

static recmap_status check_name(const struct shard_folder *folder, const char *name,
                                recmap_error *error) {
    if (folder->is_moved) return check_moved_name(folder, name, error);
    if (url_is_url(name)) return check_url(folder, name, error);
    if (url_is_url(folder->path) && name[0] != '/') return check_beneath(name, error);
    if (name[0] != '/' || folder->options.allow_absolute_paths) return RECMAP_OK;
    fail(error, RECMAP_INVALID, "the index names this shard outside its own folder");
    fail_file(error, name);
    fail_advise(error, "open it with shards set to the folder of the shards, or, if you trust the "
                       "index, with allow_absolute_paths");
    return RECMAP_INVALID;
}

static recmap_status check_names(const struct shard_folder *folder, recmap_error *error) {
    recmap_status status = RECMAP_OK;
    for (uint32_t i = 0; status == RECMAP_OK && i < count_of(folder); i++)
        status = check_name(folder, name_of(folder, i), error);
    return status;
}

/* The length of the longest folder, including its last slash, that contains all absolute names and
 * URLs. */
static size_t common_length(const struct shard_folder *folder) {
    const char *first = NULL;
    size_t length = 0;
    for (uint32_t i = 0; i < count_of(folder); i++) {
        const char *name = name_of(folder, i);
        if (!shard_name_is_absolute(name)) continue;
        if (!first) {
            first = name;
            length = (size_t)(strrchr(name, '/') - name) + 1;
        }
        size_t same = 0;
        while (same < length && name[same] == first[same]) same++;
        while (same && first[same - 1] != '/') same--;
        length = same;
    }
    return length;
}

/* Copies the URL of a folder, without a slash at its end. */
static recmap_status copy_folder_url(struct shard_folder *folder, const char *url,
                                     recmap_error *error) {
    size_t size = strlen(url);
    while (size && url[size - 1] == '/') size--;
    folder->path = strndup(url, size);
    return folder->path ? remote_check_url(url, folder->options.storage, error)
                        : fail_memory(error);
}

/* A storage is needed if a shard, or the folder of all, is named by a URL. */
static recmap_status find_storage(struct shard_folder *folder, recmap_error *error) {
    bool is_remote = url_is_url(folder->path);
    for (uint32_t i = 0; !is_remote && i < count_of(folder); i++)
        is_remote = url_is_url(name_of(folder, i));
    return is_remote ? storage_retain(&folder->storage, folder->options.storage, error) : RECMAP_OK;
}

/* The folder of an index in a remote store. */
static recmap_status find_own_url(struct shard_folder *folder, const char *url,
                                  recmap_error *error) {
    size_t size = (size_t)(strrchr(url, '/') - url);
    return (folder->path = strndup(url, size)) ? RECMAP_OK : fail_memory(error);
}

/* Resolves the folder of relative names to an absolute path, because the process may change its
 * working directory before a shard is opened. */
static recmap_status find_folder(struct shard_folder *folder, recmap_error *error) {
    const char *shards = folder->options.shards;
    const char *index_path = store_path(index_store(folder->index));
    if (!shards && url_is_url(index_path)) return find_own_url(folder, index_path, error);
    if (!shards)
        return index_find_folder(&folder->path, &folder->is_elsewhere, folder->index, error);
    folder->common_length = common_length(folder);
    if (url_is_url(shards)) return copy_folder_url(folder, shards, error);
    recmap_status status = path_resolve(&folder->path, shards, error);
    if (status != RECMAP_OK) fail_advise(error, "pass the folder that has the shards");
    return status;
}

char *shard_folder_find_url(const struct shard_folder *folder, const char *name) {
    const char *rest = name_in_folder(folder, name);
    if (url_is_url(rest)) return strdup(rest);
    bool is_remote = !shard_name_is_absolute(rest) && url_is_url(folder->path);
    return is_remote ? path_join(folder->path, rest) : NULL;
}

/* Opens the object NAME in the folder that options.shards names by its URL. */
static recmap_status open_in_folder_url(struct source **source, const struct shard_folder *folder,
                                        const char *name, const struct remote_identity *expected,
                                        recmap_error *error) {
    char *url = path_join(folder->path, name);
    if (!url) return fail_memory(error);
    recmap_status status = remote_open(source, folder->storage, url, expected, error);
    free(url);
    return status;
}

static bool is_path_missing(const recmap_error *error) {
    return error->system_errno == ENOENT || error->system_errno == ENOTDIR;
}

/* An object is opened by its whole name first: only then it is known if the copy is flat. */
static recmap_status open_object(struct source **source, struct shard_folder *folder,
                                 const char *name, const struct remote_identity *expected,
                                 recmap_error *error) {
    recmap_error problem = RECMAP_ERROR_INIT;
    recmap_status status = open_in_folder_url(source, folder, name, expected, &problem);
    if (status == RECMAP_IO && folder->may_be_flat && is_path_missing(&problem) &&
        open_in_folder_url(source, folder, last_part(name), expected, NULL) == RECMAP_OK) {
        folder->is_flat = true;
        return RECMAP_OK;
    }
    if (status != RECMAP_OK && error) *error = problem;
    return status;
}

recmap_status shard_folder_open(struct source **source, struct shard_folder *folder,
                                const char *name, const char *path,
                                const struct remote_identity *expected, recmap_error *error) {
    int fd;
    const char *rest = name_in_folder(folder, name);
    RETURN_IF_FAILED(check_name(folder, name, error));
    if (shard_name_is_absolute(rest))
        return shard_source_open(source, rest, folder->storage, expected, error);
    if (url_is_url(folder->path)) return open_object(source, folder, rest, expected, error);
    bool allows_all_links = folder->options.allow_absolute_paths;
    RETURN_IF_FAILED(file_open_beneath(&fd, folder->path, rest, allows_all_links, path, error));
    return source_open_file(source, fd, path, error);
}

static void write_unredacted(char *path, size_t capacity, const struct shard_folder *folder,
                             const char *name) {
    const char *rest = name_in_folder(folder, name);
    const char *index = store_path(index_store(folder->index)), *slash = strrchr(index, '/');
    if (shard_name_is_absolute(rest)) snprintf(path, capacity, "%s", rest);
    else if (folder->is_moved || folder->is_elsewhere)
        snprintf(path, capacity, "%s/%s", folder->path, rest);
    else snprintf(path, capacity, "%.*s%s", slash ? (int)(slash + 1 - index) : 0, index, rest);
}

void shard_folder_write_path(char *path, size_t capacity, const struct shard_folder *folder,
                             const char *name) {
    char whole[PATH_SIZE];
    write_unredacted(whole, sizeof whole, folder, name);
    if (url_is_url(whole)) redact_url(path, capacity, whole);
    else snprintf(path, capacity, "%s", whole);
}

char *shard_folder_find_path(const struct shard_folder *folder, const char *name) {
    char path[PATH_SIZE];
    shard_folder_write_path(path, sizeof path, folder, name);
    return strdup(path);
}

/* Returns true if a shard is certainly missing. */
static bool is_missing(struct shard_folder *folder, const char *name, recmap_error *error) {
    char *path = shard_folder_find_path(folder, name);
    if (!path) return false;
    struct source *source = NULL;
    recmap_status status = shard_folder_open(&source, folder, name, path, NULL, error);
    source_close(source);
    free(path);
    return status == RECMAP_IO && is_path_missing(error);
}

static bool is_remote(const struct shard_folder *folder, const char *name) {
    char *url = shard_folder_find_url(folder, name);
    free(url);
    return url != NULL;
}

/* Returns true if one of a few shards across the table may exist. Normally the first one does, and
 * no other is looked for, so that the cost does not grow with the number of shards. `first` gets
 * the error of the first shard if none exists. */
static bool has_any(struct shard_folder *folder, recmap_error *first) {
    recmap_error other = RECMAP_ERROR_INIT;
    size_t step = count_of(folder) / PRESENCE_SAMPLES + 1;
    for (uint32_t i = 0; i < count_of(folder); i += (uint32_t)step)
        if (!is_missing(folder, name_of(folder, i), i ? &other : first)) return true;
    return false;
}

static int compare_last_parts(const void *a, const void *b) {
    const char *left = *(const char *const *)a, *right = *(const char *const *)b;
    int order = strcmp(last_part(left), last_part(right));
    return order ? order : strcmp(left, right);
}

/* Finds out if no two files have the same name in their folders. A file that grew is in the
 * index once for each of its parts. */
static recmap_status last_parts_differ(bool *differ, const struct shard_folder *folder,
                                       recmap_error *error) {
    uint32_t count = count_of(folder);
    const char **names = calloc((size_t)count + 1, sizeof *names);
    if (!names) return fail_memory(error);
    for (uint32_t i = 0; i < count; i++) names[i] = name_of(folder, i);
    qsort(names, count, sizeof *names, compare_last_parts);
    *differ = true;
    for (uint32_t i = 1; i < count; i++)
        *differ &= strcmp(last_part(names[i - 1]), last_part(names[i])) != 0 ||
                   !strcmp(names[i - 1], names[i]);
    free(names);
    return RECMAP_OK;
}

/* Writes where the shard may be in another folder: FOLDER/a/x or, if no other file has its name,
 * FOLDER/x. `rest` is its name in the folder. */
static void write_places(char *text, size_t capacity, const struct shard_folder *folder,
                         const char *rest) {
    bool differ = false;
    if (strchr(rest, '/') && last_parts_differ(&differ, folder, NULL) != RECMAP_OK) differ = false;
    snprintf(text, capacity, "FOLDER/%s%s%s", rest, differ ? " or FOLDER/" : "",
             differ ? last_part(rest) : "");
}

void shard_folder_advise(const struct shard_folder *folder, const char *name, recmap_error *error) {
    char path[PATH_SIZE], places[PATH_SIZE];
    if (!error || !is_path_missing(error) || url_is_url(error->path)) return;
    const char *rest = folder->is_moved               ? name_in_folder(folder, name)
                       : shard_name_is_absolute(name) ? name + common_length(folder)
                                                      : name;
    if (shard_name_is_absolute(name) && !folder->is_moved)
        shard_folder_write_path(path, sizeof path, folder, name);
    else snprintf(path, sizeof path, "%s/%s", folder->path, rest);
    write_places(places, sizeof places, folder, rest);
    static const char format[] =
        "the shard is expected at %s. Move it back, pass `--shards FOLDER` if it is at %s%s";
    /* A new index would lack annotated columns. */
    const char *end = manifest_find_annotated(index_manifest(folder->index))
                          ? "."
                          : ", or index the shards again with `recmap index`.";
    if (strlen(path) + strlen(places) + strlen(end) + sizeof format <= sizeof error->advice)
        fail_advise(error, format, path, places, end);
    else
        fail_advise(error,
                    "move the shard back, or pass `--shards FOLDER` if all shards are in "
                    "another folder%s",
                    end);
}

static bool has_folders(const struct shard_folder *folder) {
    for (uint32_t i = 0; i < count_of(folder); i++)
        if (strchr(name_in_folder(folder, name_of(folder, i)), '/')) return true;
    return false;
}

/* A copy may have all shards in one folder, although the index names them in several: it was
 * written above its shards. If no shard has its longer path in options.shards, shards are looked up
 * by their last parts, unless two shards have the same. Opening a data set asks no remote store. */
static recmap_status find_flat(struct shard_folder *folder, recmap_error *error) {
    bool differ = false;
    recmap_error missing = RECMAP_ERROR_INIT;
    if (!folder->is_moved || !has_folders(folder)) return RECMAP_OK;
    RETURN_IF_FAILED(last_parts_differ(&differ, folder, error));
    folder->may_be_flat = differ;
    if (!differ || url_is_url(folder->path) || has_any(folder, &missing)) return RECMAP_OK;
    folder->is_flat = true;
    folder->is_flat = has_any(folder, &missing);
    return RECMAP_OK;
}

/* Fails if the index was copied away from its shards: none of a few shards exists. Objects in
 * remote stores are not asked for. A shard that is missing while others are there fails when it is
 * read. */
static recmap_status check_presence(struct shard_folder *folder, recmap_error *error) {
    recmap_error first = RECMAP_ERROR_INIT;
    if (folder->options.allow_missing_shards || !count_of(folder)) return RECMAP_OK;
    if (is_remote(folder, name_of(folder, 0)) || has_any(folder, &first)) return RECMAP_OK;
    shard_folder_advise(folder, name_of(folder, 0), &first);
    if (error) *error = first;
    return RECMAP_IO;
}

recmap_status shard_folder_init(struct shard_folder *folder, const struct index_file *index,
                                const struct shard_folder_options *options, recmap_error *error) {
    *folder = (struct shard_folder){
        .index = index, .options = *options, .is_moved = options->shards != NULL};
    RETURN_IF_FAILED(find_folder(folder, error));
    RETURN_IF_FAILED(check_names(folder, error));
    RETURN_IF_FAILED(find_storage(folder, error));
    RETURN_IF_FAILED(find_flat(folder, error));
    return check_presence(folder, error);
}

void shard_folder_deinit(struct shard_folder *folder) {
    free(folder->path);
    recmap_storage_release(folder->storage);
}
