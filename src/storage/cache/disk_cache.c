#include "storage/cache/disk_cache.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/core/error.h"
#include "base/core/warning.h"
#include "base/os/file.h"
#include "base/os/private_file.h"
#include "base/os/process.h"
#include "base/os/thread.h"
#include "storage/cache/cache_name.h"

/* Space is reserved in pieces of this size, or smaller ones of a small cache, so that the processes
 * seldom wait for each other. */
enum { PIECE_MAX = 64 << 20, PIECES = 64, FREE_SHARE = 10 };

/* If this share of the limit was reserved but not used by other processes, most of them are gone.
 */
enum { LOST_SHARE = 8 };

struct disk_cache {
    char *folder;
    char *usage_path;
    uint64_t limit; /* 0: a share of the disk is left free */
    int lock;       /* on FOLDER/lock */
    _Atomic uint64_t hit_count, miss_count;
    _Atomic uint64_t refused; /* there is no room for so many bytes or more; 0: adding stopped */
    atomic_bool must_warn;    /* of `stop_reason` */
    /* Guarded by the process lock. */
    uint64_t reserved;        /* bytes of this process that no part was promised */
    uint64_t pending;         /* bytes promised to parts that have not been stored yet */
    long process;             /* which reserved them */
    recmap_error stop_reason; /* status OK: the cache has not stopped adding */
};

/* What FOLDER/usage contains. */
struct usage {
    char magic[16];
    uint64_t used;      /* bytes, including what processes have reserved */
    int64_t started_ns; /* files that were used earlier are not in use */
};

static const char usage_magic[16] = "recmap cache 1\n";

static recmap_status advise_folder(recmap_status status, recmap_error *error) {
    fail_advise(error, "name a folder on a local disk that you can write to as the cache, or open "
                       "the data set without a cache");
    return status;
}

/* ---- Usage. The caller has locked the cache. */

static bool read_usage(struct usage *usage, int fd) {
    return file_read_at(fd, usage, sizeof *usage, 0, "", NULL) == RECMAP_OK &&
           !memcmp(usage->magic, usage_magic, sizeof usage_magic);
}

/* Returns true if this is a usage, or the beginning of one, followed by zeros: what remains if its
 * first write was cut off by a power failure or a full disk. */
static bool begins_usage(const struct usage *usage) {
    static const struct usage zeros;
    size_t same = 0;
    while (same < sizeof usage_magic && usage->magic[same] == usage_magic[same]) same++;
    return same == sizeof usage_magic ||
           !memcmp((const char *)usage + same, &zeros, sizeof *usage - same);
}

/* OK if an open file may be overwritten as the usage: it is one, or as much of one as was written.
 * Anything else is a file of that name which is not recmap's. */
static recmap_status check_usage(int fd, const char *path, recmap_error *error) {
    struct usage usage = {.used = 0};
    struct file_stat stat;
    RETURN_IF_FAILED(file_get_stat(&stat, fd, path, error));
    size_t size = stat.size < sizeof usage ? (size_t)stat.size : sizeof usage;
    RETURN_IF_FAILED(file_read_at(fd, &usage, size, 0, path, error));
    if (stat.size <= sizeof usage && begins_usage(&usage)) return RECMAP_OK;
    fail(error, RECMAP_IO, "was not written by recmap, which would overwrite it");
    fail_file(error, path);
    return RECMAP_IO;
}

static recmap_status write_usage(int fd, const char *path, uint64_t used, int64_t started_ns,
                                 recmap_error *error) {
    struct usage usage = {.used = used, .started_ns = started_ns};
    memcpy(usage.magic, usage_magic, sizeof usage_magic);
    return file_write_at(fd, &usage, sizeof usage, 0, path, error);
}

static recmap_status list_files(struct path_list *list, const char *folder, recmap_error *error) {
    return list_folder(list, folder, cache_name_is_valid, error);
}

static recmap_status count_used(uint64_t *size, const char *folder, recmap_error *error) {
    struct path_list list = PATH_LIST_INIT;
    struct private_stat stat;
    recmap_status status = list_files(&list, folder, error);
    *size = 0;
    for (size_t i = 0; i < list.count; i++)
        if (private_stat_path(&stat, list.paths[i])) *size += stat.allocated;
    path_list_deinit(&list);
    return status;
}

