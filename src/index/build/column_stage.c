#include "index/build/column_stage.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/core/array.h"
#include "base/core/error.h"
#include "base/words/shell_word.h"

struct column_stage {
    char *name;
    char *default_value;
    recmap_type type;    /* NONE while all values are missing */
    recmap_value filler; /* the default as a value of that type */
    bool widens;         /* floats become float64 */
    bool is_nullable;    /* without a default, missing values are null */
    uint64_t null_count; /* in the chunks packed so far */
    uint64_t first_value;
    uint64_t packed_count; /* values in the chunks packed so far */
    size_t count;
    uint64_t words[COLUMN_CHUNK_RECORDS];
    uint8_t missing[COLUMN_CHUNK_RECORDS];
    uint8_t *bytes;
    size_t bytes_size;
    size_t bytes_capacity;
};

struct column_stage *column_stage_create(const recmap_lift *lift) {
    struct column_stage *stage = calloc(1, sizeof *stage);
    if (!stage) return NULL;
    stage->name = strdup(lift->name);
    stage->is_nullable = lift->is_nullable;
    stage->default_value = lift->default_value ? strdup(lift->default_value) : NULL;
    if (stage->name && (stage->default_value || !lift->default_value)) return stage;
    column_stage_destroy(stage);
    return NULL;
}

void column_stage_destroy(struct column_stage *stage) {
    if (!stage) return;
    free(stage->name);
    free(stage->default_value);
    free(stage->bytes);
    free(stage);
}

const char *column_stage_name(const struct column_stage *stage) {
    return stage->name;
}

const char *column_stage_default(const struct column_stage *stage) {
    return stage->default_value;
}

void column_stage_allow_nulls(struct column_stage *stage) {
    stage->is_nullable = true;
}

void column_stage_widen(struct column_stage *stage) {
    stage->widens = true;
}

uint64_t column_stage_null_count(const struct column_stage *stage) {
    return stage->null_count;
}

recmap_type column_stage_type(const struct column_stage *stage) {
    recmap_value value = {.type = RECMAP_TYPE_NONE};
    if (stage->type == RECMAP_TYPE_NONE && stage->default_value)
        column_parse_default(&value, RECMAP_TYPE_NONE, stage->default_value);
    return stage->type != RECMAP_TYPE_NONE ? stage->type : value.type;
}

uint64_t column_stage_first_value(const struct column_stage *stage) {
    return stage->first_value;
}

bool column_stage_has_values(const struct column_stage *stage) {
    return stage->type != RECMAP_TYPE_NONE;
}

static recmap_status set_type(struct column_stage *stage, recmap_type type, recmap_error *error) {
    char word[SHELL_WORD_SIZE];
    if (stage->default_value && !column_parse_default(&stage->filler, type, stage->default_value)) {
        fail(error, RECMAP_INVALID,
             "the default \"%s\" of column \"%s\" is not of type %s, as its values are",
             stage->default_value, stage->name, recmap_type_name(type));
        fail_advise(error, "give a default of that type: `--lift %s`",
                    shell_word_of_name(word, stage->name, "=DEFAULT"));
        return RECMAP_INVALID;
    }
    stage->type = type;
    stage->first_value = stage->packed_count + stage->count;
    return RECMAP_OK;
}

/* The first value sets the column's type if no default did. A record without a value needs a
 * default, unless the column is nullable. */
static recmap_status check_value(struct column_stage *stage, const recmap_value *value,
                                 const char *advice, recmap_error *error) {
    if (value->type == RECMAP_TYPE_NONE) {
        char word[SHELL_WORD_SIZE];
        if (stage->default_value || stage->is_nullable) return RECMAP_OK;
        fail(error, RECMAP_FEATURE, "has no value of lifted feature \"%s\"", stage->name);
        if (advice[0] && stage->type == RECMAP_TYPE_NONE) fail_advise(error, "%s", advice);
        else
            fail_advise(error,
                        "build the index with a default for such records: `--lift %s`, or with "
                        "`--missing-values null`",
                        shell_word_of_name(word, stage->name, "=DEFAULT"));
        return RECMAP_FEATURE;
    }
    if (stage->type == RECMAP_TYPE_NONE) return set_type(stage, value->type, error);
    if (stage->type == value->type) return RECMAP_OK;
    fail(error, RECMAP_FEATURE,
         "feature \"%s\" is of type %s here and of type %s in earlier records", stage->name,
         recmap_type_name(value->type), recmap_type_name(stage->type));
    fail_advise(error, "a lifted feature must have one type in all records");
    return RECMAP_FEATURE;
}

recmap_status column_stage_add(struct column_stage *stage, const recmap_value *value,
                               const char *advice, recmap_error *error) {
    recmap_value wide = {.type = RECMAP_TYPE_FLOAT64};
    assert(stage->count < COLUMN_CHUNK_RECORDS);
    if (stage->widens && value->type == RECMAP_TYPE_FLOAT) {
        wide.as.float64 = (double)value->as.float32;
        value = &wide;
    }
    RETURN_IF_FAILED(check_value(stage, value, advice, error));
    if (!array_reserve(&stage->bytes, &stage->bytes_capacity, stage->bytes_size + COLUMN_BYTES_MAX,
                       1))
        return fail_memory(error);
    stage->missing[stage->count] = value->type == RECMAP_TYPE_NONE;
    stage->words[stage->count] = column_append(stage->bytes, &stage->bytes_size, value);
    stage->count++;
    return RECMAP_OK;
}

bool column_stage_is_full(const struct column_stage *stage) {
    return stage->count == COLUMN_CHUNK_RECORDS;
}

size_t column_stage_count(const struct column_stage *stage) {
    return stage->count;
}

/* A copy of the values of bytes in which missing values have the default, or are empty if there is
 * none. Updates their ends. */
static uint8_t *fill_bytes(struct column_stage *stage) {
    size_t filler_size = stage->default_value ? stage->filler.as.bytes.size : 0;
    uint8_t *filled = malloc(stage->bytes_size + stage->count * filler_size + 1);
    if (!filled) return NULL;
    size_t size = 0;
    uint64_t start = 0;
    for (size_t i = 0; i < stage->count; i++) {
        uint64_t end = stage->words[i];
        const uint8_t *value = stage->bytes + start;
        size_t length = (size_t)(end - start);
        if (stage->missing[i]) {
            value = stage->filler.as.bytes.data;
            length = filler_size;
        }
        if (length) memcpy(filled + size, value, length);
        size += length;
        stage->words[i] = size;
        start = end;
    }
    return filled;
}

uint8_t *column_stage_pack(struct column_stage *stage, size_t *size) {
    uint8_t *filled = NULL;
    const uint8_t *nulls = stage->default_value ? NULL : stage->missing;
    if (stage->type == RECMAP_TYPE_BYTES) {
        filled = fill_bytes(stage);
        if (!filled) return NULL;
    } else if (stage->type != RECMAP_TYPE_NONE && !nulls) {
        for (size_t i = 0; i < stage->count; i++)
            if (stage->missing[i]) stage->words[i] = column_word(&stage->filler);
    }
    struct column_values values = {stage->type, stage->count, stage->words, filled, nulls};
    uint8_t *bytes = column_pack(size, &values);
    free(filled);
    for (size_t i = 0; nulls && i < stage->count; i++) stage->null_count += nulls[i];
    stage->packed_count += stage->count;
    stage->count = 0;
    stage->bytes_size = 0;
    return bytes;
}
