#include "format/shards/index_name.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/core/error.h"
#include "base/os/file.h"
#include "base/words/character.h"
#include "base/words/url_prefix.h"
#include "format/shards/shard_name.h"
#include "format/shards/shard_sets.h"

/* The name of an index without .rmx, which the caller frees. NULL: the shards have none. The index
 * is in a folder whose path is the first bytes of the first shard's path: `folder_size`, set to the
 * size of the shard's own folder, may be reduced. */
typedef recmap_status make_stem(char **stem, size_t *folder_size, char *const *shards, size_t count,
                                recmap_error *error);

static bool is_word(char c) {
    return is_digit(c) || is_letter(c);
}

/* Returns true if a word ends between the two characters. A number may follow letters. */
static bool is_boundary(char last, char next) {
    if (!is_word(last) || !is_word(next)) return true;
    return is_letter(last) && is_digit(next);
}

/* The character of the name at `i`, or 0 at its end. */
static char char_at(struct path_part name, size_t i) {
    return i < name.size ? name.start[i] : 0;
}

static size_t common_size(struct path_part a, struct path_part b) {
    size_t size = 0;
    while (size < a.size && size < b.size && a.start[size] == b.start[size]) size++;
    return size;
}

static struct path_part name_of(const char *shard) {
    struct set_label label;
    set_label_init(&label, shard);
    return label.name;
}

/* The size of a prefix without numbers at its end, which often tell files of one set apart. A
 * number after a letter or a dot stays, as in fold2 and v1.0. */
static size_t without_numbers(struct path_part prefix) {
    size_t size = prefix.size;
    for (;;) {
        while (size && !is_word(prefix.start[size - 1])) size--;
        size_t start = size;
        while (start && is_digit(prefix.start[start - 1])) start--;
        if (start && (is_word(prefix.start[start - 1]) || prefix.start[start - 1] == '.'))
            return size;
        if (start == size) return size;
        size = start;
    }
}

/* The words with which all names begin. The first loop finds the common prefix, the second where it
 * ends within a word: there it is cut. */
static struct path_part common_words(char *const *shards, size_t count) {
    struct path_part prefix = name_of(shards[0]);
    for (size_t i = 1; i < count; i++) prefix.size = common_size(prefix, name_of(shards[i]));
    bool ends_word = true;
    for (size_t i = 0; i < count && prefix.size; i++)
        ends_word &=
            is_boundary(prefix.start[prefix.size - 1], char_at(name_of(shards[i]), prefix.size));
    while (prefix.size && !ends_word) {
        prefix.size--;
        ends_word = prefix.size &&
                    is_boundary(prefix.start[prefix.size - 1], prefix.start[prefix.size]);
    }
    prefix.size = without_numbers(prefix);
    return prefix;
}

static bool is_equal(struct path_part a, struct path_part b) {
    return a.size == b.size && !memcmp(a.start, b.start, a.size);
}

/* The compression suffix that all shards have; empty if they differ. */
static struct path_part common_compression(char *const *shards, size_t count) {
    struct set_label first, label;
    set_label_init(&first, shards[0]);
    for (size_t i = 1; i < count; i++) {
        set_label_init(&label, shards[i]);
        if (!is_equal(first.compression, label.compression)) return (struct path_part){"", 0};
    }
    return first.compression;
}

static recmap_status format_stem(char **stem, struct path_part name, const char *middle,
                                 struct path_part type, struct path_part compression,
                                 recmap_error *error) {
    size_t size = name.size + strlen(middle) + type.size + compression.size + 1;
    if (!name.size && !*middle) return RECMAP_OK;
    *stem = malloc(size);
    if (!*stem) return fail_memory(error);
    snprintf(*stem, size, "%.*s%s%.*s%.*s", (int)name.size, name.start, middle, (int)type.size,
             type.start, (int)compression.size, compression.start);
    return RECMAP_OK;
}

