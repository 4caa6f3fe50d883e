/* Orders that make their own batches:
 *
 *     batches NAME.rmx grouped COLUMN SIZE         batches of SIZE records with the same value
 *     batches NAME.rmx stratified COLUMN SIZE      batches of SIZE records, each value in its share
 *     batches NAME.rmx bucketed BUDGET BOUND...    batches of similar length, up to BUDGET in all
 *
 * Prints one line per batch of epoch 0: the column's value, or the length, of each record. The
 * length of a digit is the number of its pixels that are not 0. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <recmap/recmap.h>

enum { BOUNDS_MAX = 16 };

static recmap_status read_column(int64_t *values, recmap_dataset *dataset, const char *name,
                                 recmap_error *error) {
    size_t column;
    recmap_status status = recmap_dataset_find_lifted_column(&column, dataset, name, error);
    if (status != RECMAP_OK) return status;
    size_t count = (size_t)recmap_dataset_count(dataset);
    return recmap_dataset_read_int64(values, dataset, column, 0, count, error);
}

/* Counts the pixels with ink. No other byte of a digit's record is 0, so the record need not be
 * parsed. */
static recmap_status measure_lengths(int64_t *lengths, recmap_dataset *dataset,
                                     recmap_error *error) {
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

static recmap_status create_order(recmap_order **order, int64_t *values, recmap_dataset *dataset,
                                  int argument_count, char **arguments, recmap_error *error) {
    size_t count = (size_t)recmap_dataset_count(dataset), bound_count = (size_t)argument_count - 2;
    if (!strcmp(arguments[0], "bucketed")) {
        recmap_bucket_size size = {.token_budget = strtoull(arguments[1], NULL, 10)};
        int64_t bounds[BOUNDS_MAX];
        for (size_t i = 0; i < bound_count; i++) bounds[i] = strtoll(arguments[i + 2], NULL, 10);
        recmap_status status = measure_lengths(values, dataset, error);
        if (status != RECMAP_OK) return status;
        return recmap_order_bucketed(order, values, count, bounds, bound_count, size, 7, error);
    }
    recmap_status status = read_column(values, dataset, arguments[1], error);
    if (status != RECMAP_OK) return status;
    uint64_t size = strtoull(arguments[2], NULL, 10);
    return strcmp(arguments[0], "grouped")
               ? recmap_order_stratified(order, values, count, size, 7, error)
               : recmap_order_grouped(order, values, count, size, 7, error);
}

static recmap_status print_batches(const recmap_order *order, const int64_t *values,
                                   uint64_t *numbers, recmap_error *error) {
    recmap_status status = RECMAP_OK;
    for (uint64_t batch = 0; batch < recmap_order_batch_count(order); batch++) {
        uint64_t first, count;
        status = recmap_order_batch(&first, &count, order, 0, batch, error);
        if (status == RECMAP_OK)
            status = recmap_order_read(numbers, order, 0, first, (size_t)count, error);
        if (status != RECMAP_OK) return status;
        for (uint64_t i = 0; i < count; i++)
            printf("%" PRId64 "%s", values[numbers[i]], i + 1 < count ? " " : "\n");
    }
    return status;
}

static int print_usage(void) {
    fprintf(stderr, "usage: batches NAME.rmx grouped|stratified COLUMN SIZE\n"
                    "       batches NAME.rmx bucketed BUDGET BOUND...\n");
    return 2;
}

int main(int argc, char **argv) {
    recmap_dataset *dataset = NULL;
    recmap_order *order = NULL;
    recmap_error error = RECMAP_ERROR_INIT;
    if (argc < 5 || argc > 4 + BOUNDS_MAX) return print_usage();
    if (recmap_dataset_open(&dataset, argv[1], NULL, &error) != RECMAP_OK)
        return recmap_error_print(&error, stderr);
    size_t count = (size_t)recmap_dataset_count(dataset);
    int64_t *values = calloc(count + 1, sizeof *values);
    uint64_t *numbers = calloc(count + 1, sizeof *numbers);
    recmap_status status = values && numbers ? RECMAP_OK : RECMAP_NO_MEMORY;
    if (status == RECMAP_OK)
        status = create_order(&order, values, dataset, argc - 2, argv + 2, &error);
    if (status == RECMAP_OK) status = print_batches(order, values, numbers, &error);
    recmap_order_release(order);
    recmap_dataset_close(dataset);
    free(numbers);
    free(values);
    return status == RECMAP_OK ? 0 : recmap_error_print(&error, stderr);
}
