#include "format/framing/csv.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/core/bytes.h"
#include "base/text/fields.h"

/* How far a guess looks for a quote that tells on which side of it quoted text is. */
enum { GUESS_SIZE = 1 << 16 };

static const struct {
    const char *name;
    char separator;
} separators[] = {{"comma", ','}, {"tab", '\t'}, {"semicolon", ';'}, {"pipe", '|'}};

/* The end of the row at `bytes`: its LF, or the end of the bytes. Sets `open_at` to the offset of a
 * quote that is not closed, or to FRAME_NOWHERE. */
static const uint8_t *find_end(uint64_t *open_at, const struct framing *framing,
                               const uint8_t *bytes, uint64_t size) {
    const char *text = (const char *)bytes, *quote;
    char mark = framing->has_quotes ? '"' : framing->separator;
    const char *end = field_row_end(&quote, text, text + size, framing->separator, mark);
    *open_at = quote ? (uint64_t)(quote - text) : FRAME_NOWHERE;
    return (const uint8_t *)end;
}

static enum frame_verdict fail_open(struct frame_fault *fault, uint64_t open_at, uint64_t size) {
    return frame_is_bad(fault, FRAME_BAD_LENGTH,
                        "the quote at byte %" PRIu64 " of the row is not closed%s", open_at,
                        size > CSV_QUOTED_MAX ? " within 64 MiB" : "");
}

/* Beyond the limit, quotes are ordinary characters: a row that is longer ends with its next LF. */
static enum frame_verdict parse(struct frame *frame, const struct framing *framing,
                                const uint8_t *bytes, uint64_t size, enum frame_check check,
                                struct frame_fault *fault) {
    if (size == 0) return FRAME_AT_END;
    uint64_t mark = field_mark_size((const char *)bytes, (size_t)size), open_at;
    const uint8_t *first = bytes + mark, *limit = bytes + min_u64(size, CSV_QUOTED_MAX);
    const uint8_t *end = find_end(&open_at, framing, first, (uint64_t)(limit - first));
    if (open_at != FRAME_NOWHERE) return fail_open(fault, mark + open_at, size);
    if (end == limit && limit < bytes + size) {
        end = memchr(limit, '\n', (size_t)(size - CSV_QUOTED_MAX));
        if (!end) end = bytes + size;
    }
    bool has_end = end < bytes + size;
    *frame = (struct frame){.size = (uint64_t)(end - bytes) + has_end, .data_offset = mark};
    if (has_end && end > first && end[-1] == '\r') end--;
    frame->data_size = (uint64_t)(end - first);
    if (check == FRAME_CHECK_STORED) frame->check = framing_hash(first, frame->data_size);
    return FRAME_GOOD;
}

static bool begins_frame(const struct framing *framing, const uint8_t *bytes, uint64_t size) {
    (void)framing;
    (void)bytes;
    return size > 0;
}

/* The LF of the line at `at`, or the end of the bytes. */
static uint64_t line_end(const uint8_t *bytes, uint64_t size, uint64_t at) {
    const uint8_t *end = memchr(bytes + at, '\n', (size_t)(size - at));
    return end ? (uint64_t)(end - bytes) : size;
}

/* After a quote that is not closed, the next row begins with the next line that has all of its
 * quotes closed: see framing->search_size. No line is read twice. */
static uint64_t find(const struct framing *framing, const uint8_t *bytes, uint64_t size,
                     uint64_t from, uint64_t limit, struct search_budget budget,
                     struct crc_sums *sums) {
    (void)budget;
    (void)sums;
    limit = min_u64(limit, size);
    uint64_t line = from;
    if (from && from < limit) line = line_end(bytes, size, from - 1) + 1;
    while (line < limit) {
        uint64_t end = line_end(bytes, size, line), open_at;
        uint64_t first = line + field_mark_size((const char *)bytes + line, (size_t)(end - line));
        find_end(&open_at, framing, bytes + first, end - first);
        if (open_at == FRAME_NOWHERE) return line;
        line = end + 1;
    }
    return FRAME_NOWHERE;
}

