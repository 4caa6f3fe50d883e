#define _GNU_SOURCE
/* The definitions below must be found under their plain names. */
#pragma GCC visibility push(default)
#include "fault/interpose.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

/* Sanitizers have their own allocator under these names. */
extern void *__interceptor_malloc(size_t size) __attribute__((weak));
extern void *__interceptor_calloc(size_t count, size_t size) __attribute__((weak));
extern void *__interceptor_realloc(void *memory, size_t size) __attribute__((weak));
extern int __interceptor_posix_memalign(void **memory, size_t alignment, size_t size)
    __attribute__((weak));
extern void __interceptor_free(void *memory) __attribute__((weak));

static struct call_plan plan;
static atomic_bool is_active;
static atomic_ulong call_count, hit_count;
static atomic_int first_kind;
static atomic_uint hit_kinds;
static atomic_bool hit_lmdb;
static _Atomic int64_t allocation_count, map_count;
static _Atomic uint64_t allocated_size;
/* Volatile, as compilers know that malloc never looks at it. */
static __thread volatile bool is_inside;

void interpose_start(const struct call_plan *new_plan) {
    plan = *new_plan;
    call_count = hit_count = 0;
    hit_kinds = 0;
    hit_lmdb = false;
    is_active = true;
}

uint64_t interpose_stop(void) {
    is_active = false;
    return call_count;
}

void interpose_pause(void) {
    is_inside = true;
}

void interpose_resume(void) {
    is_inside = false;
}

uint64_t interpose_hits(void) {
    return hit_count;
}

bool interpose_hit_lmdb(void) {
    return hit_lmdb;
}

enum call_kind interpose_hit_kind(void) {
    return (enum call_kind)first_kind;
}

unsigned interpose_hit_kinds(void) {
    return hit_kinds;
}

int64_t interpose_allocations(void) {
    return allocation_count;
}

uint64_t interpose_allocated_size(void) {
    return allocated_size;
}

int64_t interpose_maps(void) {
    return map_count;
}

/* The next definition of a function in the search order, after the one in this file. */
static void *next(const char *name) {
    void *function = dlsym(RTLD_NEXT, name);
    if (!function) abort();
    return function;
}

#define NEXT(pointer, name)                                                                        \
    if (!(pointer)) (pointer) = next(name)

static bool came_from_lmdb(const void *caller) {
    Dl_info info;
    return dladdr(caller, &info) && info.dli_fname && strstr(info.dli_fname, "liblmdb");
}

static bool is_hit(uint64_t number) {
    if (!plan.at || number < plan.at) return false;
    if (number == plan.at) return true;
    return plan.is_sticky && (plan.code != EINTR || (number - plan.at) % 2 == 0);
}

/* Counts a call; what is to happen to it. */
static enum call_fault enter(enum call_kind kind, const void *caller) {
    if (!is_active || is_inside || !(plan.kinds & CALL_BIT(kind))) return FAULT_NONE;
    uint64_t number = atomic_fetch_add(&call_count, 1) + 1;
    if (!is_hit(number)) return FAULT_NONE;
    if (plan.fault == FAULT_KILL_BEFORE) kill(getpid(), SIGKILL);
    if (atomic_fetch_add(&hit_count, 1) == 0) first_kind = kind;
    hit_kinds |= CALL_BIT(kind);
    is_inside = true;
    if (kind != CALL_ALLOCATE && came_from_lmdb(caller)) hit_lmdb = true;
    is_inside = false;
    if (plan.fault == FAULT_ERRNO) errno = plan.code;
    return plan.fault;
}

/* Shows a call that succeeded, or ends the process. */
static void leave(enum call_fault fault, const struct call *call) {
    if (fault == FAULT_KILL_AFTER) kill(getpid(), SIGKILL);
    if (!is_active || is_inside || !plan.watch || !(plan.kinds & CALL_BIT(call->kind))) return;
    int saved = errno;
    is_inside = true;
    plan.watch(plan.context, call);
    is_inside = false;
    errno = saved;
}

#define CALLER __builtin_return_address(0)

static size_t shortened(enum call_fault fault, size_t size) {
    return fault == FAULT_SHORT && size > 1 ? size / 2 : size;
}

static mode_t mode_of(int flags, va_list arguments) {
    return flags & (O_CREAT | O_TMPFILE) ? va_arg(arguments, mode_t) : 0;
}

static int open_with(int folder, const char *path, int flags, mode_t mode, const void *caller) {
    static int (*real)(int, const char *, int, ...);
    NEXT(real, "openat");
    enum call_fault fault = enter(CALL_OPEN, caller);
    if (fault == FAULT_ERRNO) return -1;
    int fd = real(folder, path, flags, mode);
    struct call made = {.kind = CALL_OPEN, .fd = fd, .path = path, .creates = flags & O_CREAT};
    if (fd >= 0) leave(fault, &made);
    return fd;
}

