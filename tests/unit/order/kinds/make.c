#include "make.h"

#include <stdlib.h>

#include "base/permutation/random.h"
#include "check.h"

recmap_order *sequential(uint64_t n) {
    recmap_order *order = NULL;
    MUST(recmap_order_sequential(&order, n, &error));
    return order;
}

recmap_order *shuffled(uint64_t n, uint64_t seed) {
    recmap_order *order = NULL;
    MUST(recmap_order_shuffled(&order, n, seed, &error));
    return order;
}

recmap_order *windowed(uint64_t n, uint64_t block, uint64_t window, uint64_t seed) {
    recmap_order *order = NULL;
    MUST(recmap_order_windowed(&order, n, block, window, seed, &error));
    return order;
}

recmap_order *listed(recmap_order *base, uint64_t seed) {
    size_t count = recmap_order_number_limit(base);
    uint64_t *list = make_array(count, sizeof *list);
    recmap_order *spread = shuffled(3 * count, seed), *made = NULL;
    MUST(recmap_order_read(list, spread, 0, 0, count, &error));
    MUST(recmap_order_view_list(&made, base, list, count, &error));
    recmap_order_release(spread);
    recmap_order_release(base);
    free(list);
    return made;
}

recmap_order *mixed(recmap_order **sources, const double *weights, size_t count, recmap_stop stop) {
    recmap_order *order = NULL;
    MUST(recmap_order_mixture(&order, sources, weights, count, stop, &error));
    for (size_t i = 0; i < count; i++) recmap_order_release(sources[i]);
    return order;
}

int64_t *make_labels(size_t n, uint64_t classes, uint64_t seed) {
    int64_t *labels = make_array(n, sizeof *labels);
    for (size_t i = 0; i < n; i++) {
        uint64_t a = random_below(random_word(seed, 2 * i), classes);
        uint64_t b = random_below(random_word(seed, 2 * i + 1), classes);
        labels[i] = (int64_t)(a > b ? a : b) * 10 - 15;
    }
    return labels;
}

recmap_order *grouped(size_t n, uint64_t classes, uint64_t batch, uint64_t seed) {
    int64_t *labels = make_labels(n, classes, seed);
    recmap_order *order = NULL;
    MUST(recmap_order_grouped(&order, labels, n, batch, seed, &error));
    free(labels);
    return order;
}

recmap_order *stratified(size_t n, uint64_t classes, uint64_t batch, uint64_t seed) {
    int64_t *labels = make_labels(n, classes, seed);
    recmap_order *order = NULL;
    MUST(recmap_order_stratified(&order, labels, n, batch, seed, &error));
    free(labels);
    return order;
}
