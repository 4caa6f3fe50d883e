/* When a failed request is repeated. Pure. */
#ifndef RECMAP_STORAGE_REMOTE_RETRY_H
#define RECMAP_STORAGE_REMOTE_RETRY_H

#include <stdbool.h>
#include <stdint.h>

enum { RETRY_FIRST_MS = 100, RETRY_MAX_MS = 15000, RETRY_AFTER_MAX_S = 86400 };

/* A reply that is slower than this for some time is a failure. */
enum { RETRY_BYTES_PER_S = 1000 };

/* The time to wait before attempt `attempt`, from 1 on, in ms: a random part ("full jitter") of a
 * limit that doubles with each attempt, so that clients that failed together do not return
 * together. Never less than what the server asked for in `retry_after_s`, up to a day.
 * `random` has 64 random bits. */
uint64_t retry_delay_ms(unsigned attempt, uint64_t random, uint64_t retry_after_s);

/* Where the time limit of a request that fails begins. It began at `start_ns`, and `size` bytes
 * have arrived since then. They move it by the time that they may take at most (RETRY_BYTES_PER_S),
 * but not past `now_ns`: the time of a healthy transfer does not count. The time of a server
 * that sends only a few bytes with each attempt does. */
uint64_t retry_limit_start(uint64_t start_ns, uint64_t size, uint64_t now_ns);

/* How many requests may be in flight at once: additive increase, multiplicative decrease. Until a
 * server is overloaded for the first time, the number doubles with each full window of good
 * replies, so that a distant server is used fully after a few round trips. */
struct request_window {
    double size;
    double limit;
    uint64_t shrink_count; /* how often it was halved; a request notes it when it starts */
};

void window_init(struct request_window *window, unsigned first, unsigned limit);

/* After a good reply. */
void window_grow(struct request_window *window);

/* After a reply that said the server is overloaded (429, 503). `noted_count` is the `shrink_count`
 * that the request noted. All requests of a window may fail in one round trip, and those that were
 * in flight when the window was halved say nothing about the smaller one: they do not count. */
void window_shrink(struct request_window *window, uint64_t noted_count);

/* At least 1. */
unsigned window_size(const struct request_window *window);

#endif
