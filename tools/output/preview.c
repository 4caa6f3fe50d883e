#include "output/preview.h"

#include <inttypes.h>
#include <string.h>

#include <recmap/example.h>
#include <recmap/table.h>

#include "output/text_kind.h"
#include "terminal/message.h"

enum {
    NUMBERS_SHOWN_MAX = 8,
    BYTES_SHOWN_MAX = 48,
    BYTES_VALUES_SHOWN_MAX = 3,
    STEPS_SHOWN_MAX = 3,
    ROW_SIZE = 16,
    ROWS_SHOWN_MAX = 4,
};

struct preview {
    FILE *stream;
    bool has_colour;
    size_t part_count;
    bool has_lists;
    size_t step_count; /* of the current feature list, */
    size_t step;       /* and the number of its next step */
};

static bool is_printable(uint8_t c) {
    return c >= 0x20 && c < 0x7f;
}

static bool looks_like_text(const uint8_t *bytes, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (!is_printable(bytes[i]) && bytes[i] != '\n' && bytes[i] != '\t') return false;
    return true;
}

static void print_bytes(FILE *stream, recmap_bytes value) {
    size_t count = value.size < BYTES_SHOWN_MAX ? value.size : BYTES_SHOWN_MAX;
    if (looks_like_text(value.data, count)) {
        putc('"', stream);
        print_readable(stream, (const char *)value.data, count);
        putc('"', stream);
    } else {
        count = count < ROW_SIZE ? count : ROW_SIZE;
        for (size_t i = 0; i < count; i++) fprintf(stream, "%02x", value.data[i]);
    }
    if (count < value.size) fprintf(stream, "... (%zu bytes)", value.size);
}

/* Prints the first values, and how many there are if not all are printed. */
static void print_values(FILE *stream, const recmap_example_part *part) {
    bool is_bytes = part->type == RECMAP_TYPE_BYTES;
    size_t shown = is_bytes ? BYTES_VALUES_SHOWN_MAX : NUMBERS_SHOWN_MAX;
    for (size_t i = 0; i < part->count && i < shown; i++) {
        if (i) fputs(", ", stream);
        if (is_bytes) print_bytes(stream, part->bytes[i]);
        else if (part->int64s) fprintf(stream, "%" PRId64, part->int64s[i]);
        else print_float(stream, part->floats[i]);
    }
    if (part->count > shown) fprintf(stream, ", ... (%zu values)", part->count);
}

/* `step` follows the name. */
static void print_label(const struct preview *preview, const recmap_example_part *part,
                        const char *step) {
    enum { WIDTH = 20 };
    size_t width = part->name_size + strlen(step);
    fputs(preview->has_colour ? "  \033[36m" : "  ", preview->stream);
    print_readable(preview->stream, part->name, part->name_size);
    fprintf(preview->stream, "%s%s%*s  ", step, preview->has_colour ? "\033[0m" : "",
            width < WIDTH ? (int)(WIDTH - width) : 0, "");
}

static void print_feature(const struct preview *preview, const recmap_example_part *part,
                          const char *step) {
    print_label(preview, part, step);
    if (part->type == RECMAP_TYPE_NONE) fputs("unset", preview->stream);
    else fprintf(preview->stream, "%s  ", recmap_type_name(part->type));
    print_values(preview->stream, part);
    putc('\n', preview->stream);
}

static void print_list(struct preview *preview, const recmap_example_part *part) {
    preview->has_lists = true;
    preview->step_count = part->count;
    preview->step = 0;
    if (part->count) return;
    print_label(preview, part, "");
    fputs("0 steps\n", preview->stream);
}

/* Prints the first steps of a list, and then how many there are if not all are printed. */
static void print_step(struct preview *preview, const recmap_example_part *part) {
    char step[32];
    snprintf(step, sizeof step, "[%zu]", preview->step++);
    if (preview->step <= STEPS_SHOWN_MAX) print_feature(preview, part, step);
    if (preview->step != STEPS_SHOWN_MAX || preview->step_count <= STEPS_SHOWN_MAX) return;
    print_label(preview, part, "");
    fprintf(preview->stream, "... (%zu steps)\n", preview->step_count);
}

