#include "index/scan/points_scan.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/core/error.h"
#include "index/scan/point_taker.h"
#include "index/scan/span_checks.h"

enum { CHUNK_SIZE = 256 << 10 };

struct points_scan {
    struct inflater *inflater;
    struct point_taker taker;
    struct span_checks checks;
    uint64_t size; /* of the image so far */
    uint8_t bytes[CHUNK_SIZE];
};

/* Inflates one chunk. */
static enum inflate_verdict read_chunk(struct points_scan *scan) {
    size_t size, room = point_taker_decide(&scan->taker, scan->inflater, scan->size);
    if (room > CHUNK_SIZE) room = CHUNK_SIZE;
    enum inflate_verdict verdict =
        inflater_read(&size, scan->inflater, scan->bytes, room, scan->taker.is_due);
    point_taker_advance(&scan->taker, verdict, size);
    span_checks_add(&scan->checks, scan->size, scan->bytes, size);
    scan->size += size;
    return verdict;
}

static recmap_status fail_stream(const struct inflate_fault *fault, const char *path,
                                 recmap_error *error) {
    fail(error, RECMAP_CORRUPT, "the file cannot be read as it was written: %s", fault->reason);
    fail_at(error, path, RECMAP_NO_RECORD, fault->at);
    fail_advise(error, "check the device and the memory of this computer, then write it again");
    return RECMAP_CORRUPT;
}

static recmap_status read_all(struct points_scan *scan, uint64_t image_size, const char *path,
                              recmap_error *error) {
    const struct inflate_fault *fault = inflater_fault(scan->inflater);
    for (;;) {
        enum inflate_verdict verdict = read_chunk(scan);
        if (verdict == INFLATE_AT_POINT && !point_taker_take(&scan->taker, scan->inflater))
            return fail_memory(error);
        if (verdict == INFLATE_END) break;
        if (verdict == INFLATE_OK || verdict == INFLATE_AT_POINT) continue;
        if (verdict != INFLATE_UNREADABLE) return fail_stream(fault, path, error);
        if (error) *error = fault->error;
        return fault->error.status;
    }
    static const struct inflate_fault other_size = {.reason = "it inflates to another size"};
    return scan->size == image_size ? RECMAP_OK : fail_stream(&other_size, path, error);
}

recmap_status points_scan(struct point_list *points, enum compression kind,
                          const struct inflate_source *source, uint64_t image_size,
                          const char *path, recmap_error *error) {
    struct points_scan *scan = calloc(1, sizeof *scan);
    if (!scan) return fail_memory(error);
    scan->taker.points = scan->checks.points = points;
    scan->inflater = inflater_create(kind, source);
    recmap_status status = scan->inflater ? read_all(scan, image_size, path, error)
                                          : fail_memory(error);
    points_finish(points, scan->size);
    if (status == RECMAP_OK &&
        (!span_checks_finish(&scan->checks, scan->size) || scan->checks.lacks_memory))
        status = fail_memory(error);
    inflater_destroy(scan->inflater);
    free(scan);
    return status;
}
