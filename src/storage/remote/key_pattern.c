#include "storage/remote/key_pattern.h"

#include <fnmatch.h>
#include <string.h>

/* Returns true if the first component of the name matches that of the pattern. Both are cut there
 * for the time of the call: copies could fail for lack of memory, and a shard would be left out. */
static bool component_matches(char *pattern, size_t pattern_size, char *name, size_t name_size) {
    char pattern_end = pattern[pattern_size], name_end = name[name_size];
    pattern[pattern_size] = name[name_size] = 0;
    bool is_match = !fnmatch(pattern, name, FNM_PERIOD);
    pattern[pattern_size] = pattern_end;
    name[name_size] = name_end;
    return is_match;
}

static bool is_stars_at_end(const char *pattern) {
    return !strcmp(pattern, "**") || !strcmp(pattern, "**/");
}

/* A `**` does not stand for hidden folders. */
static bool has_hidden_component(const char *name) {
    return name[0] == '.' || strstr(name, "/.");
}

bool key_pattern_is_flat(const char *pattern) {
    const char *wildcard = pattern + strcspn(pattern, "*?["), *slash = strrchr(pattern, '/');
    return !strchr(wildcard, '/') && !is_stars_at_end(slash ? slash + 1 : pattern);
}

bool key_pattern_matches(char *pattern, char *key) {
    for (;;) {
        if (is_stars_at_end(pattern)) return !has_hidden_component(key);
        if (!strncmp(pattern, "**/", 3)) {
            for (pattern += 3;; key = strchr(key, '/') + 1) {
                if (key_pattern_matches(pattern, key)) return true;
                if (key[0] == '.' || !strchr(key, '/')) return false;
            }
        }
        size_t pattern_size = strcspn(pattern, "/"), size = strcspn(key, "/");
        if (!component_matches(pattern, pattern_size, key, size)) return false;
        pattern += pattern_size;
        key += size;
        if (!*pattern || !*key) return *pattern == *key;
        pattern++;
        key++;
    }
}

/* As above, but the folder may end where the pattern continues. */
bool key_pattern_may_contain(char *pattern, char *folder) {
    for (;;) {
        if (is_stars_at_end(pattern)) return !has_hidden_component(folder);
        if (!strncmp(pattern, "**/", 3)) {
            for (pattern += 3; !key_pattern_may_contain(pattern, folder);
                 folder = strchr(folder, '/') + 1) {
                if (folder[0] == '.') return false;
                if (!strchr(folder, '/')) return true;
            }
            return true;
        }
        size_t pattern_size = strcspn(pattern, "/"), size = strcspn(folder, "/");
        if (!pattern[pattern_size]) return false;
        if (!component_matches(pattern, pattern_size, folder, size)) return false;
        pattern += pattern_size + 1;
        folder += size;
        if (!*folder) return true;
        folder++;
    }
}