#define DEFINE_OPEN(name)                                                                          \
    int name(const char *path, int flags, ...) {                                                   \
        va_list arguments;                                                                         \
        va_start(arguments, flags);                                                                \
        mode_t mode = mode_of(flags, arguments);                                                   \
        va_end(arguments);                                                                         \
        return open_with(AT_FDCWD, path, flags, mode, CALLER);                                     \
    }
DEFINE_OPEN(open)
DEFINE_OPEN(open64)

#define DEFINE_OPENAT(name)                                                                        \
    int name(int folder, const char *path, int flags, ...) {                                       \
        va_list arguments;                                                                         \
        va_start(arguments, flags);                                                                \
        mode_t mode = mode_of(flags, arguments);                                                   \
        va_end(arguments);                                                                         \
        return open_with(folder, path, flags, mode, CALLER);                                       \
    }
DEFINE_OPENAT(openat)
DEFINE_OPENAT(openat64)

DIR *opendir(const char *path) {
    static DIR *(*real)(const char *);
    NEXT(real, "opendir");
    enum call_fault fault = enter(CALL_FOLDER, CALLER);
    if (fault == FAULT_ERRNO) return NULL;
    DIR *folder = real(path);
    struct call made = {.kind = CALL_FOLDER, .fd = -1, .path = path};
    if (folder) leave(fault, &made);
    return folder;
}

/* glibc's glob frees names twice when memory runs out in it: spared. */
int glob(const char *restrict pattern, int flags, int (*on_bad_record)(const char *, int),
         glob_t *restrict matches) {
    static int (*real)(const char *, int, int (*)(const char *, int), glob_t *);
    NEXT(real, "glob");
    bool was_inside = is_inside;
    is_inside = true;
    int result = real(pattern, flags, on_bad_record, matches);
    is_inside = was_inside;
    return result;
}

/* The old names of fstat and stat are what older programs (LMDB's package) were built with. */
static int stat_with(int folder, const char *path, struct stat *st, int flags, int fd,
                     const void *caller) {
    static int (*real)(int, const char *, struct stat *, int);
    NEXT(real, "fstatat");
    enum call_fault fault = enter(CALL_STAT, caller);
    if (fault == FAULT_ERRNO) return -1;
    int result = real(folder, path, st, flags);
    struct call made = {.kind = CALL_STAT, .fd = fd, .path = path};
    if (!result) leave(fault, &made);
    return result;
}

int fstat(int fd, struct stat *st) {
    return stat_with(fd, "", st, AT_EMPTY_PATH, fd, CALLER);
}

int stat(const char *restrict path, struct stat *restrict st) {
    return stat_with(AT_FDCWD, path, st, 0, -1, CALLER);
}

int __fxstat(int version, int fd, struct stat *st);
int __fxstat(int version, int fd, struct stat *st) {
    (void)version;
    return stat_with(fd, "", st, AT_EMPTY_PATH, fd, CALLER);
}

static ssize_t read_with(int fd, void *data, size_t size, off_t offset, const void *caller) {
    static ssize_t (*real)(int, void *, size_t, off_t);
    NEXT(real, "pread");
    enum call_fault fault = enter(CALL_READ, caller);
    if (fault == FAULT_ERRNO) return -1;
    ssize_t n = real(fd, data, shortened(fault, size), offset);
    struct call made = {
        .kind = CALL_READ, .fd = fd, .data = data, .offset = (uint64_t)offset, .size = (size_t)n};
    if (n >= 0) leave(fault, &made);
    return n;
}

ssize_t pread(int fd, void *data, size_t size, off_t offset) {
    return read_with(fd, data, size, offset, CALLER);
}

ssize_t pread64(int fd, void *data, size_t size, off_t offset) {
    return read_with(fd, data, size, offset, CALLER);
}

/* While reads count, nothing is in memory, so that each byte is read by the calls that count. */
ssize_t preadv2(int fd, const struct iovec *parts, int count, off_t offset, int flags) {
    static ssize_t (*real)(int, const struct iovec *, int, off_t, int);
    NEXT(real, "preadv2");
    bool is_hidden = is_active && !is_inside && plan.kinds & CALL_BIT(CALL_READ);
    if (!is_hidden || !(flags & RWF_NOWAIT)) return real(fd, parts, count, offset, flags);
    errno = EAGAIN;
    return -1;
}