/* ---- Opening. */

/* The first process counts the files of earlier processes, because killed processes did not give
 * back their reservations. */
static recmap_status begin_usage(const struct disk_cache *cache, bool is_first,
                                 recmap_error *error) {
    struct usage usage;
    uint64_t used;
    int fd;
    bool is_held;
    RETURN_IF_FAILED(private_open(&fd, cache->usage_path, true, error));
    recmap_status status = private_lock(&is_held, fd, PRIVATE_EXCLUSIVE, cache->usage_path, error);
    if (status == RECMAP_OK) status = check_usage(fd, cache->usage_path, error);
    bool is_needed = status == RECMAP_OK && (is_first || !read_usage(&usage, fd));
    if (is_needed) status = count_used(&used, cache->folder, error);
    if (is_needed && status == RECMAP_OK)
        status = write_usage(fd, cache->usage_path, used, private_now_ns(), error);
    disk_cache_unlock(fd);
    return status;
}

/* Takes the lock that says a process uses the cache. `is_first`: no other process does. */
static recmap_status join(int *lock, bool *is_first, const char *folder, recmap_error *error) {
    char *path = path_join(folder, "lock");
    recmap_status status = path ? private_open(lock, path, true, error) : fail_memory(error);
    if (status == RECMAP_OK)
        status = private_lock(is_first, *lock, PRIVATE_TRY_EXCLUSIVE, path, error);
    free(path);
    return status;
}

static recmap_status open_folder(struct disk_cache *cache, recmap_error *error) {
    bool is_first = false, is_held;
    RETURN_IF_FAILED(private_make_folder(cache->folder, error));
    RETURN_IF_FAILED(join(&cache->lock, &is_first, cache->folder, error));
    if (is_first) RETURN_IF_FAILED(begin_usage(cache, true, error));
    RETURN_IF_FAILED(private_lock(&is_held, cache->lock, PRIVATE_SHARED, cache->folder, error));
    return begin_usage(cache, false, error);
}

recmap_status disk_cache_open(struct disk_cache **cache, const char *folder, uint64_t size,
                              recmap_error *error) {
    struct disk_cache *fresh = calloc(1, sizeof *fresh);
    if (!fresh) return fail_memory(error);
    fresh->lock = -1;
    fresh->limit = size;
    fresh->stop_reason = (recmap_error)RECMAP_ERROR_INIT;
    atomic_init(&fresh->refused, UINT64_MAX);
    fresh->process = process_id();
    fresh->folder = strdup(folder);
    fresh->usage_path = path_join(folder, "usage");
    recmap_status status = RECMAP_OK;
    if (!fresh->folder || !fresh->usage_path) status = fail_memory(error);
    else if ((status = open_folder(fresh, error)) == RECMAP_IO) advise_folder(status, error);
    if (status == RECMAP_OK) *cache = fresh;
    else disk_cache_close(fresh);
    return status;
}

static void give_back(const struct disk_cache *cache, uint64_t size) {
    struct usage usage;
    int fd = disk_cache_lock(cache);
    if (fd >= 0 && read_usage(&usage, fd) && usage.used >= size) {
        recmap_status status =
            write_usage(fd, cache->usage_path, usage.used - size, usage.started_ns, NULL);
        (void)status; /* the space is counted again by the next process that is the first */
    }
    disk_cache_unlock(fd);
}

void disk_cache_close(struct disk_cache *cache) {
    if (!cache) return;
    if (cache->reserved && cache->process == process_id()) give_back(cache, cache->reserved);
    file_close(cache->lock);
    free(cache->folder);
    free(cache->usage_path);
    free(cache);
}

const char *disk_cache_folder(const struct disk_cache *cache) {
    return cache->folder;
}

static int lock_usage(const struct disk_cache *cache, recmap_error *error) {
    int fd;
    bool is_held;
    if (private_open(&fd, cache->usage_path, true, error) != RECMAP_OK) return -1;
    if (private_lock(&is_held, fd, PRIVATE_EXCLUSIVE, cache->usage_path, error) == RECMAP_OK)
        return fd;
    file_close(fd);
    return -1;
}

int disk_cache_lock(const struct disk_cache *cache) {
    return lock_usage(cache, NULL);
}

