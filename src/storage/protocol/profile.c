#include "storage/protocol/profile.h"

#include <string.h>

struct line {
    const char *data;
    size_t size;
};

static bool is_blank(char c) {
    return c == ' ' || c == '\t' || c == '\r';
}

static struct line trim(struct line line) {
    while (line.size && is_blank(line.data[0])) line.data++, line.size--;
    while (line.size && is_blank(line.data[line.size - 1])) line.size--;
    return line;
}

static bool equals(struct line line, const char *word) {
    return line.size == strlen(word) && !memcmp(line.data, word, line.size);
}

static bool is_section(struct line line, const char *profile) {
    static const char prefix[] = "profile ";
    size_t size = sizeof prefix - 1;
    line = trim((struct line){line.data + 1, line.size - 2});
    if (equals(line, profile)) return true;
    if (line.size < size || memcmp(line.data, prefix, size) != 0) return false;
    return equals(trim((struct line){line.data + size, line.size - size}), profile);
}

/* A profile may have several sections; the first line with the name counts. Comments start with
 * `#`. */
const char *profile_find(size_t *size, bool *has_section, const char *text, const char *profile,
                         const char *name) {
    bool is_inside = false;
    *has_section = false;
    for (const char *next = text; *next;) {
        struct line line = trim((struct line){next, strcspn(next, "\n")});
        next += strcspn(next, "\n");
        if (*next) next++;
        if (line.size >= 2 && line.data[0] == '[' && line.data[line.size - 1] == ']') {
            is_inside = is_section(line, profile);
            *has_section |= is_inside;
        }
        const char *sign = line.size ? memchr(line.data, '=', line.size) : NULL;
        if (!is_inside || !sign || line.data[0] == '#') continue;
        if (!equals(trim((struct line){line.data, (size_t)(sign - line.data)}), name)) continue;
        struct line value =
            trim((struct line){sign + 1, line.size - (size_t)(sign + 1 - line.data)});
        *size = value.size;
        return value.data;
    }
    return NULL;
}
