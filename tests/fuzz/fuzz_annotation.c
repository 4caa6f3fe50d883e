/* Any bytes as a file of new columns. The first byte chooses CSV, TSV or JSON lines, and the key.
 * Every row is refused with a reason, or has fields within it that fit their type; reading the file
 * again gives the same rows. */
#include <string.h>

#include "dataset/annotate/table.h"
#include "fuzz/fuzz.h"
#include "fuzz/small_set.h"

enum { CSV, TSV, JSON_LINES, KINDS };

static const char *paths[KINDS];

static void prepare(void) {
    static const char *const names[KINDS] = {"any.csv", "any.tsv", "any.jsonl"};
    for (int i = 0; i < KINDS; i++) paths[i] = small_set_path(names[i]);
}

/* A field fits its type, and each wider one; only a missing one has none. Returns a sum over its
 * bytes. */
static uint64_t check_field(const struct field *field) {
    uint64_t sum = (uint64_t)field->kind;
    recmap_type type;
    recmap_value value;
    if (field->kind != FIELD_MISSING)
        for (size_t i = 0; i < field->size; i++) sum = sum * 31 + field->data[i];
    if (!field_type(&type, field)) return sum;
    const bool is_missing = field->kind == FIELD_MISSING || field_is_missing_word(field);
    check((type == RECMAP_TYPE_NONE) == is_missing);
    bool is_number = type == RECMAP_TYPE_INT64 || type == RECMAP_TYPE_FLOAT;
    if (is_number) check(field_value(&value, field, RECMAP_TYPE_FLOAT64));
    if (is_number && field_fits_float(field)) check(field_value(&value, field, RECMAP_TYPE_FLOAT));
    if (type != RECMAP_TYPE_FLOAT) check(field_value(&value, field, type) && value.type == type);
    if (field->kind == FIELD_WORD) check(field_value(&value, field, RECMAP_TYPE_BYTES));
    return sum;
}

/* Reads all rows up to the first that is refused. Returns a sum over them. */
static uint64_t read_rows(struct table *table) {
    uint64_t sum = 0, line = 0;
    for (;;) {
        struct table_row row;
        bool is_row = false;
        recmap_error error = RECMAP_ERROR_INIT;
        recmap_status status = table_next(&row, &is_row, table, &error);
        check(status == RECMAP_OK || (status == RECMAP_INVALID && error.message[0]));
        if (status != RECMAP_OK || !is_row) return sum * 31 + (uint64_t)status;
        check(row.line > line);
        line = row.line;
        sum = (sum * 31 + check_field(&row.key)) * 31 + check_field(&row.value);
    }
}

static void read_table(const char *path, recmap_key key) {
    struct table table;
    recmap_error error = RECMAP_ERROR_INIT;
    if (table_open(&table, path, "x", key, "name", &error) == RECMAP_OK) {
        uint64_t sum = read_rows(&table);
        check(table_rewind(&table, NULL) == RECMAP_OK);
        check(read_rows(&table) == sum);
    } else {
        check(error.message[0]);
    }
    if (table.map) table_near_name(&table, "xy");
    table_close(&table);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (!size) return 0;
    if (!paths[0]) prepare();
    const char *path = paths[data[0] % KINDS];
    small_set_write(path, data + 1, size - 1);
    read_table(path, (recmap_key)(data[0] / KINDS % 3));
    return 0;
}
