#include "base/os/map.h"

#include <assert.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/core/error.h"
#include "base/core/warning.h"
#include "base/os/file.h"
#include "base/os/thread.h"

/* The SIGBUS guard.
 *
 * Situation: if a mapped file is truncated, reading a page past its new end raises SIGBUS, which by
 * default kills the process. A check of the size before each read would not help, because the file
 * may shrink between the check and the read. So a signal handler replaces the missing page with a
 * page of zeros and sets `was_cut`; the interrupted read then continues, and its caller checks the
 * flag and reports an error.
 *
 * Danger: the handler may interrupt any thread at any instruction, including one that holds a lock
 * or is changing this table. It may therefore neither lock nor allocate, and it may see a slot in
 * mid-change.
 *
 * Why this is right: slots are never freed, only emptied and reused, and blocks of slots are only
 * appended, so following the list is always safe. guard_add writes `owner` last and guard_remove
 * clears it first, and all accesses are sequentially consistent. The handler reads the owner, the
 * range, and the owner again: if the owner has not changed, the range is its own. A slot that
 * changes in the meantime can be skipped, because it does not belong to the map being read: a map
 * is destroyed only once no thread reads from it, so its slot does not change during the handler.
 */
struct guard_slot {
    _Atomic(struct file_map *) owner;
    _Atomic(uintptr_t) start;
    _Atomic(uintptr_t) end;
};

enum { SLOTS_PER_BLOCK = 256 };

struct guard_block {
    struct guard_block *_Atomic next;
    struct guard_slot slots[SLOTS_PER_BLOCK];
};

static struct guard_block first_block;

/* The slot after the last one that was taken. The search continues there and wraps around, so that
 * creating many maps in a row takes constant time each. Guarded by the process lock. */
static struct guard_block *search_block = &first_block;
static size_t search_slot;

static struct guard_slot *next_slot(bool *is_last) {
    struct guard_slot *slot = &search_block->slots[search_slot++];
    *is_last = false;
    if (search_slot == SLOTS_PER_BLOCK) {
        search_slot = 0;
        *is_last = search_block->next == NULL;
        search_block = search_block->next ? search_block->next : &first_block;
    }
    return slot;
}

static bool append_block(void) {
    struct guard_block *fresh = calloc(1, sizeof *fresh);
    if (!fresh) return false;
    struct guard_block *last = search_block;
    while (last->next) last = last->next;
    last->next = fresh;
    search_block = fresh;
    search_slot = 0;
    return true;
}

static struct guard_slot *take_free_slot(void) {
    /* The search starts in the middle: the whole list was seen once its end was passed twice. */
    for (int ends = 0; ends < 2;) {
        bool is_last;
        struct guard_slot *slot = next_slot(&is_last);
        if (!slot->owner) return slot;
        ends += is_last;
    }
    if (!append_block()) return NULL;
    bool is_last;
    return next_slot(&is_last);
}

static bool guard_add(struct file_map *map) {
    process_lock();
    struct guard_slot *slot = take_free_slot();
    if (slot) {
        slot->start = (uintptr_t)map->data;
        slot->end = (uintptr_t)map->data + map->size;
        slot->owner = map;
        map->guard_slot = slot;
    }
    process_unlock();
    return slot != NULL;
}

static void guard_remove(struct file_map *map) {
    struct guard_slot *slot = map->guard_slot;
    process_lock();
    assert(slot->owner == map);
    slot->owner = NULL;
    process_unlock();
}

/* Registers mapped pages with the guard. */
static recmap_status watch(struct file_map **map, const void *data, size_t size,
                           recmap_error *error) {
    struct file_map *fresh = calloc(1, sizeof *fresh);
    if (!fresh) return fail_memory(error);
    fresh->data = data;
    fresh->size = size;
    if (!guard_add(fresh)) {
        free(fresh);
        return fail_memory(error);
    }
    *map = fresh;
    return RECMAP_OK;
}

/* It is not the permissions of the file that its file system refuses to map it. */
static recmap_status fail_map(const char *path, recmap_error *error) {
    int failed = errno;
    recmap_status status = fail_errno(error, failed, path, "map the file");
    if (failed != ENOMEM)
        fail_advise(error, "use `--access read`, which reads shards instead of mapping them, or "
                           "copy the file to a local disk");
    return status;
}

