#include "index/extract/missing_advice.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/words/near_name.h"
#include "base/words/shell_word.h"
#include "parse/example/example.h"
#include "parse/example/foreign.h"

/* At most so many names, of at most so many bytes each, are listed. */
enum { LISTED_MAX = 8, NAME_MAX_SIZE = NEAR_NAME_MAX, LIST_SIZE = 300 };

struct candidate {
    const char *name; /* in the record */
    size_t size;
    size_t distance; /* from the missing name */
};

/* Nearest first, then in the order of the bytes of the names. */
static int compare(const void *a, const void *b) {
    const struct candidate *one = a, *other = b;
    if (one->distance != other->distance) return one->distance < other->distance ? -1 : 1;
    size_t shared = one->size < other->size ? one->size : other->size;
    int order = memcmp(one->name, other->name, shared);
    return order ? order : (one->size > other->size) - (one->size < other->size);
}

/* Names that are not near all count as equally far, so that they are listed alphabetically. */
static struct candidate *make_candidates(const struct example_features *features,
                                         const char *name) {
    struct candidate *candidates = calloc(features->count + 1, sizeof *candidates);
    size_t name_size = strlen(name);
    for (size_t i = 0; candidates && i < features->count; i++) {
        const struct example_entry *entry = &features->entries[i];
        const char *text = (const char *)entry->name;
        size_t distance = near_name_distance(name, name_size, text, entry->name_size);
        candidates[i] = (struct candidate){text, entry->name_size, distance};
    }
    if (candidates) qsort(candidates, features->count, sizeof *candidates, compare);
    return candidates;
}

/* Writes the names in quotes until the room is used up. */
static void write_list(char *list, size_t capacity, const struct candidate *candidates,
                       size_t count) {
    size_t used = 0, i = 0;
    list[0] = 0;
    for (; i < count && i < LISTED_MAX; i++) {
        const struct candidate *candidate = &candidates[i];
        if (candidate->size > NAME_MAX_SIZE || used + candidate->size + 32 > capacity) break;
        used += (size_t)snprintf(list + used, capacity - used, "%s\"%.*s\"", i ? ", " : "",
                                 (int)candidate->size, candidate->name);
    }
    if (i < count)
        snprintf(list + used, capacity - used, "%s%zu more", i ? " and " : "", count - i);
}

static bool has_name(const struct example_features *features, const char *name) {
    size_t size = strlen(name);
    for (size_t i = 0; i < features->count; i++)
        if (features->entries[i].name_size == size &&
            !memcmp(features->entries[i].name, name, size))
            return true;
    return false;
}

static void write_advice(char *advice, size_t capacity, const char *name,
                         const struct candidate *candidates, size_t count) {
    char list[LIST_SIZE] = "none", word[SHELL_WORD_SIZE];
    if (count) write_list(list, sizeof list, candidates, count);
    if (count && candidates[0].distance != SIZE_MAX)
        snprintf(advice, capacity, "did you mean \"%.*s\"? the record's features: %s",
                 (int)candidates[0].size, candidates[0].name, list);
    else if (strchr(name, ','))
        snprintf(advice, capacity,
                 "the record's features: %s; to lift several features, name each separately", list);
    else
        snprintf(advice, capacity,
                 "the record's features: %s; if other records have \"%s\", build the index with a "
                 "default: `--lift %s`",
                 list, name, shell_word_of_name(word, name, "=DEFAULT"));
}

/* Only near names are listed, if there are any. */
static void write_id_advice(char *advice, size_t capacity, const char *name,
                            const struct candidate *candidates, size_t count) {
    char list[LIST_SIZE] = "none";
    size_t near_count = 0;
    (void)name;
    while (near_count < count && candidates[near_count].distance != SIZE_MAX) near_count++;
    if (count) write_list(list, sizeof list, candidates, near_count ? near_count : count);
    if (near_count) snprintf(advice, capacity, "did you mean %s?", list);
    else snprintf(advice, capacity, "the first record's features: %s", list);
}

typedef void write_fn(char *, size_t, const char *, const struct candidate *, size_t);

static void advise(char *advice, size_t capacity, const char *name, const uint8_t *data,
                   size_t size, write_fn *write) {
    struct example_features features = EXAMPLE_FEATURES_INIT;
    struct foreign foreign;
    advice[0] = 0;
    if (foreign_find(&foreign, data, size)) {
        snprintf(advice, capacity, "the record is not a tf.Example, but %s", foreign.name);
        return;
    }
    if (example_features_read(&features, data, size, NULL) == RECMAP_OK &&
        !has_name(&features, name)) {
        struct candidate *candidates = make_candidates(&features, name);
        if (candidates) write(advice, capacity, name, candidates, features.count);
        free(candidates);
    }
    example_features_deinit(&features);
}

void missing_advice_write(char *advice, size_t capacity, const char *name, const uint8_t *data,
                          size_t size) {
    advise(advice, capacity, name, data, size, write_advice);
}

void missing_id_advice_write(char *advice, size_t capacity, const char *name, const uint8_t *data,
                             size_t size) {
    advise(advice, capacity, name, data, size, write_id_advice);
}
