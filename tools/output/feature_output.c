#include "output/feature_output.h"

#include <inttypes.h>
#include <string.h>

#include <recmap/example.h>

#include "records/feature_names.h"
#include "terminal/interrupt.h"
#include "terminal/message.h"

struct writing {
    struct output *output;
    const char *name;
    size_t name_size;
    bool is_found;
    bool is_line; /* the values are numbers, which form a line */
    size_t number_count;
    bool is_failed;
    struct feature_names others; /* for the error */
};

static bool write_bytes(struct writing *writing, recmap_bytes value) {
    FILE *stream = writing->output->stream;
    if (writing->output->format != OUTPUT_PREVIEW)
        return fwrite(value.data, 1, value.size, stream) == value.size;
    print_readable(stream, (const char *)value.data, value.size);
    return putc('\n', stream) != EOF;
}

static bool write_value(struct writing *writing, const recmap_example_part *part, size_t i) {
    FILE *stream = writing->output->stream;
    if (part->type == RECMAP_TYPE_BYTES) return write_bytes(writing, part->bytes[i]);
    if (writing->number_count++ && putc(' ', stream) == EOF) return false;
    if (part->type == RECMAP_TYPE_INT64) return fprintf(stream, "%" PRId64, part->int64s[i]) > 0;
    return print_float(stream, part->floats[i]);
}

static recmap_status write_part(const recmap_example_part *part, void *context) {
    struct writing *writing = context;
    if (part->name_size != writing->name_size ||
        memcmp(part->name, writing->name, part->name_size) != 0) {
        feature_names_add(&writing->others, part);
        return RECMAP_OK;
    }
    writing->is_found = true;
    if (part->type == RECMAP_TYPE_INT64 || part->type == RECMAP_TYPE_FLOAT) writing->is_line = true;
    for (size_t i = 0; part->kind != RECMAP_EXAMPLE_PART_LIST && i < part->count; i++)
        if (!write_value(writing, part, i)) writing->is_failed = true;
    return RECMAP_OK;
}

static recmap_status fail_missing(const struct writing *writing, const recmap_record *record,
                                  recmap_error *error) {
    const char *near = feature_names_suggest(&writing->others, writing->name);
    char advice[160] = "'recmap schema --sample 0' lists the features of all records";
    if (near)
        snprintf(advice, sizeof advice,
                 "did you mean '%s'? 'recmap schema --sample 0' lists the features of all records",
                 near);
    message_fail(error, RECMAP_INVALID, NULL, advice, "the record has no feature '%s'",
                 writing->name);
    error->record = record->number;
    return RECMAP_INVALID;
}

/* recmap_example_visit checks the whole record before the first call, so nothing is written of a
 * record that is malformed. */
recmap_status feature_output_write(struct output *output, const char *name,
                                   const recmap_record *record, recmap_error *error) {
    if (interrupt_is_pending()) return interrupt_fail(error);
    struct writing writing = {.output = output, .name = name, .name_size = strlen(name)};
    recmap_status status =
        recmap_example_visit(write_part, &writing, record->data, record->size, error);
    /* A record of another kind is malformed, or has no features: say which kind it is. */
    if (status == RECMAP_CORRUPT || !writing.is_found) {
        recmap_error kind = RECMAP_ERROR_INIT;
        if (recmap_example_check(record->data, record->size, &kind) != RECMAP_OK) {
            *error = kind;
            status = RECMAP_CORRUPT;
        }
    }
    if (status != RECMAP_OK) {
        error->record = record->number;
        return status;
    }
    if (!writing.is_found) return fail_missing(&writing, record, error);
    if (writing.is_line && putc('\n', output->stream) == EOF) writing.is_failed = true;
    if (!writing.is_failed) return RECMAP_OK;
    return message_fail_errno(error, output->path ? output->path : "standard output", "write");
}
