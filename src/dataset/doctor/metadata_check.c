/* Compares shards with the metadata of TFDS beside them. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/core/bytes.h"
#include "base/core/error.h"
#include "base/core/plural.h"
#include "base/os/file.h"
#include "base/words/url_prefix.h"
#include "dataset/doctor/name_checks.h"
#include "dataset/doctor/tfds_info.h"

/* Metadata is looked for in this many folders. */
enum { FOLDERS_MAX = 256, NAME_SIZE = 1024 };
#define INFO_SIZE_MAX ((uint64_t)64 << 20)

/* A shard by the name of its file. */
struct named_shard {
    const char *name; /* first, for compare_names */
    struct listed_shard *shard;
};

/* One folder of shards and its metadata. */
struct folder_check {
    const struct examination *examination;
    const char *info_path;
    struct tfds_info info;
    struct named_shard *shards; /* in the folder, sorted by name */
    size_t shard_count;
};

static const char copy_advice[] = "copy the shard and the metadata again from their source";

static int compare_names(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static struct listed_shard *find_shard(const struct folder_check *check, const char *name) {
    struct named_shard key = {name, NULL};
    const struct named_shard *found =
        bsearch(&key, check->shards, check->shard_count, sizeof key, compare_names);
    return found ? found->shard : NULL;
}

/* ---- One split. */

/* What of a split is there. */
struct split_files {
    size_t count;
    char missing[NAME_SIZE]; /* the first that is not */
    uint64_t payload_size;   /* COUNT_UNKNOWN if it is of any */
};

static recmap_status add_length(const struct folder_check *check, const struct listed_shard *shard,
                                uint64_t length, recmap_error *error) {
    static const struct finding_kind kind = {CHECK_METADATA, RECMAP_SEVERITY_ERROR, copy_advice};
    return diagnosis_add(check->examination->diagnosis, kind, place_of_file(shard->name), error,
                         "the shard has %" PRIu64 " record%s, but dataset_info.json says %" PRIu64,
                         shard->record_count, plural(shard->record_count), length);
}

/* Compares each file of the split, of which the list of shards may have any. */
static recmap_status compare_files(struct split_files *files, const struct folder_check *check,
                                   const struct tfds_split *split, recmap_error *error) {
    *files = (struct split_files){.missing = ""};
    for (size_t i = 0; i < split->shard_count; i++) {
        char name[NAME_SIZE];
        tfds_info_write_file(name, sizeof name, &check->info, split, i);
        struct listed_shard *shard = find_shard(check, name);
        if (!shard) {
            if (!files->missing[0]) memcpy(files->missing, name, sizeof name);
            continue;
        }
        files->count++;
        shard->is_described = true;
        if (shard->payload_size == COUNT_UNKNOWN) files->payload_size = COUNT_UNKNOWN;
        else if (files->payload_size != COUNT_UNKNOWN) files->payload_size += shard->payload_size;
        if (shard->record_count != COUNT_UNKNOWN && shard->record_count != split->lengths[i])
            RETURN_IF_FAILED(add_length(check, shard, split->lengths[i], error));
    }
    return RECMAP_OK;
}

/* Nothing is said about a split of which no shard is examined: it need not have been downloaded. */
static recmap_status check_split(const struct folder_check *check, const struct tfds_split *split,
                                 recmap_error *error) {
    static const struct finding_kind lost = {CHECK_METADATA, RECMAP_SEVERITY_ERROR,
                                             "copy the missing shards there, and index again"};
    static const struct finding_kind size = {CHECK_METADATA, RECMAP_SEVERITY_WARNING,
                                             "copy the shards and the metadata again from their "
                                             "source"};
    struct split_files files;
    RETURN_IF_FAILED(compare_files(&files, check, split, error));
    struct recmap_diagnosis *diagnosis = check->examination->diagnosis;
    size_t missing_count = split->shard_count - files.count;
    if (!files.count) return RECMAP_OK;
    if (missing_count)
        return diagnosis_add(diagnosis, lost, place_of_file(check->info_path), error,
                             "split '%.100s' has %zu shard%s, of which %zu %s not there, such as "
                             "%.400s",
                             split->name, split->shard_count, plural(split->shard_count),
                             missing_count, missing_count == 1 ? "is" : "are", files.missing);
    if (!split->byte_count || files.payload_size == COUNT_UNKNOWN ||
        files.payload_size == split->byte_count)
        return RECMAP_OK;
    return diagnosis_add(diagnosis, size, place_of_file(check->info_path), error,
                         "the records of split '%.100s' have %" PRIu64 " bytes, but numBytes is "
                         "%" PRIu64,
                         split->name, files.payload_size, split->byte_count);
}

/* Returns the split whose files begin as this name does, or NULL. */
static const struct tfds_split *find_split(const struct tfds_info *info, const char *name) {
    size_t size = strlen(info->name);
    if (strncmp(name, info->name, size) != 0 || name[size] != '-') return NULL;
    name += size + 1;
    for (size_t i = 0; i < info->split_count; i++) {
        size = strlen(info->splits[i].name);
        if (!strncmp(name, info->splits[i].name, size) && name[size] == '.')
            return &info->splits[i];
    }
    return NULL;
}

/* Finds files that are named as shards of a split, but as others than those it has. */
static recmap_status check_others(const struct folder_check *check, recmap_error *error) {
    static const struct finding_kind kind = {
        CHECK_METADATA, RECMAP_SEVERITY_ERROR,
        "remove the shard if another run wrote it, or copy the metadata again from its source"};
    for (size_t i = 0; i < check->shard_count; i++) {
        const struct listed_shard *shard = check->shards[i].shard;
        const struct tfds_split *split = find_split(&check->info, check->shards[i].name);
        if (shard->is_described || !split) continue;
        RETURN_IF_FAILED(diagnosis_add(
            check->examination->diagnosis, kind, place_of_file(shard->name), error,
            "the shard is not one of the %zu that split '%.100s' has by dataset_info.json",
            split->shard_count, split->name));
    }
    return RECMAP_OK;
}

/* ---- One folder. */

/* Sets `text` to the contents of the file, which the caller frees. */
static recmap_status read_text(char **text, uint64_t *size, const char *path, recmap_error *error) {
    int fd;
    struct file_stat file;
    RETURN_IF_FAILED(file_open(&fd, path, error));
    recmap_status status = file_get_stat(&file, fd, path, error);
    if (status == RECMAP_OK && file.size > INFO_SIZE_MAX)
        status = fail(error, RECMAP_CORRUPT, "a file of metadata has at most %" PRIu64 " bytes",
                      INFO_SIZE_MAX);
    if (status == RECMAP_OK) {
        *size = file.size;
        *text = malloc((size_t)file.size + 1);
        status = *text ? file_read_at(fd, *text, (size_t)file.size, 0, path, error)
                       : fail_memory(error);
    }
    file_close(fd);
    return status;
}

static recmap_status read_info(struct folder_check *check, recmap_error *error) {
    char *text = NULL;
    uint64_t size = 0;
    recmap_status status = read_text(&text, &size, check->info_path, error);
    if (status == RECMAP_OK) status = tfds_info_read(&check->info, text, (size_t)size, error);
    free(text);
    return status;
}

static recmap_status compare_folder(struct folder_check *check, recmap_error *error) {
    static const struct finding_kind kind = {CHECK_METADATA, RECMAP_SEVERITY_ERROR,
                                             "copy the file again from its source"};
    recmap_error wrong = RECMAP_ERROR_INIT;
    recmap_status status = read_info(check, &wrong);
    if (status == RECMAP_NO_MEMORY) return fail_memory(error);
    if (status == RECMAP_UNSUPPORTED) return RECMAP_OK;
    if (status != RECMAP_OK)
        return diagnosis_add(check->examination->diagnosis, kind, place_of_file(check->info_path),
                             error, "%s", wrong.message);
    if (!check->info.is_tfrecord) return RECMAP_OK;
    for (size_t i = 0; i < check->info.split_count; i++)
        RETURN_IF_FAILED(check_split(check, &check->info.splits[i], error));
    return check_others(check, error);
}

static size_t folder_size(const char *path) {
    return (size_t)(path_name(path) - path);
}

/* Lists the shards in the folder of shard `first`, from there on. */
static recmap_status list_folder(struct folder_check *check, struct shard_list *shards,
                                 size_t first, recmap_error *error) {
    const char *folder = shards->shards[first].name;
    size_t size = folder_size(folder);
    check->shards = malloc((shards->count - first) * sizeof *check->shards);
    if (!check->shards) return fail_memory(error);
    for (size_t i = first; i < shards->count; i++) {
        struct listed_shard *shard = &shards->shards[i];
        if (folder_size(shard->name) != size || memcmp(shard->name, folder, size) != 0) continue;
        check->shards[check->shard_count++] = (struct named_shard){path_name(shard->name), shard};
    }
    qsort(check->shards, check->shard_count, sizeof *check->shards, compare_names);
    return RECMAP_OK;
}

static recmap_status check_folder(struct examination *examination, size_t first,
                                  recmap_error *error) {
    const char *name = examination->shards.shards[first].name;
    char path[NAME_SIZE];
    struct file_stat file;
    int size = snprintf(path, sizeof path, "%.*sdataset_info.json", (int)folder_size(name), name);
    if (size < 0 || (size_t)size >= sizeof path || !file_stat_path(&file, path)) return RECMAP_OK;
    struct folder_check check = {.examination = examination, .info_path = path};
    recmap_status status = list_folder(&check, &examination->shards, first, error);
    if (status == RECMAP_OK) status = compare_folder(&check, error);
    tfds_info_deinit(&check.info);
    free(check.shards);
    return status;
}

/* Returns true if an earlier one of the folders' first shards is in the folder of this shard. */
static bool is_known(const struct shard_list *shards, const size_t *firsts, size_t count,
                     const char *name) {
    for (size_t i = count; i > 0; i--) {
        const char *other = shards->shards[firsts[i - 1]].name;
        if (folder_size(other) == folder_size(name) && !memcmp(other, name, folder_size(name)))
            return true;
    }
    return false;
}

/* Metadata in stores is not looked for: it would take a request for each folder. */
recmap_status check_metadata(struct examination *examination, recmap_error *error) {
    const struct shard_list *shards = &examination->shards;
    size_t firsts[FOLDERS_MAX], count = 0;
    for (size_t i = 0; i < shards->count && count < FOLDERS_MAX; i++) {
        const char *name = shards->shards[i].name;
        if (url_is_url(name) || is_known(shards, firsts, count, name)) continue;
        firsts[count++] = i;
        RETURN_IF_FAILED(check_folder(examination, i, error));
    }
    return RECMAP_OK;
}
