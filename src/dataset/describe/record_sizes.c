/* The sizes of records, from the index alone. */
#include <stdlib.h>

#include "base/core/bytes.h"
#include "base/core/error.h"
#include "base/core/interrupt.h"
#include "base/core/sort.h"
#include "base/words/sample.h"
#include "dataset/open/dataset.h"

/* A sample of the sizes consists of runs: the index stores the sizes of neighbours together. */
enum { RUN_SIZE = 256, SAMPLE_MAX = 4096 * RUN_SIZE, LOCATE_WORK = 64 };

static void add(recmap_record_sizes *sizes, uint64_t size, uint64_t position, uint64_t *smallest,
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

/* Reads the locations of `count` records at consecutive positions. */
static recmap_status locate(recmap_location *locations, recmap_dataset *dataset,
                            const uint64_t *numbers, uint64_t first, size_t count,
                            recmap_error *error) {
    RETURN_IF_FAILED(interrupt_check(thread_interrupt(), count * LOCATE_WORK, error));
    if (!numbers) return recmap_dataset_locate(locations, dataset, first, count, error);
    for (size_t i = 0; i < count; i++)
        RETURN_IF_FAILED(
            recmap_dataset_locate(&locations[i], dataset, numbers[first + i], 1, error));
    return RECMAP_OK;
}

static recmap_status read_sizes(recmap_record_sizes *sizes, recmap_dataset *dataset,
                                const uint64_t *numbers, uint64_t record_count, uint64_t sample,
                                recmap_error *error) {
    uint64_t smallest = 0, largest = 0;
    for (uint64_t done = 0; done < sample;) {
        recmap_location locations[RUN_SIZE];
        size_t count = (size_t)min_u64(sample - done, RUN_SIZE);
        uint64_t first = done;
        if (sample < record_count)
            first = sample_part_start(done / RUN_SIZE, sample / RUN_SIZE, record_count);
        RETURN_IF_FAILED(locate(locations, dataset, numbers, first, count, error));
        for (size_t i = 0; i < count; i++)
            add(sizes, locations[i].size, first + i, &smallest, &largest);
        done += count;
    }
    return RECMAP_OK;
}

static int compare_sizes(const void *a, const void *b) {
    uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;
    return (left > right) - (left < right);
}

recmap_status recmap_dataset_read_sizes(recmap_record_sizes *sizes, recmap_dataset *dataset,
                                        const uint64_t *numbers, uint64_t count,
                                        recmap_error *error) {
    uint64_t sample = min_u64(count, SAMPLE_MAX);
    *sizes = (recmap_record_sizes){.sizes = malloc((size_t)(sample + 1) * sizeof(uint64_t))};
    recmap_status status = sizes->sizes ? RECMAP_OK : fail_memory(error);
    if (status == RECMAP_OK) status = read_sizes(sizes, dataset, numbers, count, sample, error);
    if (status == RECMAP_OK)
        status = sort_items(sizes->sizes, (size_t)sizes->count, sizeof *sizes->sizes, compare_sizes,
                            error);
    if (status != RECMAP_OK) recmap_record_sizes_deinit(sizes);
    return status;
}

void recmap_record_sizes_deinit(recmap_record_sizes *sizes) {
    free(sizes->sizes);
    *sizes = (recmap_record_sizes){0};
}
