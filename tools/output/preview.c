#include "output/preview.h"
#include "terminal/message.h"

#include <inttypes.h>
#include <stdint.h>
#include <string.h>

enum {
    VALUES_SHOWN_MAX = 8,
    BYTES_SHOWN_MAX = 48,
    BYTES_VALUES_SHOWN_MAX = 3,
    STEPS_SHOWN_MAX = 3,
    ROW_SIZE = 16,
    ROWS_SHOWN_MAX = 4,
};

/* A cursor in JSON that the library wrote: there is no white space, and the order of members is
 * known. Each function checks what it reads and returns false if it is not as expected. */
struct json_cursor {
    const char *next;
};

static bool take(struct json_cursor *json, const char *text) {
    size_t size = strlen(text);
    if (strncmp(json->next, text, size)) return false;
    json->next += size;
    return true;
}

/* Reads a string or number. `token` is the text between the quotes, or the number. */
static bool take_scalar(struct json_cursor *json, const char **token, size_t *size) {
    bool is_quoted = take(json, "\"");
    const char *start = json->next;
    if (is_quoted) {
        while (*json->next && *json->next != '"')
            json->next += *json->next == '\\' && json->next[1] ? 2 : 1;
    } else {
        json->next += strcspn(json->next, ",]}");
    }
    *token = start;
    *size = (size_t)(json->next - start);
    return is_quoted ? take(json, "\"") : *size > 0;
}

static int base64_digit(char c) {
    if (c >= 'A' && c <= 'Z') return c - 'A';
    if (c >= 'a' && c <= 'z') return c - 'a' + 26;
    if (c >= '0' && c <= '9') return c - '0' + 52;
    return c == '+' ? 62 : c == '/' ? 63 : 0;
}

static size_t base64_size(const char *text, size_t size) {
    size_t padding = 0;
    while (padding < 2 && padding < size && text[size - 1 - padding] == '=') padding++;
    return size / 4 * 3 - padding;
}

/* Decodes the first bytes of base64 text. Returns how many. */
static size_t decode_start(uint8_t *bytes, size_t capacity, const char *text, size_t size) {
    size_t whole = base64_size(text, size);
    size_t count = whole < capacity ? whole : capacity;
    for (size_t i = 0; i < count; i++) {
        const char *four = text + i / 3 * 4;
        uint32_t group = (uint32_t)base64_digit(four[0]) << 18 |
                         (uint32_t)base64_digit(four[1]) << 12 |
                         (uint32_t)base64_digit(four[2]) << 6 | (uint32_t)base64_digit(four[3]);
        bytes[i] = (uint8_t)(group >> (16 - 8 * (i % 3)));
    }
    return count;
}

static bool is_printable(uint8_t c) {
    return c >= 0x20 && c < 0x7f;
}

static bool looks_like_text(const uint8_t *bytes, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (!is_printable(bytes[i]) && bytes[i] != '\n' && bytes[i] != '\t') return false;
    return true;
}

static void print_text(FILE *stream, const uint8_t *bytes, size_t count) {
    putc('"', stream);
    for (size_t i = 0; i < count; i++) {
        if (bytes[i] == '\n') fputs("\\n", stream);
        else if (bytes[i] == '\t') fputs("\\t", stream);
        else putc(bytes[i], stream);
    }
    putc('"', stream);
}

static void print_bytes(FILE *stream, const char *text, size_t size) {
    uint8_t bytes[BYTES_SHOWN_MAX];
    size_t whole = base64_size(text, size);
    size_t count = decode_start(bytes, sizeof bytes, text, size);
    if (looks_like_text(bytes, count)) {
        print_text(stream, bytes, count);
    } else {
        count = count < ROW_SIZE ? count : ROW_SIZE;
        for (size_t i = 0; i < count; i++) fprintf(stream, "%02x", bytes[i]);
    }
    if (count < whole) fprintf(stream, "... (%zu bytes)", whole);
}

/* Reads `"value":[...]`. Prints the first values, and how many there are if not all are printed. */
static bool print_values(FILE *stream, struct json_cursor *json, bool is_bytes) {
    size_t shown = is_bytes ? BYTES_VALUES_SHOWN_MAX : VALUES_SHOWN_MAX;
    size_t count = 0;
    if (!take(json, "\"value\":[")) return false;
    while (!take(json, "]")) {
        const char *token;
        size_t size;
        if (count && !take(json, ",")) return false;
        if (!take_scalar(json, &token, &size)) return false;
        if (count++ >= shown) continue;
        if (count > 1) fputs(", ", stream);
        if (is_bytes) print_bytes(stream, token, size);
        else fwrite(token, 1, size, stream);
    }
    if (count > shown) fprintf(stream, ", ... (%zu values)", count);
    return true;
}

