#include "shards/framings.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "format/custom.h"
#include "os/library.h"
#include "os/thread.h"

/* Grows only, and what is in it stays: framings point to it. Guarded by the process lock. */
struct registered {
    struct registered *next;
    recmap_framing table;
    char name[CUSTOM_NAME_MAX + 1];
};

static struct registered *all;

static const struct registered *find_registered(const char *name) {
    for (const struct registered *one = all; one; one = one->next)
        if (!strcmp(one->name, name)) return one;
    return NULL;
}

bool framings_find(struct framing *framing, const char *name) {
    if (framing_make(framing, name)) return true;
    process_lock();
    const struct registered *one = find_registered(name);
    process_unlock();
    if (one) *framing = custom_framing(&one->table);
    return one != NULL;
}

recmap_status framings_choose(struct framing *framing, const char *name, recmap_error *error) {
    if (!name || !strcmp(name, "auto")) name = "tfrecord";
    if (framings_find(framing, name)) return RECMAP_OK;
    fail(error, RECMAP_INVALID, "there is no framing \"%s\"", name);
    fail_advise(
        error,
        "framings are auto, tfrecord, ofrecord, lines, tar, "
        "fixed:HEADER,RECORD,FOOTER (sizes in bytes), or one of your own that is loaded first");
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

recmap_status recmap_framing_register(const recmap_framing *table, recmap_error *error) {
    if (!table) return fail_table(NULL, "it is NULL", error);
    const char *fault = custom_fault(table);
    if (fault) return fail_table(table->name, fault, error);
    struct registered *made = calloc(1, sizeof *made);
    if (!made) return fail_memory(error);
    made->table = *table;
    strncpy(made->name, table->name, CUSTOM_NAME_MAX);
    made->table.name = made->name;
    process_lock();
    const struct registered *known = find_registered(made->name);
    if (!known) {
        made->next = all;
        all = made;
    }
    process_unlock();
    if (!known) return RECMAP_OK;
    bool is_known = is_same(&known->table, table);
    free(made);
    return is_known ? RECMAP_OK : fail_table(table->name, "its name is taken by another", error);
}

recmap_status recmap_framing_load(const char **name, const char *path, recmap_error *error) {
    union {
        void (*found)(void);
        recmap_framing_plugin_fn plugin;
    } function = {NULL};
    if (!path || !*path) return fail(error, RECMAP_INVALID, "the shared object has no path");
    recmap_status status = library_find(&function.found, path, RECMAP_FRAMING_SYMBOL, error);
    if (status != RECMAP_OK) return status;
    const recmap_framing *table = function.plugin();
    status = recmap_framing_register(table, error);
    if (status == RECMAP_OK && name) *name = table->name;
    if (status != RECMAP_OK) fail_file(error, path);
    return status;
}
