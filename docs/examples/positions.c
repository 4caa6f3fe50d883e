/* A shuffle without any data, as a function of N, SEED and EPOCH:
 *
 *     positions N SEED EPOCH FIRST COUNT     the numbers at COUNT positions from FIRST on
 *     positions N SEED EPOCH of NUMBER       the position at which a record comes */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <recmap/recmap.h>

static recmap_status show_numbers(const recmap_order *order, uint64_t epoch, uint64_t first,
                                  uint64_t count, recmap_error *error) {
    enum { PIECE = 1024 };
    uint64_t numbers[PIECE];
    recmap_status status = RECMAP_OK;
    for (uint64_t here; status == RECMAP_OK && count; first += here, count -= here) {
        here = count < PIECE ? count : PIECE;
        status = recmap_order_run(numbers, order, epoch, first, here, error);
        for (uint64_t i = 0; status == RECMAP_OK && i < here; i++)
            printf("%" PRIu64 "\n", numbers[i]);
    }
    return status;
}

static recmap_status show_position(const recmap_order *order, uint64_t epoch, uint64_t number,
                                   recmap_error *error) {
    uint64_t position;
    recmap_status status = recmap_order_position_of(&position, order, epoch, number, error);
    if (status == RECMAP_OK) printf("%" PRIu64 "\n", position);
    return status;
}

int main(int argc, char **argv) {
    recmap_order *order;
    recmap_error error = RECMAP_ERROR_INIT;
    uint64_t words[6] = {0};
    if (argc != 6) return 2;
    for (int i = 1; i < argc; i++) words[i] = strtoull(argv[i], NULL, 10);
    recmap_status status = recmap_order_shuffled(&order, words[1], words[2], &error);
    if (status != RECMAP_OK) return recmap_error_print(&error, stderr);
    status = strcmp(argv[4], "of") ? show_numbers(order, words[3], words[4], words[5], &error)
                                   : show_position(order, words[3], words[5], &error);
    recmap_order_release(order);
    return status == RECMAP_OK ? 0 : recmap_error_print(&error, stderr);
}
