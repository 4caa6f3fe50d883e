#include "format/shards/left_out.h"

#include <stdio.h>
#include <string.h>

#include "base/core/error.h"
#include "base/core/path_pattern.h"
#include "base/core/plural.h"
#include "base/core/redact.h"
#include "base/os/file.h"

enum { NOTE_SIZE = 4096, LISTED_MAX = 3 };

/* The path of a file that `name` led to, from the first folder that matched a wildcard on. */
static const char *name_below(const char *path, const char *name) {
    size_t size = strpbrk(name, "*?[") ? path_pattern_base_size(name) : 0;
    return size && !strncmp(path, name, size) ? path + size : path_name(path);
}

recmap_status left_out_note(struct path_list *notes, const char *name, const char *what,
                            const struct path_list *left_out, size_t first, recmap_error *error) {
    char note[NOTE_SIZE], redacted[NOTE_SIZE / 2];
    size_t count = left_out->count - first;
    if (!count) return RECMAP_OK;
    redact_url(redacted, sizeof redacted, name);
    size_t size = (size_t)snprintf(note, sizeof note, "%s: left out %zu file%s %s:", redacted,
                                   count, plural(count), what);
    for (size_t i = 0; i < count && i < LISTED_MAX && size < sizeof note; i++)
        size += (size_t)snprintf(note + size, sizeof note - size, "%s %.200s", i ? "," : "",
                                 name_below(left_out->paths[first + i], name));
    if (count > LISTED_MAX && size < sizeof note)
        snprintf(note + size, sizeof note - size, ", ...");
    return path_list_add(notes, strdup(note)) ? RECMAP_OK : fail_memory(error);
}
