#include "format/shards/set_choice.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/core/error.h"
#include "base/core/interrupt.h"
#include "base/core/path_pattern.h"
#include "base/core/redact.h"
#include "base/words/character.h"

/* Of advice and lists of sets. A name that does not fit is left out of advice. */
enum { TITLE_SIZE = 180, ADVISED_SIZE = 300, LIST_SIZE = 800, LISTED_MAX = 5, COPY_NAME_MAX = 100 };

static void write_title(char title[TITLE_SIZE], const struct shard_set *set, bool has_folder) {
    char text[TITLE_SIZE];
    shard_set_write_title(text, sizeof text, set, has_folder);
    redact_url(title, TITLE_SIZE, text);
}

/* Returns true if all sets are in one folder, which their titles then need not name. */
static bool share_folder(const struct shard_sets *sets) {
    for (size_t i = 1; i < sets->count; i++) {
        struct path_part a = sets->sets[0].label.folder, b = sets->sets[i].label.folder;
        if (a.size != b.size || memcmp(a.start, b.start, a.size) != 0) return false;
    }
    return true;
}

/* Writes "a@2.tfrecord (2 shards), b@4.tfrecord (3 of 4 shards)". */
static void list_sets(char text[LIST_SIZE], const struct shard_sets *sets) {
    size_t size = 0, listed = sets->count <= LISTED_MAX ? sets->count : LISTED_MAX - 1;
    bool has_folder = !share_folder(sets);
    text[0] = 0;
    for (size_t i = 0; i < listed && size < LIST_SIZE; i++) {
        const struct shard_set *set = &sets->sets[i];
        char title[TITLE_SIZE], of[24] = "";
        write_title(title, set, has_folder);
        unsigned count = set->label.kind == SET_NUMBERED ? set->label.member.count : 0;
        if (count > set->shard_count) snprintf(of, sizeof of, " of %u", count);
        size += (size_t)snprintf(text + size, LIST_SIZE - size, "%s%s (%zu%s shard%s)",
                                 i ? ", " : "", title, set->shard_count, of,
                                 set->shard_count == 1 && !of[0] ? "" : "s");
    }
    if (listed < sets->count && size < LIST_SIZE)
        snprintf(text + size, LIST_SIZE - size, " and %zu more", sets->count - listed);
}

/* The split that only this set has, for advice, or NULL. `ignores_copies`: of the sets that are not
 * copies. */
static const char *find_own_split(const struct shard_sets *sets, size_t chosen,
                                  bool ignores_copies) {
    const char *split = set_label_find_split(&sets->sets[chosen].label);
    if (ignores_copies && sets->sets[chosen].is_copy) return NULL;
    for (size_t i = 0; split && i < sets->count; i++) {
        if (i == chosen || (ignores_copies && sets->sets[i].is_copy)) continue;
        if (set_label_has_split(&sets->sets[i].label, split)) return NULL;
    }
    return split;
}

static bool is_better_example(const struct shard_set *set, const struct shard_set *other) {
    if (set->is_copy != other->is_copy) return other->is_copy;
    return set->shard_count > other->shard_count;
}

/* The set that advice names: the first that a split names, preferably train, or else the largest: a
 * smaller one may be a copy of some of its shards. Sets `split` to what chooses it, or NULL: a
 * split does not if a copy has it too. */
static size_t choose_example(const struct shard_sets *sets, const char **split) {
    size_t chosen = 0, largest = 0;
    *split = NULL;
    for (size_t i = 0; i < sets->count && (!*split || strcmp(*split, "train") != 0); i++) {
        const char *next = find_own_split(sets, i, true);
        if (is_better_example(&sets->sets[i], &sets->sets[largest])) largest = i;
        if (!next || (*split && strcmp(next, "train") != 0)) continue;
        *split = next;
        chosen = i;
    }
    if (!*split) return largest;
    *split = find_own_split(sets, chosen, false);
    return chosen;
}

/* Writes the name that opens a set: see shard_set_has_name. Returns false if it does not fit. */
static bool write_name(char text[TITLE_SIZE], const struct shard_set *set) {
    if (set->shard_count == 1 && set->label.member.count > 1)
        redact_url(text, TITLE_SIZE, set->label.path);
    else write_title(text, set, true);
    return strlen(text) + 1 < TITLE_SIZE;
}

/* Writes a pattern that matches the shards of a set, and nothing else in the list: the path of its
 * first one with `*` for its last number. Returns false if there is none. */
