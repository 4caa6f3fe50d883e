/* A selection: saved to a file of the process, and read back. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "simulation/program/program.h"
#include "simulation/world/oracle.h"
#include "simulation/world/report.h"

enum { SELECT_MAX = 48 };

/* What a killed process or a power loss left under the name is whole. It may be of an index that
 * another one replaced. */
static void check_left(struct actor *actor, recmap_dataset *dataset, const char *path) {
    recmap_selection *selection = NULL;
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_status status = recmap_selection_open(&selection, path, 1, &error);
    bool is_absent = status == RECMAP_IO && error.system_errno == ENOENT;
    if (status == RECMAP_OK) status = recmap_selection_attach(selection, dataset, &error);
    recmap_selection_close(selection);
    if (status != RECMAP_OK && status != RECMAP_STALE && !is_absent)
        actor_fail(actor, "open a selection", status, &error);
}

static recmap_status save(recmap_dataset *dataset, const char *path, const uint64_t *numbers,
                          size_t count, recmap_error *error) {
    recmap_selection *selection = NULL;
    recmap_status status = recmap_selection_create(&selection, dataset, numbers, count, error);
    if (status == RECMAP_OK) status = recmap_selection_save(selection, path, error);
    recmap_selection_close(selection);
    return status;
}

static void compare(const recmap_selection *selection, const uint64_t *numbers, size_t count) {
    if (recmap_selection_count(selection) != count)
        run_fail("a selection has %zu records, but should have %zu",
                 recmap_selection_count(selection), count);
    if (memcmp(recmap_selection_numbers(selection), numbers, count * sizeof *numbers))
        run_fail("a selection has other records than were saved");
}

void actor_select(struct actor *actor, recmap_dataset *dataset, const struct index_state *state) {
    uint64_t numbers[SELECT_MAX];
    char path[PATH_SPACE];
    recmap_selection *selection = NULL;
    recmap_error error = RECMAP_ERROR_INIT;
    size_t count = (size_t)random_between(&actor->choices, 1, SELECT_MAX);
    for (size_t i = 0; i < count; i++)
        numbers[i] = random_below(&actor->choices, state->record_count);
    snprintf(path, sizeof path, "/data/%016llx.rmv", (unsigned long long)actor->role->seed);
    check_left(actor, dataset, path);
    recmap_status status = save(dataset, path, numbers, count, &error);
    if (status == RECMAP_OK) status = recmap_selection_open(&selection, path, 1, &error);
    if (status == RECMAP_OK) status = recmap_selection_attach(selection, dataset, &error);
    if (status == RECMAP_OK) compare(selection, numbers, count);
    else actor_fail(actor, "save a selection and open it", status, &error);
    recmap_selection_close(selection);
}
