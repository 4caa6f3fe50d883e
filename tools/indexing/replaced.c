#include "indexing/replaced.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include <recmap/feature.h>

#include "base/words/shell_word.h"
#include "base/words/url_prefix.h"
#include "terminal/message.h"

static bool is_lifted(const recmap_index_options *options, const char *name) {
    for (size_t i = 0; i < options->lift_count; i++)
        if (!strcmp(options->lifts[i].name, name)) return true;
    return false;
}

static int refuse(const char *path, const char *name, const char *other) {
    char advice[2048], word[SHELL_WORD_SIZE], index[SHELL_WORD_SIZE];
    snprintf(advice, sizeof advice,
             "%s; or remove the column first, with `recmap annotate %s --drop %s`", other,
             shell_word_write(index, sizeof index, path) ? index : "NAME.rmx",
             shell_word_write(word, sizeof word, name) ? word : "NAME");
    return message_error(RECMAP_INVALID, path, advice,
                         "the index would lose its annotated column \"%s\"", name);
}

static bool is_counted(const recmap_index_options *options, const char *name) {
    for (size_t i = 0; i < options->counted_feature_count; i++)
        if (!strcmp(options->counted_features[i].name, name)) return true;
    return false;
}

/* Options that an index was built with, as words of a command. */
struct option_words {
    char text[1024];
    size_t size;
};

/* Adds ` OPTION NAME` or ` OPTION NAME=VALUE`, with any separator. What does not fit or cannot be
 * written is left out. */
static void add_words(struct option_words *words, const char *option, const char *name,
                      const char *separator, const char *value) {
    char text[SHELL_WORD_SIZE], word[SHELL_WORD_SIZE];
    size_t room = sizeof words->text - words->size;
    int size =
        snprintf(text, sizeof text, "%s%s%s", name, value ? separator : "", value ? value : "");
    if (size < 0 || (size_t)size >= sizeof text || !shell_word_write(word, sizeof word, text))
        return;
    size = snprintf(words->text + words->size, room, " %s %s", option, word);
    if (size > 0 && (size_t)size < room) words->size += (size_t)size;
    else words->text[words->size] = 0;
}

static void add_lost_columns(struct option_words *words, const recmap_dataset *dataset,
                             const recmap_index_options *options) {
    size_t count = recmap_dataset_get_info(dataset)->lifted_column_count;
    bool has_nulls = false;
    /* Column 0 is the length, which every index has. */
    for (size_t i = 1; i < count; i++) {
        recmap_lifted_column column;
        if (recmap_dataset_get_lifted_column(&column, dataset, i, NULL) != RECMAP_OK ||
            column.is_annotated || is_lifted(options, column.name))
            continue;
        add_words(words, "--lift", column.name, "=", column.default_value);
        has_nulls |= column.null_count != 0;
    }
    if (has_nulls) add_words(words, "--missing-values", "null", "", NULL);
}

static void add_lost_counts(struct option_words *words, const recmap_dataset *dataset,
                            const recmap_index_options *options) {
    size_t count = recmap_dataset_get_info(dataset)->counted_feature_count;
    for (size_t i = 0; i < count; i++) {
        recmap_counted_feature feature;
        if (recmap_dataset_get_counted_feature(&feature, dataset, i, NULL) == RECMAP_OK &&
            !is_counted(options, feature.name))
            add_words(words, "--count", feature.name, ":", recmap_element_name(feature.element));
    }
}

/* Says which ids, columns and counts of the old index the new one will lack. */
static void warn_of_losses(const char *path, const recmap_dataset *dataset,
                           const recmap_index_options *options) {
    const char *id_name = recmap_dataset_get_info(dataset)->id_name;
    struct option_words words = {.size = 0};
    if (id_name && !options->id_feature) add_words(&words, "--id", id_name, "", NULL);
    add_lost_columns(&words, dataset, options);
    add_lost_counts(&words, dataset, options);
    if (words.size)
        message("%s: the old index had%s: give these options again to keep what they add", path,
                words.text);
}

static bool has_column(const recmap_dataset *dataset, const char *name) {
    size_t count = recmap_dataset_get_info(dataset)->lifted_column_count;
    recmap_lifted_column column;
    for (size_t i = 0; i < count; i++)
        if (recmap_dataset_get_lifted_column(&column, dataset, i, NULL) == RECMAP_OK &&
            !strcmp(column.name, name))
            return true;
    return false;
}

static bool has_count(const recmap_dataset *dataset, const char *name) {
    size_t count = recmap_dataset_get_info(dataset)->counted_feature_count;
    recmap_counted_feature feature;
    for (size_t i = 0; i < count; i++)
        if (recmap_dataset_get_counted_feature(&feature, dataset, i, NULL) == RECMAP_OK &&
            !strcmp(feature.name, name))
            return true;
    return false;
}

