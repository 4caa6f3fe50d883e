#include "storage/remote/transfer_repeat.h"

#include <errno.h>
#include <string.h>

#include "base/os/process.h"
#include "base/os/socket.h"

enum {
    FIRST_CONTACT_S = 15, /* how long a server is tried that never answered */
    REFUSED_TRIES = 5,    /* of connections to one that may be starting: 0.75 seconds on average */
    UNKNOWN_HOST_TRIES = 2,
    ODD_TRIES = 3,
};

#define NS_PER_S 1000000000ull
#define NS_PER_MS 1000000ull

static bool is_set(atomic_bool *flag) {
    return atomic_load_explicit(flag, memory_order_relaxed);
}

atomic_bool *slot_has_served(const struct slot *slot) {
    recmap_storage *storage = slot->run->storage;
    return slot->run->requests[slot->index].text ? &storage->has_listed : &storage->has_served;
}

/* ---- Failures that look lasting. */

/* Asks the resolver itself, because libcurl does not tell a host that does not exist from a
 * resolver that cannot be reached. That takes no longer than the lookup before, which libcurl
 * limits. */
static bool host_is_unknown(CURL *easy) {
    char *text = NULL, *host = NULL;
    CURLU *url = libcurl.url();
    libcurl.easy_getinfo(easy, CURLINFO_EFFECTIVE_URL, &text);
    bool is_unknown = url && text && libcurl.url_set(url, CURLUPART_URL, text, 0) == CURLUE_OK &&
                      libcurl.url_get(url, CURLUPART_HOST, &host, CURLU_PUNYCODE) == CURLUE_OK &&
                      socket_host_is_unknown(host);
    libcurl.free(host);
    libcurl.url_cleanup(url);
    return is_unknown;
}

/* One lookup for each call, whatever the number of requests that fail: it blocks the others. */
static bool is_unknown_host(const struct slot *slot) {
    struct run *run = slot->run;
    if (slot->code != CURLE_COULDNT_RESOLVE_HOST || run->was_host_checked) return false;
    if (run->attempts[slot->index].count < UNKNOWN_HOST_TRIES) return false;
    run->was_host_checked = true;
    return host_is_unknown(slot->easy);
}

static bool is_refused(const struct slot *slot) {
    long code = 0;
    if (slot->code != CURLE_COULDNT_CONNECT) return false;
    libcurl.easy_getinfo(slot->easy, CURLINFO_OS_ERRNO, &code);
    return code == ECONNREFUSED && slot->run->attempts[slot->index].count >= REFUSED_TRIES;
}

/* Returns true if the server has sent the same reply several times in a row, such as the whole
 * object. */
static bool is_always_odd(const struct slot *slot) {
    struct attempt *attempt = &slot->run->attempts[slot->index];
    if (slot->verdict != REPLY_ODD) {
        attempt->odd_count = 0;
        return false;
    }
    uint64_t size = slot->reply.content_length;
    if (attempt->odd_reason != slot->reason || attempt->odd_size != size) attempt->odd_count = 0;
    attempt->odd_reason = slot->reason;
    attempt->odd_size = size;
    return ++attempt->odd_count >= ODD_TRIES;
}

static bool is_lasting(const struct slot *slot) {
    if (is_always_odd(slot)) return !is_set(slot_has_served(slot));
    if (is_set(&slot->run->storage->has_answered)) return false;
    return is_refused(slot) || is_unknown_host(slot);
}

/* ---- When to repeat. */

/* Returns true if the request may still be repeated at this time. The first answer, or the first
 * one that is right, is not waited for as long as later ones. */
static bool has_time(const struct slot *slot, uint64_t due_ns) {
    recmap_storage *storage = slot->run->storage;
    const struct attempt *attempt = &slot->run->attempts[slot->index];
    bool has_begun =
        is_set(slot->verdict == REPLY_ODD ? slot_has_served(slot) : &storage->has_answered);
    uint64_t limit_s = storage_options_timeout(&storage->options);
    if (!has_begun && limit_s > FIRST_CONTACT_S) limit_s = FIRST_CONTACT_S;
    return due_ns - attempt->start_ns < limit_s * NS_PER_S;
}

/* When a request is to be repeated. */
static uint64_t find_due_ns(const struct slot *slot, uint64_t now) {
    uint64_t retry_after = slot->is_judged ? slot->reply.retry_after : 0;
    unsigned streak = slot->run->attempts[slot->index].streak;
    return now + retry_delay_ms(streak, random_bits(), retry_after) * NS_PER_MS;
}

/* How many of the requested bytes arrived, without bytes of an error or of another reply. */
static uint64_t count_bytes(const struct slot *slot) {
    const struct transfer_request *request = &slot->run->requests[slot->index];
    if (slot->verdict == REPLY_ODD) return 0;
    if (!slot->is_judged || (slot->reply.status != 200 && slot->reply.status != 206)) return 0;
    return request->text ? request->body->size : slot->received;
}

/* Returns true if bytes that arrived are kept, because the next reply can be compared with this
 * one. */
static bool keeps_bytes(const struct slot *slot) {
    bool is_known = slot->range.etag[0] || slot->range.modified != REPLY_NO_TIME;
    return is_known && !slot->range.accepts_shorter && !slot->run->requests[slot->index].text;
}

/* Notes the bytes that a failed attempt has received. After a healthy transfer, the time limit and
 * the delays start again. If the bytes are not kept, they restart only after the first attempt:
 * otherwise a reply that is cut each time would be requested without end. */
static void note_bytes(struct slot *slot, uint64_t now) {
    struct attempt *attempt = &slot->run->attempts[slot->index];
    uint64_t size = count_bytes(slot);
    bool is_kept = keeps_bytes(slot);
    attempt->streak++;
    if (is_kept) attempt->received += size;
    if (!size || (!is_kept && attempt->count > 1)) return;
    attempt->start_ns = retry_limit_start(attempt->start_ns, size, now);
    if (attempt->start_ns == now) attempt->streak = 1;
}

bool slot_schedule(struct slot *slot) {
    struct run *run = slot->run;
    struct attempt *attempt = &run->attempts[slot->index];
    uint64_t now = clock_ns();
    if (slot->verdict != REPLY_TRY_AGAIN && slot->verdict != REPLY_ODD) return false;
    slot->is_lasting = is_lasting(slot);
    if (slot->is_lasting) return false;
    note_bytes(slot, now);
    uint64_t due_ns = find_due_ns(slot, now);
    if (!has_time(slot, due_ns)) return false;
    if (run->requests[slot->index].body) run->requests[slot->index].body->size = 0;
    attempt->due_ns = due_ns;
    attempt->next = run->waiting;
    run->waiting = slot->index;
    return true;
}
