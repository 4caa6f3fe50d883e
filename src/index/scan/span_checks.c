#include "index/scan/span_checks.h"

#include "base/core/bytes.h"
#include "base/core/crc32c.h"

/* The seek points that divide the image into spans: the index's, or those taken so far. */
static const struct point_list *points_of(const struct span_checks *checks) {
    return checks->known ? checks->known : checks->points;
}

uint64_t span_checks_span_begin(const struct span_checks *checks) {
    return checks->span_index ? points_of(checks)->at[checks->span_index - 1].offset : 0;
}

static uint64_t span_end(const struct span_checks *checks) {
    const struct point_list *points = points_of(checks);
    if (checks->span_index < points->count) return points->at[checks->span_index].offset;
    return checks->known ? checks->known_size : UINT64_MAX;
}

void span_checks_enter(struct span_checks *checks, size_t span_index) {
    checks->span_index = span_index;
    checks->checked_size = 0;
    checks->check = 0;
    checks->is_changed = false;
}

/* A check of the current span, the one numbered `number`, is complete. */
static void end_check(struct span_checks *checks, uint64_t number) {
    if (checks->known)
        checks->is_changed |= points_checks(checks->known, checks->span_index)[number] !=
                              checks->check;
    else if (!points_add_check(checks->points, checks->check)) checks->lacks_memory = true;
    checks->check = 0;
}

/* The current span ends at byte `end` of the image. If the stream could not be inflated up to
 * there, the last checks cover fewer bytes, or none. */
static void end_span(struct span_checks *checks, uint64_t end) {
    uint64_t done = checks->checked_size / SPAN_CHECKED_SIZE;
    uint64_t count = span_check_count(end - span_checks_span_begin(checks));
    for (uint64_t i = done; i < count; i++) end_check(checks, i);
}

/* A point that was taken may lie ahead of the bytes, since the inflater stops at a point before it
 * delivers all output that precedes it. */
void span_checks_add(struct span_checks *checks, uint64_t offset, const uint8_t *bytes,
                     size_t size) {
    while (size) {
        uint64_t next = span_end(checks);
        if (offset >= next && checks->known) return;
        if (offset >= next) {
            end_span(checks, next);
            span_checks_enter(checks, checks->span_index + 1);
            continue;
        }
        uint64_t left = SPAN_CHECKED_SIZE - checks->checked_size % SPAN_CHECKED_SIZE;
        size_t part = (size_t)min_u64(size, min_u64(left, next - offset));
        checks->check = crc32c_extend(checks->check, bytes, part);
        checks->checked_size += part;
        if (part == left) end_check(checks, checks->checked_size / SPAN_CHECKED_SIZE - 1);
        bytes += part;
        size -= part;
        offset += part;
    }
}

bool span_checks_match(struct span_checks *checks) {
    if (!checks->known) return true;
    end_span(checks, span_end(checks));
    return !checks->is_changed;
}

bool span_checks_finish(struct span_checks *checks, uint64_t size) {
    while (checks->span_index < checks->points->count) {
        end_span(checks, span_end(checks));
        span_checks_enter(checks, checks->span_index + 1);
    }
    end_span(checks, size);
    /* Only a check for which there was no memory can be missing. */
    return points_divide_checks(checks->points, size);
}