/* A child that is forked while a thread holds the lock inherits the file. Closing it here would
 * leave the lock with the child, so the lock is released first. */
void disk_cache_unlock(int lock) {
    if (lock >= 0) private_unlock(lock);
    file_close(lock);
}

bool disk_cache_touch(const char *path) {
    return private_touch(path, private_now_ns());
}

/* ---- Space. */

/* A file that no running process uses. */
struct unused {
    char *path;
    uint64_t allocated;
    int64_t used_ns;
};

static int compare_unused(const void *a, const void *b) {
    const struct unused *first = a, *second = b;
    return (first->used_ns > second->used_ns) - (first->used_ns < second->used_ns);
}

/* Returns how many files are unused; the caller frees the array, not the paths, which belong to the
 * list. */
static size_t find_unused(struct unused **unused, const struct path_list *list,
                          int64_t started_ns) {
    size_t count = 0;
    struct private_stat stat;
    *unused = calloc(list->count + 1, sizeof **unused);
    for (size_t i = 0; *unused && i < list->count; i++)
        if (private_stat_path(&stat, list->paths[i]) && stat.used_ns < started_ns)
            (*unused)[count++] = (struct unused){list->paths[i], stat.allocated, stat.used_ns};
    if (count) qsort(*unused, count, sizeof **unused, compare_unused);
    return count;
}

/* Removes unused files until `size` bytes are free. Returns how many bytes were freed. */
static uint64_t remove_unused(const struct disk_cache *cache, int64_t started_ns, uint64_t size) {
    struct path_list list = PATH_LIST_INIT;
    struct unused *unused = NULL;
    uint64_t freed = 0;
    if (list_files(&list, cache->folder, NULL) == RECMAP_OK) {
        size_t count = find_unused(&unused, &list, started_ns);
        for (size_t i = 0; i < count && freed < size; i++)
            if (private_remove(unused[i].path)) freed += unused[i].allocated;
    }
    free(unused);
    path_list_deinit(&list);
    return freed;
}

/* The bytes that the cache may have, given how many it has. */
static uint64_t find_limit(const struct disk_cache *cache, uint64_t used) {
    uint64_t available, total;
    if (cache->limit) return cache->limit;
    if (!private_find_space(&available, &total, cache->folder)) return 0;
    uint64_t kept = total / FREE_SHARE;
    return available > kept ? used + (available - kept) : 0;
}

/* After fork, the parent uses what it reserved. The caller holds the process lock. */
static void own_space(struct disk_cache *cache) {
    if (cache->process == process_id()) return;
    cache->process = process_id();
    cache->reserved = cache->pending = 0;
}

static uint64_t find_own_space(struct disk_cache *cache) {
    process_lock();
    own_space(cache);
    uint64_t space = cache->reserved + cache->pending;
    process_unlock();
    return space;
}

/* Processes that were killed, and forked ones that ended with _exit, as workers of Python do, never
 * gave back their reservations. The usage does not say which processes live, so the files are
 * counted again only if much is missing: by then, most of it was reserved by processes that ended.
 * Live processes may still use their reservations, and exceed the limit by at most a piece each. */
static void recover_lost(struct usage *usage, struct disk_cache *cache, uint64_t limit) {
    uint64_t used;
    if (count_used(&used, cache->folder, NULL) != RECMAP_OK) return;
    used += find_own_space(cache);
    if (usage->used > used && usage->used - used > limit / LOST_SHARE) usage->used = used;
}

static uint64_t find_room(const struct usage *usage, uint64_t limit) {
    return limit > usage->used ? limit - usage->used : 0;
}

/* The size of a piece of at least `size` bytes, for which room is made if possible; 0: the cache is
 * full. */
static uint64_t find_piece(struct usage *usage, struct disk_cache *cache, uint64_t size) {
    uint64_t limit = find_limit(cache, usage->used), freed = 0;
    uint64_t wanted = limit / PIECES < PIECE_MAX ? limit / PIECES : PIECE_MAX;
    if (size > limit) return 0;
    if (wanted < size) wanted = size;
    if (usage->used + wanted > limit)
        freed = remove_unused(cache, usage->started_ns, usage->used + wanted - limit);
    usage->used -= freed < usage->used ? freed : usage->used;
    if (find_room(usage, limit) < size && cache->limit) recover_lost(usage, cache, limit);
    uint64_t room = find_room(usage, limit);
    return room < size ? 0 : room < wanted ? room : wanted;
}

