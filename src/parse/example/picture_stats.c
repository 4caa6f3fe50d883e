#include "parse/example/picture_stats.h"

#include <recmap/image.h>

static void count_size(struct picture_stats *stats, uint32_t height, uint32_t width) {
    struct picture_size *rarest = &stats->sizes[0];
    for (size_t i = 0; i < PICTURE_SIZES; i++) {
        struct picture_size *size = &stats->sizes[i];
        if (size->height == height && size->width == width) {
            size->count++;
            return;
        }
        if (size->count < rarest->count) rarest = size;
    }
    *rarest = (struct picture_size){height, width, rarest->count + 1};
}

void picture_stats_add(struct picture_stats *stats, const void *data, size_t size) {
    recmap_image_info info;
    if (!size) return;
    recmap_status status = recmap_image_describe(&info, data, size, NULL);
    if (status == RECMAP_UNSUPPORTED) return;
    stats->count++;
    if (status != RECMAP_OK) return;
    count_size(stats, info.height, info.width);
    stats->turned_count += info.orientation > 1;
    if (info.mode[0] == 'L' && info.depth == 16) stats->has_wide_gray = true;
}

struct picture_size picture_stats_size(const struct picture_stats *stats) {
    const struct picture_size *most = &stats->sizes[0];
    for (size_t i = 1; i < PICTURE_SIZES; i++)
        if (stats->sizes[i].count > most->count) most = &stats->sizes[i];
    return *most;
}
