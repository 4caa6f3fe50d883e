/* What a thread does now, and how long it has done what, so that another thread can tell at any
 * time what it waits for. A thread that is not attached does nothing here. */
#ifndef RECMAP_BASE_OS_ACTIVITY_H
#define RECMAP_BASE_OS_ACTIVITY_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/os/thread.h"

enum activity_stage {
    ACTIVITY_IDLE,
    ACTIVITY_DISK, /* reading records from files */
    ACTIVITY_STORE,
    ACTIVITY_INFLATE,
    ACTIVITY_PARSE, /* also checking records that were in memory */
    ACTIVITY_IMAGES,
    ACTIVITY_FOLLOW, /* waiting for what another thread reads, which notes what it does itself */
    ACTIVITY_LOCKED, /* waiting for what another process inflates */
    ACTIVITY_STAGES,
};

/* A request to a store that is not answered yet, or a read of a file that has not returned. Texts
 * are cut, and hold no secrets of URLs. */
struct activity_request {
    char name[256]; /* empty: there is none */
    uint64_t first_byte;
    uint64_t last_byte;
    unsigned attempt; /* from 1 */
    uint64_t started_ns;
    char error[128]; /* of the attempt before */
};

/* Says which bytes of a mapped file a thread touches now. Returns false if it touches none. Called
 * by other threads, under a lock: it may neither wait nor touch what is mapped. */
typedef bool activity_describe(struct activity_request *request, const void *context);

/* What a thread had waited for at some time. */
struct activity_look {
    uint64_t time_ns;
    uint64_t slept_ns; /* see thread_get_slept_ns */
    struct thread_waits waits;
};

struct activity {
    /* Never held while the thread may wait, so other threads get it soon. */
    pthread_mutex_t lock;
    long thread;  /* its number; 0: none is attached */
    uint64_t job; /* the number of its job, which is up to its owner */
    enum activity_stage stage;
    uint64_t since_ns;                  /* when the stage began */
    uint64_t job_ns[ACTIVITY_STAGES];   /* in this job, without the present stage */
    uint64_t total_ns[ACTIVITY_STAGES]; /* the same of all jobs */
    struct activity_look look;          /* the last one */
    struct activity_request request;
    activity_describe *describe; /* NULL: no mapped file is read */
    const void *context;
};

void activity_init(struct activity *activity);
void activity_deinit(struct activity *activity);

/* The calling thread's stages are noted in `activity` from now on; NULL: nowhere. */
void activity_attach(struct activity *activity);

/* The calling thread begins a job. */
void activity_begin(uint64_t job);

/* Enters a stage of the calling thread's job. Returns the former one, to which activity_leave
 * returns. */
enum activity_stage activity_enter(enum activity_stage stage);
void activity_leave(enum activity_stage former);

/* Notes the oldest request that is not answered. NULL: there is none. */
void activity_set_request(const struct activity_request *request);

/* Notes a read of a file, until activity_end_read. */
void activity_begin_read(const char *name, uint64_t first_byte, uint64_t size);
void activity_end_read(void);

/* While records of mapped files are read, `describe` tells which: noting each would take longer
 * than touching it. NULL: no longer. `context` must live until then. */
void activity_set_pages(activity_describe *describe, const void *context);

/* Fills the request of a read of a file. Of a long name, its end is kept. */
void activity_request_fill(struct activity_request *request, const char *name, uint64_t first_byte,
                           uint64_t size);

/* Copies an activity, with the time of its present stage in `job_ns` and `total_ns`. Threads: any.
 *
 * Only the kernel knows what touching a mapped page costs, so the time of a stage is divided
 * afterwards. While records are read or inflated, the thread waits for a device when it sleeps, and
 * that part counts as ACTIVITY_DISK; in other stages only if pages had to be read from a device.
 * Time in which records are read while the thread could run counts as ACTIVITY_PARSE: they are in
 * memory, or the thread gets no CPU.
 *
 * A read of a file is copied only while the thread sleeps. When it touched the page that it waits
 * for is not known, so a read of a mapped file begins with the stage. */
void activity_copy(struct activity *copy, struct activity *activity);

#endif
