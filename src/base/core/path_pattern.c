#include "base/core/path_pattern.h"

#include <fnmatch.h>
#include <string.h>

#include "base/core/error.h"

static bool is_stars(const char *component) {
    return !strcmp(component, "**");
}

static bool is_recursive(const char *pattern) {
    for (const char *stars = pattern; (stars = strstr(stars, "**")); stars += 2)
        if ((stars == pattern || stars[-1] == '/') && (!stars[2] || stars[2] == '/')) return true;
    return false;
}

bool path_pattern_is_flat(const char *pattern) {
    const char *wildcard = pattern + strcspn(pattern, "*?[");
    return !strchr(wildcard, '/') && !is_recursive(pattern);
}

size_t path_pattern_base_size(const char *pattern) {
    size_t size = strcspn(pattern, "*?[\\");
    while (size && pattern[size - 1] != '/') size--;
    return size;
}

static recmap_status add_component(struct path_pattern *pattern, const char *component,
                                   recmap_error *error) {
    if (pattern->count < PATH_PATTERN_COMPONENTS_MAX) {
        pattern->components[pattern->count++] = component;
        return RECMAP_OK;
    }
    fail(error, RECMAP_INVALID, "the pattern has more than %d components",
         PATH_PATTERN_COMPONENTS_MAX);
    fail_advise(error, "name the folder, or write a shorter pattern");
    return RECMAP_INVALID;
}

/* A slash at the end makes an empty component, which no name of a file matches. */
recmap_status path_pattern_init(struct path_pattern *pattern, char *text, bool keeps_empty,
                                recmap_error *error) {
    *pattern = (struct path_pattern){.text = text};
    for (char *component = text, *slash = text; slash; component = slash + 1) {
        slash = strchr(component, '/');
        if (slash) *slash = 0;
        if (*component || keeps_empty || !slash)
            RETURN_IF_FAILED(add_component(pattern, component, error));
    }
    size_t last = pattern->count - 1;
    if (is_stars(pattern->components[last])) return add_component(pattern, "*", error);
    if (last && !pattern->components[last][0] && is_stars(pattern->components[last - 1]))
        pattern->components[last] = "*";
    return RECMAP_OK;
}

uint64_t path_pattern_end(const struct path_pattern *pattern) {
    return UINT64_C(1) << pattern->count;
}

/* Adds the components that follow a `**` of the set: it may mean no folder. */
static uint64_t pass_stars(const struct path_pattern *pattern, uint64_t set) {
    for (size_t i = 0; i < pattern->count; i++)
        if (set >> i & 1 && is_stars(pattern->components[i])) set |= UINT64_C(2) << i;
    return set;
}

uint64_t path_pattern_start(const struct path_pattern *pattern) {
    return pass_stars(pattern, 1);
}

/* The only use of libc's matcher: one component at a time. A matcher of our own would have to
 * repeat its bracket expressions, escapes and characters of several bytes. */
static bool matches_component(const char *component, const char *name) {
    return !fnmatch(component, name, FNM_PERIOD);
}

uint64_t path_pattern_step(const struct path_pattern *pattern, uint64_t set, const char *name,
                           bool is_link) {
    uint64_t next = 0;
    for (size_t i = 0; i < pattern->count; i++) {
        if (!(set >> i & 1)) continue;
        const char *component = pattern->components[i];
        if (!is_stars(component)) {
            if (matches_component(component, name)) next |= UINT64_C(2) << i;
        } else if (!is_link && name[0] != '.') next |= UINT64_C(1) << i;
    }
    return pass_stars(pattern, next);
}

const char *path_pattern_only_name(const struct path_pattern *pattern, uint64_t set) {
    for (size_t i = 0; i < pattern->count; i++)
        if (set == UINT64_C(1) << i && !strpbrk(pattern->components[i], "*?[\\"))
            return pattern->components[i];
    return NULL;
}

bool path_pattern_matches(const struct path_pattern *pattern, char *path) {
    uint64_t set = path_pattern_start(pattern);
    for (char *name = path, *slash = path; slash && set; name = slash + 1) {
        slash = strchr(name, '/');
        if (slash) *slash = 0;
        set = path_pattern_step(pattern, set, name, false);
        if (slash) *slash = '/';
    }
    return set & path_pattern_end(pattern);
}
