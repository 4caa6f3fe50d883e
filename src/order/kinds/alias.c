#include "order/kinds/alias.h"

#include <stdlib.h>

#include "base/core/bytes.h"
#include "base/core/error.h"
#include "base/core/interrupt.h"
#include "base/permutation/random.h"
#include "base/permutation/wide.h"
#include "order/kinds/weights.h"

enum { COLUMN_WORK = 32 /* for the interrupt, in bytes */ };

/* Scales the weights to add up to the table's area. The area up to each index is rounded down, so
 * no weight is off by a unit or more, 0 stays 0, and no other weight becomes 0. */
static recmap_status spread_over_area(uint64_t *weights, uint64_t sum,
                                      const struct alias_table *table, recmap_error *error) {
    uint64_t area = (uint64_t)table->count << table->height_bits, weight_before = 0,
             area_before = 0;
    for (size_t i = 0; i < table->count; i++) {
        weight_before += weights[i];
        uint64_t area_here = scale_down(weight_before, area, sum);
        weights[i] = area_here - area_before;
        area_before = area_here;
        RETURN_IF_FAILED(interrupt_check(thread_interrupt(), COLUMN_WORK, error));
    }
    return RECMAP_OK;
}

static size_t next_low(const uint64_t *heights, size_t from, size_t count, uint64_t whole) {
    while (from < count && heights[from] >= whole) from++;
    return from;
}

static size_t next_high(const uint64_t *heights, size_t from, size_t count, uint64_t whole) {
    while (from < count && heights[from] < whole) from++;
    return from;
}

/* Fills each low column from a high one. Both kinds are visited in ascending order. A high column
 * that becomes low, and that the search for low columns has already passed, is filled next. */
static recmap_status fill_columns(struct alias_table *table, uint64_t *heights,
                                  recmap_error *error) {
    const uint64_t whole = (uint64_t)1 << table->height_bits;
    const size_t count = table->count;
    size_t low = next_low(heights, 0, count, whole), high = next_high(heights, 0, count, whole);
    size_t filled = low;
    for (size_t i = 0; i < count; i++) {
        table->columns[i] = (struct alias_column){whole, i};
        RETURN_IF_FAILED(interrupt_check(thread_interrupt(), sizeof *table->columns, error));
    }
    while (filled < count && high < count) {
        RETURN_IF_FAILED(interrupt_check(thread_interrupt(), COLUMN_WORK, error));
        table->columns[filled] = (struct alias_column){heights[filled], high};
        heights[high] -= whole - heights[filled];
        size_t used = high;
        if (heights[used] < whole) {
            high = next_high(heights, used + 1, count, whole);
            /* The search for low columns has passed this one and does not return to it. */
            if (used < low) {
                filled = used;
                continue;
            }
        }
        low = next_low(heights, low + 1, count, whole);
        filled = low;
    }
    return RECMAP_OK;
}

/* Weights become integers that add up to the area of the table. The integers are digested, not the
 * doubles: weights that give the same draws have the same digest. */
static recmap_status fill(struct alias_table *table, uint64_t *integers, const double *weights,
                          recmap_error *error) {
    uint64_t sum;
    RETURN_IF_FAILED(weights_to_integers(integers, &sum, weights, table->count, "record", error));
    RETURN_IF_FAILED(spread_over_area(integers, sum, table, error));
    RETURN_IF_FAILED(digest_words(table->digest, integers, table->count, error));
    return fill_columns(table, integers, error);
}

recmap_status alias_init(struct alias_table *table, const double *weights, size_t count,
                         recmap_error *error) {
    uint64_t *integers = calloc(count ? count : 1, sizeof *integers);
    struct alias_table fresh = {
        calloc(count ? count : 1, sizeof *fresh.columns), count, 62 - bit_length(count), {0}};
    recmap_status status = integers && fresh.columns ? fill(&fresh, integers, weights, error)
                                                     : fail_memory(error);
    if (status == RECMAP_OK) *table = fresh;
    else alias_deinit(&fresh);
    free(integers);
    return status;
}

void alias_deinit(struct alias_table *table) {
    free(table->columns);
    table->columns = NULL;
}

uint64_t alias_draw(const struct alias_table *table, uint64_t column_word, uint64_t height_word) {
    uint64_t column = random_below(column_word, table->count);
    uint64_t height = height_word >> (64 - table->height_bits);
    const struct alias_column *drawn = &table->columns[column];
    return height < drawn->threshold ? column : drawn->other;
}
