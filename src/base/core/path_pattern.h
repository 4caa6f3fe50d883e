/* Patterns of paths: `*`, `?` and `[..]` within one component, and a component `**` for any number
 * of folders, including none; at the end, with or without a slash, for all files below. Names that
 * begin with a dot match only components that begin with a dot. Serves local files and the keys of
 * objects. Pure. */
#ifndef RECMAP_BASE_CORE_PATH_PATTERN_H
#define RECMAP_BASE_CORE_PATH_PATTERN_H

#include <recmap/status.h>
#include <stdbool.h>
#include <stdint.h>

/* A set of components has one bit each, and one for the end of the pattern. */
enum { PATH_PATTERN_COMPONENTS_MAX = 63 };

/* A pattern that is matched component by component: a set holds the components that the next name
 * of the path may match. */
struct path_pattern {
    char *text; /* with a NUL after each component */
    const char *components[PATH_PATTERN_COMPONENTS_MAX];
    size_t count;
};

/* Borrows `text`, which must outlive the pattern, and ends its components in place. Several slashes
 * count as one unless `keeps_empty`: then a component without a name matches names without a
 * character, as keys may have. Errors: INVALID if there are too many components. */
recmap_status path_pattern_init(struct path_pattern *pattern, char *text, bool keeps_empty,
                                recmap_error *error);

/* The set at the start of a path. */
uint64_t path_pattern_start(const struct path_pattern *pattern);

/* The set after `name`: empty if the path does not match. A link to a folder must match a component
 * other than `**`. As every link uses up such a component, links in a circle end. */
uint64_t path_pattern_step(const struct path_pattern *pattern, uint64_t set, const char *name,
                           bool is_link);

/* The only name that the set matches, or NULL if it has a wildcard or several components. */
const char *path_pattern_only_name(const struct path_pattern *pattern, uint64_t set);

/* The bit of the end: a path matches if the set after its last name has it. */
uint64_t path_pattern_end(const struct path_pattern *pattern);

/* Returns true if the whole path matches. Its components are ended in place for the time of the
 * call: copies could fail for lack of memory, and a shard would be left out. */
bool path_pattern_matches(const struct path_pattern *pattern, char *path);

/* Returns true if only files of one folder can match: the last one before the first wildcard. */
bool path_pattern_is_flat(const char *pattern);

/* The length of the folders that the pattern names without wildcards, with the last slash. */
size_t path_pattern_base_size(const char *pattern);

#endif