/* Reads the rest of a feature after `"name":{`: `}`, or `"int64List":{"value":[...]}}`. */
static bool print_list(FILE *stream, struct json_cursor *json) {
    static const struct {
        const char *key;
        const char *kind;
    } lists[] = {
        {"\"bytesList\":{", "bytes"}, {"\"floatList\":{", "float"}, {"\"int64List\":{", "int64"}};
    if (take(json, "}")) return fputs("unset", stream) >= 0;
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        if (!take(json, lists[i].key)) continue;
        fprintf(stream, "%s  ", lists[i].kind);
        if (take(json, "}")) return take(json, "}");
        return print_values(stream, json, i == 0) && take(json, "}}");
    }
    return false;
}

/* Called after the `{` of a step: skips to the `}` that closes it. The strings in a step are
 * base64, so they contain no braces. */
static bool skip_step(struct json_cursor *json) {
    size_t depth = 1;
    for (; depth && *json->next; json->next++) {
        if (*json->next == '{') depth++;
        if (*json->next == '}') depth--;
    }
    return !depth;
}

/* The label of a line: the name of a feature or feature list. */
struct label {
    const char *name;
    int size;
    bool has_colour;
};

static void print_label(FILE *stream, const struct label *label, const char *step) {
    enum { WIDTH = 20 };
    int width = label->size + (int)strlen(step);
    fprintf(stream, "  %s%.*s%s%s%*s  ", label->has_colour ? "\033[36m" : "", label->size,
            label->name, step, label->has_colour ? "\033[0m" : "",
            width < WIDTH ? WIDTH - width : 0, "");
}

/* Reads the rest of a feature list after `"name":{`: `}`, or `"feature":[{...},...]}`. Prints the
 * first steps; the others are only counted. */
static bool print_steps(FILE *stream, struct json_cursor *json, const struct label *label) {
    size_t count = 0;
    bool has_steps = take(json, "\"feature\":[");
    while (has_steps && !take(json, "]")) {
        char step[32];
        snprintf(step, sizeof step, "[%zu]", count);
        if ((count && !take(json, ",")) || !take(json, "{")) return false;
        if (count++ < STEPS_SHOWN_MAX) {
            print_label(stream, label, step);
            bool is_whole = print_list(stream, json);
            putc('\n', stream);
            if (!is_whole) return false;
        } else if (!skip_step(json)) {
            return false;
        }
    }
    if (count == 0 || count > STEPS_SHOWN_MAX) {
        print_label(stream, label, "");
        fprintf(stream, count ? "... (%zu steps)\n" : "%zu steps\n", count);
    }
    return take(json, "}");
}

/* Reads features or feature lists, up to and including the closing `}`. */
static bool print_members(FILE *stream, struct json_cursor *json, bool are_lists, bool has_colour) {
    for (size_t count = 0; !take(json, "}"); count++) {
        const char *name;
        size_t size;
        if ((count && !take(json, ",")) || !take_scalar(json, &name, &size) || !take(json, ":{"))
            return false;
        struct label label = {name, (int)size, has_colour};
        if (!are_lists) print_label(stream, &label, "");
        bool is_whole = are_lists ? print_steps(stream, json, &label) : print_list(stream, json);
        if (!are_lists) putc('\n', stream);
        if (!is_whole) return false;
    }
    return true;
}

static void print_sequence(FILE *stream, struct json_cursor *json, bool has_colour) {
    if (take(json, "{\"context\":{")) {
        if (take(json, "\"feature\":{") && !print_members(stream, json, false, has_colour)) return;
        take(json, "},");
    } else {
        take(json, "{");
    }
    if (take(json, "\"featureLists\":{\"featureList\":{"))
        print_members(stream, json, true, has_colour);
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

static bool begins(const char *json, const char *text) {
    return !strncmp(json, text, strlen(text));
}

void preview_print(FILE *stream, const recmap_record *record, const char *json, bool has_colour) {
    struct json_cursor cursor = {json};
    bool is_example = take(&cursor, "{\"features\":{\"feature\":{");
    bool is_sequence = begins(json, "{\"context\":") || begins(json, "{\"featureLists\":");
    fprintf(stream, "%srecord %" PRIu64 "%s, %zu byte%s%s\n", has_colour ? "\033[1m" : "",
            record->number, has_colour ? "\033[0m" : "", record->size, plural(record->size),
            is_example    ? ", tf.Example"
            : is_sequence ? ", tf.SequenceExample"
                          : "");
    if (is_example) print_members(stream, &cursor, false, has_colour);
    else if (is_sequence) print_sequence(stream, &cursor, has_colour);
    else print_hex(stream, record);
}
