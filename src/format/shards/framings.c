#include "format/shards/framings.h"

#include <stdlib.h>
#include <string.h>

#include "base/core/error.h"
#include "base/os/library.h"
#include "base/os/thread.h"
#include "format/framing/custom.h"

/* A list of custom framings, guarded by the process lock. Entries are never removed or moved,
 * because framings point to them. */
struct registered {
    struct registered *next;
    recmap_framing table;
    char name[CUSTOM_NAME_MAX + 1];
};

static struct registered *registered_list;

static const struct registered *find_registered(const char *name) {
    for (const struct registered *entry = registered_list; entry; entry = entry->next)
        if (!strcmp(entry->name, name)) return entry;
    return NULL;
}

bool framings_find(struct framing *framing, const char *name) {
    if (framing_init(framing, name)) return true;
    process_lock();
    const struct registered *entry = find_registered(name);
    process_unlock();
    if (entry) *framing = custom_framing(&entry->table);
    return entry != NULL;
}

recmap_status framings_choose(struct framing *framing, const char *name, recmap_error *error) {
    if (!name || !strcmp(name, "auto")) name = "tfrecord";
    if (framings_find(framing, name)) return RECMAP_OK;
    fail(error, RECMAP_INVALID, "there is no framing \"%s\"", name);
    fail_advise(error,
                "framings are auto, tfrecord, ofrecord, lines, tar, "
                "csv[:comma|tab|semicolon|pipe][,noquotes][,noheader], fixed:HEADER,RECORD,FOOTER "
                "(sizes in bytes), or a custom one that is loaded first");
    return RECMAP_INVALID;
}

static bool is_same(const recmap_framing *a, const recmap_framing *b) {
    return a->parse == b->parse && a->find == b->find && a->context == b->context &&
           a->file_header_size == b->file_header_size && a->file_footer_size == b->file_footer_size;
}

static recmap_status fail_table(const char *name, const char *why, recmap_error *error) {
    fail(error, RECMAP_INVALID, "the framing \"%s\" cannot be used: %s", name ? name : "", why);
    fail_advise(error, "see recmap/framing.h for what a framing needs");
    return RECMAP_INVALID;
}

/* Registering the same table again is not an error, so that libraries can register independently.
 */
recmap_status recmap_framing_register(const recmap_framing *table, recmap_error *error) {
    if (!table) return fail_table(NULL, "it is NULL", error);
    const char *fault = custom_fault(table);
    if (fault) return fail_table(table->name, fault, error);
    struct registered *fresh = calloc(1, sizeof *fresh);
    if (!fresh) return fail_memory(error);
    fresh->table = *table;
    strncpy(fresh->name, table->name, CUSTOM_NAME_MAX);
    fresh->table.name = fresh->name;
    process_lock();
    const struct registered *registered = find_registered(fresh->name);
    if (!registered) {
        fresh->next = registered_list;
        registered_list = fresh;
    }
    process_unlock();
    if (!registered) return RECMAP_OK;
    bool is_known = is_same(&registered->table, table);
    free(fresh);
    return is_known ? RECMAP_OK : fail_table(table->name, "another framing has its name", error);
}

recmap_status recmap_framing_load(const char **name, const char *path, recmap_error *error) {
    union {
        void (*symbol)(void);
        recmap_framing_plugin_fn plugin;
    } function = {NULL};
    if (!path || !*path) return fail(error, RECMAP_INVALID, "the shared object has no path");
    RETURN_IF_FAILED(library_find(&function.symbol, path, RECMAP_FRAMING_SYMBOL, error));
    const recmap_framing *table = function.plugin();
    recmap_status status = recmap_framing_register(table, error);
    if (status == RECMAP_OK && name) *name = table->name;
    if (status != RECMAP_OK) fail_file(error, path);
    return status;
}