static bool write_pattern(char text[TITLE_SIZE], const struct shard_set *set,
                          const struct path_list *list, size_t first, recmap_error *error) {
    struct shard_sets matched = SHARD_SETS_INIT;
    struct path_pattern pattern;
    char components[TITLE_SIZE], **paths = calloc(set->shard_count + 1, sizeof *paths);
    const char *path = set->label.path, *end = path + strlen(path);
    size_t count = 0;
    while (end > path && !is_digit(end[-1]) && end[-1] != '/') end--;
    const char *start = end;
    while (start > path && is_digit(start[-1])) start--;
    int size = snprintf(text, TITLE_SIZE, "%.*s*%s", (int)(start - path), path, end);
    bool is_exact = paths && start < end && size < TITLE_SIZE && !strpbrk(path, "*?[\\");
    memcpy(components, text, strlen(text) + 1);
    is_exact = is_exact && path_pattern_init(&pattern, components, true, error) == RECMAP_OK;
    for (size_t i = first; is_exact && i < list->count; i++) {
        if (!path_pattern_matches(&pattern, list->paths[i])) continue;
        is_exact = count < set->shard_count;
        paths[count++] = list->paths[i];
    }
    is_exact = is_exact && count == set->shard_count &&
               shard_sets_find(&matched, paths, count, error) == RECMAP_OK && matched.count == 1;
    shard_sets_deinit(&matched);
    free(paths);
    return is_exact;
}

/* Writes a name or a pattern that opens the set. Returns false if there is none. */
static bool write_word(char text[TITLE_SIZE], const struct shard_set *set,
                       const struct path_list *list, size_t first) {
    if (!shard_set_has_name(set)) return write_pattern(text, set, list, first, NULL);
    return write_name(text, set);
}

/* Writes what opens each of the first sets, as far as something short does: "`--split train`,
 * 'f/x@2'". */
static void list_arguments(char text[ADVISED_SIZE], const struct shard_sets *sets,
                           const struct path_list *list, size_t first) {
    size_t size = 0;
    text[0] = 0;
    for (size_t i = 0; i < sets->count && i < LISTED_MAX; i++) {
        char word[TITLE_SIZE];
        const char *split = find_own_split(sets, i, false), *comma = size ? ", " : "";
        if (!split && !write_word(word, &sets->sets[i], list, first)) continue;
        int added = split
                        ? snprintf(text + size, ADVISED_SIZE - size, "%s`--split %s`", comma, split)
                        : snprintf(text + size, ADVISED_SIZE - size, "%s'%s'", comma, word);
        if (added < 0 || (size_t)added >= ADVISED_SIZE - size) {
            text[size] = 0;
            return;
        }
        size += (size_t)added;
    }
}

/* Writes what to do about copies that the marks in their names tell, or nothing. Names alone do not
 * prove that a file is a copy. */
static void write_removal(char text[ADVISED_SIZE], const struct shard_sets *sets,
                          const char *before, const char *after) {
    bool has_copies = false;
    const char *example = NULL;
    text[0] = 0;
    for (size_t i = 0; i < sets->count && !example; i++) {
        const struct set_label *label = &sets->sets[i].label;
        if (!sets->sets[i].is_copy) continue;
        has_copies = true;
        if (strlen(label->path) - label->folder.size <= COPY_NAME_MAX)
            example = label->path + label->folder.size;
    }
    if (has_copies)
        snprintf(text, ADVISED_SIZE,
                 "%sf their contents are equal, remove the copies%s%s%s, else rename them%s",
                 before, example ? ", such as '" : "", example ? example : "", example ? "'" : "",
                 after);
}

/* Writes how to choose one of the sets: pass `--split train`, or name it:
 * 'robot/robot-train@2'. */
static void write_choices(char text[ADVISED_SIZE], const struct shard_sets *sets,
                          const struct path_list *list, size_t first) {
    const char *split;
    char by_split[64] = "", word[TITLE_SIZE];
    const struct shard_set *set = &sets->sets[choose_example(sets, &split)];
    if (split) snprintf(by_split, sizeof by_split, "pass `--split %s`, or ", split);
    if (write_word(word, set, list, first))
        snprintf(text, ADVISED_SIZE, "%sname it: '%s'", by_split, word);
    else snprintf(text, ADVISED_SIZE, "%sname its files", by_split);
}

