#include "format/shards/sift.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/core/bytes.h"
#include "base/core/crc32c.h"
#include "base/core/error.h"
#include "base/core/path_pattern.h"
#include "base/core/plural.h"
#include "base/os/file.h"
#include "base/words/url_prefix.h"
#include "format/deflate/compression.h"
#include "format/framing/tar.h"
#include "format/shards/left_out.h"
#include "format/shards/shard_name.h"
#include "format/shards/shard_source.h"

/* Files of unknown names that are read, at most, to learn what a folder holds. */
enum { CONTENTS_MAX = 16, START_SIZE = 512 };

typedef bool keep_path(const char *path, const void *context);

static bool is_likely(const char *path, const void *context) {
    (void)context;
    return shard_name_is_likely(path_name(path));
}

static bool is_text(const char *path, const void *context) {
    return is_likely(path, context) && shard_name_is_text(path_name(path));
}

static bool is_likely_and_not_text(const char *path, const void *context) {
    return is_likely(path, context) && !shard_name_is_text(path_name(path));
}

static bool is_record(const char *path, const void *context) {
    return is_likely(path, context) && shard_name_is_record(path_name(path));
}

static bool is_not_text(const char *path, const void *context) {
    (void)context;
    return !shard_name_is_text(path_name(path));
}

static bool is_not_companion(const char *path, const void *context) {
    (void)context;
    return !shard_name_is_companion(path_name(path));
}

/* Folders that the pattern names are as the caller chose them, so only what matches wildcards is
 * looked at. glob reduces slashes at the start of a pattern to one: then that is the name alone. */
static bool is_matched(const char *path, const void *pattern) {
    size_t size = path_pattern_base_size(pattern);
    bool is_below = !strncmp(path, pattern, size);
    return !shard_path_is_temporary(is_below ? path + size : path_name(path));
}

static bool is_not_backup(const char *path, const void *context) {
    (void)context;
    return !shard_name_backup_size(path_name(path));
}

/* A backup of a file that would be a shard may have been meant. */
static bool is_not_backup_of_shard(const char *path, const void *context) {
    char name[NAME_MAX + 1];
    const char *file = path_name(path);
    size_t size = shard_name_backup_size(file);
    if (!size || size > NAME_MAX) return true;
    (void)context;
    memcpy(name, file, size);
    name[size] = 0;
    return !shard_name_is_likely(name);
}

/* Moves the names that `is_kept` refuses to `left_out`. If memory runs out, the list may have lost
 * them. */
static recmap_status move_others(struct path_list *list, size_t first, keep_path *is_kept,
                                 const void *context, struct path_list *left_out,
                                 recmap_error *error) {
    size_t kept_count = first;
    bool has_memory = true;
    for (size_t i = first; i < list->count; i++) {
        char *path = list->paths[i];
        if (is_kept(path, context)) list->paths[kept_count++] = path;
        else has_memory &= path_list_add(left_out, path);
    }
    list->count = kept_count;
    return has_memory ? RECMAP_OK : fail_memory(error);
}

static bool has_any(const struct path_list *list, size_t first, keep_path *is_wanted) {
    for (size_t i = first; i < list->count; i++)
        if (is_wanted(list->paths[i], NULL)) return true;
    return false;
}

static bool begins_records(const uint8_t *bytes, size_t size) {
    if (size >= 12 && load32(bytes + 8) == crc32c_mask(crc32c(bytes, 8))) return true;
    return compression_begins(COMPRESSION_GZIP, bytes, size) ||
           compression_begins(COMPRESSION_ZLIB, bytes, size) || tar_is_likely(bytes, size);
}

static recmap_status check_source(bool *is_shard, struct source *source, recmap_error *error) {
    uint8_t bytes[START_SIZE];
    uint64_t file_size = source->stat.size;
    size_t size = file_size < sizeof bytes ? (size_t)file_size : sizeof bytes;
    RETURN_IF_FAILED(source_read(source, bytes, size, 0, error));
    *is_shard = begins_records(bytes, size);
    return RECMAP_OK;
}

static recmap_status check_file(bool *is_shard, const char *path, recmap_storage *storage,
                                recmap_error *error) {
    struct source *source = NULL;
    recmap_storage *reference = NULL;
    if (url_is_url(path)) RETURN_IF_FAILED(storage_retain(&reference, storage, error));
    recmap_status status = shard_source_open(&source, path, reference, NULL, error);
    if (status == RECMAP_OK) status = check_source(is_shard, source, error);
    source_close(source);
    recmap_storage_release(reference);
    return status;
}

