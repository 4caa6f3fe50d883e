/* Selects records by the value of a column and reads them as one batch: gather NAME.rmx COLUMN
 * VALUE */
#include <stdlib.h>

#include <recmap/recmap.h>

/* Finds the records whose column has the value. The caller frees *numbers. */
static recmap_status select_records(uint64_t **numbers, size_t *count, recmap_dataset *dataset,
                                    const char *name, int64_t wanted, recmap_error *error) {
    size_t all = (size_t)recmap_dataset_count(dataset), column;
    int64_t *values = malloc(all * sizeof *values + 1);
    uint64_t *selected = malloc(all * sizeof *selected + 1);
    size_t selected_count = 0;
    recmap_status status = values && selected ? RECMAP_OK : RECMAP_NO_MEMORY;
    if (status == RECMAP_OK)
        status = recmap_dataset_find_lifted_column(&column, dataset, name, error);
    if (status == RECMAP_OK)
        status = recmap_dataset_read_int64(values, dataset, column, 0, all, error);
    for (size_t i = 0; status == RECMAP_OK && i < all; i++)
        if (values[i] == wanted) selected[selected_count++] = i;
    free(values);
    *numbers = selected;
    *count = selected_count;
    return status;
}

static recmap_status print_selection(recmap_dataset *dataset, const char *name, int64_t wanted,
                                     recmap_error *error) {
    uint64_t *numbers = NULL;
    size_t count = 0, bytes = 0;
    recmap_batch *batch = NULL;
    recmap_status status = select_records(&numbers, &count, dataset, name, wanted, error);
    if (status == RECMAP_OK) status = recmap_batch_create(&batch, error);
    if (status == RECMAP_OK) status = recmap_dataset_gather(batch, dataset, numbers, count, error);
    if (status == RECMAP_OK) {
        const recmap_record *records = recmap_batch_records(batch);
        for (size_t i = 0; i < recmap_batch_count(batch); i++) bytes += records[i].size;
        printf("%zu records, %zu bytes\n", count, bytes);
    }
    recmap_batch_destroy(batch); /* its records are invalid from here */
    free(numbers);
    return status;
}

static int print_usage(void) {
    fprintf(stderr, "usage: gather NAME.rmx COLUMN VALUE\n");
    return 2;
}

int main(int argc, char **argv) {
    recmap_dataset *dataset = NULL;
    recmap_error error = RECMAP_ERROR_INIT;
    if (argc != 4) return print_usage();
    recmap_status status = recmap_dataset_open(&dataset, argv[1], NULL, &error);
    if (status == RECMAP_OK)
        status = print_selection(dataset, argv[2], strtoll(argv[3], NULL, 10), &error);
    recmap_dataset_close(dataset);
    return status == RECMAP_OK ? 0 : recmap_error_print(&error, stderr);
}
