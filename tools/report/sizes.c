#include "report/sizes.h"

#include <stdlib.h>

#include "records/sample.h"
#include "terminal/interrupt.h"
#include "terminal/message.h"

/* A sample of the sizes consists of runs: the index stores the sizes of neighbours together. */
enum { RUN_SIZE = 256, SAMPLE_MAX = 4096 * RUN_SIZE };

static void add(struct record_sizes *sizes, uint64_t size, uint64_t position, uint64_t *smallest,
                uint64_t *largest) {
    if (!sizes->count || size < *smallest) {
        *smallest = size;
        sizes->smallest = position;
    }
    if (!sizes->count || size > *largest) {
        *largest = size;
        sizes->largest = position;
    }
    sizes->sizes[sizes->count++] = size;
    sizes->sum += (double)size;
}

/* Reads the locations of `count` items of the view. In a whole index the items are consecutive. */
static recmap_status locate(recmap_location *locations, const struct view *view,
                            const uint64_t *positions, size_t count, recmap_error *error) {
    bool is_run = !view->numbers && positions[count - 1] - positions[0] == count - 1;
    if (is_run) return recmap_dataset_locate(locations, view->dataset, positions[0], count, error);
    for (size_t i = 0; i < count; i++)
        RETURN_IF_FAILED(recmap_dataset_locate(&locations[i], view->dataset,
                                               view_number(view, positions[i]), 1, error));
    return RECMAP_OK;
}

static recmap_status read_sizes(struct record_sizes *sizes, const struct view *view,
                                uint64_t sample, recmap_error *error) {
    uint64_t smallest = 0, largest = 0;
    for (uint64_t done = 0; done < sample;) {
        recmap_location locations[RUN_SIZE];
        uint64_t positions[RUN_SIZE];
        size_t count = sample - done < RUN_SIZE ? (size_t)(sample - done) : RUN_SIZE;
        uint64_t first = done;
        if (sample < view->count)
            first = sample_part_start(done / RUN_SIZE, sample / RUN_SIZE, view->count);
        for (size_t i = 0; i < count; i++) positions[i] = first + i;
        if (interrupt_is_pending()) return interrupt_fail(error);
        RETURN_IF_FAILED(locate(locations, view, positions, count, error));
        for (size_t i = 0; i < count; i++)
            add(sizes, locations[i].size, positions[i], &smallest, &largest);
        done += count;
    }
    return RECMAP_OK;
}

static int compare_sizes(const void *a, const void *b) {
    uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;
    return (left > right) - (left < right);
}

recmap_status record_sizes_init(struct record_sizes *sizes, const struct view *view,
                                recmap_error *error) {
    uint64_t sample = view->count < SAMPLE_MAX ? view->count : SAMPLE_MAX;
    *sizes = (struct record_sizes){.sizes = malloc((size_t)(sample + 1) * sizeof(uint64_t))};
    if (!sizes->sizes) return message_fail_memory(error);
    RETURN_IF_FAILED(read_sizes(sizes, view, sample, error));
    qsort(sizes->sizes, (size_t)sizes->count, sizeof *sizes->sizes, compare_sizes);
    return RECMAP_OK;
}

void record_sizes_deinit(struct record_sizes *sizes) {
    free(sizes->sizes);
}