static bool ends_field(const struct framing *framing, uint8_t byte) {
    return byte == (uint8_t)framing->separator || byte == '\n' || byte == '\r';
}

/* Guesses whether the byte at `from` is within quotes. Only a quote with a separator on one side
 * and text on the other tells whether quoted text begins or ends there; the quotes before it change
 * sides. */
static bool is_quoted(const struct framing *framing, const uint8_t *bytes, uint64_t size,
                      uint64_t from) {
    uint64_t end = min_u64(size, from + GUESS_SIZE);
    bool is_odd = false;
    for (uint64_t at = from; at < end; at++) {
        const uint8_t *quote = memchr(bytes + at, '"', (size_t)(end - at));
        if (!quote) break;
        at = (uint64_t)(quote - bytes);
        uint8_t before = at ? bytes[at - 1] : '\n', after = at + 1 < size ? bytes[at + 1] : '\n';
        bool may_open = ends_field(framing, before), may_close = ends_field(framing, after);
        if (may_open && !may_close && after != '"') return is_odd;
        if (may_close && !may_open && before != '"') return !is_odd;
        is_odd = !is_odd;
    }
    return false;
}

static uint64_t guess(const struct framing *framing, const uint8_t *bytes, uint64_t size,
                      uint64_t from, uint64_t limit, struct search_budget budget,
                      struct crc_sums *sums) {
    (void)budget;
    (void)sums;
    limit = min_u64(limit, size);
    if (from >= limit || !from) return from < limit ? 0 : FRAME_NOWHERE;
    bool is_inside = framing->has_quotes && is_quoted(framing, bytes, size, from);
    if (!is_inside && bytes[from - 1] == '\n') return from;
    for (uint64_t at = from; at + 1 < limit; at++) {
        if (bytes[at] == '"' && framing->has_quotes) is_inside = !is_inside;
        if (bytes[at] == '\n' && !is_inside) return at + 1;
    }
    return FRAME_NOWHERE;
}

bool framing_is_csv(const struct framing *framing) {
    return framing->parse == parse;
}

static bool take(const char **text, const char *word) {
    size_t size = strlen(word);
    if (strncmp(*text, word, size) != 0) return false;
    *text += size;
    return true;
}

static bool take_separator(char *separator, const char **text) {
    *separator = ',';
    if (!take(text, ":")) return true;
    for (size_t i = 0; i < sizeof separators / sizeof *separators; i++) {
        if (!take(text, separators[i].name)) continue;
        *separator = separators[i].separator;
        return true;
    }
    return false;
}

/* A comma is left out of the stored name, so that each framing has one. */
static void write_name(struct framing *framing) {
    const char *separator = "";
    for (size_t i = 1; i < sizeof separators / sizeof *separators; i++)
        if (separators[i].separator == framing->separator) separator = separators[i].name;
    snprintf(framing->name, sizeof framing->name, "csv%s%s%s%s", *separator ? ":" : "", separator,
             framing->has_quotes ? "" : ",noquotes", framing->has_header ? "" : ",noheader");
}

bool csv_framing_init(struct framing *framing, const char *name) {
    char separator;
    if (!take(&name, "csv") || !take_separator(&separator, &name)) return false;
    bool has_quotes = !take(&name, ",noquotes"), has_header = !take(&name, ",noheader");
    if (*name) return false;
    *framing = (struct framing){
        .overhead_varies = true,
        .has_delimiter = true,
        .missing_end = "no line feed",
        .can_grow = true,
        .separator = separator,
        .has_quotes = has_quotes,
        .has_header = has_header,
        .search_size = has_quotes ? CSV_QUOTED_MAX : 0,
        .parse = parse,
        .begins_frame = begins_frame,
        .find = find,
        .guess = guess,
    };
    write_name(framing);
    return true;
}
