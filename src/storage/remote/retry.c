#include "storage/remote/retry.h"

#include <assert.h>

uint64_t retry_delay_ms(unsigned attempt, uint64_t random, uint64_t retry_after_s) {
    enum { DOUBLINGS = 8 };
    unsigned doublings = attempt > DOUBLINGS ? DOUBLINGS : attempt ? attempt - 1 : 0;
    uint64_t limit = (uint64_t)RETRY_FIRST_MS << doublings;
    if (limit > RETRY_MAX_MS) limit = RETRY_MAX_MS;
    uint64_t asked = retry_after_s < RETRY_AFTER_MAX_S ? retry_after_s : RETRY_AFTER_MAX_S;
    uint64_t delay = random % (limit + 1);
    return delay > asked * 1000 ? delay : asked * 1000;
}

uint64_t retry_limit_start(uint64_t start_ns, uint64_t size, uint64_t now_ns) {
    const uint64_t ns_per_byte = 1000000000 / RETRY_BYTES_PER_S;
    assert(start_ns <= now_ns);
    return size > (now_ns - start_ns) / ns_per_byte ? now_ns : start_ns + size * ns_per_byte;
}

void window_init(struct request_window *window, unsigned first, unsigned limit) {
    *window = (struct request_window){.size = first < limit ? first : limit, .limit = limit};
}

/* One more request in flight for each good reply, or, once the limit of the server is known, for
 * each full window of them. */
void window_grow(struct request_window *window) {
    assert(window->size >= 1 && window->size <= window->limit);
    window->size += window->shrink_count ? 1 / window->size : 1;
    if (window->size > window->limit) window->size = window->limit;
}

void window_shrink(struct request_window *window, uint64_t noted_count) {
    assert(noted_count <= window->shrink_count);
    if (noted_count != window->shrink_count) return;
    window->shrink_count++;
    window->size /= 2;
    if (window->size < 1) window->size = 1;
}

unsigned window_size(const struct request_window *window) {
    return (unsigned)window->size;
}