static const char join_advice[] = "`--sets all` joins them";

static recmap_status fail_folder(const char *name, const struct shard_sets *sets,
                                 const struct path_list *list, size_t first, recmap_error *error) {
    char titles[LIST_SIZE], choices[ADVISED_SIZE], removal[ADVISED_SIZE];
    list_sets(titles, sets);
    write_choices(choices, sets, list, first);
    write_removal(removal, sets, "i", "; ");
    fail(error, RECMAP_INVALID, "the folder has %zu sets of shards: %s", sets->count, titles);
    fail_file(error, name);
    fail_advise(error, "%sto read one, %s; %s", removal, choices, join_advice);
    return RECMAP_INVALID;
}

static recmap_status warn_of_pattern(struct path_list *warnings, const char *name,
                                     const struct shard_sets *sets, const struct path_list *list,
                                     size_t first, recmap_error *error) {
    enum { NAME_SIZE = 4096, TEXT_SIZE = NAME_SIZE + LIST_SIZE + 2 * ADVISED_SIZE + 200 };
    char titles[LIST_SIZE], choices[ADVISED_SIZE], removal[ADVISED_SIZE], *text = malloc(TEXT_SIZE);
    if (!text) return fail_memory(error);
    list_sets(titles, sets);
    write_choices(choices, sets, list, first);
    write_removal(removal, sets, " I", ".");
    redact_url(text, NAME_SIZE, name);
    size_t size = strlen(text);
    snprintf(text + size, TEXT_SIZE - size,
             ": the pattern matches %zu sets of shards, which are joined: %s.%s To read one, %s; "
             "`--sets all` says that all are meant",
             sets->count, titles, removal, choices);
    return path_list_add(warnings, text) ? RECMAP_OK : fail_memory(error);
}

/* Folders say something about the split of a file from the first wildcard on. */
static void set_base(struct set_label *label, const char *name, enum set_source source) {
    size_t size = source == SET_SOURCE_PATTERN ? path_pattern_base_size(name) : label->folder.size;
    if (size < label->base && !strncmp(label->path, name, size)) label->base = size;
}

static recmap_status find_sets(struct shard_sets *sets, const struct path_list *list, size_t first,
                               const char *name, enum set_source source, recmap_error *error) {
    RETURN_IF_FAILED(shard_sets_find(sets, list->paths + first, list->count - first, error));
    for (size_t i = 0; i < sets->count; i++) set_base(&sets->sets[i].label, name, source);
    return RECMAP_OK;
}

static recmap_status check_sets(const struct path_list *list, size_t first, const char *name,
                                enum set_source source, struct path_list *warnings,
                                recmap_error *error) {
    struct shard_sets sets;
    RETURN_IF_FAILED(find_sets(&sets, list, first, name, source, error));
    recmap_status status = RECMAP_OK;
    if (sets.count > 1)
        status = source == SET_SOURCE_FOLDER
                     ? fail_folder(name, &sets, list, first, error)
                     : warn_of_pattern(warnings, name, &sets, list, first, error);
    shard_sets_deinit(&sets);
    return status;
}

static recmap_status fail_split(const struct path_list *list, size_t first, const char *name,
                                enum set_source source, const char *split, recmap_error *error) {
    char text[LIST_SIZE], arguments[ADVISED_SIZE];
    struct shard_sets sets;
    RETURN_IF_FAILED(find_sets(&sets, list, first, name, source, error));
    list_sets(text, &sets);
    list_arguments(arguments, &sets, list, first);
    shard_sets_deinit(&sets);
    if (source == SET_SOURCE_NAME)
        fail(error, RECMAP_INVALID, "is not of the split '%.100s'", split);
    else fail(error, RECMAP_INVALID, "no set has the split '%.100s': there is %s", split, text);
    fail_file(error, name);
    bool has_others = source != SET_SOURCE_NAME && arguments[0];
    fail_advise(error,
                "a set has the split if it or a folder is named '%.100s', or if its name ends in "
                "-, _, . or a space and that; %s%s",
                split,
                has_others ? "to read one, pass: " : "check the name, or leave the split out",
                has_others ? arguments : "");
    if (error) error->system_errno = ENOENT; /* bindings raise a fitting exception */
    return RECMAP_INVALID;
}

