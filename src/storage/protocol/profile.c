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

/* A kind of section, by the word before its name. */
struct section_kind {
    const char *prefix;
    bool may_lack_prefix;
};

static bool is_section(struct line line, const struct section_kind *kind, const char *title) {
    size_t size = strlen(kind->prefix);
    line = trim((struct line){line.data + 1, line.size - 2});
    if (kind->may_lack_prefix && equals(line, title)) return true;
    if (line.size < size || memcmp(line.data, kind->prefix, size) != 0) return false;
    return equals(trim((struct line){line.data + size, line.size - size}), title);
}

/* A title may have several sections; the first line with the name counts. Comments start with `#`.
 */
static const char *find(size_t *size, bool *has_section, const char *text,
                        const struct section_kind *kind, const char *title, const char *name) {
    bool is_inside = false;
    *has_section = false;
    for (const char *next = text; *next;) {
        struct line line = trim((struct line){next, strcspn(next, "\n")});
        next += strcspn(next, "\n");
        if (*next) next++;
        if (line.size >= 2 && line.data[0] == '[' && line.data[line.size - 1] == ']') {
            is_inside = is_section(line, kind, title);
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

const char *profile_find(size_t *size, bool *has_section, const char *text, const char *profile,
                         const char *name) {
    static const struct section_kind kind = {"profile ", true};
    return find(size, has_section, text, &kind, profile, name);
}

const char *profile_find_session(size_t *size, bool *has_section, const char *text,
                                 const char *session, const char *name) {
    static const struct section_kind kind = {"sso-session ", false};
    return find(size, has_section, text, &kind, session, name);
}
