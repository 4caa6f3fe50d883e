#include "records/find_id.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <recmap/example.h>

#include "base/words/character.h"
#include "terminal/message.h"

enum { ADVICE_SIZE = 160 };

void match_list_deinit(struct match_list *matches) {
    free(matches->numbers);
    *matches = (struct match_list)MATCH_LIST_INIT;
}

static recmap_status find(struct match_list *matches, recmap_dataset *dataset,
                          const recmap_value *id, recmap_error *error) {
    for (;;) {
        recmap_status status = recmap_dataset_find_all(matches->numbers, matches->capacity,
                                                       &matches->count, dataset, id, error);
        if (status != RECMAP_OK || matches->count <= matches->capacity) return status;
        uint64_t *numbers = realloc(matches->numbers, matches->count * sizeof *numbers);
        if (!numbers) {
            errno = ENOMEM;
            return message_fail_errno(error, "", "keep the matches");
        }
        matches->numbers = numbers;
        matches->capacity = matches->count;
    }
}

/* Returns true if `text` is an int64 in decimal, without a plus sign or spaces. */
static bool parse_int64(int64_t *number, const char *text) {
    const char *digits = text + (*text == '-');
    char *end;
    errno = 0;
    long long value = strtoll(text, &end, 10);
    *number = value;
    return is_digit(*digits) && !*end && !errno;
}

/* The same for a uint64. */
static bool parse_uint64(uint64_t *number, const char *text) {
    char *end;
    errno = 0;
    unsigned long long value = strtoull(text, &end, 10);
    *number = value;
    return is_digit(*text) && !*end && !errno;
}

/* Finds the numbers of all records of the data set with the id. */
static recmap_status find_text(struct match_list *matches, recmap_dataset *dataset,
                               const char *text, recmap_error *error) {
    recmap_value id = {.type = RECMAP_TYPE_BYTES,
                       .as.bytes = {(const uint8_t *)text, strlen(text)}};
    recmap_status status = find(matches, dataset, &id, error);
    int64_t number;
    if (status != RECMAP_OK || matches->count || !parse_int64(&number, text)) return status;
    id = (recmap_value){.type = RECMAP_TYPE_INT64, .as.int64 = number};
    return find(matches, dataset, &id, error);
}

static recmap_status add_positions(struct match_list *matches, const uint64_t *positions,
                                   size_t count, recmap_error *error) {
    size_t needed = matches->count + count;
    if (needed > matches->capacity) {
        uint64_t *numbers = realloc(matches->numbers, 2 * needed * sizeof *numbers);
        if (!numbers) {
            errno = ENOMEM;
            return message_fail_errno(error, "", "keep the matches");
        }
        matches->numbers = numbers;
        matches->capacity = 2 * needed;
    }
    for (size_t i = 0; i < count; i++) matches->numbers[matches->count++] = positions[i];
    return RECMAP_OK;
}

static int compare_numbers(const void *a, const void *b) {
    uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;
    return (left > right) - (left < right);
}

recmap_status find_id(struct match_list *matches, struct view *view, const char *text,
                      recmap_error *error) {
    if (!view->numbers) return find_text(matches, view->dataset, text, error);
    struct match_list numbers = MATCH_LIST_INIT;
    recmap_status status = find_text(&numbers, view->dataset, text, error);
    matches->count = 0;
    for (size_t i = 0; status == RECMAP_OK && i < numbers.count; i++) {
        const uint64_t *positions;
        size_t count;
        status = view_find(&positions, &count, view, numbers.numbers[i], error);
        if (status == RECMAP_OK) status = add_positions(matches, positions, count, error);
    }
    match_list_deinit(&numbers);
    if (matches->count)
        qsort(matches->numbers, matches->count, sizeof *matches->numbers, compare_numbers);
    return status;
}

/* Adds the first records to the schema; they show of what kind the ids are. */
static recmap_status add_first_records(recmap_schema *schema, recmap_dataset *dataset) {
    enum { COUNT_MAX = 100 };
    uint64_t count = recmap_dataset_count(dataset);
    recmap_status status = RECMAP_OK;
    for (uint64_t i = 0; i < count && i < COUNT_MAX && status == RECMAP_OK; i++) {
        recmap_record record;
        status = recmap_dataset_get(&record, dataset, i, NULL);
        if (status != RECMAP_OK) break;
        status = recmap_schema_add(schema, record.data, record.size, NULL);
        recmap_record_release(&record);
    }
    return status;
}

static bool schema_has_int64(const recmap_schema *schema, const char *name) {
    for (size_t i = 0; name && i < recmap_schema_feature_count(schema); i++) {
        recmap_schema_feature feature = recmap_schema_get_feature(schema, i);
        if (!feature.is_list && !strcmp(feature.name, name)) return !strcmp(feature.kind, "int64");
    }
    return false;
}

static bool has_int64_ids(recmap_dataset *dataset) {
    recmap_schema *schema;
    if (recmap_schema_create(&schema, NULL) != RECMAP_OK) return false;
    bool is_int64 = add_first_records(schema, dataset) == RECMAP_OK &&
                    schema_has_int64(schema, recmap_dataset_get_info(dataset)->id_name);
    recmap_schema_destroy(schema);
    return is_int64;
}

/* A selection may lack a record that its data set has. */
static recmap_status fail_outside(struct match_list *matches, const struct view *view,
                                  const char *text, recmap_error *error) {
    recmap_status status = find_text(matches, view->dataset, text, error);
    if (status != RECMAP_OK || !matches->count) return status;
    return message_fail(
        error, RECMAP_NOT_FOUND, NULL, "search the index instead of the selection",
        "the selection does not contain the id '%s': it is the id of record %" PRIu64, text,
        matches->numbers[0]);
}

/* Writes the advice for an id that no record has. A number of 64 bits that is not an int64 may be
 * an unsigned one that is stored as the int64 with the same bits. */
static void advise(char advice[ADVICE_SIZE], const struct view *view, const char *text) {
    int64_t number;
    uint64_t bits;
    if (!has_int64_ids(view->dataset))
        snprintf(advice, ADVICE_SIZE,
                 "ids are compared byte for byte; 'recmap info' shows which feature they are from");
    else if (parse_int64(&number, text))
        snprintf(advice, ADVICE_SIZE, "'recmap info' shows which feature the ids are from");
    else if (parse_uint64(&bits, text))
        snprintf(advice, ADVICE_SIZE,
                 "the ids are int64: look for %" PRId64 ", which has the same 64 bits",
                 (int64_t)bits);
    else
        snprintf(advice, ADVICE_SIZE,
                 "the ids are int64: write a whole number; 'recmap info' shows which feature they "
                 "are from");
}

recmap_status find_id_fail(struct match_list *matches, const struct view *view, const char *text,
                           recmap_error *error) {
    char advice[ADVICE_SIZE];
    if (view->numbers) {
        recmap_status status = fail_outside(matches, view, text, error);
        if (status != RECMAP_OK) return status;
    }
    advise(advice, view, text);
    return message_fail(error, RECMAP_NOT_FOUND, view->index_path, advice,
                        "no record has the id '%s'", text);
}
