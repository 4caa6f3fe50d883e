#include "format/shards/copy_mark.h"

#include <string.h>

enum { DIGITS_MAX = 3 /* of a mark: x (2024) is a year */ };

/* `#` is a number. Letters match in either case. */
static const char *const starts[] = {"copy of ", "copy (#) of ", NULL};

static const char *const ends[] = {" (#)",        " copy",       " copy #",     " - copy",
                                   " - copy (#)", " (copy)",     " (copy #)",   " (another copy)",
                                   " (#st copy)", " (#nd copy)", " (#rd copy)", " (#th copy)",
                                   NULL};

static char to_lower(char c) {
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

/* The size of the beginning of `text` that has the form, or 0. */
static size_t match_form(const char *text, const char *form) {
    const char *c = text;
    for (; *form; form++) {
        size_t size = *form == '#' ? strspn(c, "0123456789") : to_lower(*c) == *form;
        if (!size || size > DIGITS_MAX) return 0;
        c += size;
    }
    return (size_t)(c - text);
}

static bool ends_stem(const char *text) {
    return !*text || *text == '.';
}

/* The size of the mark that begins `text`, or 0. */
static size_t match_end(const char *text) {
    for (size_t i = 0; ends[i]; i++) {
        size_t size = match_form(text, ends[i]);
        if (size && ends_stem(text + size)) return size;
    }
    return 0;
}

static size_t match_start(const char *file) {
    for (size_t i = 0; starts[i]; i++) {
        size_t size = match_form(file, starts[i]);
        if (size && !ends_stem(file + size)) return size;
    }
    return 0;
}

struct path_part copy_mark_find(const char *file) {
    struct path_part mark = {file + strlen(file), 0};
    const char *c = strchr(file, ' ');
    if (!c) return mark;
    if ((mark.size = match_start(file))) return (struct path_part){file, mark.size};
    while (c) {
        size_t size = c > file ? match_end(c) : 0;
        if (size) mark = (struct path_part){c, size};
        c = strchr(c + (size ? size : 1), ' ');
    }
    return mark;
}

bool copy_mark_is_number(struct path_part mark) {
    return mark.size && match_form(mark.start, " (#)") == mark.size;
}

bool copy_mark_is_in(struct path_part mark, struct path_part part) {
    return mark.size && mark.start >= part.start &&
           mark.start + mark.size <= part.start + part.size;
}

size_t copy_mark_original_size(struct path_part part, struct path_part mark) {
    return part.size - (copy_mark_is_in(mark, part) ? mark.size : 0);
}

/* The bytes of `part` from its start, or from the end of the mark if that precedes them. */
static unsigned char original_byte(struct path_part part, struct path_part mark, size_t i) {
    bool is_after = copy_mark_is_in(mark, part) && i >= (size_t)(mark.start - part.start);
    return (unsigned char)part.start[is_after ? i + mark.size : i];
}

int copy_mark_compare(struct path_part a, struct path_part mark_a, struct path_part b,
                      struct path_part mark_b) {
    size_t size_a = copy_mark_original_size(a, mark_a), size_b = copy_mark_original_size(b, mark_b);
    for (size_t i = 0; i < size_a && i < size_b; i++) {
        int order = original_byte(a, mark_a, i) - original_byte(b, mark_b, i);
        if (order) return order;
    }
    return (size_a > size_b) - (size_a < size_b);
}