/* Returns true if the options ask for ids or counts that the index lacks. */
static bool needs_build(const recmap_dataset *dataset, const recmap_index_options *options) {
    const char *id_name = recmap_dataset_get_info(dataset)->id_name;
    if (options->id_feature && (!id_name || strcmp(options->id_feature, id_name) != 0)) return true;
    for (size_t i = 0; i < options->counted_feature_count; i++)
        if (!has_count(dataset, options->counted_features[i].name)) return true;
    return false;
}

/* A lifted feature that the index lacks, or NULL. */
static const char *find_new_lift(const recmap_dataset *dataset,
                                 const recmap_index_options *options) {
    for (size_t i = 0; i < options->lift_count; i++)
        if (!has_column(dataset, options->lifts[i].name)) return options->lifts[i].name;
    return NULL;
}

/* Writes the advice that keeps the columns and fits what the options ask for. Lifted columns can be
 * added to an index; ids and counts come only with a build, which cannot have annotated columns. */
static void write_other(char *other, size_t capacity, const char *path,
                        const recmap_dataset *dataset, const recmap_index_options *options) {
    char feature[SHELL_WORD_SIZE], index[SHELL_WORD_SIZE];
    const char *lift = find_new_lift(dataset, options);
    if (needs_build(dataset, options))
        snprintf(other, capacity,
                 "ids and counts cannot be added to an index: build one of another name, with -o, "
                 "and add the annotated columns to it again, with `recmap annotate`");
    else if (lift)
        snprintf(other, capacity,
                 "`recmap index --lift %s %s` adds the column and keeps all others",
                 shell_word_of_name(feature, lift, ""),
                 shell_word_write(index, sizeof index, path) ? index : "NAME.rmx");
    else
        snprintf(other, capacity,
                 "the same command with --append, and without --id, --lift and --count, adds the "
                 "records that the index lacks and keeps all columns");
}

/* Returns an exit status, as replaced_check. `other` is what to do other than losing a column. */
static int check_annotated(const char *path, const recmap_dataset *dataset,
                           const recmap_index_options *options, const char *other) {
    size_t count = recmap_dataset_get_info(dataset)->lifted_column_count;
    for (size_t i = 0; i < count; i++) {
        recmap_lifted_column column;
        if (recmap_dataset_get_lifted_column(&column, dataset, i, NULL) == RECMAP_OK &&
            column.is_annotated && !is_lifted(options, column.name))
            return refuse(path, column.name, other);
    }
    return 0;
}

/* Refuses to replace an index that cannot be read here, but perhaps by another version or user: it
 * may have annotated columns. Nothing can be kept of one that is damaged. */
static int refuse_unreadable(const char *path, const recmap_error *error) {
    bool is_absent = error->system_errno == ENOENT || error->system_errno == ENOTDIR;
    if (is_absent || error->status == RECMAP_CORRUPT) return 0;
    return message_error(
        error->status, path,
        "it may have annotated columns, which would be lost: `recmap info` says what can "
        "read it; remove it, or give the new index another name",
        "the index to be replaced cannot be read: %s", error->message);
}

/* Opens the index to be replaced; NULL if it may be replaced, or an error was printed. Returns an
 * exit status. No index of a remote store is opened, because none can be written there. */
static int open_replaced(recmap_dataset **dataset, const char *path,
                         const recmap_dataset_options *dataset_options) {
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_dataset_options opening = *dataset_options;
    *dataset = NULL;
    if (url_is_url(path)) return 0;
    opening.allow_absolute_paths = opening.allow_urls = opening.allow_missing_shards = 1;
    recmap_status status = recmap_dataset_open(dataset, path, &opening, &error);
    return status == RECMAP_OK ? 0 : refuse_unreadable(path, &error);
}

int replaced_check(const char *path, const recmap_index_options *options,
                   const recmap_dataset_options *dataset_options) {
    recmap_dataset *dataset;
    int exit_status = open_replaced(&dataset, path, dataset_options);
    if (!dataset) return exit_status;
    char other[1024];
    write_other(other, sizeof other, path, dataset, options);
    exit_status = check_annotated(path, dataset, options, other);
    if (!exit_status) warn_of_losses(path, dataset, options);
    recmap_dataset_close(dataset);
    return exit_status;
}

int replaced_check_annotated(const char *path, const recmap_index_options *options,
                             const recmap_dataset_options *dataset_options) {
    recmap_dataset *dataset;
    int exit_status = open_replaced(&dataset, path, dataset_options);
    if (dataset)
        exit_status = check_annotated(path, dataset, options, "give the new index another name");
    recmap_dataset_close(dataset);
    return exit_status;
}
