/* A window of the bytes of a remote shard. It moves forwards: bytes that were scanned are dropped,
 * and the bytes that follow are requested. So each byte is requested once, and memory does not grow
 * with the shard. One thread uses a window at a time. */
#ifndef RECMAP_INDEX_SCAN_READ_WINDOW_H
#define RECMAP_INDEX_SCAN_READ_WINDOW_H

#include "base/os/source.h"

enum {
    READ_WINDOW_MAX = 64 << 20,
    /* Bounds of what is requested together, unless a record is longer. */
    READ_AHEAD_MIN = 1 << 20,
    READ_AHEAD_MAX = 16 << 20,
};

/* Zero-initialised, it is empty, at offset 0. */
struct read_window {
    uint8_t *data;
    size_t size, capacity;
    uint64_t origin;  /* offset of the first byte in the shard */
    uint64_t wait_ns; /* how long the last request took */
};

/* How many bytes to request next, after a request of `size` bytes took `wait_ns`; 0: after none.
 * Twice as many if the wait was long, because more bytes in flight then arrive in the same time. If
 * it was short, more bytes only fill the CPU's caches: they are slower to copy and to scan. */
uint64_t read_window_choose_size(uint64_t size, uint64_t wait_ns);

void read_window_deinit(struct read_window *window);

/* Drops all bytes. The next ones begin at `origin`. */
void read_window_clear(struct read_window *window, uint64_t origin);

/* Drops the bytes before `origin`. If it is not in the window, all bytes are dropped. */
void read_window_move(struct read_window *window, uint64_t origin);

bool read_window_has(const struct read_window *window, uint64_t offset, uint64_t size);

/* Requests the bytes up to `end` of the shard that are not in the window yet, in ranges that are in
 * flight together. The window then has at most READ_WINDOW_MAX bytes. After an error it is
 * unchanged. Errors: those of source_read_all. */
recmap_status read_window_fill(struct read_window *window, struct source *source, uint64_t end,
                               recmap_error *error);

#endif