static ssize_t write_with(int fd, const void *data, size_t size, off_t offset, const void *caller) {
    static ssize_t (*real)(int, const void *, size_t, off_t);
    NEXT(real, "pwrite");
    enum call_fault fault = enter(CALL_WRITE, caller);
    if (fault == FAULT_ERRNO) return -1;
    ssize_t n = real(fd, data, shortened(fault, size), offset);
    struct call made = {
        .kind = CALL_WRITE, .fd = fd, .data = data, .offset = (uint64_t)offset, .size = (size_t)n};
    if (n >= 0) leave(fault, &made);
    return n;
}

ssize_t pwrite(int fd, const void *data, size_t size, off_t offset) {
    return write_with(fd, data, size, offset, CALLER);
}

ssize_t pwrite64(int fd, const void *data, size_t size, off_t offset) {
    return write_with(fd, data, size, offset, CALLER);
}

/* As one write of all pieces, at the descriptor's own offset, which moves on. */
ssize_t writev(int fd, const struct iovec *pieces, int count) {
    static ssize_t (*real)(int, const struct iovec *, int);
    NEXT(real, "writev");
    if (!is_active || is_inside) return real(fd, pieces, count);
    size_t size = 0, filled = 0;
    for (int i = 0; i < count; i++) size += pieces[i].iov_len;
    is_inside = true;
    char *all = malloc(size + 1);
    is_inside = false;
    if (!all) abort();
    for (int i = 0; i < count; i++) {
        memcpy(all + filled, pieces[i].iov_base, pieces[i].iov_len);
        filled += pieces[i].iov_len;
    }
    off_t offset = lseek(fd, 0, SEEK_CUR);
    ssize_t n = write_with(fd, all, size, offset, CALLER);
    int saved = errno;
    if (n > 0) lseek(fd, offset + n, SEEK_SET);
    is_inside = true;
    free(all);
    is_inside = false;
    errno = saved;
    return n;
}

static int resize_with(int fd, off_t size, const void *caller) {
    static int (*real)(int, off_t);
    NEXT(real, "ftruncate");
    enum call_fault fault = enter(CALL_RESIZE, caller);
    if (fault == FAULT_ERRNO) return -1;
    int result = real(fd, size);
    struct call made = {.kind = CALL_RESIZE, .fd = fd, .offset = (uint64_t)size};
    if (!result) leave(fault, &made);
    return result;
}

int ftruncate(int fd, off_t size) {
    return resize_with(fd, size, CALLER);
}

int ftruncate64(int fd, off_t size) {
    return resize_with(fd, size, CALLER);
}

static int sync_with(int (*real)(int), int fd, const void *caller) {
    enum call_fault fault = enter(CALL_SYNC, caller);
    if (fault == FAULT_ERRNO) return -1;
    int result = real(fd);
    struct call made = {.kind = CALL_SYNC, .fd = fd};
    if (!result) leave(fault, &made);
    return result;
}

int fsync(int fd) {
    static int (*real)(int);
    NEXT(real, "fsync");
    return sync_with(real, fd, CALLER);
}

int fdatasync(int fd) {
    static int (*real)(int);
    NEXT(real, "fdatasync");
    return sync_with(real, fd, CALLER);
}

int rename(const char *path, const char *new_path) {
    static int (*real)(const char *, const char *);
    NEXT(real, "rename");
    enum call_fault fault = enter(CALL_RENAME, CALLER);
    if (fault == FAULT_ERRNO) return -1;
    int result = real(path, new_path);
    struct call made = {.kind = CALL_RENAME, .fd = -1, .path = path, .new_path = new_path};
    if (!result) leave(fault, &made);
    return result;
}

static int unlink_with(int folder, const char *path, int flags, const void *caller) {
    static int (*real)(int, const char *, int);
    NEXT(real, "unlinkat");
    enum call_fault fault = enter(CALL_UNLINK, caller);
    if (fault == FAULT_ERRNO) return -1;
    int result = real(folder, path, flags);
    struct call made = {.kind = CALL_UNLINK, .fd = -1, .path = path};
    if (!result) leave(fault, &made);
    return result;
}

int unlink(const char *path) {
    return unlink_with(AT_FDCWD, path, 0, CALLER);
}

int unlinkat(int folder, const char *path, int flags) {
    return unlink_with(folder, path, flags, CALLER);
}

static void *map_with(void *address, size_t size, int protection, int flags, int fd, off_t offset,
                      const void *caller) {
    static void *(*real)(void *, size_t, int, int, int, off_t);
    NEXT(real, "mmap");
    /* Maps of memory are the C library's, or lie in a signal handler. */
    if (fd < 0) return real(address, size, protection, flags, fd, offset);
    enum call_fault fault = enter(CALL_MAP, caller);
    if (fault == FAULT_ERRNO) return MAP_FAILED;
    void *map = real(address, size, protection, flags, fd, offset);
    struct call made = {
        .kind = CALL_MAP, .fd = fd, .data = map, .offset = (uint64_t)offset, .size = size};
    if (map != MAP_FAILED) {
        map_count++;
        leave(fault, &made);
    }
    return map;
}

