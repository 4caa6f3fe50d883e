#include "yardstick.h"

#include <stdlib.h>

#include <recmap/recmap.h>

#include "base/core/bytes.h"
#include "base/core/crc32c.h"
#include "base/os/file.h"
#include "base/os/thread.h"
#include "measure.h"
#include "set.h"

enum { PIECE_SIZE = 8 << 20, HEADER_SIZE = 12, OVERHEAD = 16 };

static void map_set(struct mapped_set *set, const char *folder, const char *name) {
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_shards *shards;
    *set = (struct mapped_set){0};
    if (!set_find(&shards, folder, name)) return;
    set->map_count = recmap_shards_count(shards);
    set->maps = must_have(calloc(set->map_count, sizeof *set->maps));
    for (size_t i = 0; i < set->map_count; i++) {
        const char *path = recmap_shards_path(shards, i);
        struct file_stat stat;
        int fd;
        must(file_open(&fd, path, &error), &error);
        must(file_get_stat(&stat, fd, path, &error), &error);
        must(map_create(&set->maps[i], fd, (size_t)stat.size, path, &error), &error);
        file_close(fd);
    }
    recmap_shards_destroy(shards);
}

void mapped_set_close(struct mapped_set *set) {
    for (size_t i = 0; i < set->map_count; i++) map_destroy(set->maps[i]);
    free(set->maps);
    free(set->addresses);
}

/* The pieces of all shards, taken by the threads one after another. */
struct crc_pass {
    struct mapped_set set;
    atomic_size_t next; /* piece */
    atomic_uint sum;    /* so that no CRC can be left out */
};

static size_t piece_count(const struct file_map *map) {
    return (map->size + PIECE_SIZE - 1) / PIECE_SIZE;
}

static void *run_crc(void *context) {
    struct crc_pass *pass = context;
    for (;;) {
        size_t piece = pass->next++, map = 0;
        while (map < pass->set.map_count && piece >= piece_count(pass->set.maps[map]))
            piece -= piece_count(pass->set.maps[map++]);
        if (map == pass->set.map_count) return NULL;
        const struct file_map *file = pass->set.maps[map];
        size_t offset = piece * PIECE_SIZE;
        pass->sum += crc32c(file->data + offset, (size_t)min_u64(file->size - offset, PIECE_SIZE));
    }
}

void crc_all_bytes(const char *folder, const char *name, unsigned thread_count) {
    struct crc_pass pass = {.next = 0};
    map_set(&pass.set, folder, name);
    for (size_t i = 0; i < pass.set.map_count; i++)
        map_advise(pass.set.maps[i], 0, pass.set.maps[i]->size, MAP_ADVICE_SEQUENTIAL);
    if (thread_count > 1) {
        recmap_error error = RECMAP_ERROR_INIT;
        struct worker_group workers = WORKER_GROUP_INIT;
        must(workers_start(&workers, thread_count, run_crc, &pass, &error), &error);
        workers_join(&workers);
    } else {
        run_crc(&pass);
    }
    mapped_set_close(&pass.set);
}

static bool header_holds(const uint8_t *frame) {
    return load32(frame + 8) == crc32c_mask(crc32c(frame, 8));
}

static bool data_holds(const uint8_t *frame, uint64_t length) {
    const uint8_t *data = frame + HEADER_SIZE;
    return load32(data + length) == crc32c_mask(crc32c(data, (size_t)length));
}

uint64_t crc_all_frames(const char *folder, const char *name) {
    struct mapped_set set;
    uint64_t count = 0;
    map_set(&set, folder, name);
    for (size_t i = 0; i < set.map_count; i++) {
        map_advise(set.maps[i], 0, set.maps[i]->size, MAP_ADVICE_SEQUENTIAL);
        const uint8_t *cursor = set.maps[i]->data, *end = cursor + set.maps[i]->size;
        for (; cursor < end; count++) {
            uint64_t length = load64(cursor);
            if (!header_holds(cursor) || !data_holds(cursor, length)) abort();
            cursor += length + OVERHEAD;
        }
    }
    mapped_set_close(&set);
    return count;
}

static void add_address(struct mapped_set *set, uint64_t *capacity, const uint8_t *position) {
    if (set->record_count == *capacity) {
        *capacity = *capacity ? *capacity * 2 : 1 << 16;
        set->addresses = must_have(realloc(set->addresses, *capacity * sizeof *set->addresses));
    }
    set->addresses[set->record_count++] = (uint64_t)(uintptr_t)position;
}

void mapped_set_open(struct mapped_set *set, const char *folder, const char *name) {
    uint64_t capacity = 0;
    map_set(set, folder, name);
    for (size_t i = 0; i < set->map_count; i++) {
        const uint8_t *cursor = set->maps[i]->data, *end = cursor + set->maps[i]->size;
        for (; cursor < end; cursor += load64(cursor) + OVERHEAD)
            add_address(set, &capacity, cursor);
    }
}

uint64_t mapped_set_check(const struct mapped_set *set, const uint64_t *numbers, size_t count,
                          bool with_header) {
    uint64_t good = 0;
    for (size_t i = 0; i < count; i++) {
        const uint8_t *frame = (const uint8_t *)(uintptr_t)set->addresses[numbers[i]];
        if (with_header && !header_holds(frame)) continue;
        good += data_holds(frame, load64(frame));
    }
    return good;
}
