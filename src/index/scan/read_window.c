#include "index/scan/read_window.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/core/bytes.h"
#include "base/core/error.h"
#include "base/os/process.h"

/* The most bytes of a request: few enough that filling a window takes several requests, whose
 * replies arrive together. */
enum { REQUEST_MAX = 2 << 20 };

#define LONG_WAIT_NS 10000000ull

uint64_t read_window_choose_size(uint64_t size, uint64_t wait_ns) {
    if (!size) return READ_AHEAD_MIN;
    if (wait_ns < LONG_WAIT_NS) return size;
    return min_u64(2 * size, READ_AHEAD_MAX);
}

void read_window_deinit(struct read_window *window) {
    free(window->data);
    *window = (struct read_window){0};
}

void read_window_clear(struct read_window *window, uint64_t origin) {
    window->size = 0;
    window->origin = origin;
}

void read_window_move(struct read_window *window, uint64_t origin) {
    if (!read_window_has(window, origin, 0)) {
        read_window_clear(window, origin);
        return;
    }
    size_t dropped = (size_t)(origin - window->origin);
    if (!dropped) return;
    window->size -= dropped;
    window->origin = origin;
    memmove(window->data, window->data + dropped, window->size);
}

bool read_window_has(const struct read_window *window, uint64_t offset, uint64_t size) {
    return offset >= window->origin && bytes_fit(offset - window->origin, size, window->size);
}

static recmap_status reserve(struct read_window *window, size_t size, recmap_error *error) {
    if (size <= window->capacity) return RECMAP_OK;
    uint8_t *data = realloc(window->data, size);
    if (!data) return fail_memory(error);
    window->data = data;
    window->capacity = size;
    return RECMAP_OK;
}

recmap_status read_window_fill(struct read_window *window, struct source *source, uint64_t end,
                               recmap_error *error) {
    struct source_read reads[READ_WINDOW_MAX / REQUEST_MAX + 1];
    assert(end >= window->origin && end - window->origin <= READ_WINDOW_MAX);
    size_t size = (size_t)(end - window->origin), count = 0, failed_index;
    if (size <= window->size) return RECMAP_OK;
    RETURN_IF_FAILED(reserve(window, size, error));
    size_t missing = size - window->size, requests = (missing + REQUEST_MAX - 1) / REQUEST_MAX;
    size_t request_size = (missing + requests - 1) / requests;
    for (size_t first = window->size; first < size; first += request_size) {
        size_t left = size - first;
        reads[count++] = (struct source_read){.source = source,
                                              .data = window->data + first,
                                              .size = left < request_size ? left : request_size,
                                              .offset = window->origin + first};
    }
    uint64_t started_ns = clock_ns();
    RETURN_IF_FAILED(source_read_all(&failed_index, reads, count, NULL, error));
    window->wait_ns = clock_ns() - started_ns;
    window->size = size;
    return RECMAP_OK;
}
