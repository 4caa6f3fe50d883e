#include "order/rows/row_options.h"

#include <inttypes.h>

#include "base/core/error.h"

recmap_status check_version(uint32_t version, uint32_t expected, recmap_error *error) {
    if (version == expected) return RECMAP_OK;
    return fail(error, RECMAP_INVALID, "the options of the order have version %u, not %u", version,
                expected);
}

recmap_status check_row_size(uint64_t value, uint64_t min, const char *what, recmap_error *error) {
    if (value >= min && value <= RECMAP_ROW_SIZE_MAX) return RECMAP_OK;
    return fail(error, RECMAP_INVALID,
                "invalid %s of rows: %" PRIu64 " is not from %" PRIu64 " to 2^40", what, value,
                min);
}

recmap_status check_below_size(uint64_t value, uint64_t size, const char *what,
                               recmap_error *error) {
    if (value < size) return RECMAP_OK;
    return fail(error, RECMAP_INVALID,
                "%s of %" PRIu64 " is not below %" PRIu64 ", the size of a row", what, value, size);
}

recmap_status fail_changed(recmap_error *error) {
    fail(error, RECMAP_CORRUPT, "the element counts have changed since the order was made");
    fail_advise(error, "check the index with `recmap verify`, and build it again if it is damaged");
    return RECMAP_CORRUPT;
}