void *mmap(void *address, size_t size, int protection, int flags, int fd, off_t offset) {
    return map_with(address, size, protection, flags, fd, offset, CALLER);
}

void *mmap64(void *address, size_t size, int protection, int flags, int fd, off_t offset) {
    return map_with(address, size, protection, flags, fd, offset, CALLER);
}

int munmap(void *address, size_t size) {
    static int (*real)(void *, size_t);
    NEXT(real, "munmap");
    int result = real(address, size);
    if (!result) map_count--;
    return result;
}

int flock(int fd, int operation) {
    static int (*real)(int, int);
    NEXT(real, "flock");
    enum call_fault fault = enter(CALL_LOCK, CALLER);
    if (fault == FAULT_ERRNO) return -1;
    int result = real(fd, operation);
    struct call made = {.kind = CALL_LOCK, .fd = fd};
    if (!result) leave(fault, &made);
    return result;
}

int close(int fd) {
    static int (*real)(int);
    NEXT(real, "close");
    enum call_fault fault = enter(CALL_CLOSE, CALLER);
    if (fault == FAULT_ERRNO) {
        real(fd); /* Linux closes the descriptor even if close fails */
        errno = plan.code;
        return -1;
    }
    int result = real(fd);
    struct call made = {.kind = CALL_CLOSE, .fd = fd};
    if (!result) leave(fault, &made);
    return result;
}

/* Before dlsym can be asked, and while it is, memory comes from here; it is never given back. */
static _Alignas(16) unsigned char early_memory[1 << 16];
static size_t early_used;
static bool is_resolving;

static void *take_early(size_t size) {
    size = (size + 31) & ~(size_t)15;
    if (size > sizeof early_memory - early_used) abort();
    unsigned char *block = early_memory + early_used;
    early_used += size;
    return block;
}

static bool is_early(const void *memory) {
    const unsigned char *block = memory;
    return block >= early_memory && block < early_memory + sizeof early_memory;
}

typedef void *(*malloc_fn)(size_t size);
static malloc_fn real_malloc;
static void *(*real_calloc)(size_t, size_t);
static void *(*real_realloc)(void *, size_t);
static int (*real_posix_memalign)(void **, size_t, size_t);
static void (*real_free)(void *);

static void find_allocator(void) {
    is_resolving = true;
    real_calloc = __interceptor_calloc;
    real_realloc = __interceptor_realloc;
    real_posix_memalign = __interceptor_posix_memalign;
    real_free = __interceptor_free;
    NEXT(real_calloc, "calloc");
    NEXT(real_realloc, "realloc");
    NEXT(real_posix_memalign, "posix_memalign");
    NEXT(real_free, "free");
    real_malloc = __interceptor_malloc ? __interceptor_malloc : (malloc_fn)next("malloc");
    is_resolving = false;
}

/* Returns true if the allocation is to fail. */
static bool fails(size_t size) {
    return enter(CALL_ALLOCATE, NULL) == FAULT_ERRNO && (!size || size != plan.spared_size);
}

static void count_allocation(size_t size) {
    allocation_count++;
    allocated_size += size;
}

void *malloc(size_t size) {
    if (!real_malloc) {
        if (is_resolving) return take_early(size);
        find_allocator();
    }
    if (fails(size)) return NULL;
    void *memory = real_malloc(size);
    if (memory) count_allocation(size);
    return memory;
}

void *calloc(size_t count, size_t size) {
    if (!real_malloc) {
        if (is_resolving) return take_early(count * size);
        find_allocator();
    }
    if (fails(count * size)) return NULL;
    void *memory = real_calloc(count, size);
    if (memory) count_allocation(count * size);
    return memory;
}

void *realloc(void *memory, size_t size) {
    if (!real_malloc) find_allocator();
    if (is_early(memory)) abort();
    if (fails(size)) return NULL;
    void *moved = real_realloc(memory, size);
    if (moved) count_allocation(size);
    if (memory && moved) allocation_count--;
    return moved;
}

int posix_memalign(void **memory, size_t alignment, size_t size) {
    if (!real_malloc) find_allocator();
    if (fails(size)) return ENOMEM;
    int result = real_posix_memalign(memory, alignment, size);
    if (!result) count_allocation(size);
    return result;
}

void *aligned_alloc(size_t alignment, size_t size) {
    void *memory = NULL;
    return posix_memalign(&memory, alignment, size) == 0 ? memory : NULL;
}

void free(void *memory) {
    if (!memory || is_early(memory)) return;
    if (!real_malloc) find_allocator();
    allocation_count--;
    real_free(memory);
}