/* The stem of one shard of a set. It keeps its number, so that it differs from the set's stem. */
static recmap_status make_shard_stem(char **stem, const struct set_label *label,
                                     recmap_error *error) {
    const struct set_member *member = &label->member;
    const char *start = member->path + member->stem_size;
    char number[32] = "";
    if (label->kind == SET_NUMBERED && member->count > 1)
        snprintf(number, sizeof number, "%s%.*s", label->name.size ? "-" : "",
                 (int)(member->end - member->hash_size - start), start);
    return format_stem(stem, label->name, number, label->type, label->compression, error);
}

static bool begins_or_ends_with(struct path_part words, struct path_part split) {
    if (words.size < split.size) return false;
    return !memcmp(words.start, split.start, split.size) ||
           !memcmp(words.start + words.size - split.size, split.start, split.size);
}

/* The stem of a set. The files of a split may have no words in common, or not its name. */
static recmap_status make_set_stem(char **stem, const struct shard_set *set, char *const *shards,
                                   size_t count, recmap_error *error) {
    const struct set_label *label = &set->label;
    if (count == 1) return make_shard_stem(stem, label, error);
    if (label->kind == SET_NUMBERED)
        return format_stem(stem, label->name, "", label->type, label->compression, error);
    struct path_part words = common_words(shards, count), none = {"", 0};
    if (label->split.size && !begins_or_ends_with(words, label->split)) words = label->split;
    return format_stem(stem, words, "", none, common_compression(shards, count), error);
}

/* The path of a local folder without links; the caller frees it. Returns false for a URL. */
static bool copy_real_folder(char **path, struct path_part folder) {
    char *name = folder.size ? strndup(folder.start, folder.size) : strdup(".");
    bool is_resolved = name && !url_is_url(name) && path_resolve(path, name, NULL) == RECMAP_OK;
    free(name);
    return is_resolved;
}

/* The name of the folder at the start of `path`, as a name for the data set. */
static recmap_status copy_folder_name(char **name, const char *path, size_t folder_size,
                                      recmap_error *error) {
    char *folder = folder_size ? strndup(path, folder_size) : strdup(".");
    if (!folder) return fail_memory(error);
    char *resolved = NULL;
    recmap_status status = path_resolve(&resolved, folder, error);
    free(folder);
    if (status != RECMAP_OK) return status;
    /* The root folder has no name. */
    *name = strdup(path_name(resolved)[0] ? path_name(resolved) : "shards");
    free(resolved);
    return *name ? RECMAP_OK : fail_memory(error);
}

/* The stem of shards whose names have nothing in common. */
static recmap_status make_folder_stem(char **stem, const char *first, size_t folder_size,
                                      recmap_error *error) {
    if (!url_is_url(first)) return copy_folder_name(stem, first, folder_size, error);
    return (*stem = strdup("shards")) ? RECMAP_OK : fail_memory(error);
}

/* Returns true if one of the sets may have this stem itself: a set of that name, or files that only
 * their first words may name. */
static bool is_stem_of_set(const struct shard_sets *sets, struct path_part stem) {
    for (size_t i = 0; i < sets->count; i++) {
        const struct shard_set *set = &sets->sets[i];
        if (set->label.kind == SET_LOOSE && set->shard_count > 1) return true;
        if (is_equal(stem, set->label.name)) return true;
    }
    return false;
}

/* The size of the path of the folder with the index of several sets. Sets in folders that are named
 * after splits have it in the folder above these, or it would seem to belong to one split. */
static size_t joined_folder_size(const struct shard_sets *sets, size_t folder_size) {
    const struct path_part first = sets->sets[0].label.folder;
    size_t size = first.size;
    for (size_t i = 1; i < sets->count; i++) {
        struct path_part folder = sets->sets[i].label.folder;
        while (size && (size > folder.size || first.start[size - 1] != '/' ||
                        memcmp(first.start, folder.start, size) != 0))
            size--;
    }
    for (size_t i = 0; i < sets->count; i++) {
        const struct set_label *label = &sets->sets[i].label;
        if (label->folder.size > size && !set_label_is_in_split(label, size)) return folder_size;
    }
    return size;
}

/* The stem of several sets: the words that their names have in common, or the name of their folder.
 * It differs from the stem of each set, so that their indexes do not replace each other. */
