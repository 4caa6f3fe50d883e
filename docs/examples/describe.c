/* Orders made of orders, and the canonical description of each: the texts that docs/order.md shows.
 * A state holds such a text; equal texts mean equal orders. */
#include <recmap/recmap.h>

/* Prints and releases an order, if it could be made. */
static recmap_status show(recmap_status status, recmap_order *order, recmap_error *error) {
    recmap_text text = RECMAP_TEXT_INIT;
    if (status != RECMAP_OK) return status;
    status = recmap_order_describe(&text, order, error);
    if (status == RECMAP_OK) printf("%s\n", text.data);
    recmap_text_deinit(&text);
    recmap_order_release(order);
    return status;
}

/* Three of the first for one of the second, which is shuffled. */
static recmap_status mix(recmap_order **order, recmap_error *error) {
    static const double weights[] = {0.75, 0.25};
    recmap_order *sources[2] = {NULL, NULL};
    recmap_status status = recmap_order_sequential(&sources[0], 5, error);
    if (status == RECMAP_OK) status = recmap_order_shuffled(&sources[1], 5, 1, error);
    if (status == RECMAP_OK)
        status = recmap_order_mixture(order, sources, weights, 2, RECMAP_STOP_FIRST, error);
    recmap_order_release(sources[0]);
    recmap_order_release(sources[1]);
    return status;
}

/* Records 20, 16, ... 0, shuffled. */
static recmap_status view(recmap_order **order, recmap_error *error) {
    recmap_order *base = NULL;
    recmap_status status = recmap_order_shuffled(&base, 6, UINT64_MAX, error);
    if (status == RECMAP_OK) status = recmap_order_view_range(order, base, 20, 6, -4, error);
    recmap_order_release(base);
    return status;
}

int main(void) {
    static const double weights[] = {1, 0, 2, 3};
    static const int64_t labels[] = {-1, 2, -1};
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_order *order = NULL;
    recmap_status status = recmap_order_windowed(&order, 25, 100, 1, 9, &error);
    status = show(status, order, &error);
    if (status == RECMAP_OK) status = recmap_order_weighted(&order, weights, 4, 11, 0, &error);
    status = show(status, order, &error);
    if (status == RECMAP_OK) status = recmap_order_grouped(&order, labels, 3, 2, 5, &error);
    status = show(status, order, &error);
    if (status == RECMAP_OK) status = mix(&order, &error);
    status = show(status, order, &error);
    if (status == RECMAP_OK) status = view(&order, &error);
    status = show(status, order, &error);
    return status == RECMAP_OK ? 0 : recmap_error_print(&error, stderr);
}
