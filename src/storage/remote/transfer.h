/* Transfers: HTTP requests, many in flight at once, repeated until they succeed or cannot. */
#ifndef RECMAP_STORAGE_REMOTE_TRANSFER_H
#define RECMAP_STORAGE_REMOTE_TRANSFER_H

#include <recmap/text.h>

#include "base/core/interrupt.h"
#include "storage/protocol/reply.h"
#include "storage/remote/address.h"
#include "storage/remote/storage.h"

/* What arrived for a text: what was asked for, its beginning, or something else. */
/* TEXT_INCOMPLETE: a list that says that there is more, but not how to request it. */
enum text_verdict { TEXT_GOOD, TEXT_CUT, TEXT_INCOMPLETE, TEXT_OTHER };

/* One request: for a range of an object, or for a text such as a page of a listing. */
struct transfer_request {
    const char *name;           /* the URL, also for messages */
    const struct address *text; /* its address; NULL: a range of the object `name` */
    struct range_request range; /* which bytes */
    uint8_t *data;              /* where they go */
    /* Results, where they are not NULL. */
    struct reply *reply; /* also of a request that failed */
    uint64_t *size;      /* of the bytes that arrived */
    recmap_text *body;   /* of a text */
    /* Judges the body of a text. One that is not good is requested again. */
    enum text_verdict (*judge)(const char *text, size_t size);
};

#define ADVICE_LIST                                                                                \
    "check the endpoint, or name the shards instead of a pattern (NAME@N, or @FILE with one name " \
    "per line)"

/* Makes all requests. On failure, none is in flight any more, and `failed_index` is the index of
 * one that failed. `interrupt` may be NULL: then the thread's is asked. Errors: IO (ENOENT: the
 * store lacks the object; EACCES: it may not be read), STALE (it is another object), UNSUPPORTED
 * (the server), INVALID (the URL or an option), NO_MEMORY, CANCELLED. */
recmap_status transfer_run(size_t *failed_index, recmap_storage *storage,
                           const struct transfer_request *requests, size_t count,
                           struct interrupt *interrupt, recmap_error *error);

/* Returns true if this build can transfer anything. */
bool transfer_is_supported(void);

/* Frees a list of idle transfers. */
void transfers_destroy(struct transfer *transfer);

#endif