static recmap_status map_pages(struct file_map **map, int fd, size_t size, const char *path,
                               recmap_error *error) {
    void *data = mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0);
    if (data == MAP_FAILED) return fail_map(path, error);
    recmap_status status = watch(map, data, size, error);
    if (status != RECMAP_OK) munmap(data, size);
    return status;
}

void map_forget(const struct file_map *map, uint64_t offset, uint64_t size) {
    const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    uint64_t begin = offset / page * page;
    if (size)
        (void)madvise((void *)(map->data + begin), (size_t)(offset - begin + size), MADV_DONTNEED);
}

recmap_status map_create(struct file_map **map, int fd, size_t size, const char *path,
                         recmap_error *error) {
    if (size) return map_pages(map, fd, size, path, error);
    struct file_map *empty = calloc(1, sizeof *empty);
    if (!empty) return fail_memory(error);
    *map = empty;
    return RECMAP_OK;
}

size_t map_count_max(void) {
    enum { DEFAULT = 65530 }; /* of Linux */
    const int saved = errno;
    char text[32];
    unsigned long count = 0;
    FILE *file = fopen("/proc/sys/vm/max_map_count", "re");
    if (file && fgets(text, sizeof text, file)) count = strtoul(text, NULL, 10);
    if (file) fclose(file);
    errno = saved;
    return count ? count : DEFAULT;
}

static size_t count_lines(FILE *file) {
    char text[4096];
    size_t count = 0, size;
    while ((size = fread(text, 1, sizeof text, file)) > 0)
        for (size_t i = 0; i < size; i++) count += text[i] == '\n';
    return count;
}

size_t map_count(void) {
    const int saved = errno;
    FILE *file = fopen("/proc/self/maps", "re");
    size_t count = file ? count_lines(file) : 0;
    if (file) fclose(file);
    errno = saved;
    return count;
}

bool map_is_allowed(int fd, uint64_t size, const char *path, recmap_error *error) {
    if (!size) return true;
    void *page = mmap(NULL, 1, PROT_READ, MAP_SHARED, fd, 0);
    if (page == MAP_FAILED) {
        fail_map(path, error);
        return false;
    }
    munmap(page, 1);
    return true;
}

static recmap_status read_pages(struct file_map **map, int fd, size_t size, const char *path,
                                recmap_error *error) {
    struct file_map *copy = calloc(1, sizeof *copy);
    uint8_t *data = malloc(size);
    recmap_status status = copy && data ? file_read_at(fd, data, size, 0, path, error)
                                        : fail_memory(error);
    if (status != RECMAP_OK) {
        free(data);
        free(copy);
        return status;
    }
    copy->data = data;
    copy->size = size;
    *map = copy;
    return RECMAP_OK;
}

recmap_status map_create_or_read(struct file_map **map, int fd, size_t size, const char *path,
                                 recmap_error *error) {
    if (map_create(map, fd, size, path, NULL) == RECMAP_OK) return RECMAP_OK;
    return read_pages(map, fd, size, path, error);
}

void map_warn_of_reading(const recmap_error *refusal) {
    static _Atomic(uint64_t) reasons;
    recmap_error warning = *refusal;
    snprintf(warning.message, sizeof warning.message,
             "%.200s; shards are read instead, which is slower", refusal->message);
    fail_advise(&warning, "if the file system does not map files, `--access read` reads them from "
                          "the start, without this warning");
    warn_once(&reasons, &warning);
}

recmap_status map_open(struct file_map **map, const char *path, recmap_error *error) {
    int fd;
    struct file_stat stat;
    RETURN_IF_FAILED(file_open(&fd, path, error));
    recmap_status status = file_get_stat(&stat, fd, path, error);
    if (status == RECMAP_OK) status = map_create_or_read(map, fd, (size_t)stat.size, path, error);
    file_close(fd);
    return status;
}

void map_destroy(struct file_map *map) {
    if (!map) return;
    if (map->guard_slot) {
        guard_remove(map);
        munmap((void *)map->data, map->size);
    } else {
        free((void *)map->data);
    }
    free(map);
}

recmap_status map_writable(uint8_t **bytes, int fd, size_t size, const char *path,
                           recmap_error *error) {
    void *mapped = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (mapped == MAP_FAILED) return fail_map(path, error);
    *bytes = mapped;
    return RECMAP_OK;
}

void unmap_writable(uint8_t *bytes, size_t size) {
    munmap(bytes, size);
}

