#include "dataset/doctor/name_checks.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/core/error.h"
#include "base/core/plural.h"
#include "base/os/file.h"
#include "base/words/url_prefix.h"
#include "dataset/describe/missing_shards.h"

/* ---- Missing shards. */

/* Returns true if the only shard was meant to be examined alone. */
static bool is_alone(const struct examination *examination) {
    const recmap_shards *named = examination->options->shards;
    return examination->shards.count == 1 && named && recmap_shards_name_one(named);
}

static recmap_status add_missing(const struct examination *examination,
                                 const recmap_missing_shards *missing, recmap_error *error) {
    static const struct finding_kind lost = {CHECK_MISSING_SHARDS, RECMAP_SEVERITY_ERROR,
                                             "copy the missing shards there, and index again"};
    static const struct finding_kind surplus = {
        CHECK_MISSING_SHARDS, RECMAP_SEVERITY_ERROR,
        "remove these shards if another run wrote them, and index again"};
    if (missing->count && !is_alone(examination))
        RETURN_IF_FAILED(diagnosis_add(
            examination->diagnosis, lost, place_of_file(missing->first), error,
            "the names of the others say that %" PRIu64 " more shard%s should be there; this is "
            "the first",
            missing->count, plural(missing->count)));
    if (!missing->surplus_count) return RECMAP_OK;
    return diagnosis_add(examination->diagnosis, surplus, place_of_file(missing->surplus), error,
                         "%" PRIu64 " shard%s larger than the number of shards that %s; this "
                         "is the first",
                         missing->surplus_count,
                         missing->surplus_count == 1 ? " has a number" : "s have numbers",
                         missing->surplus_count == 1 ? "its name gives" : "their names give");
}

/* An object of a store is looked for when it is read. */
static recmap_status check_files(struct examination *examination, recmap_error *error) {
    static const struct finding_kind kind = {
        CHECK_MISSING_SHARDS, RECMAP_SEVERITY_ERROR,
        "copy the file there; or, if the shards were moved, name their folder with `--shards`"};
    for (size_t i = 0; i < examination->shards.count; i++) {
        struct listed_shard *shard = &examination->shards.shards[i];
        struct file_stat file;
        if (url_is_url(shard->path) || file_stat_path(&file, shard->path)) continue;
        shard->is_missing = true;
        RETURN_IF_FAILED(diagnosis_add(examination->diagnosis, kind, place_of_file(shard->name),
                                       error, "the shard is missing"));
    }
    return RECMAP_OK;
}

recmap_status check_missing_shards(struct examination *examination, recmap_error *error) {
    const struct shard_list *shards = &examination->shards;
    recmap_missing_shards missing;
    char **paths = malloc((shards->count + 1) * sizeof *paths);
    if (!paths) return fail_memory(error);
    for (size_t i = 0; i < shards->count; i++) paths[i] = (char *)shards->shards[i].name;
    recmap_status status = missing_shards_find(&missing, paths, shards->count, error);
    free(paths);
    if (status == RECMAP_OK) status = add_missing(examination, &missing, error);
    return status == RECMAP_OK ? check_files(examination, error) : status;
}

/* ---- Sets. */

/* Returns the number of an earlier set that this one is a copy of, or `set`. */
static size_t find_original(const struct set_list *list, size_t set) {
    const struct shard_set *sets = list->sets.sets;
    for (size_t i = 0; i < set; i++)
        if (!set_label_compare_names(&sets[i].label, &sets[set].label) ||
            set_label_is_copy(&sets[i].label, &sets[set].label) ||
            set_label_is_marked_copy(&sets[i].label, &sets[set].label))
            return i;
    return set;
}

static recmap_status add_copy(const struct examination *examination, size_t original, size_t copy,
                              recmap_error *error) {
    static const struct finding_kind kind = {
        CHECK_SEVERAL_SETS, RECMAP_SEVERITY_ERROR,
        "remove the one that is older or not complete, or name the other one when you open it"};
    char first[SET_TITLE_SIZE], second[SET_TITLE_SIZE];
    const struct set_list *sets = &examination->sets;
    set_list_write_title(first, sets, original);
    set_list_write_title(second, sets, copy);
    const struct listed_shard *shard = &examination->shards.shards[sets->sets.sets[copy].first];
    return diagnosis_add(examination->diagnosis, kind, place_of_file(shard->name), error,
                         "one set is there twice, as %.400s and as %.400s", first, second);
}

static bool are_described(const struct shard_list *shards) {
    for (size_t i = 0; i < shards->count; i++)
        if (!shards->shards[i].is_described) return false;
    return true;
}

recmap_status check_sets(const struct examination *examination, recmap_error *error) {
    static const struct finding_kind kind = {
        CHECK_SEVERAL_SETS, RECMAP_SEVERITY_WARNING,
        "open one by its name or with split=, or one of them would become a part of the other"};
    const struct set_list *sets = &examination->sets;
    size_t other = 0;
    for (size_t i = 1; i < sets->count; i++) {
        size_t original = find_original(sets, i);
        if (original != i) RETURN_IF_FAILED(add_copy(examination, original, i, error));
        else if (!other) other = i;
    }
    if (!other || are_described(&examination->shards)) return RECMAP_OK;
    char first[SET_TITLE_SIZE], second[SET_TITLE_SIZE];
    set_list_write_title(first, sets, 0);
    set_list_write_title(second, sets, other);
    return diagnosis_add(examination->diagnosis, kind, place_of_none(), error,
                         "the shards are %zu sets, such as %.400s and %.400s", sets->sets.count,
                         first, second);
}
