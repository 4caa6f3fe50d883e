/* Counters of what a loader has done so far. */
#include <string.h>

#include "base/core/bytes.h"
#include "base/core/error.h"
#include "loader/feed/loader.h"

void loader_count_images(recmap_loader *loader, const struct image_counts *images) {
    recmap_loader_statistics *statistics = &loader->statistics;
    statistics->decode_ns += images->decode_ns;
    statistics->decoded_count += images->decoded_count;
    statistics->decode_failed_count += images->failed_count;
    statistics->decode_warning_count += images->warning_count;
}

recmap_status recmap_loader_get_statistics(recmap_loader_statistics *statistics,
                                           recmap_loader *loader, recmap_error *error) {
    RETURN_IF_FAILED(loader_check_process(loader, error));
    pthread_mutex_lock(&loader->lock);
    *statistics = loader->statistics;
    loader_warm_count(statistics, loader);
    if (loader->readahead.is_cold) statistics->readahead_distance = loader->readahead.window;
    pthread_mutex_unlock(&loader->lock);
    return RECMAP_OK;
}

recmap_status recmap_loader_get_skipped(recmap_skipped *skipped, size_t capacity, size_t *count,
                                        recmap_loader *loader, size_t first, recmap_error *error) {
    RETURN_IF_FAILED(loader_check_process(loader, error));
    pthread_mutex_lock(&loader->lock);
    size_t available = first < loader->skipped_count ? loader->skipped_count - first : 0;
    size_t copied = (size_t)min_u64(available, capacity);
    if (copied) memcpy(skipped, loader->skipped + first, copied * sizeof *skipped);
    pthread_mutex_unlock(&loader->lock);
    *count = copied;
    return RECMAP_OK;
}
