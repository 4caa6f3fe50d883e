#include "base/memory/page_cache.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <sys/vfs.h>

#include "base/memory/control_group.h"

/* Takes a number from a line "NAME: NUMBER kB" of that name. */
static void take_size(uint64_t *size, const char *line, const char *name) {
    size_t length = strlen(name);
    if (!strncmp(line, name, length) && line[length] == ':')
        *size = (uint64_t)strtoull(line + length + 1, NULL, 10) << 10;
}

static uint64_t find_available(bool spares_mapped) {
    char line[128];
    uint64_t available = 0, mapped = 0;
    int saved = errno;
    FILE *file = kernel_file_open("/proc/meminfo");
    while (file && fgets(line, sizeof line, file)) {
        take_size(&available, line, "MemAvailable");
        take_size(&mapped, line, "Mapped");
    }
    if (file) fclose(file);
    errno = saved;
    if (!spares_mapped) mapped = 0;
    return available > mapped ? available - mapped : 0;
}

uint64_t page_cache_size(bool spares_mapped) {
    uint64_t available = find_available(spares_mapped);
    uint64_t room = control_group_file_room(spares_mapped);
    return room < available ? room : available;
}

size_t page_cache_read(int fd, void *data, size_t size, uint64_t offset) {
    int saved = errno;
    struct iovec part = {data, size};
    ssize_t count = preadv2(fd, &part, 1, (off_t)offset, RWF_NOWAIT);
    errno = saved;
    return count > 0 ? (size_t)count : 0;
}

bool file_is_on_disk(int fd) {
    static const unsigned disks[] = {
        0xef53,     /* ext2, ext3, ext4 */
        0x58465342, /* xfs */
        0x9123683e, /* btrfs */
        0xf2f52010, /* f2fs */
        0x2fc12fc1, /* zfs */
        0xca451a4e, /* bcachefs */
        0x3153464a, /* jfs */
    };
    struct statfs system;
    int saved = errno;
    int failed = fstatfs(fd, &system);
    errno = saved;
    for (size_t i = 0; !failed && i < sizeof disks / sizeof *disks; i++)
        if ((unsigned)system.f_type == disks[i]) return true;
    return false;
}
