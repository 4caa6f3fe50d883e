/* Orders that make their own batches:
 *
 *     batches NAME.rmx grouped COLUMN SIZE         SIZE records of one value
 *     batches NAME.rmx stratified COLUMN SIZE      SIZE records, each value in its share
 *     batches NAME.rmx bucketed BUDGET BOUND...    digits of like ink, as many as fit BUDGET
 *
 * Prints a line for each batch of an epoch: the value, or the pixels with ink, of each record. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <recmap/recmap.h>

enum { BOUNDS_MOST = 16 };

static recmap_status read_column(int64_t *values, recmap_dataset *dataset, const char *name,
                                 recmap_error *error) {
    size_t column;
    recmap_status status = recmap_dataset_find_column(&column, dataset, name, error);
    if (status != RECMAP_OK) return status;
    size_t count = (size_t)recmap_dataset_count(dataset);
    return recmap_dataset_read_int64(values, dataset, column, 0, count, error);
}

/* What stands here for a number of tokens: the pixels of a digit that have ink, 64 less the bytes
 * of its record that are 0. */
static recmap_status measure(int64_t *lengths, recmap_dataset *dataset, recmap_error *error) {
    uint64_t count = recmap_dataset_count(dataset);
    recmap_status status = RECMAP_OK;
    for (uint64_t number = 0; status == RECMAP_OK && number < count; number++) {
        recmap_record record;
        status = recmap_dataset_get(&record, dataset, number, error);
        if (status != RECMAP_OK) return status;
        lengths[number] = 64;
        for (size_t i = 0; i < record.size; i++) lengths[number] -= record.data[i] == 0;
        recmap_record_release(&record);
    }
    return status;
}

static recmap_status make(recmap_order **order, int64_t *values, recmap_dataset *dataset,
                          int word_count, char **words, recmap_error *error) {
    size_t count = (size_t)recmap_dataset_count(dataset), bound_count = (size_t)word_count - 2;
    if (!strcmp(words[0], "bucketed")) {
        recmap_bucket_size size = {.token_budget = strtoull(words[1], NULL, 10)};
        int64_t bounds[BOUNDS_MOST];
        for (size_t i = 0; i < bound_count; i++) bounds[i] = strtoll(words[i + 2], NULL, 10);
        recmap_status status = measure(values, dataset, error);
        if (status != RECMAP_OK) return status;
        return recmap_order_bucketed(order, values, count, bounds, bound_count, size, 7, error);
    }
    recmap_status status = read_column(values, dataset, words[1], error);
    if (status != RECMAP_OK) return status;
    uint64_t size = strtoull(words[2], NULL, 10);
    return strcmp(words[0], "grouped")
               ? recmap_order_stratified(order, values, count, size, 7, error)
               : recmap_order_grouped(order, values, count, size, 7, error);
}

static recmap_status show(const recmap_order *order, const int64_t *values, uint64_t *numbers,
                          recmap_error *error) {
    recmap_status status = RECMAP_OK;
    for (uint64_t batch = 0; batch < recmap_order_batch_count(order); batch++) {
        uint64_t first, count;
        status = recmap_order_batch(&first, &count, order, 0, batch, error);
        if (status == RECMAP_OK)
            status = recmap_order_run(numbers, order, 0, first, (size_t)count, error);
        if (status != RECMAP_OK) return status;
        for (uint64_t i = 0; i < count; i++)
            printf("%" PRId64 "%s", values[numbers[i]], i + 1 < count ? " " : "\n");
    }
    return status;
}

int main(int argc, char **argv) {
    recmap_dataset *dataset = NULL;
    recmap_order *order = NULL;
    recmap_error error = RECMAP_ERROR_INIT;
    if (argc < 5 || argc > 4 + BOUNDS_MOST) return 2;
    if (recmap_dataset_open(&dataset, argv[1], NULL, &error) != RECMAP_OK)
        return recmap_error_print(&error, stderr);
    size_t count = (size_t)recmap_dataset_count(dataset);
    int64_t *values = calloc(count + 1, sizeof *values);
    uint64_t *numbers = calloc(count + 1, sizeof *numbers);
    recmap_status status = values && numbers ? RECMAP_OK : RECMAP_NO_MEMORY;
    if (status == RECMAP_OK) status = make(&order, values, dataset, argc - 2, argv + 2, &error);
    if (status == RECMAP_OK) status = show(order, values, numbers, &error);
    recmap_order_release(order);
    recmap_dataset_close(dataset);
    free(numbers);
    free(values);
    return status == RECMAP_OK ? 0 : recmap_error_print(&error, stderr);
}
