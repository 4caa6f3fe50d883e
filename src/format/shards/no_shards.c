#include "format/shards/no_shards.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/core/error.h"
#include "base/core/plural.h"
#include "base/os/file.h"
#include "format/shards/shard_name.h"

enum { ADVISED_NAME_SIZE = 160 };

/* Copies the name for advice. A long one is reduced to its end, because the advice would be cut; no
 * character of UTF-8 is. */
static void shorten_name(char text[ADVISED_NAME_SIZE], const char *name) {
    static const char gap[] = "...";
    const size_t kept_size = ADVISED_NAME_SIZE - sizeof gap;
    size_t size = strlen(name);
    const char *end = size < ADVISED_NAME_SIZE ? name : name + size - kept_size;
    while (end > name && ((unsigned char)*end & 0xc0) == 0x80) end++;
    snprintf(text, ADVISED_NAME_SIZE, "%s%s", end > name ? gap : "", end);
}

static bool is_backup(const char *path) {
    return shard_name_backup_size(path_name(path)) > 0;
}

/* Of a file that was left out because of its name. */
static void advise_on_file(const char *path, recmap_error *error) {
    char name[ADVISED_NAME_SIZE];
    shorten_name(name, path);
    if (is_backup(path))
        fail_advise(error, "%s is a backup by its name: name the file itself to read it", name);
    else
        fail_advise(error,
                    "%s has a temporary name: wait until its writer has ended, or write it again "
                    "if the writer was stopped",
                    name);
}

/* The files of a folder that are not taken for shards, as advice names them. */
#define IGNORED_FILES                                                                              \
    "hidden files, _*, indexes, documents, metadata, temporary files and subfolders are ignored; "

static recmap_status fail_empty(const char *name, recmap_error *error) {
    char folder[ADVISED_NAME_SIZE];
    shorten_name(folder, name);
    fail(error, RECMAP_INVALID, "the folder contains no shards");
    fail_file(error, name);
    fail_advise(error, IGNORED_FILES "'%s/**' names the files of all subfolders", folder);
    return RECMAP_INVALID;
}

recmap_status no_shards_fail_folder(const char *name, const struct path_list *left_out,
                                    size_t first, recmap_error *error) {
    char folder[ADVISED_NAME_SIZE];
    const char *example = NULL;
    size_t count = 0, backup_count = 0;
    for (size_t i = first; i < left_out->count; i++) {
        const char *path = left_out->paths[i], *file = path_name(path);
        if (file[0] == '.') continue;
        if (!example || strcmp(file, path_name(example)) < 0) example = path;
        count++;
        backup_count += is_backup(path);
    }
    if (!example) return fail_empty(name, error);
    fail(error, RECMAP_INVALID,
         "the folder contains no shards: the names of its %zu file%s, such as %.200s, are not "
         "names of shards",
         count, plural(count), path_name(example));
    fail_file(error, name);
    shorten_name(folder, name);
    if (backup_count == count) advise_on_file(example, error);
    else
        fail_advise(error,
                    IGNORED_FILES "'%s/*' takes all but indexes, selections and temporary files, "
                                  "'%s/**' also those of subfolders",
                    folder, folder);
    return RECMAP_INVALID;
}

recmap_status no_shards_fail(const char *name, const char *what, const char *advice,
                             const struct path_list *left_out, size_t first, recmap_error *error) {
    const char *example = NULL;
    for (size_t i = first; i < left_out->count; i++)
        if (!example || (is_backup(example) && !is_backup(left_out->paths[i])))
            example = left_out->paths[i];
    const char *except = !example             ? ""
                         : is_backup(example) ? ", except backups"
                                              : ", except temporary files";
    fail(error, RECMAP_INVALID, "%s%s", what, except);
    fail_file(error, name);
    fail_advise(error, "%s", advice);
    if (example) advise_on_file(example, error);
    if (error) error->system_errno = ENOENT;
    return RECMAP_INVALID;
}
