#include "base/warnings.h"

#include <stdatomic.h>
#include <stdlib.h>

#include <recmap/warning.h>

#include "base/errors.h"
#include "base/python.h"

/* The library may warn in any of its threads. Waiting for the GIL there could wait for a thread
 * that holds it and waits for this one, so the warning is kept, and the main thread issues it soon.
 */
struct kept_warning {
    struct kept_warning *next;
    recmap_error warning;
};

static struct kept_warning *_Atomic newest;

static int issue(const recmap_error *warning) {
    PyObject *module = PyImport_ImportModule("recmap._base.warn"), *error = NULL, *result = NULL;
    if (module) error = exception_of_error(warning);
    if (error) result = PyObject_CallMethod(module, "warn_of_error", "O", error);
    Py_XDECREF(module);
    Py_XDECREF(error);
    Py_XDECREF(result);
    return result ? 0 : -1;
}

/* A pending call. A warning that the filters make an exception is raised in the main thread. */
static int issue_kept(void *unused) {
    (void)unused;
    struct kept_warning *kept = atomic_exchange(&newest, NULL), *oldest = NULL;
    while (kept) { /* reverses the list */
        struct kept_warning *next = kept->next;
        kept->next = oldest;
        oldest = kept;
        kept = next;
    }
    int result = 0;
    while (oldest) {
        struct kept_warning *next = oldest->next;
        if (!result) result = issue(&oldest->warning);
        free(oldest);
        oldest = next;
    }
    return result;
}

static void keep(const recmap_error *warning, void *unused) {
    (void)unused;
    struct kept_warning *fresh = malloc(sizeof *fresh);
    if (!fresh) return;
    fresh->warning = *warning;
    fresh->next = atomic_load(&newest);
    while (!atomic_compare_exchange_weak(&newest, &fresh->next, fresh)) continue;
    Py_AddPendingCall(issue_kept, NULL); /* if too many calls are pending, the next one issues it */
}

void warnings_load(void) {
    recmap_set_warn(keep, NULL);
}
