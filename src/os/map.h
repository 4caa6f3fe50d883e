/* Mapping files for reading, advice to the kernel, and the guard against SIGBUS. */
#ifndef RECMAP_OS_MAP_H
#define RECMAP_OS_MAP_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <recmap/status.h>

/* A whole file, mapped. Its address never changes, so that the guard may point to it. */
struct file_map {
    const uint8_t *data; /* NULL for an empty file */
    size_t size;
    atomic_bool was_cut; /* the guard caught a read behind the file's end */
    bool is_borrowed;    /* somebody else maps and unmaps it */
    void *guard_slot;    /* private */
};

/* Maps `size` bytes of an open file; the descriptor may be closed afterwards. The map is known to
 * the guard from now on. */
recmap_status map_create(struct file_map **map, int fd, size_t size, const char *path,
                         recmap_error *error);
void map_destroy(struct file_map *map);

/* Makes a mapping that somebody else made (LMDB) known to the guard. map_destroy must come before
 * it is unmapped, and leaves the mapping itself alone. */
recmap_status map_watch(struct file_map **map, const void *data, size_t size, recmap_error *error);

/* What will be read next, and how. Advice only: nothing fails. */
typedef enum map_advice {
    MAP_ADVICE_RANDOM,
    MAP_ADVICE_SEQUENTIAL,
    MAP_ADVICE_WILL_NEED,
} map_advice;
void map_advise(const struct file_map *map, uint64_t offset, uint64_t size, map_advice advice);

/* Whether the bytes are in memory, as far as the kernel tells: of a file that the process may not
 * write and does not own, it says so always. Of a long stretch the beginning alone is looked at. */
bool map_is_resident(const struct file_map *map, uint64_t offset, uint64_t size);

/* Turns SIGBUS on maps made by map_create into zeros and `was_cut`. */
recmap_status guard_install(recmap_error *error);

#endif
