/* A seam between the program and the C library: every call on files and memory that recmap, LMDB
 * and protobuf-c make passes through here, is counted, and the k-th can fail, come out short, be
 * shown to the test, or be the last thing that the process does. The functions are defined in the
 * test's own program, so that the dynamic linker finds them before those of the C library. */
#ifndef RECMAP_TESTS_FAULT_INTERPOSE_H
#define RECMAP_TESTS_FAULT_INTERPOSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum call_kind {
    CALL_OPEN,
    CALL_FOLDER, /* opendir */
    CALL_STAT,
    CALL_READ, /* while it counts, the page cache seems to be empty */
    CALL_WRITE,
    CALL_RESIZE,
    CALL_SYNC,
    CALL_RENAME,
    CALL_UNLINK,
    CALL_MAP,
    CALL_LOCK,
    CALL_CLOSE,
    CALL_ALLOCATE,
    CALL_KIND_COUNT,
};

#define CALL_BIT(kind) (1u << (kind))
#define CALL_ALL_FILES (CALL_BIT(CALL_ALLOCATE) - 1)

/* An intercepted call, as the watcher sees it. */
struct call {
    enum call_kind kind;
    int fd;               /* of its file, or what open returned; else -1 */
    const char *path;     /* or NULL */
    const char *new_path; /* of rename */
    const void *data;     /* what was written or read, or the map */
    uint64_t offset;      /* where; the new size, of resize */
    size_t size;          /* bytes that were read or written */
    bool creates;         /* of open: O_CREAT */
};

enum call_fault {
    FAULT_NONE,        /* only counted */
    FAULT_ERRNO,       /* the call is not made, and fails with `code` */
    FAULT_SHORT,       /* half the bytes are read or written */
    FAULT_KILL_BEFORE, /* SIGKILL instead of the call */
    FAULT_KILL_AFTER,  /* SIGKILL when it was made */
};

/* EINTR that is sticky hits every other call, as a retry must come through some time. */
struct call_plan {
    unsigned kinds; /* bits of the calls that count */
    uint64_t at;    /* the call that is hit, from 1 on; 0: none */
    bool is_sticky; /* and all after it */
    enum call_fault fault;
    int code;
    size_t spared_size; /* allocations of this size, if not 0, do not fail */
    /* Called after every call that counts and succeeds; calls made in here do not count. */
    void (*watch)(void *context, const struct call *call);
    void *context;
};

/* From here on calls of every thread count. */
void interpose_start(const struct call_plan *plan);
/* Ends that; how many calls counted. */
uint64_t interpose_stop(void);
/* Between these two, calls of this thread do not count. */
void interpose_pause(void);
void interpose_resume(void);
/* How many were hit since the beginning, of which kinds (bits), the kind of the first, and whether
 * LMDB made one of them. */
uint64_t interpose_hits(void);
unsigned interpose_hit_kinds(void);
enum call_kind interpose_hit_kind(void);
bool interpose_hit_lmdb(void);

/* What the process holds that recmap took: allocations, maps of files. Counted all the time, so
 * that a difference is a leak. The number of allocations means nothing under a sanitizer. */
int64_t interpose_allocations(void);
/* The bytes that were asked for since the beginning, freed or not. */
uint64_t interpose_allocated_size(void);
int64_t interpose_maps(void);

#endif
