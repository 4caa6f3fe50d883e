#include "storage/cache/fill_lock.h"

#include "base/core/interrupt.h"
#include "base/os/file.h"
#include "base/os/private_file.h"
#include "base/os/process.h"

#define WAIT_NS (UINT64_C(10) * 1000 * 1000 * 1000)
#define STEP_NS (UINT64_C(1) * 1000 * 1000)

enum { STEPS_BETWEEN_QUESTIONS = 50 };

static void close_lock(struct fill_lock *lock) {
    file_close(lock->fd);
    lock->fd = -1;
}

/* The file is opened for each lock: locks belong to openings, and this one is neither shared with
 * other threads nor, longer than it takes to fill the part, with children. */
bool fill_lock_acquire(struct fill_lock *lock, const char *path, uint64_t offset) {
    uint64_t began_ns = clock_ns();
    *lock = (struct fill_lock){-1, offset};
    if (private_open(&lock->fd, path, false, NULL) != RECMAP_OK) return true;
    for (unsigned step = 1;; step++) {
        bool is_held;
        recmap_status status = private_lock_byte(&is_held, lock->fd, offset, NULL);
        if (status == RECMAP_OK && is_held) return true;
        if (status != RECMAP_OK || clock_ns() - began_ns > WAIT_NS) break;
        bool asks = step % STEPS_BETWEEN_QUESTIONS == 0 && thread_interrupt()->function;
        if (asks && !interrupt_ask(thread_interrupt())) {
            close_lock(lock);
            return false;
        }
        sleep_ns(STEP_NS);
    }
    close_lock(lock);
    return true;
}

/* A child that was forked meanwhile has the opening, too, so the lock is released explicitly. */
void fill_lock_release(struct fill_lock *lock) {
    if (lock->fd < 0) return;
    private_unlock_byte(lock->fd, lock->offset);
    close_lock(lock);
}
