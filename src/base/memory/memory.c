#include "base/memory/memory.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/memory/control_group.h"

enum { PAGE = 4096, HUGE_PAGE = 2 << 20 };

/* ---- The size of the memory. */

static _Atomic uint64_t forced_size;

void memory_force_size(uint64_t size) {
    atomic_store(&forced_size, size);
}

uint64_t memory_size(void) {
    int saved = errno;
    uint64_t forced = atomic_load(&forced_size), limit = control_group_limit();
    uint64_t size = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
    errno = saved;
    if (forced) return forced;
    return limit < size ? limit : size;
}

/* ---- Pages. */

static size_t alignment_of(size_t size) {
    return size > HUGE_PAGE / 2 ? HUGE_PAGE : PAGE;
}

size_t pages_size(size_t size) {
    size_t rest = alignment_of(size) - 1;
    return size > SIZE_MAX - rest ? SIZE_MAX : (size + rest) & ~rest;
}

uint8_t *pages_allocate(size_t size) {
    size_t allocated_size = pages_size(size);
    void *memory;
    int saved = errno;
    if (allocated_size == SIZE_MAX || posix_memalign(&memory, alignment_of(size), allocated_size))
        return NULL;
    if (alignment_of(size) == HUGE_PAGE) madvise(memory, allocated_size, MADV_HUGEPAGE);
    errno = saved;
    return memory;
}
