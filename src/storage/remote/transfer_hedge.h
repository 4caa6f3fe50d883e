/* Hedging: a request that is not answered for long is sent a second time, and the first of the two
 * answers is used. Internal to transfer.c.
 *
 * A batch is complete when its slowest request is, and one request in a hundred may take ten times
 * as long as the others, because one machine of the store is busy. All requests are reads, so a
 * second one changes nothing at the store. It costs a request, so it is sent once for each request,
 * only after nearly all recent requests would have been answered (their 99th percentile), and only
 * for one request in HEDGE_SHARE: if all answers become slow, more requests do not help.
 *
 * Both requests write to the same memory. So the first one whose reply is good and whose body
 * begins to arrive drops the other one, before a byte of the other is taken. */
#ifndef RECMAP_STORAGE_REMOTE_TRANSFER_HEDGE_H
#define RECMAP_STORAGE_REMOTE_TRANSFER_HEDGE_H

#include "storage/remote/transfer_verdict.h"

enum {
    HEDGE_SAMPLES = 200, /* latencies that must be known */
    HEDGE_SHARE = 50,
    HEDGE_MIN_MS = 5, /* answers of a store nearby are not worth a second request */
};

/* The time after which a request of the storage is hedged; UINT64_MAX: it is not. */
uint64_t hedge_delay_ns(recmap_storage *storage);

/* Finds a request in flight that is to be hedged now, and makes `hedge_due_ns` of the run the time
 * to ask again. NULL: none. `delay_ns` is as above. */
struct slot *hedge_find(struct run *run, uint64_t delay_ns, uint64_t now);

/* Makes the slots of two requests for the same bytes twins. */
void hedge_join(struct slot *slot, struct slot *second);

/* Ends that. Returns the other slot, or NULL if the slot has no twin. */
struct slot *hedge_part(struct slot *slot);

/* The body of a good reply begins: marks the other request as late, if there is one. It takes
 * nothing from then on, and the loop ends it: libcurl cannot remove a request in a callback. */
void hedge_win(struct slot *slot);

/* A late request, or NULL. */
struct slot *hedge_find_late(struct run *run);

#endif
