#include "base/os/ring.h"

#include <assert.h>
#include <errno.h>
#include <liburing.h>
#include <sched.h>
#include <stdlib.h>

struct read_ring {
    struct io_uring uring;
    unsigned added; /* queued but not yet passed to the kernel */
};

struct read_ring *ring_create(unsigned depth) {
    struct read_ring *ring = calloc(1, sizeof *ring);
    if (!ring) return NULL;
    if (io_uring_queue_init(depth, &ring->uring, 0)) {
        free(ring);
        return NULL;
    }
    /* A child process that shared the ring's memory could corrupt it. */
    io_uring_ring_dontfork(&ring->uring);
    return ring;
}

void ring_destroy(struct read_ring *ring) {
    if (!ring) return;
    io_uring_queue_exit(&ring->uring);
    free(ring);
}

void ring_add(struct read_ring *ring, int fd, void *data, uint32_t size, uint64_t offset,
              void *tag) {
    struct io_uring_sqe *entry = io_uring_get_sqe(&ring->uring);
    assert(entry); /* at most `depth` reads */
    io_uring_prep_read(entry, fd, data, size, offset);
    io_uring_sqe_set_data(entry, tag);
    ring->added++;
}

unsigned ring_submit(struct read_ring *ring) {
    enum { TRIES = 1000 };
    for (int tries = 0; ring->added && tries < TRIES; tries++) {
        int result = io_uring_submit(&ring->uring);
        if (result > 0) ring->added -= (unsigned)result;
        /* The kernel is out of memory for the moment; reads in progress will release some. */
        if (result == -EAGAIN || result == -EBUSY) sched_yield();
        else if (result < 0 && result != -EINTR) break;
    }
    return ring->added;
}

bool ring_take(void **tag, int32_t *result, struct read_ring *ring, bool waits) {
    struct io_uring_cqe *done = NULL;
    if (io_uring_peek_cqe(&ring->uring, &done)) done = NULL;
    /* The wait may be interrupted by a signal before a read completes. */
    while (!done && waits)
        if (io_uring_wait_cqe(&ring->uring, &done)) done = NULL;
    if (!done) return false;
    *tag = io_uring_cqe_get_data(done);
    *result = done->res;
    io_uring_cqe_seen(&ring->uring, done);
    return true;
}
