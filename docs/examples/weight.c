/* Draws records by weight:
 *
 *     weight NAME.rmx COLUMN VALUE WEIGHT
 *
 * Records whose column has this value have weight WEIGHT, all others weight 1. Prints a line with
 * the record number and the value for each draw of one epoch. */
#include <inttypes.h>
#include <stdlib.h>

#include <recmap/recmap.h>

static recmap_status print_draws(const recmap_order *order, const int64_t *values,
                                 uint64_t *numbers, recmap_error *error) {
    size_t count = (size_t)recmap_order_count(order);
    recmap_status status = recmap_order_read(numbers, order, 0, 0, count, error);
    for (size_t i = 0; status == RECMAP_OK && i < count; i++)
        printf("%" PRIu64 " %" PRId64 "\n", numbers[i], values[numbers[i]]);
    return status;
}

/* All arrays have one element more than needed: calloc(0) may return NULL. */
static recmap_status draw(recmap_dataset *dataset, const char *name, int64_t wanted, double weight,
                          recmap_error *error) {
    size_t count = (size_t)recmap_dataset_count(dataset), column;
    int64_t *values = calloc(count + 1, sizeof *values);
    double *weights = calloc(count + 1, sizeof *weights);
    uint64_t *numbers = calloc(count + 1, sizeof *numbers);
    recmap_order *order = NULL;
    recmap_status status = values && weights && numbers ? RECMAP_OK : RECMAP_NO_MEMORY;
    if (status == RECMAP_OK)
        status = recmap_dataset_find_lifted_column(&column, dataset, name, error);
    if (status == RECMAP_OK)
        status = recmap_dataset_read_int64(values, dataset, column, 0, count, error);
    if (status == RECMAP_OK) {
        for (size_t i = 0; i < count; i++) weights[i] = values[i] == wanted ? weight : 1;
        status = recmap_order_weighted(&order, weights, count, 7, 0, error);
    }
    if (status == RECMAP_OK) status = print_draws(order, values, numbers, error);
    recmap_order_release(order);
    free(numbers);
    free(weights);
    free(values);
    return status;
}

static int print_usage(void) {
    fprintf(stderr, "usage: weight NAME.rmx COLUMN VALUE WEIGHT\n");
    return 2;
}

int main(int argc, char **argv) {
    recmap_dataset *dataset = NULL;
    recmap_error error = RECMAP_ERROR_INIT;
    if (argc != 5) return print_usage();
    recmap_status status = recmap_dataset_open(&dataset, argv[1], NULL, &error);
    if (status == RECMAP_OK)
        status = draw(dataset, argv[2], strtoll(argv[3], NULL, 10), strtod(argv[4], NULL), &error);
    recmap_dataset_close(dataset);
    return status == RECMAP_OK ? 0 : recmap_error_print(&error, stderr);
}
