#include "base/os/read_again.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/core/bytes.h"
#include "base/core/error.h"
#include "base/core/interrupt.h"

enum { BLOCK = 4096, PIECE = 1 << 20 };

/* Reads a piece past the page cache, in whole blocks; the file may end in the last one. */
static bool read_piece(int fd, uint8_t *blocks, uint8_t *data, size_t size, uint64_t offset) {
    uint64_t begin = offset / BLOCK * BLOCK;
    size_t skipped = (size_t)(offset - begin), wanted = skipped + size, done = 0;
    size_t end = (wanted + BLOCK - 1) / BLOCK * BLOCK;
    while (done < wanted) {
        ssize_t n = pread(fd, blocks + done, end - done, (off_t)(begin + done));
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return false;
        done += (size_t)n;
        if (done < wanted && done % BLOCK) return false;
    }
    memcpy(data, blocks + skipped, size);
    return true;
}

static bool read_past_cache(int fd, uint8_t *data, size_t size, uint64_t offset) {
    uint32_t alignment;
    void *blocks = NULL;
    if (!file_pass_cache(&alignment, fd) || posix_memalign(&blocks, BLOCK, PIECE + 2 * BLOCK))
        return false;
    bool is_read = true;
    while (is_read && size) {
        size_t part = size < PIECE ? size : PIECE;
        is_read = read_piece(fd, blocks, data, part, offset);
        data += part;
        size -= part;
        offset += part;
    }
    free(blocks);
    return is_read;
}

/* To posix_fadvise, size 0 means everything up to the end of the file. */
void file_forget(int fd, uint64_t offset, uint64_t size) {
    if (size) posix_fadvise(fd, (off_t)offset, (off_t)size, POSIX_FADV_DONTNEED);
}

/* Without direct reads, the kernel is asked to drop the bytes from its cache first. */
recmap_status file_read_again(int fd, void *data, size_t size, uint64_t offset, const char *path,
                              recmap_error *error) {
    int saved = errno;
    bool is_read = read_past_cache(fd, data, size, offset);
    int flags = is_read ? -1 : fcntl(fd, F_GETFL);
    if (flags >= 0) (void)fcntl(fd, F_SETFL, flags & ~O_DIRECT);
    if (!is_read) file_forget(fd, offset, size);
    errno = saved;
    return is_read ? RECMAP_OK : file_read_at(fd, data, size, offset, path, error);
}

recmap_status file_compare_again(bool *is_equal, int fd, const void *data, uint64_t size,
                                 uint64_t offset, const char *path, recmap_error *error) {
    uint8_t *piece = malloc(PIECE);
    recmap_status status = piece ? RECMAP_OK : fail_memory(error);
    *is_equal = true;
    for (uint64_t done = 0; status == RECMAP_OK && *is_equal && done < size; done += PIECE) {
        size_t part = (size_t)min_u64(size - done, PIECE);
        status = file_read_again(fd, piece, part, offset + done, path, error);
        if (status == RECMAP_OK) *is_equal = !memcmp(piece, (const uint8_t *)data + done, part);
        if (status == RECMAP_OK) status = interrupt_check(thread_interrupt(), part, error);
    }
    free(piece);
    return status;
}

recmap_status fail_differing(recmap_error *error, const char *path, const char *what) {
    fail(error, RECMAP_IO, "%s differs between two reads", what);
    if (path) fail_file(error, path);
    fail_advise(error, "the file may be good: check the device, the network and the memory of this "
                       "machine, and that nothing writes to the file; then try again");
    return RECMAP_IO;
}