/* Looks into the first files of unknown names for records. */
static recmap_status look_inside(bool *has_shards, const struct path_list *list, size_t first,
                                 recmap_storage *storage, recmap_error *error) {
    size_t seen = 0;
    *has_shards = false;
    for (size_t i = first; i < list->count && seen < CONTENTS_MAX && !*has_shards; i++) {
        if (!is_likely_and_not_text(list->paths[i], NULL)) continue;
        RETURN_IF_FAILED(check_file(has_shards, list->paths[i], storage, error));
        seen++;
    }
    return RECMAP_OK;
}

/* The error for a folder of text files and files of unknown names. It names some of the files. */
static recmap_status fail_unclear(const struct path_list *list, size_t first, const char *folder,
                                  recmap_error *error) {
    enum { NAMED_MAX = 3 };
    char names[700] = "";
    size_t text_count = 0, other_count = 0, size = 0;
    for (size_t i = first; i < list->count; i++) {
        if (is_text(list->paths[i], NULL)) text_count++;
        if (!is_likely_and_not_text(list->paths[i], NULL) || ++other_count > NAMED_MAX) continue;
        size += (size_t)snprintf(names + size, sizeof names - size, "%s%.200s", size ? ", " : "",
                                 path_name(list->paths[i]));
    }
    fail(error, RECMAP_INVALID,
         "the folder has %zu text file%s and %zu other%s, and none is known to be a shard: %s%s",
         text_count, plural(text_count), other_count, plural(other_count), names,
         other_count > NAMED_MAX ? ", ..." : "");
    fail_file(error, folder);
    fail_advise(error, "to read the lines of the text files, pass `--framing lines`; otherwise "
                       "name the shards, or use a pattern such as '*.tfrecord'");
    return RECMAP_INVALID;
}

/* Finds which of text files and others are shards. Text beside shards of records holds labels,
 * lists or logs, so it is left out without a note. */
static recmap_status choose_kept(keep_path **is_kept, const char **what,
                                 const struct path_list *list, size_t first, const char *folder,
                                 const struct sift *sift, recmap_error *error) {
    bool has_others = has_any(list, first, is_likely_and_not_text), has_shards = true;
    *is_kept = is_likely;
    *what = NULL;
    if (!has_others || !has_any(list, first, is_text)) return RECMAP_OK;
    *is_kept = sift->contents == SIFT_LINES ? is_text : is_likely_and_not_text;
    if (sift->contents == SIFT_LINES) *what = "beside the text files";
    if (sift->contents != SIFT_TFRECORDS || has_any(list, first, is_record)) return RECMAP_OK;
    *what = "of text";
    RETURN_IF_FAILED(look_inside(&has_shards, list, first, sift->storage, error));
    return has_shards ? RECMAP_OK : fail_unclear(list, first, folder, error);
}

static recmap_status move_backups(struct path_list *list, size_t first, const char *name,
                                  keep_path *is_kept, const struct sift *sift,
                                  recmap_error *error) {
    size_t first_noted = sift->left_out->count;
    RETURN_IF_FAILED(move_others(list, first, is_kept, NULL, sift->left_out, error));
    return left_out_note(sift->notes, name, "named as backups", sift->left_out, first_noted, error);
}

recmap_status sift_folder(struct path_list *list, size_t first, const char *folder,
                          const struct sift *sift, recmap_error *error) {
    keep_path *is_kept;
    const char *what;
    RETURN_IF_FAILED(choose_kept(&is_kept, &what, list, first, folder, sift, error));
    RETURN_IF_FAILED(move_backups(list, first, folder, is_not_backup_of_shard, sift, error));
    RETURN_IF_FAILED(move_others(list, first, is_likely, NULL, sift->left_out, error));
    size_t first_noted = sift->left_out->count;
    RETURN_IF_FAILED(move_others(list, first, is_kept, NULL, sift->left_out, error));
    return what ? left_out_note(sift->notes, folder, what, sift->left_out, first_noted, error)
                : RECMAP_OK;
}

static bool ends_in_any_name(const char *pattern) {
    const char *last = path_name(pattern);
    return !strcmp(last, "*") || !strcmp(last, "**");
}

recmap_status sift_matches(struct path_list *list, size_t first, const char *pattern,
                           const struct sift *sift, recmap_error *error) {
    struct path_list *left_out = sift->left_out;
    RETURN_IF_FAILED(move_backups(list, first, pattern, is_not_backup, sift, error));
    size_t first_noted = left_out->count;
    RETURN_IF_FAILED(move_others(list, first, is_matched, pattern, left_out, error));
    RETURN_IF_FAILED(
        left_out_note(sift->notes, pattern, "with temporary names", left_out, first_noted, error));
    if (has_any(list, first, is_not_companion))
        RETURN_IF_FAILED(move_others(list, first, is_not_companion, NULL, left_out, error));
    if (sift->contents == SIFT_LINES || !ends_in_any_name(pattern) ||
        !has_any(list, first, is_record))
        return RECMAP_OK;
    return move_others(list, first, is_not_text, NULL, left_out, error);
}
