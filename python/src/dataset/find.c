/* Positions of many ids. */
#include <stdbool.h>
#include <stdlib.h>

#include "base/errors.h"
#include "base/signals.h"
#include "dataset/dataset.h"

enum { GROUP_SIZE = 256 };

struct search {
    struct handle_object *handle;
    const struct dataset_object *dataset;
    const int64_t *positions; /* of each record in the view, -1 if it is not in it; or NULL */
    bool is_whole;
    uint64_t *numbers; /* of the records with one id */
    size_t capacity;
};

/* The first position of a record in the data set or view, or -1. */
static int64_t position_of(const struct search *search, uint64_t number) {
    const struct dataset_object *dataset = search->dataset;
    if (search->positions) return search->positions[number];
    int64_t distance = (int64_t)number - (int64_t)dataset->first;
    if (!dataset->count || distance % dataset->step) return -1;
    int64_t position = distance / dataset->step;
    return position >= 0 && (uint64_t)position < dataset->count ? position : -1;
}

/* Positions are record numbers, so the first record with the id has the first position. */
static recmap_status find_in_whole(int64_t *position, struct search *search, const recmap_value *id,
                                   recmap_error *error) {
    uint64_t number;
    recmap_dataset *dataset = search->handle->dataset;
    /* Without `error`, no message is written for an id that is absent. */
    recmap_status status = recmap_dataset_find(&number, dataset, id, NULL);
    *position = status == RECMAP_OK ? (int64_t)number : -1;
    if (status == RECMAP_OK || status == RECMAP_NOT_FOUND) return RECMAP_OK;
    return recmap_dataset_find(&number, dataset, id, error);
}

/* All records with the id, in search->numbers. */
static recmap_status find_records(size_t *count, struct search *search, const recmap_value *id,
                                  recmap_error *error) {
    recmap_dataset *dataset = search->handle->dataset;
    recmap_status status =
        recmap_dataset_find_all(search->numbers, search->capacity, count, dataset, id, error);
    if (status != RECMAP_OK || *count <= search->capacity) return status;
    uint64_t *numbers = realloc(search->numbers, *count * sizeof *numbers);
    if (!numbers) return RECMAP_NO_MEMORY;
    search->numbers = numbers;
    search->capacity = *count;
    return recmap_dataset_find_all(search->numbers, search->capacity, count, dataset, id, error);
}

static recmap_status find_in_view(int64_t *position, struct search *search, const recmap_value *id,
                                  recmap_error *error) {
    size_t count = 0;
    recmap_status status = find_records(&count, search, id, error);
    *position = -1;
    for (size_t i = 0; status == RECMAP_OK && i < count; i++) {
        int64_t found = position_of(search, search->numbers[i]);
        if (found >= 0 && (*position < 0 || found < *position)) *position = found;
    }
    return status;
}

static recmap_status find_group(int64_t *positions, struct search *search, const recmap_value *ids,
                                size_t count, recmap_error *error) {
    recmap_status status = RECMAP_OK;
    for (size_t i = 0; status == RECMAP_OK && i < count; i++)
        status = search->is_whole ? find_in_whole(&positions[i], search, &ids[i], error)
                                  : find_in_view(&positions[i], search, &ids[i], error);
    return status;
}

/* Finds ids in groups, and handles signals between them. False with an exception set. The values
 * borrow from the items of `ids`, so nothing else may change the list. */
static int find_all_groups(struct search *search, PyObject *ids, const struct array_view *out) {
    recmap_value values[GROUP_SIZE];
    for (size_t first = 0; first < out->count; first += GROUP_SIZE) {
        size_t left = out->count - first, count = left < GROUP_SIZE ? left : GROUP_SIZE;
        for (size_t i = 0; i < count; i++)
            if (!take_value(PyList_GetItem(ids, (Py_ssize_t)(first + i)), &values[i])) return 0;
        recmap_error error = RECMAP_ERROR_INIT;
        struct signal_check check;
        signals_start(&check);
        recmap_status status =
            find_group((int64_t *)out->data + first, search, values, count, &error);
        signals_stop(&check);
        if (status == RECMAP_NO_MEMORY) PyErr_NoMemory();
        else if (status != RECMAP_OK) raise_error(&error);
        if (status != RECMAP_OK || PyErr_CheckSignals() < 0) return 0;
    }
    return 1;
}

/* Checks the sizes of the arrays. False with ValueError. */
static int check_sizes(const struct search *search, PyObject *ids, const struct array_view *out,
                       const struct array_view *positions) {
    uint64_t record_count = recmap_dataset_count(search->handle->dataset);
    int needs_positions = search->dataset->numbers.data != NULL;
    if ((size_t)PyList_Size(ids) == out->count && (!needs_positions || search->positions) &&
        (!search->positions || positions->count == record_count))
        return 1;
    PyErr_SetString(PyExc_ValueError, "the arrays do not have the sizes that are needed");
    return 0;
}

/* The ids are looked up in groups, without the GIL in between. `table` maps record numbers to
 * positions in a view, if a list or mask selected its records. */
PyObject *dataset_find_many(PyObject *object, PyObject *arguments) {
    struct dataset_object *self = (struct dataset_object *)object;
    PyObject *ids, *table;
    struct array_view out = ARRAY_VIEW_INIT, positions = ARRAY_VIEW_INIT;
    if (!PyArg_ParseTuple(arguments, "O!O&O:_find_many", &PyList_Type, &ids, take_array_out, &out,
                          &table))
        return NULL;
    struct search search = {.handle = dataset_handle(self), .dataset = self};
    int found = search.handle && (table == Py_None ||
                                  take_array_of(table, &positions, sizeof(int64_t), PyBUF_SIMPLE));
    if (found) {
        handle_retain(search.handle);
        search.positions = positions.data;
        search.is_whole = !self->numbers.data && !self->first && self->step == 1 &&
                          self->count == recmap_dataset_count(search.handle->dataset);
        found = check_sizes(&search, ids, &out, &positions) && find_all_groups(&search, ids, &out);
        handle_release(search.handle);
    }
    free(search.numbers);
    array_release(&positions);
    array_release(&out);
    if (!found) return NULL;
    Py_RETURN_NONE;
}