/* Removes the paths from `first` on that lack the split. If all do, the list is unchanged. */
static recmap_status keep_split(struct path_list *list, size_t first, const char *split,
                                const char *name, enum set_source source, size_t *kept_count,
                                recmap_error *error) {
    size_t count = first;
    struct set_label label;
    *kept_count = 0;
    for (size_t i = first; i < list->count; i++) {
        set_label_init(&label, list->paths[i]);
        set_base(&label, name, source);
        *kept_count += set_label_has_split(&label, split);
        RETURN_IF_FAILED(interrupt_check(thread_interrupt(), SET_LABEL_WORK, error));
    }
    if (!*kept_count) return RECMAP_OK;
    for (size_t i = first; i < list->count; i++) {
        char *path = list->paths[i];
        set_label_init(&label, path);
        set_base(&label, name, source);
        if (set_label_has_split(&label, split)) list->paths[count++] = path;
        else free(path);
    }
    list->count = count;
    return RECMAP_OK;
}

recmap_status set_choice_apply(struct path_list *list, size_t first, const char *name,
                               enum set_source source, const struct set_choice *choice,
                               struct path_list *warnings, recmap_error *error) {
    size_t kept_count;
    if (choice->split) {
        RETURN_IF_FAILED(keep_split(list, first, choice->split, name, source, &kept_count, error));
        if (!kept_count) return fail_split(list, first, name, source, choice->split, error);
    }
    if (choice->joins_all || source == SET_SOURCE_NAME) return RECMAP_OK;
    return check_sets(list, first, name, source, warnings, error);
}

static recmap_status fail_copies(const struct set_label *old, const struct set_label *new,
                                 const char *name, recmap_error *error) {
    char titles[2][TITLE_SIZE];
    const struct set_label *labels[2] = {old, new};
    for (int i = 0; i < 2; i++) {
        struct shard_set set = {.label = *labels[i], .shard_count = 1};
        if (set.label.kind == SET_NUMBERED) set.largest = set.label.member.number;
        write_title(titles[i], &set, false);
    }
    fail(error, RECMAP_INVALID, "there are two copies of one set: %s and %s", titles[0], titles[1]);
    fail_file(error, name ? name : new->path);
    fail_advise(error, "leave one out; %s", join_advice);
    return RECMAP_INVALID;
}

static recmap_status check_path(const struct set_register *sets, const struct path_list *list,
                                const char *path, const char *name, recmap_error *error) {
    struct set_label label, old;
    set_label_init(&label, path);
    size_t same_name = label_table_find(&sets->names, list->paths, &label);
    size_t same_file = sets->has_marks ? label_table_find(&sets->files, list->paths, &label) : 0;
    if (same_name) set_label_init(&old, list->paths[same_name - 1]);
    if (same_name && set_label_is_copy(&old, &label)) return fail_copies(&old, &label, name, error);
    if (same_file) set_label_init(&old, list->paths[same_file - 1]);
    if (same_file && set_label_is_marked_copy(&old, &label))
        return fail_copies(&old, &label, name, error);
    return RECMAP_OK;
}

/* Files are registered one by one only if one has a mark. */
static recmap_status find_marks(struct set_register *sets, const struct path_list *list,
                                recmap_error *error) {
    struct set_label label;
    for (; !sets->has_marks && sets->searched < list->count; sets->searched++) {
        RETURN_IF_FAILED(interrupt_check(thread_interrupt(), SET_LABEL_WORK, error));
        set_label_init(&label, list->paths[sets->searched]);
        sets->has_marks = label.copy_mark.size > 0;
    }
    return RECMAP_OK;
}

recmap_status set_register_check(struct set_register *sets, const struct path_list *list,
                                 size_t first, const char *name, recmap_error *error) {
    if (!first) return RECMAP_OK;
    RETURN_IF_FAILED(find_marks(sets, list, error));
    RETURN_IF_FAILED(label_table_fill(&sets->names, list->paths, first, error));
    if (sets->has_marks)
        RETURN_IF_FAILED(label_table_fill(&sets->files, list->paths, first, error));
    for (size_t i = first; i < list->count; i++) {
        RETURN_IF_FAILED(interrupt_check(thread_interrupt(), SET_LABEL_WORK, error));
        RETURN_IF_FAILED(check_path(sets, list, list->paths[i], name, error));
    }
    return RECMAP_OK;
}

void set_register_clear(struct set_register *sets) {
    label_table_deinit(&sets->names);
    label_table_deinit(&sets->files);
    *sets = (struct set_register)SET_REGISTER_INIT;
}
