/* Memory maps of files, advice to the kernel, and the SIGBUS guard. */
#ifndef RECMAP_BASE_OS_MAP_H
#define RECMAP_BASE_OS_MAP_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <recmap/status.h>

/* A whole file, mapped. It never moves, because the guard keeps a pointer to it. */
struct file_map {
    const uint8_t *data; /* NULL for an empty file */
    size_t size;
    atomic_bool was_cut; /* the guard caught a read past the end of the file */
    void *guard_slot;    /* private to map.c; NULL for a copy */
};

/* Maps `size` bytes of an open file and registers the map with the guard. The descriptor may be
 * closed afterwards. */
recmap_status map_create(struct file_map **map, int fd, size_t size, const char *path,
                         recmap_error *error);
void map_destroy(struct file_map *map);

/* How many maps this process may have: vm.max_map_count. */
size_t map_count_max(void);

/* How many maps this process has, of files and other memory; 0 if that is unknown. Takes about 300
 * ns for each. */
size_t map_count(void);

/* Returns true if the file system lets the file be mapped now; else sets the error of trying. Some
 * file systems refuse (EPERM, EACCES, ENODEV), and a process can have too many maps (ENOMEM). */
bool map_is_allowed(int fd, uint64_t size, const char *path, recmap_error *error);

/* The same as map_create, but reads the file into memory if it cannot be mapped. */
recmap_status map_create_or_read(struct file_map **map, int fd, size_t size, const char *path,
                                 recmap_error *error);

/* Warns that shards are read, because mapping one failed with this error: once in a process for
 * each errno, as there may be many shards and data sets. */
void map_warn_of_reading(const recmap_error *refusal);

/* Maps a whole file, or reads it into memory if it cannot be mapped. */
recmap_status map_open(struct file_map **map, const char *path, recmap_error *error);

/* Maps `size` bytes of a file to write to them. They must have been allocated: see file_reserve. */
recmap_status map_writable(uint8_t **bytes, int fd, size_t size, const char *path,
                           recmap_error *error);
void unmap_writable(uint8_t *bytes, size_t size);

/* How a range will be read. Hints only: they never fail. */
enum map_advice {
    MAP_ADVICE_RANDOM,
    MAP_ADVICE_SEQUENTIAL,
    MAP_ADVICE_WILL_NEED,
};
void map_advise(const struct file_map *map, uint64_t offset, uint64_t size, enum map_advice advice);

/* Lets the kernel read the range from the file again, if no other process has mapped it. */
void map_forget(const struct file_map *map, uint64_t offset, uint64_t size);

/* Returns whether the range is in memory, as far as the kernel tells. For files that the process
 * neither owns nor may write, the kernel always says yes. Examines only the first 64 pages of a
 * longer range. */
bool map_is_resident(const struct file_map *map, uint64_t offset, uint64_t size);

/* Installs a handler that turns SIGBUS on registered maps into pages of zeros and sets `was_cut`.
 */
recmap_status guard_install(recmap_error *error);

#endif
