/* Asynchronous reads with io_uring. A ring belongs to the thread that created it, and a forked
 * child must not use it. */
#ifndef RECMAP_BASE_OS_RING_H
#define RECMAP_BASE_OS_RING_H

#include <stdbool.h>
#include <stdint.h>

struct read_ring;

/* Creates a ring for up to `depth` reads at a time. Returns NULL if the kernel lacks io_uring or
 * denies it to this process. */
struct read_ring *ring_create(unsigned depth);

/* No read may be in progress. */
void ring_destroy(struct read_ring *ring);

/* Queues a read of `size` bytes at `offset` into `data`. At most `depth` reads may be queued and
 * not yet taken. */
void ring_add(struct read_ring *ring, int fd, void *data, uint32_t size, uint64_t offset,
              void *tag);

/* Passes the queued reads to the kernel, which no longer needs their descriptors afterwards.
 * Returns how many of the most recent ones it refused: these are never read, and nothing may be
 * added to the ring any more. */
unsigned ring_submit(struct read_ring *ring);

/* Takes a completed read: its tag, and the number of bytes read or a negative errno. Returns false
 * if none has completed. With `waits`, waits for one; at least one must then be in progress. */
bool ring_take(void **tag, int32_t *result, struct read_ring *ring, bool waits);

#endif