void map_advise(const struct file_map *map, uint64_t offset, uint64_t size,
                enum map_advice advice) {
    static const int codes[] = {
        [MAP_ADVICE_RANDOM] = MADV_RANDOM,
        [MAP_ADVICE_SEQUENTIAL] = MADV_SEQUENTIAL,
        [MAP_ADVICE_WILL_NEED] = MADV_WILLNEED,
    };
    if (!map->guard_slot || offset >= map->size) return;
    if (size > map->size - offset) size = map->size - offset;
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    uintptr_t start = ((uintptr_t)map->data + offset) & ~(uintptr_t)(page - 1);
    uintptr_t end = (uintptr_t)map->data + offset + size;
    int saved = errno;
    madvise((void *)start, end - start, codes[advice]);
    errno = saved;
}

bool map_is_resident(const struct file_map *map, uint64_t offset, uint64_t size) {
    enum { PAGES_MAX = 64 };
    unsigned char pages[PAGES_MAX];
    if (!size || !map->guard_slot || offset >= map->size) return true;
    if (size > map->size - offset) size = map->size - offset;
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    uintptr_t start = ((uintptr_t)map->data + offset) & ~(uintptr_t)(page - 1);
    size_t count = ((uintptr_t)map->data + offset + size - start + page - 1) / page;
    if (count > PAGES_MAX) count = PAGES_MAX;
    int saved = errno;
    bool is_known = mincore((void *)start, count * page, pages) == 0;
    errno = saved;
    for (size_t i = 0; is_known && i < count; i++)
        if (!(pages[i] & 1)) return false;
    return true;
}

static struct sigaction previous_action;
static size_t guard_page_size;

/* Maps a page of zeros over the missing page. mmap is not on POSIX's list of async-signal-safe
 * functions, but on Linux it is a plain system call and safe in a handler. */
static bool cover_page(struct file_map *map, uintptr_t address) {
    uintptr_t page = address & ~(uintptr_t)(guard_page_size - 1);
    int saved = errno;
    void *covered = mmap((void *)page, guard_page_size, PROT_READ,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    errno = saved;
    if (covered == MAP_FAILED) return false;
    map->was_cut = true;
    return true;
}

static bool guard_handle(uintptr_t address) {
    for (struct guard_block *block = &first_block; block; block = block->next)
        for (size_t i = 0; i < SLOTS_PER_BLOCK; i++) {
            struct guard_slot *slot = &block->slots[i];
            struct file_map *owner = slot->owner;
            /* Looking at the owner again rules out a range of which only one end is its own. */
            if (owner && address >= slot->start && address < slot->end && slot->owner == owner)
                return cover_page(owner, address);
        }
    return false;
}

/* Restores the default action for a SIGBUS that no one handles. A fault recurs as soon as this
 * handler returns and then kills the process; a signal sent by kill() must be raised again. If it
 * was sent and the previous action was to ignore it, the guard stays installed. */
static void let_happen(bool was_sent) {
    if (was_sent && previous_action.sa_handler == SIG_IGN) return;
    struct sigaction fallback = {.sa_handler = SIG_DFL};
    sigaction(SIGBUS, &fallback, NULL);
    if (was_sent) raise(SIGBUS);
}

static void on_sigbus(int signal_number, siginfo_t *info, void *context) {
    if (info->si_code == BUS_ADRERR && guard_handle((uintptr_t)info->si_addr)) return;
    if (previous_action.sa_handler == SIG_DFL || previous_action.sa_handler == SIG_IGN)
        let_happen(info->si_code <= 0);
    else if (previous_action.sa_flags & SA_SIGINFO)
        previous_action.sa_sigaction(signal_number, info, context);
    else previous_action.sa_handler(signal_number);
}

recmap_status guard_install(recmap_error *error) {
    static bool installed;
    int failed = 0;
    process_lock();
    if (!installed) {
        guard_page_size = (size_t)sysconf(_SC_PAGESIZE);
        struct sigaction action = {.sa_sigaction = on_sigbus, .sa_flags = SA_SIGINFO};
        sigemptyset(&action.sa_mask);
        if (sigaction(SIGBUS, &action, &previous_action)) failed = errno;
        else installed = true;
    }
    process_unlock();
    return failed ? fail_errno(error, failed, NULL, "install the SIGBUS handler") : RECMAP_OK;
}
