#include "dataset/find.h"

#include <stdlib.h>

#include "base/errors.h"
#include "base/items.h"
#include "base/module.h"
#include "base/signals.h"
#include "dataset/dataset.h"

enum { GROUP_SIZE = 1 << 20 };

/* A data set or view in which ids are looked up. */
struct search {
    struct handle_object *handle; /* owned; NULL before search_start */
    const struct dataset_object *dataset;
    struct array_view positions; /* of each record in the view, -1 if it is not in it; or empty */
    recmap_position_fn position; /* NULL for a whole data set */
    int64_t *out;
    size_t count;
};

#define SEARCH_INIT                                                                                \
    { NULL, NULL, ARRAY_VIEW_INIT, NULL, NULL, 0 }

/* The first position of a record in the view, or -1. */
static int64_t position_of(uint64_t number, void *context) {
    const struct search *search = context;
    const struct dataset_object *dataset = search->dataset;
    if (search->positions.data) return ((const int64_t *)search->positions.data)[number];
    int64_t distance = (int64_t)number - (int64_t)dataset->first;
    if (!dataset->count || distance % dataset->step) return -1;
    int64_t position = distance / dataset->step;
    return position >= 0 && (uint64_t)position < dataset->count ? position : -1;
}

static int is_whole(const struct search *search) {
    const struct dataset_object *dataset = search->dataset;
    return !dataset->numbers.data && !dataset->first && dataset->step == 1 &&
           dataset->count == recmap_dataset_count(search->handle->dataset);
}

/* Starts to search for `count` ids. False with an exception set; call search_stop also then. */
static int search_start(struct search *search, struct dataset_object *dataset, size_t count,
                        const struct array_view *out, PyObject *positions) {
    struct handle_object *handle = dataset_handle(dataset);
    search->handle = handle;
    if (!handle || (positions != Py_None &&
                    !take_array_of(positions, &search->positions, sizeof(int64_t), PyBUF_SIMPLE)))
        return 0;
    search->dataset = dataset;
    search->out = out->data;
    search->count = count;
    if (!is_whole(search)) search->position = position_of;
    int has_table = search->positions.data != NULL;
    if (count == out->count && (!dataset->numbers.data || has_table) &&
        (!has_table || search->positions.count == recmap_dataset_count(handle->dataset)))
        return 1;
    PyErr_SetString(PyExc_ValueError, "the arrays do not have the sizes that are needed");
    return 0;
}

static void search_stop(struct search *search) {
    handle_release(search->handle);
    array_release(&search->positions);
}

/* Finds a group of ids without the GIL. False with an exception set. */
static int find_group(struct search *search, size_t first, const recmap_value *ids, size_t count) {
    recmap_error error = RECMAP_ERROR_INIT;
    struct signal_check check;
    signals_start(&check);
    recmap_status status = recmap_dataset_find_many(search->out + first, search->handle->dataset,
                                                    ids, count, search->position, search, &error);
    signals_stop(&check);
    if (status != RECMAP_OK) raise_error(&error);
    return status == RECMAP_OK && PyErr_CheckSignals() >= 0;
}

/* The values borrow from the items of a list, so nothing else may change it. */
static int find_all_groups(struct search *search, const struct items *ids) {
    size_t capacity = search->count < GROUP_SIZE ? search->count : GROUP_SIZE;
    recmap_value *values = malloc((capacity + 1) * sizeof *values);
    int is_found = values != NULL;
    if (!values) PyErr_NoMemory();
    for (size_t first = 0; is_found && first < search->count; first += capacity) {
        size_t left = search->count - first, count = left < capacity ? left : capacity;
        for (size_t i = 0; is_found && i < count; i++)
            is_found = item_at(&values[i], ids, first + i);
        if (is_found) is_found = find_group(search, first, values, count);
    }
    free(values);
    return is_found;
}

PyObject *dataset_find_many(PyObject *object, PyObject *arguments) {
    PyObject *list, *positions;
    struct array_view out = ARRAY_VIEW_INIT;
    struct items ids = {.array = ARRAY_VIEW_INIT};
    struct search search = SEARCH_INIT;
    if (!PyArg_ParseTuple(arguments, "OO&O:_find_many", &list, take_array_out, &out, &positions))
        return NULL;
    int found =
        take_items(&ids, list, RECMAP_TYPE_INT64) &&
        search_start(&search, (struct dataset_object *)object, ids.count, &out, positions) &&
        find_all_groups(&search, &ids);
    search_stop(&search);
    items_release(&ids);
    array_release(&out);
    if (!found) return NULL;
    Py_RETURN_NONE;
}

/* Finds the ids of the records `numbers` of `source`, without the GIL. */
static int find_records(struct search *search, struct handle_object *source,
                        const struct array_view *numbers) {
    recmap_error error = RECMAP_ERROR_INIT;
    struct signal_check check;
    signals_start(&check);
    recmap_status status = recmap_dataset_match(search->out, search->handle->dataset,
                                                source->dataset, numbers->data, numbers->count,
                                                search->position, search, &error);
    signals_stop(&check);
    if (status != RECMAP_OK) raise_error(&error);
    return status == RECMAP_OK && PyErr_CheckSignals() >= 0;
}

PyObject *dataset_find_records(PyObject *object, PyObject *arguments) {
    PyObject *source, *numbers_object, *positions;
    struct array_view out = ARRAY_VIEW_INIT, numbers = ARRAY_VIEW_INIT;
    struct search search = SEARCH_INIT;
    if (!PyArg_ParseTuple(arguments, "O!OO&O:_find_records", dataset_type, &source, &numbers_object,
                          take_array_out, &out, &positions))
        return NULL;
    struct handle_object *handle = dataset_handle((struct dataset_object *)source);
    int found =
        handle && take_array_of(numbers_object, &numbers, sizeof(uint64_t), PyBUF_SIMPLE) &&
        search_start(&search, (struct dataset_object *)object, numbers.count, &out, positions) &&
        find_records(&search, handle, &numbers);
    search_stop(&search);
    handle_release(handle);
    array_release(&numbers);
    array_release(&out);
    if (!found) return NULL;
    Py_RETURN_NONE;
}
