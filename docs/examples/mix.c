/* Mixes two sources in proportion:
 *
 *     mix NAME.rmx SPLIT WEIGHT WEIGHT first|last EPOCH
 *
 * The first source has the records before number SPLIT, the second the others; both are shuffled.
 * The epoch ends when the first source is exhausted, or the last. Prints its record numbers. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <recmap/recmap.h>

/* A mixture numbers the records of its sources one source after another. The sources are
 * neighbouring parts of the data set, so these are record numbers. */
static recmap_status create_mixture(recmap_order **mixture, uint64_t count, uint64_t split,
                                    const double weights[2], recmap_stop stop,
                                    recmap_error *error) {
    recmap_order *sources[2] = {NULL, NULL};
    if (split > count) split = count;
    recmap_status status = recmap_order_shuffled(&sources[0], split, 7, error);
    if (status == RECMAP_OK) status = recmap_order_shuffled(&sources[1], count - split, 8, error);
    if (status == RECMAP_OK)
        status = recmap_order_mixture(mixture, sources, weights, 2, stop, error);
    recmap_order_release(sources[0]); /* the mixture has retained them */
    recmap_order_release(sources[1]);
    return status;
}

static recmap_status print_epoch(const recmap_order *order, uint64_t epoch, recmap_error *error) {
    size_t count = (size_t)recmap_order_count(order);
    uint64_t *numbers = calloc(count + 1, sizeof *numbers);
    if (!numbers) return RECMAP_NO_MEMORY;
    recmap_status status = recmap_order_read(numbers, order, epoch, 0, count, error);
    for (size_t i = 0; status == RECMAP_OK && i < count; i++) printf("%" PRIu64 "\n", numbers[i]);
    free(numbers);
    return status;
}

static int print_usage(void) {
    fprintf(stderr, "usage: mix NAME.rmx SPLIT WEIGHT WEIGHT first|last EPOCH\n");
    return 2;
}

int main(int argc, char **argv) {
    recmap_dataset *dataset = NULL;
    recmap_order *order = NULL;
    recmap_error error = RECMAP_ERROR_INIT;
    if (argc != 7) return print_usage();
    const double weights[2] = {strtod(argv[3], NULL), strtod(argv[4], NULL)};
    recmap_stop stop = strcmp(argv[5], "last") ? RECMAP_STOP_FIRST : RECMAP_STOP_LAST;
    recmap_status status = recmap_dataset_open(&dataset, argv[1], NULL, &error);
    if (status == RECMAP_OK)
        status = create_mixture(&order, recmap_dataset_count(dataset), strtoull(argv[2], NULL, 10),
                                weights, stop, &error);
    if (status == RECMAP_OK) status = print_epoch(order, strtoull(argv[6], NULL, 10), &error);
    recmap_order_release(order);
    recmap_dataset_close(dataset);
    return status == RECMAP_OK ? 0 : recmap_error_print(&error, stderr);
}
