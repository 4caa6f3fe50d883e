#include "build/options.h"

#include <string.h>

#include "base/error.h"
#include "base/json.h"

/* The version is checked first: options of another version have other members. */
recmap_status index_options_check(const recmap_index_options *options, recmap_error *error) {
    if (options->version != RECMAP_INDEX_OPTIONS_VERSION)
        return fail(error, RECMAP_INVALID, "recmap_index_options has version %u, expected %d",
                    options->version, RECMAP_INDEX_OPTIONS_VERSION);
    if (options->on_corrupt != RECMAP_ON_CORRUPT_RAISE &&
        options->on_corrupt != RECMAP_ON_CORRUPT_SKIP)
        return fail(error, RECMAP_INVALID, "on_corrupt is %d, which is not a recmap_on_corrupt",
                    (int)options->on_corrupt);
    if (options->id_feature && !options->id_feature[0])
        return fail(error, RECMAP_INVALID, "the id feature has no name");
    if (options->id_feature &&
        !utf8_valid((const uint8_t *)options->id_feature, strlen(options->id_feature)))
        return fail(error, RECMAP_INVALID, "the name of the id feature is not UTF-8");
    if ((unsigned)options->compression > RECMAP_COMPRESSION_ZLIB)
        return fail(error, RECMAP_INVALID, "compression is %d, which is not a recmap_compression",
                    (int)options->compression);
    if (options->lift_count && !options->lifts)
        return fail(error, RECMAP_INVALID, "lifts is NULL, but lift_count is %zu",
                    options->lift_count);
    return RECMAP_OK;
}