static recmap_status make_joined_stem(char **stem, size_t *folder_size,
                                      const struct shard_sets *sets, char *const *shards,
                                      size_t count, recmap_error *error) {
    *folder_size = joined_folder_size(sets, *folder_size);
    struct path_part words = common_words(shards, count), none = {"", 0};
    struct path_part compression = common_compression(shards, count);
    char *folder = NULL;
    if (!words.size) {
        RETURN_IF_FAILED(make_folder_stem(&folder, shards[0], *folder_size, error));
        words = (struct path_part){folder, strlen(folder)};
        compression = none;
    }
    const char *end = is_stem_of_set(sets, words) ? "-all" : "";
    recmap_status status = format_stem(stem, words, end, none, compression, error);
    free(folder);
    return status;
}

/* Returns true if two folders are one, however they are written. */
static bool is_same_folder(struct path_part a, struct path_part b) {
    char *names[2] = {NULL, NULL};
    if (is_equal(a, b)) return true;
    bool is_same = copy_real_folder(&names[0], a) && copy_real_folder(&names[1], b) &&
                   !strcmp(names[0], names[1]);
    free(names[0]);
    free(names[1]);
    return is_same;
}

static struct path_part folder_of(const char *path) {
    return (struct path_part){path, (size_t)(path_name(path) - path)};
}

bool index_name_spans_folders(char *const *shards, size_t count) {
    for (size_t i = 1; i < count; i++)
        if (!is_same_folder(folder_of(shards[0]), folder_of(shards[i]))) return true;
    return false;
}

/* The files of several folders may be one set. Their index is named as that of several sets: under
 * the name of a set, it would replace the index of the shards in the first folder. */
static recmap_status make_new_stem(char **stem, size_t *folder_size, char *const *shards,
                                   size_t count, recmap_error *error) {
    struct shard_sets sets;
    RETURN_IF_FAILED(shard_sets_find(&sets, shards, count, error));
    bool is_joined = sets.count > 1 || index_name_spans_folders(shards, count);
    recmap_status status = !is_joined
                               ? make_set_stem(stem, &sets.sets[0], shards, count, error)
                               : make_joined_stem(stem, folder_size, &sets, shards, count, error);
    shard_sets_deinit(&sets);
    return status;
}

static recmap_status make_old_stem(char **stem, size_t *folder_size, char *const *shards,
                                   size_t count, recmap_error *error) {
    (void)folder_size;
    const char *first = path_name(shards[0]);
    size_t size = count == 1 ? shard_name_stem_size(first) : strlen(first);
    for (size_t i = 1; i < count; i++)
        size = shard_name_common_size(first, size, path_name(shards[i]));
    if (count > 1) size = shard_name_trim_size(first, size);
    if (!size) return RECMAP_OK;
    return (*stem = strndup(first, size)) ? RECMAP_OK : fail_memory(error);
}

/* An index cannot be written to a remote store: then it goes to the current folder. */
static recmap_status write_path(char *path, size_t capacity, char *const *shards, size_t count,
                                make_stem *make, recmap_error *error) {
    char *stem = NULL;
    const char *first = shards[0];
    size_t folder_size = (size_t)(path_name(first) - first);
    RETURN_IF_FAILED(make(&stem, &folder_size, shards, count, error));
    if (!stem) RETURN_IF_FAILED(make_folder_stem(&stem, first, folder_size, error));
    if (url_is_url(first)) folder_size = 0;
    bool fits = folder_size + strlen(stem) + sizeof ".rmx" <= capacity;
    if (fits) snprintf(path, capacity, "%.*s%s.rmx", (int)folder_size, first, stem);
    free(stem);
    if (fits) return RECMAP_OK;
    fail(error, RECMAP_INVALID, "the name of its index would be too long");
    fail_file(error, first);
    fail_advise(error, "name the index with -o");
    return RECMAP_INVALID;
}

recmap_status index_name_write(char *path, size_t capacity, char *const *shards, size_t count,
                               recmap_error *error) {
    return write_path(path, capacity, shards, count, make_new_stem, error);
}

recmap_status index_name_write_old(char *path, size_t capacity, char *const *shards, size_t count,
                                   recmap_error *error) {
    return write_path(path, capacity, shards, count, make_old_stem, error);
}