/* Takes a piece of at least `size` bytes from the space that all processes share. Returns its size;
 * 0: the cache is full. */
static uint64_t take_piece(struct disk_cache *cache, uint64_t size) {
    struct usage usage;
    recmap_error reason;
    uint64_t piece = 0;
    int fd = lock_usage(cache, &reason);
    bool is_good = fd >= 0;
    if (is_good && read_usage(&usage, fd)) {
        piece = find_piece(&usage, cache, size);
        is_good = write_usage(fd, cache->usage_path, usage.used + piece, usage.started_ns,
                              &reason) == RECMAP_OK;
    }
    disk_cache_unlock(fd);
    if (!is_good) disk_cache_stop(cache, &reason);
    return is_good ? piece : 0;
}

static bool take_reserved(struct disk_cache *cache, uint64_t size, uint64_t added) {
    process_lock();
    own_space(cache);
    cache->reserved += added;
    bool is_enough = cache->reserved >= size;
    if (is_enough) {
        cache->reserved -= size;
        cache->pending += size;
    }
    process_unlock();
    return is_enough;
}

/* Smaller parts may still fit. */
static void refuse(struct disk_cache *cache, uint64_t size) {
    uint64_t refused = atomic_load_explicit(&cache->refused, memory_order_relaxed);
    while (size < refused &&
           !atomic_compare_exchange_weak_explicit(&cache->refused, &refused, size,
                                                  memory_order_relaxed, memory_order_relaxed)) {
    }
}

bool disk_cache_reserve(struct disk_cache *cache, uint64_t size) {
    uint64_t refused = atomic_load_explicit(&cache->refused, memory_order_relaxed);
    if (!refused) return false;
    if (take_reserved(cache, size, 0)) return true;
    if (size >= refused) return false;
    uint64_t piece = take_piece(cache, size);
    if (!piece) refuse(cache, size);
    return piece && take_reserved(cache, size, piece);
}

void disk_cache_settle(struct disk_cache *cache, uint64_t size, uint64_t used) {
    process_lock();
    own_space(cache);
    if (cache->pending >= size) { /* else a child ends what its parent reserved */
        cache->pending -= size;
        cache->reserved += size - used;
    }
    process_unlock();
}

void disk_cache_reuse(struct disk_cache *cache, uint64_t size) {
    take_reserved(cache, 0, size);
}

void disk_cache_stop(struct disk_cache *cache, const recmap_error *reason) {
    refuse(cache, 0);
    process_lock();
    bool is_first = cache->stop_reason.status == RECMAP_OK;
    if (is_first) cache->stop_reason = *reason;
    process_unlock();
    if (is_first) atomic_store_explicit(&cache->must_warn, true, memory_order_release);
}

void disk_cache_warn(struct disk_cache *cache) {
    if (!atomic_load_explicit(&cache->must_warn, memory_order_relaxed) ||
        !atomic_exchange_explicit(&cache->must_warn, false, memory_order_acquire))
        return;
    recmap_error warning = cache->stop_reason;
    snprintf(warning.message, sizeof warning.message, "%.200s; nothing more is added to the cache",
             cache->stop_reason.message);
    fail_advise(&warning, "check the disk and its free space; a cache of another size "
                          "(`--cache-size SIZE`) or on another disk can be given to the next run");
    warn(&warning);
}

void disk_cache_count(struct disk_cache *cache, uint64_t hit_count, uint64_t miss_count) {
    if (hit_count) atomic_fetch_add_explicit(&cache->hit_count, hit_count, memory_order_relaxed);
    if (miss_count) atomic_fetch_add_explicit(&cache->miss_count, miss_count, memory_order_relaxed);
}

void disk_cache_counts(uint64_t *hit_count, uint64_t *miss_count, const struct disk_cache *cache) {
    *hit_count = atomic_load_explicit(&cache->hit_count, memory_order_relaxed);
    *miss_count = atomic_load_explicit(&cache->miss_count, memory_order_relaxed);
}
