#include "os/map.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/error.h"
#include "os/thread.h"

/* The maps that the guard knows. A signal handler may take no lock, so slots are never freed, only
 * emptied and filled again; blocks of them form a list that only grows. A slot's address range is
 * read by the handler while another thread may change it: `owner` is written last and cleared
 * first. */
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

/* Where the last free slot was found: the search goes round from there, so that many maps in a row
 * do not each pass over all those before. Guarded by the process lock. */
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
    /* Passing the end twice means that the whole list was seen. */
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
    slot->owner = NULL;
    process_unlock();
}

recmap_status map_watch(struct file_map **map, const void *data, size_t size, recmap_error *error) {
    struct file_map *made = calloc(1, sizeof *made);
    if (!made) return fail_memory(error);
    made->data = data;
    made->size = size;
    made->is_borrowed = true;
    if (!guard_add(made)) {
        free(made);
        return fail_memory(error);
    }
    *map = made;
    return RECMAP_OK;
}

static recmap_status map_pages(struct file_map **map, int fd, size_t size, const char *path,
                               recmap_error *error) {
    void *data = mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0);
    if (data == MAP_FAILED) return fail_errno(error, errno, path, "map the file");
    recmap_status status = map_watch(map, data, size, error);
    if (status != RECMAP_OK) munmap(data, size);
    else (*map)->is_borrowed = false;
    return status;
}

recmap_status map_create(struct file_map **map, int fd, size_t size, const char *path,
                         recmap_error *error) {
    if (size) return map_pages(map, fd, size, path, error);
    struct file_map *empty = calloc(1, sizeof *empty);
    if (!empty) return fail_memory(error);
    *map = empty;
    return RECMAP_OK;
}

void map_destroy(struct file_map *map) {
    if (!map) return;
    if (map->data) {
        guard_remove(map);
        if (!map->is_borrowed) munmap((void *)map->data, map->size);
    }
    free(map);
}

void map_advise(const struct file_map *map, uint64_t offset, uint64_t size, map_advice advice) {
    static const int codes[] = {
        [MAP_ADVICE_RANDOM] = MADV_RANDOM,
        [MAP_ADVICE_SEQUENTIAL] = MADV_SEQUENTIAL,
        [MAP_ADVICE_WILL_NEED] = MADV_WILLNEED,
    };
    if (offset >= map->size) return;
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
    if (!size || offset >= map->size) return true;
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

/* Puts a page of zeros over the page that cannot be read. mmap is a bare system call here, safe in
 * a handler. */
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
            if (owner && address >= slot->start && address < slot->end)
                return cover_page(owner, address);
        }
    return false;
}

/* Nobody handles it: what happens then happens when this handler returns, as a fault comes again,
 * and a signal that was sent is sent once more. One that is sent and ignored leaves the guard
 * alone. */
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
