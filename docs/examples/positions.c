/* Evaluates a shuffle of N records. No data is needed.
 *
 *     positions N SEED EPOCH FIRST COUNT     prints the records at COUNT positions, from FIRST
 *     positions N SEED EPOCH of NUMBER       prints the position of a record */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <recmap/recmap.h>

static recmap_status print_numbers(const recmap_order *order, uint64_t epoch, uint64_t first,
                                   uint64_t count, recmap_error *error) {
    enum { RUN_MAX = 1024 };
    uint64_t numbers[RUN_MAX];
    recmap_status status = RECMAP_OK;
    for (uint64_t run; status == RECMAP_OK && count; first += run, count -= run) {
        run = count < RUN_MAX ? count : RUN_MAX;
        status = recmap_order_read(numbers, order, epoch, first, run, error);
        for (uint64_t i = 0; status == RECMAP_OK && i < run; i++)
            printf("%" PRIu64 "\n", numbers[i]);
    }
    return status;
}

static recmap_status print_position(const recmap_order *order, uint64_t epoch, uint64_t number,
                                    recmap_error *error) {
    uint64_t position;
    recmap_status status = recmap_order_position_of(&position, order, epoch, number, error);
    if (status == RECMAP_OK) printf("%" PRIu64 "\n", position);
    return status;
}

static int print_usage(void) {
    fprintf(stderr, "usage: positions N SEED EPOCH FIRST COUNT\n"
                    "       positions N SEED EPOCH of NUMBER\n");
    return 2;
}

int main(int argc, char **argv) {
    recmap_order *order;
    recmap_error error = RECMAP_ERROR_INIT;
    uint64_t arguments[6] = {0};
    if (argc != 6) return print_usage();
    for (int i = 1; i < argc; i++) arguments[i] = strtoull(argv[i], NULL, 10);
    recmap_status status = recmap_order_shuffled(&order, arguments[1], arguments[2], &error);
    if (status != RECMAP_OK) return recmap_error_print(&error, stderr);
    status = strcmp(argv[4], "of")
                 ? print_numbers(order, arguments[3], arguments[4], arguments[5], &error)
                 : print_position(order, arguments[3], arguments[5], &error);
    recmap_order_release(order);
    return status == RECMAP_OK ? 0 : recmap_error_print(&error, stderr);
}
