#include "index/tables/rebuild_advice.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/core/error.h"
#include "base/os/file.h"
#include "base/words/shell_word.h"
#include "format/framing/framing.h"
#include "format/shards/set_name.h"
#include "format/shards/shard_source.h"

/* With the prefix and what an error adds around it, the command fits in the advice. */
enum { COMMAND_SIZE = 360, LISTED_MAX = 3 };

struct command {
    char text[COMMAND_SIZE];
    size_t size;
    bool is_cut; /* a word did not fit or cannot be written */
};

static void add_word(struct command *command, const char *word) {
    size_t room = sizeof command->text - command->size;
    if (room < 2 || !shell_word_write(command->text + command->size + 1, room - 1, word)) {
        command->is_cut = true;
        return;
    }
    command->text[command->size] = ' ';
    command->size += strlen(command->text + command->size);
}

/* Adds `--option NAME` or, with a separator and a value, `--option NAME=VALUE`. */
static void add_option(struct command *command, const char *option, const char *name,
                       const char *separator, const char *value) {
    char word[COMMAND_SIZE];
    int size =
        snprintf(word, sizeof word, "%s%s%s", name, value ? separator : "", value ? value : "");
    command->is_cut |= size < 0 || (size_t)size >= sizeof word;
    add_word(command, option);
    add_word(command, word);
}

static void add_contents(struct command *command, const struct manifest *manifest) {
    bool has_nulls = false;
    if (manifest->id_name) add_option(command, "--id", manifest->id_name, "", NULL);
    for (size_t i = 0; i < manifest->column_count; i++) {
        const struct manifest_column *column = &manifest->columns[i];
        /* The records lack the values of an annotated column, so no build can have it. */
        command->is_cut |= strchr(column->name, '=') != NULL || column->is_annotated;
        add_option(command, "--lift", column->name, "=", column->default_value);
        has_nulls |= column->null_count != 0;
    }
    if (has_nulls) add_option(command, "--missing-values", "null", "", NULL);
    for (size_t i = 0; i < manifest->counted_feature_count; i++) {
        const struct manifest_counted *counted = &manifest->counted_features[i];
        const char *element = recmap_element_name(counted->element);
        if (!element && strchr(counted->name, ':')) element = "";
        add_option(command, "--count", counted->name, ":", element);
    }
}

/* A shard's name as the command needs it: relative names are relative to the folder of the index.
 */
static void add_shard(struct command *command, const struct index_file *index, const char *name) {
    char path[COMMAND_SIZE], *index_path = NULL;
    if (index_follow_link(&index_path, index, NULL) != RECMAP_OK) {
        command->is_cut = true;
        return;
    }
    const char *slash = strrchr(index_path, '/');
    bool is_whole = shard_name_is_absolute(name) || !slash;
    int size = snprintf(path, sizeof path, "%.*s%s", is_whole ? 0 : (int)(slash - index_path) + 1,
                        index_path, name);
    command->is_cut |= size < 0 || (size_t)size >= sizeof path;
    free(index_path);
    add_word(command, path);
}

/* A file that grew has an entry for each part, of which the first begins at byte 0. */
static bool is_file(const struct index_shard *shard) {
    return shard->entry.start == 0;
}

/* Returns true if the shards of the index are one set, NAME@N[END]. Writes that name. */
static bool find_set(char name[COMMAND_SIZE], const struct index_shard *shards, size_t count) {
    struct set_member first = {0}, member;
    size_t files = 0;
    for (size_t i = 0; i < count; i++) {
        if (!is_file(&shards[i])) continue;
        if (!set_member_parse(&member, shards[i].entry.path)) return false;
        if (!files) first = member;
        if (!set_member_has_short_name(&member) || member.number != files++) return false;
        if (set_member_compare_sets(&member, &first)) return false;
    }
    if (first.count != files) return false;
    return set_member_write_set(name, COMMAND_SIZE, &first, first.path) < COMMAND_SIZE;
}

/* The framing of the shards is named unless it is the default. A custom one, or several, cannot be
 * named in a command that works everywhere. */
static void add_framing(struct command *command, const struct index_shard *shards, size_t count) {
    const char *name = shards[0].entry.framing;
    for (size_t i = 1; i < count; i++)
        command->is_cut |= strcmp(shards[i].entry.framing, name) != 0;
    command->is_cut |= shards[0].framing->custom != NULL;
    if (strcmp(name, "tfrecord") != 0) add_option(command, "--framing", name, "", NULL);
}

static void add_shards(struct command *command, const struct index_file *index) {
    size_t count = (size_t)index_manifest(index)->shard_count;
    const struct index_shard *shards = index_shards(index);
    char set[COMMAND_SIZE];
    size_t files = 0;
    for (size_t i = 0; i < count; i++) files += is_file(&shards[i]);
    if (!count) {
        command->is_cut = true;
        return;
    }
    add_framing(command, shards, count);
    add_option(command, "-o", store_path(index_store(index)), "", NULL);
    if (files > 1 && find_set(set, shards, count)) add_shard(command, index, set);
    else if (files > LISTED_MAX) command->is_cut = true;
    else
        for (size_t i = 0; i < count; i++)
            if (is_file(&shards[i])) add_shard(command, index, shards[i].entry.path);
}

void index_advise_rebuild(recmap_error *error, const struct index_file *index,
                          struct rebuild_option option, const char *prefix) {
    struct command command = {"recmap index", strlen("recmap index"), false};
    if (option.name) add_option(&command, option.name, option.argument, "", NULL);
    struct command simple = command;
    const char *end = "";
    if (index && manifest_find_annotated(index_manifest(index)))
        end = "; its annotated columns are only in the index: save them first";
    if (index && !index_manifest(index)->extracted_by_caller) {
        bool is_named = option.name && !strcmp(option.name, "--on-bad-record");
        add_contents(&command, index_manifest(index));
        if (index_manifest(index)->skips_damage && !is_named)
            add_option(&command, "--on-bad-record", "skip", "", NULL);
        add_shards(&command, index);
        bool fits = strlen(prefix) + command.size + strlen(end) + sizeof "``" <=
                    sizeof error->advice;
        if (!command.is_cut && fits) simple = command;
    }
    fail_advise(error, "%s`%s`%s", prefix, simple.is_cut ? "recmap index" : simple.text, end);
}

void index_advise_lift(recmap_error *error, const struct index_file *index, const char *name,
                       const char *prefix) {
    static const char format[] =
        "%sif the records have it, `%s` adds it; `recmap annotate` adds other values";
    struct command command = {"recmap index", strlen("recmap index"), strchr(name, '=') != NULL};
    add_option(&command, "--lift", name, "", NULL);
    add_word(&command, index ? store_path(index_store(index)) : "NAME.rmx");
    bool fits = strlen(prefix) + command.size + sizeof format <= sizeof error->advice;
    fail_advise(error, format, prefix,
                command.is_cut || !fits ? "recmap index --lift FEATURE NAME.rmx" : command.text);
}
