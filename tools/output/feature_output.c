#include "output/feature_output.h"

#include <inttypes.h>
#include <string.h>

#include <recmap/example.h>
#include <recmap/table.h>

#include "output/pixel_output.h"
#include "output/text_kind.h"
#include "records/feature_names.h"
#include "terminal/interrupt.h"
#include "terminal/message.h"

struct writing {
    struct output *output;
    const struct feature_values *values;
    uint64_t number; /* of the record */
    size_t step;     /* the next step of the feature list */
    bool is_found;
    bool is_text; /* the record is text */
    bool is_line; /* the values are numbers, or of text, which form a line */
    size_t number_count;
    bool is_failed;
    struct feature_names others; /* for the error */
    recmap_error *error;
};

static bool write_bytes(struct writing *writing, recmap_bytes value) {
    FILE *stream = writing->output->stream;
    if (writing->output->format != OUTPUT_PREVIEW)
        return fwrite(value.data, 1, value.size, stream) == value.size;
    print_readable(stream, (const char *)value.data, value.size);
    return writing->is_text || putc('\n', stream) != EOF;
}

static bool write_value(struct writing *writing, const recmap_example_part *part, size_t i) {
    FILE *stream = writing->output->stream;
    if (part->type == RECMAP_TYPE_BYTES) return write_bytes(writing, part->bytes[i]);
    if (writing->number_count++ && putc(' ', stream) == EOF) return false;
    if (part->type == RECMAP_TYPE_INT64) return fprintf(stream, "%" PRId64, part->int64s[i]) > 0;
    return print_float(stream, part->floats[i]);
}

/* The message names the value, unless it is the only one. */
static void name_value(recmap_error *error, const struct writing *writing,
                       const recmap_example_part *part, size_t i) {
    char place[48] = "", value[32] = "", message[sizeof error->message];
    if (part->kind == RECMAP_EXAMPLE_PART_STEP)
        snprintf(place, sizeof place, ", step %zu", writing->step);
    if (part->count > 1) snprintf(value, sizeof value, ", value %zu", i);
    memcpy(message, error->message, sizeof message);
    snprintf(error->message, sizeof message, "feature '%.200s'%s%s: %.700s", writing->values->name,
             place, value, message);
}

static recmap_status write_pictures(struct writing *writing, const recmap_example_part *part) {
    if (part->kind != RECMAP_EXAMPLE_PART_LIST && part->type != RECMAP_TYPE_BYTES)
        return message_fail(
            writing->error, RECMAP_FEATURE, NULL, "leave out --pixels to write the values",
            "feature '%.200s' has no bytes, and so no pictures", writing->values->name);
    for (size_t i = 0; part->bytes && i < part->count; i++) {
        recmap_status status = pixel_output_write(writing->output, &writing->values->pixels,
                                                  part->bytes[i], writing->number, writing->error);
        if (status == RECMAP_FEATURE || status == RECMAP_UNSUPPORTED)
            name_value(writing->error, writing, part, i);
        if (status != RECMAP_OK) return status;
    }
    writing->step += part->kind == RECMAP_EXAMPLE_PART_STEP;
    return RECMAP_OK;
}

static recmap_status write_part(const recmap_example_part *part, void *context) {
    struct writing *writing = context;
    const char *name = writing->values->name;
    if (part->name_size != strlen(name) || memcmp(part->name, name, part->name_size) != 0) {
        feature_names_add(&writing->others, part);
        return RECMAP_OK;
    }
    writing->is_found = true;
    if (writing->values->pixels.are_wanted) return write_pictures(writing, part);
    if (part->type == RECMAP_TYPE_INT64 || part->type == RECMAP_TYPE_FLOAT) writing->is_line = true;
    for (size_t i = 0; part->kind != RECMAP_EXAMPLE_PART_LIST && i < part->count; i++)
        if (!write_value(writing, part, i)) writing->is_failed = true;
    return RECMAP_OK;
}

static recmap_status fail_missing(const struct writing *writing, const recmap_record *record,
                                  recmap_error *error) {
    const char *near = feature_names_suggest(&writing->others, writing->values->name);
    char advice[160] = "'recmap schema --sample 0' lists the features of all records";
    if (near)
        snprintf(advice, sizeof advice,
                 "did you mean '%s'? 'recmap schema --sample 0' lists the features of all records",
                 near);
    message_fail(error, RECMAP_INVALID, NULL, advice, "the record has no feature '%s'",
                 writing->values->name);
    error->record = record->number;
    return RECMAP_INVALID;
}

static recmap_status visit(struct writing *writing, const recmap_record *record,
                           recmap_error *error) {
    recmap_dataset *dataset = writing->output->dataset;
    if (dataset) return recmap_dataset_visit(write_part, writing, dataset, record, error);
    return recmap_example_visit(write_part, writing, record->data, record->size, error);
}

/* A record of another kind is malformed, or has no features: says which kind it is. */
static recmap_status check_kind(recmap_status status, enum text_kind kind,
                                const recmap_record *record, recmap_error *error) {
    recmap_error found = RECMAP_ERROR_INIT;
    if (kind != TEXT_NONE && status != RECMAP_CORRUPT) return status;
    if (kind != TEXT_NONE)
        return message_fail(error, RECMAP_CORRUPT, NULL, "leave out --feature to write it as it is",
                            "the record is not %s%s", text_kind_name(kind),
                            kind == TEXT_ROW ? " with the fields of the header" : "");
    if (recmap_example_check(record->data, record->size, &found) == RECMAP_OK) return status;
    *error = found;
    return RECMAP_CORRUPT;
}

/* The whole record is checked before the first part is visited, so nothing is written of a record
 * that is malformed. Values of text are lines, as the records are. */
recmap_status feature_output_write(struct output *output, const struct feature_values *values,
                                   const recmap_record *record, recmap_error *error) {
    if (interrupt_is_pending()) return interrupt_fail(error);
    struct writing writing = {
        .output = output, .values = values, .number = record->number, .error = error};
    enum text_kind kind = text_kind_find(output->dataset, record->number);
    writing.is_text = kind != TEXT_NONE;
    writing.is_line = writing.is_text && !values->pixels.are_wanted;
    recmap_status status = visit(&writing, record, error);
    if (status == RECMAP_CORRUPT || !writing.is_found)
        status = check_kind(status, kind, record, error);
    if (status != RECMAP_OK) {
        error->record = record->number;
        return status;
    }
    if (!writing.is_found) return fail_missing(&writing, record, error);
    if (writing.is_line && putc('\n', output->stream) == EOF) writing.is_failed = true;
    if (!writing.is_failed) return RECMAP_OK;
    return message_fail_errno(error, output->path ? output->path : "standard output", "write");
}
