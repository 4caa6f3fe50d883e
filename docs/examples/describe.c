/* Prints the canonical descriptions of several orders, as docs/formats/order.md shows them. States
 * contain the description of their order; two orders are equal if and only if their descriptions
 * are. */
#include <recmap/recmap.h>

/* Prints and releases the order, if it was created. */
static recmap_status print_description(recmap_status status, recmap_order *order,
                                       recmap_error *error) {
    recmap_text text = RECMAP_TEXT_INIT;
    if (status != RECMAP_OK) return status;
    status = recmap_order_describe(&text, order, error);
    if (status == RECMAP_OK) printf("%s\n", text.data);
    recmap_text_deinit(&text);
    recmap_order_release(order);
    return status;
}

/* Three records of the first source for each one of the second. */
static recmap_status create_mixture(recmap_order **order, recmap_error *error) {
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

/* Records 20, 16, 12, 8, 4 and 0, shuffled. */
static recmap_status create_view(recmap_order **order, recmap_error *error) {
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
    status = print_description(status, order, &error);
    if (status == RECMAP_OK) status = recmap_order_weighted(&order, weights, 4, 11, 0, &error);
    status = print_description(status, order, &error);
    if (status == RECMAP_OK) status = recmap_order_grouped(&order, labels, 3, 2, 5, &error);
    status = print_description(status, order, &error);
    if (status == RECMAP_OK) status = create_mixture(&order, &error);
    status = print_description(status, order, &error);
    if (status == RECMAP_OK) status = create_view(&order, &error);
    status = print_description(status, order, &error);
    return status == RECMAP_OK ? 0 : recmap_error_print(&error, stderr);
}
