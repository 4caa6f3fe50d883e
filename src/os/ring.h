/* Reads that are under way while their thread does something else (io_uring). A ring belongs to the
 * thread that made it; a child of its process leaves it alone. */
#ifndef RECMAP_OS_RING_H
#define RECMAP_OS_RING_H

#include <stdbool.h>
#include <stdint.h>

struct read_ring;

/* One that takes up to `depth` reads at a time. NULL where the kernel has no io_uring, or lets this
 * process have none. */
struct read_ring *ring_create(unsigned depth);

/* No read may be under way. */
void ring_destroy(struct read_ring *ring);

/* Adds a read: `size` bytes at `offset` go to `data`. Not more than `depth` may be added and not
 * taken. */
void ring_add(struct read_ring *ring, int fd, void *data, uint32_t size, uint64_t offset,
              void *tag);

/* Hands what was added to the kernel, which does not need the descriptors any longer then. Returns
 * how many of the last ones it refused: those are never read, and the ring must not be added to any
 * more. */
unsigned ring_submit(struct read_ring *ring);

/* Takes a read that came to its end: its tag, and the bytes read or minus an errno. False when
 * there is none; with `waits` one must be under way, and is waited for. */
bool ring_take(void **tag, int32_t *result, struct read_ring *ring, bool waits);

#endif
