/* Gives each rank a range of the records and shuffles within it, as DALI's readers do. With
 * `sticks` a rank keeps its range in every epoch (stick_to_shard), with `moves` it has the next
 * rank's range in the next epoch. Prints the records of an epoch: shares NAME.rmx sticks|moves RANK
 * WORLD EPOCH */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <recmap/recmap.h>

/* Creates a shuffle of the records [first, first + count). */
static recmap_status shuffle_range(recmap_order **order, uint64_t first, uint64_t count,
                                   recmap_error *error) {
    recmap_order *within = NULL;
    recmap_status status = recmap_order_shuffled(&within, count, 7, error);
    if (status == RECMAP_OK)
        status = recmap_order_view_range(order, within, first, count, 1, error);
    recmap_order_release(within); /* the view has retained it */
    return status;
}

static recmap_status print_epoch(const recmap_order *order, uint64_t epoch, recmap_error *error) {
    for (uint64_t position = 0; position < recmap_order_count(order); position++) {
        uint64_t number;
        recmap_status status = recmap_order_read(&number, order, epoch, position, 1, error);
        if (status != RECMAP_OK) return status;
        printf("%" PRIu64 "\n", number);
    }
    return RECMAP_OK;
}

static int print_usage(void) {
    fprintf(stderr, "usage: shares NAME.rmx sticks|moves RANK WORLD EPOCH\n"
                    "RANK is below WORLD.\n");
    return 2;
}

int main(int argc, char **argv) {
    recmap_dataset *dataset = NULL;
    recmap_order *order = NULL;
    recmap_error error = RECMAP_ERROR_INIT;
    if (argc != 6) return print_usage();
    uint64_t rank = strtoull(argv[3], NULL, 10), world = strtoull(argv[4], NULL, 10);
    uint64_t epoch = strtoull(argv[5], NULL, 10);
    if (!world || rank >= world) return print_usage();
    recmap_status status = recmap_dataset_open(&dataset, argv[1], NULL, &error);
    if (status == RECMAP_OK) {
        uint64_t n = recmap_dataset_count(dataset);
        uint64_t share = strcmp(argv[2], "moves") ? rank : (rank + epoch) % world;
        uint64_t first = n * share / world, end = n * (share + 1) / world;
        status = shuffle_range(&order, first, end - first, &error);
    }
    if (status == RECMAP_OK) status = print_epoch(order, epoch, &error);
    recmap_order_release(order);
    recmap_dataset_close(dataset);
    return status == RECMAP_OK ? 0 : recmap_error_print(&error, stderr);
}