static recmap_status print_part(const recmap_example_part *part, void *context) {
    struct preview *preview = context;
    switch (part->kind) {
    case RECMAP_EXAMPLE_PART_FEATURE: print_feature(preview, part, ""); break;
    case RECMAP_EXAMPLE_PART_LIST: print_list(preview, part); break;
    case RECMAP_EXAMPLE_PART_STEP: print_step(preview, part); break;
    }
    return RECMAP_OK;
}

static recmap_status look_at_part(const recmap_example_part *part, void *context) {
    struct preview *preview = context;
    preview->part_count++;
    if (part->kind == RECMAP_EXAMPLE_PART_LIST) preview->has_lists = true;
    return RECMAP_OK;
}

static void print_row(FILE *stream, const uint8_t *bytes, size_t offset, size_t count) {
    fprintf(stream, "  %04zx ", offset);
    for (size_t i = 0; i < ROW_SIZE; i++) {
        if (i < count) fprintf(stream, " %02x", bytes[i]);
        else fputs("   ", stream);
    }
    fputs("  ", stream);
    for (size_t i = 0; i < count; i++) putc(is_printable(bytes[i]) ? bytes[i] : '.', stream);
    putc('\n', stream);
}

static void print_hex(FILE *stream, const recmap_record *record) {
    size_t shown = ROW_SIZE * ROWS_SHOWN_MAX;
    for (size_t offset = 0; offset < shown && offset < record->size; offset += ROW_SIZE) {
        size_t left = record->size - offset;
        print_row(stream, record->data + offset, offset, left < ROW_SIZE ? left : ROW_SIZE);
    }
    if (record->size > shown) fputs("  ...\n", stream);
}

static recmap_status visit(recmap_example_visit_fn visit_part, struct preview *preview,
                           const struct output *output, const recmap_record *record,
                           recmap_error *error) {
    if (output->dataset)
        return recmap_dataset_visit(visit_part, preview, output->dataset, record, error);
    return recmap_example_visit(visit_part, preview, record->data, record->size, error);
}

/* Prints the first line. `what` is the kind of record, or empty. */
static void print_title(const struct preview *preview, const recmap_record *record,
                        const char *what) {
    fprintf(preview->stream, "%srecord %" PRIu64 "%s, %zu byte%s%s%s\n",
            preview->has_colour ? "\033[1m" : "", record->number,
            preview->has_colour ? "\033[0m" : "", record->size, plural(record->size),
            *what ? ", " : "", what);
}

/* The first visit finds out which kind of record it is, for the first line. A record that is of
 * none, or has no features, is printed as bytes, after a line that says what it is, if that is
 * known. */
recmap_status preview_print(const struct output *output, const recmap_record *record,
                            recmap_error *error) {
    struct preview preview = {.stream = output->stream, .has_colour = output->has_colour};
    recmap_error reason = RECMAP_ERROR_INIT;
    enum text_kind kind = text_kind_find(output->dataset, record->number);
    recmap_status status = visit(look_at_part, &preview, output, record, &reason);
    if (status == RECMAP_NO_MEMORY) {
        *error = reason;
        return status;
    }
    bool is_known = status == RECMAP_OK && preview.part_count;
    const char *what = preview.has_lists ? "a tf.SequenceExample" : text_kind_name(kind);
    print_title(&preview, record, is_known ? what + strlen("a ") : "");
    if (is_known) return visit(print_part, &preview, output, record, error);
    if (kind == TEXT_NONE &&
        recmap_example_check(record->data, record->size, &reason) == RECMAP_CORRUPT)
        fprintf(preview.stream, "  %s\n", reason.message);
    print_hex(preview.stream, record);
    return RECMAP_OK;
}
