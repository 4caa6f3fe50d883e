#define _GNU_SOURCE
#include "unit/dataset/warm/warm_set.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/memory/control_group.h"
#include "support/folder.h"
#include "support/index/build.h"
#include "support/random.h"
#include "support/shards/compress.h"

enum { OVERHEAD = 16, PAGE = 4096 };

static void add_record(struct buffer *shard, struct rng *random) {
    uint64_t payload[(WARM_FRAME - OVERHEAD) / 8];
    for (size_t i = 0; i < sizeof payload / sizeof *payload; i++) payload[i] = rng_next(random);
    recmap_frame frame = recmap_frame_of((uint8_t *)payload, sizeof payload);
    buffer_add(shard, frame.header, sizeof frame.header);
    buffer_add(shard, payload, sizeof payload);
    buffer_add(shard, frame.footer, sizeof frame.footer);
}

static void write_shard(unsigned shard_index, bool is_compressed) {
    struct buffer shard = BUFFER_INIT, packed = BUFFER_INIT;
    struct rng random = {shard_index + 1};
    for (unsigned i = 0; i < WARM_SHARD_RECORDS; i++) add_record(&shard, &random);
    if (is_compressed) compress_gzip(&packed, shard.data, shard.size);
    const struct buffer *bytes = is_compressed ? &packed : &shard;
    file_write(shard_names(WARM_SHARDS)[shard_index], bytes->data, bytes->size);
    buffer_deinit(&shard);
    buffer_deinit(&packed);
}

void warm_set_write(bool is_compressed) {
    for (unsigned i = 0; i < WARM_SHARDS; i++) write_shard(i, is_compressed);
    index_build("set.rmx", NULL, shard_names(WARM_SHARDS), WARM_SHARDS);
    warm_set_drop();
}

void warm_set_drop(void) {
    for (unsigned i = 0; i < WARM_SHARDS; i++) {
        int fd = open(shard_names(WARM_SHARDS)[i], O_RDONLY | O_CLOEXEC);
        assert_true(fd >= 0);
        fsync(fd);
        posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
        close(fd);
    }
}

/* Reading without waiting would tell as well, but it makes the kernel read ahead. */
uint64_t warm_set_resident(unsigned shard) {
    unsigned char pages[WARM_SHARD_RECORDS];
    struct stat stat;
    uint64_t resident = 0;
    int fd = open(shard_names(WARM_SHARDS)[shard], O_RDONLY | O_CLOEXEC);
    assert_true(fd >= 0 && !fstat(fd, &stat));
    size_t size = (size_t)stat.st_size, count = (size + PAGE - 1) / PAGE;
    void *map = mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0);
    assert_true(map != MAP_FAILED && count <= sizeof pages && !mincore(map, size, pages));
    for (size_t i = 0; i < count; i++)
        if (pages[i] & 1) resident += i + 1 < count ? PAGE : size - i * PAGE;
    munmap(map, size);
    close(fd);
    return resident;
}

bool warm_set_can_drop(void) {
    for (unsigned i = 0; i < WARM_SHARDS; i++)
        if (warm_set_resident(i)) return false;
    struct buffer shard = file_read(shard_names(WARM_SHARDS)[0]);
    bool is_told = warm_set_resident(0) == shard.size;
    buffer_deinit(&shard);
    warm_set_drop();
    return is_told;
}

recmap_order *warm_set_order(uint64_t seed) {
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_order *order = NULL;
    ASSERT_OK(recmap_order_shuffled(&order, WARM_RECORDS, seed, &error), &error);
    return order;
}

void warm_set_forge_memory(uint64_t kib) {
    char text[64];
    mkdir("proc", 0755);
    mkdir("proc/self", 0755);
    int size = snprintf(text, sizeof text, "MemAvailable: %llu kB\n", (unsigned long long)kib);
    file_write("proc/meminfo", text, (size_t)size);
    kernel_file_force_root(".");
}

int warm_set_enter(void **state) {
    if (folder_enter_on_device(state)) return 1;
    warm_set_forge_memory(WARM_LARGE_KIB);
    return 0;
}

int warm_set_leave(void **state) {
    kernel_file_force_root(NULL);
    return folder_leave(state);
}
