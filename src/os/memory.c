#include "os/memory.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>

enum { PAGE = 4096, HUGE_PAGE = 2 << 20 };

static size_t alignment_of(size_t size) {
    return size > HUGE_PAGE / 2 ? HUGE_PAGE : PAGE;
}

size_t pages_size(size_t size) {
    size_t rest = alignment_of(size) - 1;
    return size > SIZE_MAX - rest ? SIZE_MAX : (size + rest) & ~rest;
}

uint8_t *pages_allocate(size_t size) {
    size_t taken = pages_size(size);
    void *memory;
    int saved = errno;
    if (taken == SIZE_MAX || posix_memalign(&memory, alignment_of(size), taken)) return NULL;
    if (alignment_of(size) == HUGE_PAGE) madvise(memory, taken, MADV_HUGEPAGE);
    errno = saved;
    return memory;
}
