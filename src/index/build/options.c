#include "index/build/options.h"

#include <string.h>

#include "base/core/error.h"
#include "base/text/json.h"
#include "index/scan/scan.h"

/* At most as many features are counted as there are bits in
 * recmap_index_summary.empty_counted_features. */
enum { COUNTED_MAX = 64 };

/* The search for duplicates is quadratic, in at most COUNTED_MAX names. */
static recmap_status check_counted(const recmap_index_options *options, recmap_error *error) {
    const recmap_counted_feature *features = options->counted_features;
    size_t count = options->counted_feature_count;
    if (count && !features)
        return fail(error, RECMAP_INVALID,
                    "counted_features is NULL, but counted_feature_count is %zu", count);
    if (count > COUNTED_MAX)
        return fail(error, RECMAP_INVALID, "%zu features to count; the maximum is %d", count,
                    (int)COUNTED_MAX);
    for (size_t i = 0; i < count; i++) {
        const char *name = features[i].name;
        if (!name || !name[0] || !utf8_valid((const uint8_t *)name, strlen(name)))
            return fail(error, RECMAP_INVALID,
                        "\"%s\" cannot be the name of a counted feature: it is empty or not UTF-8",
                        name ? name : "");
        if (features[i].element == RECMAP_ELEMENT_BYTES ||
            (features[i].element && !recmap_element_name(features[i].element)))
            return fail(error, RECMAP_INVALID,
                        "the element type of the counted feature \"%s\" is not a number type",
                        name);
        for (size_t j = 0; j < i; j++)
            if (!strcmp(name, features[j].name))
                return fail(error, RECMAP_INVALID, "feature \"%s\" is counted twice", name);
    }
    return RECMAP_OK;
}

/* The version is checked first: options of another version have other members. */
recmap_status index_options_check(const recmap_index_options *options, recmap_error *error) {
    if (options->version != RECMAP_INDEX_OPTIONS_VERSION)
        return fail(error, RECMAP_INVALID, "recmap_index_options has version %u, expected %d",
                    options->version, RECMAP_INDEX_OPTIONS_VERSION);
    if (options->on_bad_record != RECMAP_ON_BAD_RECORD_ERROR &&
        options->on_bad_record != RECMAP_ON_BAD_RECORD_SKIP)
        return fail(error, RECMAP_INVALID,
                    "on_bad_record is %d, which is not a recmap_on_bad_record",
                    (int)options->on_bad_record);
    if (options->id_feature && !options->id_feature[0])
        return fail(error, RECMAP_INVALID, "the id feature has no name");
    if (options->id_feature &&
        !utf8_valid((const uint8_t *)options->id_feature, strlen(options->id_feature)))
        return fail(error, RECMAP_INVALID, "the name of the id feature is not UTF-8");
    if ((unsigned)options->compression > RECMAP_COMPRESSION_ZLIB)
        return fail(error, RECMAP_INVALID, "compression is %d, which is not a recmap_compression",
                    (int)options->compression);
    if (options->sets != RECMAP_SETS_ERROR && options->sets != RECMAP_SETS_ALL)
        return fail(error, RECMAP_INVALID, "sets is %d, which is not a recmap_sets",
                    (int)options->sets);
    if (options->lift_count && !options->lifts)
        return fail(error, RECMAP_INVALID, "lifts is NULL, but lift_count is %zu",
                    options->lift_count);
    RETURN_IF_FAILED(scan_check_memory_limit(options->memory_limit, error));
    return check_counted(options, error);
}
