/* A request in flight, and the verdict on it: whether its reply is good, is to be repeated, or is
 * an error. Internal to transfer.c. */
#ifndef RECMAP_STORAGE_REMOTE_TRANSFER_VERDICT_H
#define RECMAP_STORAGE_REMOTE_TRANSFER_VERDICT_H

#include "storage/credentials/storage_options.h"
#include "storage/protocol/reply.h"
#include "storage/protocol/signature.h"
#include "storage/remote/curl_library.h"
#include "storage/remote/transfer.h"

enum { BODY_PREFIX = 2048 }; /* of an error, which has the server's code */

#define ADVICE_BLOCKED                                                                             \
    "link-local addresses and metadata services are not read: name another host, in ASCII "        \
    "letters or as a plain address such as 10.0.0.7 or [fd00::7]"

/* The progress of a request. */
struct attempt {
    uint32_t count;     /* of attempts that failed */
    uint32_t streak;    /* of those since a healthy transfer, which set the delay */
    uint64_t received;  /* bytes of earlier attempts that are kept */
    uint64_t start_ns;  /* where the limit of time begins; 0: no attempt was begun */
    uint64_t due_ns;    /* the next attempt */
    bool was_hedged;    /* it was sent a second time: see transfer_hedge.h */
    bool is_done;       /* the result was given to the caller */
    char failure[64];   /* of the latest attempt that failed */
    bool was_empty;     /* the object was said to have no bytes */
    uint32_t odd_count; /* of replies in a row that are not what was asked for in the same way: */
    const char *odd_reason;
    uint64_t odd_size;
    size_t next; /* in the list of those that wait; SIZE_MAX: the last */
};

struct run;

/* A request in flight. */
struct slot {
    struct run *run;
    CURL *easy;
    struct curl_slist *headers;
    size_t index;          /* of the request; SIZE_MAX: the slot is free */
    uint64_t shrink_count; /* of the window when the request was started */
    uint64_t start_ns;     /* of this attempt */
    uint64_t first_ns;     /* when its reply began; 0: not yet */
    struct slot *twin;     /* the other request for the same bytes, or NULL */
    bool is_late;          /* the answer of the other one is used */
    struct range_request range;
    struct reply reply;
    bool has_head;  /* all headers arrived */
    bool is_judged; /* the headers were checked */
    enum reply_verdict verdict;
    const char *reason;
    CURLcode code;   /* of libcurl */
    bool is_lasting; /* the request was not repeated, because it would always fail */
    uint64_t body_size;
    uint64_t received; /* in this attempt */
    bool is_refused;   /* the address is one that is not connected to; `reason` says why */
    char body[BODY_PREFIX];
    size_t body_used;
    char curl_text[CURL_ERROR_SIZE];
};

/* One call of transfer_run. */
struct run {
    recmap_storage *storage;
    struct transfer *transfer;
    struct storage_options options; /* the storage's when the last request was started */
    struct signing_key signing_key; /* of the last request */
    const struct transfer_request *requests;
    struct attempt *attempts;
    size_t count;
    size_t begun_count;
    size_t done_count;
    size_t waiting; /* the first of the list of requests to repeat; SIZE_MAX: none */
    size_t in_flight;
    uint64_t hedge_due_ns; /* when to look for requests to hedge */
    size_t late_count;     /* slots that are late */
    bool was_host_checked; /* the resolver was asked whether a host exists */
    struct slot *slots;
    size_t slot_count;
    uint64_t asked_ns; /* when the interrupt function was asked last */
};

/* Judges a reply by its headers, which are complete. */
void slot_judge(struct slot *slot);

/* The verdict on a request that ended. */
void slot_conclude(struct slot *slot, CURLcode code);

/* Returns the error of a request that is not repeated. */
recmap_status slot_fail(const struct slot *slot, recmap_error *error);

#endif
