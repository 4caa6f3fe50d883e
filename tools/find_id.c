#include "find_id.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <recmap/example.h>

#include "message.h"

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
    return *digits >= '0' && *digits <= '9' && !*end && !errno;
}

recmap_status find_id(struct match_list *matches, recmap_dataset *dataset, const char *text,
                      recmap_error *error) {
    recmap_value id = {.type = RECMAP_TYPE_BYTES,
                       .as.bytes = {(const uint8_t *)text, strlen(text)}};
    recmap_status status = find(matches, dataset, &id, error);
    int64_t number;
    if (status != RECMAP_OK || matches->count || !parse_int64(&number, text)) return status;
    id = (recmap_value){.type = RECMAP_TYPE_INT64, .as.int64 = number};
    return find(matches, dataset, &id, error);
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

recmap_status find_id_fail(recmap_dataset *dataset, const char *path, const char *text,
                           recmap_error *error) {
    int64_t number;
    const char *advice = !has_int64_ids(dataset)
                             ? "ids are compared byte for byte; 'recmap info' shows which feature "
                               "they are from"
                         : parse_int64(&number, text)
                             ? "'recmap info' shows which feature the ids are from"
                             : "the ids are int64: write a decimal number; 'recmap info' shows "
                               "which feature they are from";
    return message_fail(error, RECMAP_NOT_FOUND, path, advice, "no record has the id '%s'", text);
}
