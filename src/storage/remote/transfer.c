#include "storage/remote/transfer.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/core/array.h"
#include "base/core/error.h"
#include "base/core/redact.h"
#include "base/os/activity.h"
#include "base/os/process.h"
#include "base/os/socket.h"
#include "base/os/thread.h"
#include "storage/remote/blocked.h"
#include "storage/remote/certificates.h"
#include "storage/remote/curl_library.h"
#include "storage/remote/multi.h"
#include "storage/remote/redirect.h"
#include "storage/remote/storage_credentials.h"
#include "storage/remote/transfer_hedge.h"
#include "storage/remote/transfer_repeat.h"
#include "storage/remote/transfer_verdict.h"

enum {
    SLOTS_MAX = 128,
    BODY_MAX = 64 << 10,
    TEXT_MAX = 16 << 20,
    CONNECT_TIMEOUT_S = 5,
    STALL_S = 10,
    REDIRECTS_MAX = 5,
    POLL_MS = 50,
    /* libcurl allocates the buffer for each request and frees it afterwards. Larger ones are
     * returned to the system each time, and filling their new pages costs a fifth of the CPU time.
     */
    BUFFER_SIZE = 64 << 10,
};

#define NS_PER_MS 1000000ull

/* Connections, and the handles that use them. It belongs to one call of transfer_run at a time, and
 * to the process that created it. */
struct transfer {
    struct multi multi;
    long process;
    struct transfer *next;
    CURL *handles[SLOTS_MAX];
};

bool transfer_is_supported(void) {
    return true;
}

/* ---- Handles. */

static void destroy_transfer(struct transfer *transfer) {
    /* A child shares its parent's sockets. Closing connections would send the servers a goodbye in
     * the parent's name, so what a child inherits is left alone. */
    if (transfer->process == process_id()) {
        for (size_t i = 0; i < SLOTS_MAX; i++) libcurl.easy_cleanup(transfer->handles[i]);
        multi_deinit(&transfer->multi);
    } else {
        multi_abandon(&transfer->multi);
    }
    free(transfer);
}

void transfers_destroy(struct transfer *transfer) {
    while (transfer) {
        struct transfer *next = transfer->next;
        destroy_transfer(transfer);
        transfer = next;
    }
}

static struct transfer *create_transfer(void) {
    struct transfer *fresh = calloc(1, sizeof *fresh);
    if (!fresh) return NULL;
    fresh->process = process_id();
    if (!multi_init(&fresh->multi)) {
        free(fresh);
        return NULL;
    }
    /* HTTP/2 would put all requests on one connection, which is slower for large ranges. */
    libcurl.multi_setopt(fresh->multi.curl, CURLMOPT_PIPELINING, (long)CURLPIPE_NOTHING);
    libcurl.multi_setopt(fresh->multi.curl, CURLMOPT_MAXCONNECTS, (long)SLOTS_MAX);
    return fresh;
}

/* Takes an idle transfer of this process, and joins the calls that share the window. */
static struct transfer *join(recmap_storage *storage) {
    struct transfer *transfer;
    process_lock();
    /* After fork, the calls of other threads are not continued in the child. */
    if (storage->process != process_id()) storage->run_count = 0;
    storage->process = process_id();
    storage->run_count++;
    struct transfer **link = &storage->idle;
    while (*link && (*link)->process != process_id()) link = &(*link)->next;
    transfer = *link;
    if (transfer) *link = transfer->next;
    process_unlock();
    return transfer ? transfer : create_transfer();
}

static void leave(recmap_storage *storage, struct transfer *transfer) {
    process_lock();
    assert(storage->run_count > 0);
    storage->run_count--;
    if (transfer) {
        transfer->next = storage->idle;
        storage->idle = transfer;
    }
    process_unlock();
}

static size_t request_limit(recmap_storage *storage) {
    process_lock();
    size_t limit = window_size(&storage->window) / (storage->run_count ? storage->run_count : 1);
    process_unlock();
    return limit ? limit : 1;
}

static uint64_t window_shrink_count(recmap_storage *storage) {
    process_lock();
    uint64_t count = storage->window.shrink_count;
    process_unlock();
    return count;
}

static void adapt_window(const struct slot *slot, bool is_overloaded) {
    struct request_window *window = &slot->run->storage->window;
    process_lock();
    if (is_overloaded) window_shrink(window, slot->shrink_count);
    else window_grow(window);
    process_unlock();
}

/* ---- Callbacks of libcurl. */

static void refuse(struct slot *slot, const char *reason) {
    slot->is_refused = true;
    slot->reason = reason;
}

/* A proxy would follow a redirect to an address that on_socket never sees. */
static size_t on_header(char *data, size_t unit, size_t count, void *context) {
    struct slot *slot = context;
    size_t size = unit * count;
    bool is_status = size >= 5 && !memcmp(data, "HTTP/", 5);
    if (slot->is_late) return 0;
    if (is_status) slot->first_ns = clock_ns();
    slot->has_head = !is_status && (slot->has_head || (size && strchr("\r\n", data[0])));
    if (is_status) reply_reset(&slot->reply);
    else if (!slot->is_judged) reply_add_header(&slot->reply, data, size); /* not a trailer */
    if (!redirect_is_blocked(slot->easy, data, size)) return size;
    refuse(slot, "the server redirects to an address that is not read");
    return 0;
}

static bool take_range(struct slot *slot, const char *data, size_t size) {
    const struct transfer_request *request = &slot->run->requests[slot->index];
    if (size > slot->body_size - slot->received) {
        slot->verdict = REPLY_ODD;
        slot->reason = "the server sends more bytes than it announced";
        return false;
    }
    uint64_t kept = slot->run->attempts[slot->index].received;
    memcpy(request->data + kept + slot->received, data, size);
    slot->received += size;
    return true;
}

static bool take_text(struct slot *slot, const char *data, size_t size) {
    recmap_text *body = slot->run->requests[slot->index].body;
    if (body->size + size > TEXT_MAX) {
        slot->verdict = REPLY_UNUSABLE;
        slot->reason = "the server's reply is too long";
        return false;
    }
    if (!array_reserve(&body->data, &body->capacity, body->size + size + 1, 1)) return false;
    memcpy(body->data + body->size, data, size);
    body->size += size;
    body->data[body->size] = 0;
    return true;
}

/* Keeps the beginning of an error's body. The rest is read, so that the connection can be used
 * again, unless it is long. */
static bool take_error(struct slot *slot, const char *data, size_t size) {
    size_t room = sizeof slot->body - slot->body_used, part = size < room ? size : room;
    memcpy(slot->body + slot->body_used, data, part);
    slot->body_used += part;
    slot->received += size;
    return slot->reply.status != 200 && slot->reply.status != 206 && slot->received <= BODY_MAX;
}

static size_t on_body(char *data, size_t unit, size_t count, void *context) {
    struct slot *slot = context;
    size_t size = unit * count;
    if (slot->is_late) return 0;
    if (!slot->is_judged) slot_judge(slot);
    if (slot->verdict == REPLY_GOOD) hedge_win(slot);
    bool is_taken = slot->verdict != REPLY_GOOD             ? take_error(slot, data, size)
                    : slot->run->requests[slot->index].text ? take_text(slot, data, size)
                                                            : take_range(slot, data, size);
    return is_taken ? size : 0;
}

static curl_socket_t on_socket(void *context, curlsocktype purpose, struct curl_sockaddr *address) {
    struct slot *slot = context;
    (void)purpose;
    if (address_is_blocked(&address->addr)) {
        refuse(slot, "its host is a link-local address");
        return CURL_SOCKET_BAD;
    }
    slot->is_refused = false; /* of several addresses of a host, this one may be connected to */
    return socket_open(address->family, address->socktype, address->protocol);
}

/* ---- Starting a request. */

static const char *find_bundle(const struct storage_options *options) {
    const char *bundle = storage_options_get(options, OPTION_CA_BUNDLE);
    const curl_version_info_data *curl = libcurl.version_info(CURLVERSION_NOW);
    if (bundle[0]) return bundle;
    if (curl->cainfo || curl->capath) return NULL;
    return certificates_find(certificates_places);
}

/* What is the same for all requests of a storage. */
static void set_connection(CURL *easy, const struct storage_options *options) {
    const char *bundle = find_bundle(options);
    const char *proxy = storage_options_get(options, OPTION_PROXY);
    libcurl.easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    libcurl.easy_setopt(easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    libcurl.easy_setopt(easy, CURLOPT_CONNECTTIMEOUT, (long)CONNECT_TIMEOUT_S);
    libcurl.easy_setopt(easy, CURLOPT_LOW_SPEED_LIMIT, (long)RETRY_BYTES_PER_S);
    libcurl.easy_setopt(easy, CURLOPT_LOW_SPEED_TIME, (long)STALL_S);
    libcurl.easy_setopt(easy, CURLOPT_BUFFERSIZE, (long)BUFFER_SIZE);
    libcurl.easy_setopt(easy, CURLOPT_PATH_AS_IS, 1L);
    libcurl.easy_setopt(easy, CURLOPT_MAXREDIRS, (long)REDIRECTS_MAX);
    libcurl.easy_setopt(easy, CURLOPT_HEADERFUNCTION, on_header);
    libcurl.easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_body);
    libcurl.easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, on_socket);
    if (bundle) libcurl.easy_setopt(easy, CURLOPT_CAINFO, bundle);
    if (proxy[0]) libcurl.easy_setopt(easy, CURLOPT_PROXY, proxy);
}

/* A handle for all requests of a storage. NULL: out of memory. */
static CURL *create_handle(const recmap_storage *storage) {
    CURL *easy = libcurl.easy_init();
    if (easy) set_connection(easy, &storage->options);
    return easy;
}

static void set_slot(CURL *easy, struct slot *slot) {
    libcurl.easy_setopt(easy, CURLOPT_PRIVATE, slot);
    libcurl.easy_setopt(easy, CURLOPT_HEADERDATA, slot);
    libcurl.easy_setopt(easy, CURLOPT_WRITEDATA, slot);
    libcurl.easy_setopt(easy, CURLOPT_OPENSOCKETDATA, slot);
    libcurl.easy_setopt(easy, CURLOPT_ERRORBUFFER, slot ? slot->curl_text : NULL);
}

/* A signed request is for one host only, so its redirects are not followed. */
static bool may_redirect(const struct address *address) {
    return !url_has_listing(address->scheme);
}

static void set_target(CURL *easy, const struct address *address) {
    libcurl.easy_setopt(easy, CURLOPT_URL, address->url);
    libcurl.easy_setopt(easy, CURLOPT_FOLLOWLOCATION, may_redirect(address) ? 1L : 0L);
    redirect_limit_protocols(easy, !strncmp(address->url, "https", 5));
}

static bool add_header(struct slot *slot, const char *line) {
    struct curl_slist *grown = libcurl.slist_append(slot->headers, line);
    if (grown) slot->headers = grown;
    return grown != NULL;
}

/* Sets the headers of a request: authorization, signed for this moment, and the version of the
 * object that is expected, so that a replaced object is an error instead of other bytes. */
static recmap_status add_headers(struct slot *slot, const struct address *address,
                                 recmap_error *error) {
    struct run *run = slot->run;
    struct authorization authorization;
    char line[ETAG_MAX + 32];
    recmap_status status = address_authorize(&authorization, address, &run->options,
                                             &run->signing_key, clock_unix_s(), error);
    bool is_done = true;
    for (size_t i = 0; status == RECMAP_OK && i < authorization.count; i++)
        is_done &= add_header(slot, authorization.lines[i]);
    authorization_erase(&authorization);
    if (status != RECMAP_OK) return status;
    if (etag_is_strong(slot->range.etag)) {
        snprintf(line, sizeof line, "If-Match: %s", slot->range.etag);
        is_done &= add_header(slot, line);
    }
    if (!is_done) return fail_memory(error);
    libcurl.easy_setopt(slot->easy, CURLOPT_HTTPHEADER, slot->headers);
    return RECMAP_OK;
}

/* What is still missing of a request. */
static struct range_request find_missing(const struct run *run, size_t index) {
    struct range_request range = run->requests[index].range;
    if (run->requests[index].text) range = (struct range_request){.size = 1, .etag = ""};
    range.offset += run->attempts[index].received;
    range.size -= run->attempts[index].received;
    return range;
}

static recmap_status find_address(struct address *address, const struct slot *slot,
                                  const struct storage_options *options, recmap_error *error) {
    const struct transfer_request *request = &slot->run->requests[slot->index];
    struct url url;
    if (request->text) {
        *address = *request->text;
        return RECMAP_OK;
    }
    const char *reason = url_parse(&url, request->name);
    if (reason) return fail(error, RECMAP_INVALID, "the URL cannot be read: %s", reason);
    return address_of_object(address, options, &url, error);
}

/* A presigned URL is named without its query, which the storage has. */
static recmap_status add_query(struct address *address, const struct run *run, size_t index,
                               recmap_error *error) {
    char *query;
    if (run->requests[index].text || url_has_listing(address->scheme)) return RECMAP_OK;
    RETURN_IF_FAILED(storage_copy_query(&query, run->storage, run->requests[index].name, error));
    if (!query) return RECMAP_OK;
    recmap_status status = address_add_query(address, query, error);
    explicit_bzero(query, strlen(query));
    free(query);
    return status;
}

/* Finds the address and the headers, with the credentials of this moment. */
static recmap_status prepare_request(struct address *address, struct slot *slot,
                                     recmap_error *error) {
    struct run *run = slot->run;
    RETURN_IF_FAILED(storage_refresh_options(&run->options, run->storage, error));
    RETURN_IF_FAILED(find_address(address, slot, &run->options, error));
    RETURN_IF_FAILED(add_query(address, run, slot->index, error));
    return add_headers(slot, address, error);
}

/* on_socket sees only a proxy's address if there is one, so the URL is also checked. */
static recmap_status check_host(const struct address *address, recmap_error *error) {
    const char *reason = host_refusal(strstr(address->url, "://") + 3);
    if (!reason) return RECMAP_OK;
    fail(error, RECMAP_IO, "cannot read the object: %s", reason);
    fail_advise(error, ADVICE_BLOCKED);
    if (error) error->system_errno = EACCES;
    return RECMAP_IO;
}

/* A listing or another text is requested as a whole. */
static void set_range(const struct slot *slot) {
    char range[64];
    if (slot->run->requests[slot->index].text) {
        libcurl.easy_setopt(slot->easy, CURLOPT_RANGE, NULL);
        return;
    }
    snprintf(range, sizeof range, "%" PRIu64 "-%" PRIu64, slot->range.offset,
             slot->range.offset + slot->range.size - 1);
    libcurl.easy_setopt(slot->easy, CURLOPT_RANGE, range);
}

/* Sets up the handle, which copies the URL. */
static recmap_status set_up(struct slot *slot, struct address *address, recmap_error *error) {
    RETURN_IF_FAILED(prepare_request(address, slot, error));
    RETURN_IF_FAILED(check_host(address, error));
    set_slot(slot->easy, slot);
    set_target(slot->easy, address);
    set_range(slot);
    return RECMAP_OK;
}

/* Starts the first attempt of a request, or another one for the bytes that are still missing. The
 * slot is reset, except for its handle, which libcurl can reuse. The limit of time begins with the
 * first attempt, and again after bytes arrived: see note_bytes. */
static recmap_status start_request(struct slot *slot, size_t index, enum request_kind kind,
                                   recmap_error *error) {
    struct run *run = slot->run;
    struct address address;
    CURL *easy = slot->easy;
    *slot = (struct slot){.run = run, .easy = easy, .index = index, .start_ns = clock_ns()};
    slot->shrink_count = window_shrink_count(run->storage);
    slot->range = find_missing(run, index);
    reply_reset(&slot->reply);
    recmap_status status = set_up(slot, &address, error);
    explicit_bzero(address.url, sizeof address.url);
    RETURN_IF_FAILED(status);
    if (!run->attempts[index].start_ns) run->attempts[index].start_ns = slot->start_ns;
    if (run->hedge_due_ns > slot->start_ns + HEDGE_MIN_MS * NS_PER_MS)
        run->hedge_due_ns = slot->start_ns + HEDGE_MIN_MS * NS_PER_MS;
    if (libcurl.multi_add_handle(run->transfer->multi.curl, easy) != CURLM_OK)
        return fail_memory(error);
    run->in_flight++;
    storage_count_request(run->storage, kind);
    return RECMAP_OK;
}

/* The handle outlives the slot, so it must not keep pointers into it. */
static void free_slot(struct slot *slot) {
    set_slot(slot->easy, NULL);
    libcurl.easy_setopt(slot->easy, CURLOPT_HTTPHEADER, NULL);
    libcurl.slist_free_all(slot->headers);
    slot->headers = NULL;
    slot->index = SIZE_MAX;
}

static void end_slot(struct slot *slot) {
    multi_remove(&slot->run->transfer->multi, slot->easy);
    slot->run->late_count -= slot->is_late;
    hedge_part(slot);
    free_slot(slot);
    slot->run->in_flight--;
}

/* ---- The result of a request. */

static void give_results(const struct slot *slot) {
    const struct transfer_request *request = &slot->run->requests[slot->index];
    if (request->reply) *request->reply = slot->reply;
    if (request->size) *request->size = slot->verdict == REPLY_EMPTY ? 0 : slot->received;
}

static bool is_overloaded(const struct slot *slot) {
    return slot->is_judged && (slot->reply.status == 429 || slot->reply.status == 503);
}

/* Returns true if a request got what it asked for. That an object of unknown size is empty, which a
 * reply without a body says too if it has the status 200, counts when it is said twice: otherwise
 * one odd reply would make a shard without records of it. */
static bool is_success(struct slot *slot) {
    struct attempt *attempt = &slot->run->attempts[slot->index];
    if (slot->verdict != REPLY_EMPTY || !slot->range.accepts_shorter)
        return slot->verdict == REPLY_GOOD;
    bool is_sure = attempt->was_empty || slot->reply.status != 200;
    attempt->was_empty = true;
    if (!is_sure) slot->verdict = REPLY_ODD;
    return is_sure;
}

/* Notes how long an answer took. What a late one would have taken is not known: the time until it
 * was dropped is noted, or else hedging would make the percentiles shorter and shorter. */
static void note_times(const struct slot *slot) {
    const struct transfer_request *request = &slot->run->requests[slot->index];
    const struct attempt *attempt = &slot->run->attempts[slot->index];
    const uint64_t now = clock_ns(), first_ns = slot->first_ns ? slot->first_ns : now;
    const struct answer_times times = {.size = slot->received,
                                       .first_ns = first_ns - slot->start_ns,
                                       .last_ns = now - slot->start_ns,
                                       .is_undisturbed = !attempt->count && !attempt->was_hedged &&
                                                         !slot->range.accepts_shorter};
    if (!request->text) storage_note_answer(slot->run->storage, &times);
}

static void end_late(struct slot *late) {
    note_times(late);
    end_slot(late);
}

/* Gives the result of a request to the caller. */
static void succeed(struct slot *slot) {
    struct run *run = slot->run;
    assert(run->done_count < run->begun_count);
    atomic_store_explicit(slot_has_served(slot), true, memory_order_relaxed);
    struct slot *late = hedge_part(slot); /* of a reply without a body, which has won nothing yet */
    if (late) end_late(late);
    note_times(slot);
    give_results(slot);
    run->attempts[slot->index].is_done = true;
    run->done_count++;
}

/* Returns true if a request failed in a way that may pass, while its twin is still in flight. Then
 * the twin is the next attempt. */
static bool leaves_to_twin(const struct slot *slot) {
    return slot->twin && (slot->verdict == REPLY_TRY_AGAIN || slot->verdict == REPLY_ODD);
}

static recmap_status repeat_or_fail(size_t *failed_index, struct slot *slot, recmap_error *error) {
    struct run *run = slot->run;
    run->attempts[slot->index].count++;
    if (slot_schedule(slot)) return RECMAP_OK;
    *failed_index = slot->index;
    if (run->requests[slot->index].reply) *run->requests[slot->index].reply = slot->reply;
    return slot_fail(slot, error);
}

/* Keeps why an attempt failed, which recmap_loader_why tells while the next one is waited for. */
static void note_failure(struct attempt *attempt, const struct slot *slot) {
    if (slot->is_judged)
        snprintf(attempt->failure, sizeof attempt->failure, "status %ld", slot->reply.status);
    else
        snprintf(attempt->failure, sizeof attempt->failure, "%s",
                 libcurl.easy_strerror(slot->code));
}

/* A request ends in one of four ways: its result is given to the caller, it is left to its twin,
 * it is repeated later, or it fails for good. The window of requests in flight grows after
 * successes and shrinks only if the server is overloaded: other failures say nothing about the
 * load. */
static recmap_status end_request(size_t *failed_index, struct slot *slot, CURLcode code,
                                 recmap_error *error) {
    slot_conclude(slot, code);
    bool is_done = is_success(slot);
    if (is_done || is_overloaded(slot)) adapt_window(slot, !is_done);
    recmap_status status = RECMAP_OK;
    if (!is_done) note_failure(&slot->run->attempts[slot->index], slot);
    if (is_done) succeed(slot);
    else if (!leaves_to_twin(slot)) status = repeat_or_fail(failed_index, slot, error);
    end_slot(slot);
    return status;
}

/* ---- The loop. */

static struct slot *find_free(struct run *run) {
    for (size_t i = 0; i < run->slot_count; i++)
        if (run->slots[i].index == SIZE_MAX) return &run->slots[i];
    return NULL;
}

/* Takes the next request to start: one to repeat that is due, or the next new one. SIZE_MAX: none.
 */
static size_t take_next(struct run *run, uint64_t now) {
    for (size_t *link = &run->waiting; *link != SIZE_MAX; link = &run->attempts[*link].next) {
        size_t index = *link;
        if (run->attempts[index].due_ns > now) continue;
        *link = run->attempts[index].next;
        return index;
    }
    return run->begun_count < run->count ? run->begun_count++ : SIZE_MAX;
}

static recmap_status start_requests(size_t *failed_index, struct run *run, recmap_error *error) {
    size_t limit = request_limit(run->storage);
    uint64_t now = clock_ns();
    while (run->in_flight < limit) {
        struct slot *slot = find_free(run);
        size_t index = slot ? take_next(run, now) : SIZE_MAX;
        if (index == SIZE_MAX) return RECMAP_OK;
        enum request_kind kind = run->attempts[index].count ? REQUEST_REPEATED : REQUEST_FIRST;
        recmap_status status = start_request(slot, index, kind, error);
        if (status == RECMAP_OK) continue;
        if (status != RECMAP_NO_MEMORY) fail_file(error, run->requests[index].name);
        *failed_index = index;
        free_slot(slot);
        return status;
    }
    return RECMAP_OK;
}

/* Hedges requests while there is room: first requests, which may start at any time, are not to wait
 * for second ones. That a second one cannot be sent does no harm. */
static void hedge_requests(struct run *run) {
    const uint64_t now = clock_ns();
    struct slot *slot, *second;
    while (now >= run->hedge_due_ns && run->in_flight < request_limit(run->storage) &&
           (second = find_free(run)) &&
           (slot = hedge_find(run, hedge_delay_ns(run->storage), now))) {
        run->attempts[slot->index].was_hedged = true;
        if (start_request(second, slot->index, REQUEST_HEDGED, NULL) == RECMAP_OK)
            hedge_join(slot, second);
        else free_slot(second);
    }
}

static void drop_late(struct run *run) {
    for (struct slot *late; (late = hedge_find_late(run));) end_late(late);
}

/* How long to wait for events. A window that is full is asked again when a request ends. */
static unsigned find_wait_ms(const struct run *run) {
    const uint64_t now = clock_ns();
    if (run->hedge_due_ns <= now || run->hedge_due_ns - now >= POLL_MS * NS_PER_MS) return POLL_MS;
    return (unsigned)((run->hedge_due_ns - now) / NS_PER_MS) + 1;
}

static recmap_status end_requests(size_t *failed_index, struct run *run, recmap_error *error) {
    CURLMsg *message;
    int left;
    recmap_status status = RECMAP_OK;
    while (status == RECMAP_OK &&
           (message = libcurl.multi_info_read(run->transfer->multi.curl, &left))) {
        if (message->msg != CURLMSG_DONE) continue;
        struct slot *slot;
        CURLcode code = message->data.result;
        libcurl.easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &slot);
        status = end_request(failed_index, slot, code, error);
    }
    return status;
}

static recmap_status ask_interrupt(size_t *failed_index, struct run *run,
                                   struct interrupt *interrupt, recmap_error *error) {
    uint64_t now = clock_ns();
    if (!interrupt || !interrupt->function) interrupt = thread_interrupt();
    if (!interrupt->function || now - run->asked_ns < POLL_MS * NS_PER_MS) return RECMAP_OK;
    run->asked_ns = now;
    *failed_index = 0;
    return interrupt_ask(interrupt) ? RECMAP_OK : interrupt_fail(error);
}

/* The request that was begun first and has no answer. */
static const struct attempt *find_oldest(const struct run *run) {
    const struct attempt *oldest = NULL;
    for (size_t i = 0; i < run->begun_count; i++) {
        const struct attempt *attempt = &run->attempts[i];
        if (!attempt->is_done && (!oldest || attempt->start_ns < oldest->start_ns))
            oldest = attempt;
    }
    return oldest;
}

/* Lets other threads see what this one waits for. */
static void note_oldest(const struct run *run) {
    const struct attempt *oldest = find_oldest(run);
    if (!oldest) return;
    const struct transfer_request *request = &run->requests[oldest - run->attempts];
    const struct range_request *range = &request->range;
    struct activity_request noted = {.first_byte = range->offset,
                                     .last_byte = range->offset + range->size - !!range->size,
                                     .attempt = oldest->count + 1,
                                     .started_ns = oldest->start_ns};
    redact_url(noted.name, sizeof noted.name, request->name);
    if (oldest->failure[0]) snprintf(noted.error, sizeof noted.error, "%s", oldest->failure);
    activity_set_request(&noted);
}

static recmap_status loop(size_t *failed_index, struct run *run, struct interrupt *interrupt,
                          recmap_error *error) {
    while (run->done_count < run->count) {
        RETURN_IF_FAILED(start_requests(failed_index, run, error));
        hedge_requests(run);
        multi_expire(&run->transfer->multi);
        drop_late(run);
        size_t before = run->in_flight;
        RETURN_IF_FAILED(end_requests(failed_index, run, error));
        RETURN_IF_FAILED(ask_interrupt(failed_index, run, interrupt, error));
        if (run->in_flight == before && run->done_count < run->count) {
            note_oldest(run);
            multi_wait(&run->transfer->multi, find_wait_ms(run));
        }
    }
    return RECMAP_OK;
}

static bool prepare_slots(struct run *run) {
    run->slot_count = run->count < SLOTS_MAX / 2 ? 2 * run->count : SLOTS_MAX; /* with hedges */
    run->slots = calloc(run->slot_count + 1, sizeof *run->slots);
    run->attempts = calloc(run->count + 1, sizeof *run->attempts);
    if (!run->slots || !run->attempts || !run->transfer) return false;
    for (size_t i = 0; i < run->slot_count; i++) {
        CURL **handle = &run->transfer->handles[i];
        if (!*handle) *handle = create_handle(run->storage);
        if (!*handle) return false;
        run->slots[i] = (struct slot){.run = run, .easy = *handle, .index = SIZE_MAX};
    }
    return true;
}

/* Requests of one call are for shards of one data set: almost always in one store. */
static bool uses(const struct transfer_request *requests, size_t count, const char *scheme) {
    for (size_t i = 0; i < count; i++)
        if (!strncmp(requests[i].name, scheme, strlen(scheme))) return true;
    return false;
}

static recmap_status prepare_credentials(recmap_storage *storage,
                                         const struct transfer_request *requests, size_t count,
                                         recmap_error *error) {
    const struct credentials_use use = {.is_amazon = uses(requests, count, "s3://"),
                                        .is_google = uses(requests, count, "gs://"),
                                        .is_azure = uses(requests, count, "az://")};
    enum activity_stage former = activity_enter(ACTIVITY_STORE); /* they may come from a server */
    recmap_status status = storage_prepare_credentials(storage, &use, error);
    activity_leave(former);
    return status;
}

recmap_status transfer_run(size_t *failed_index, recmap_storage *storage,
                           const struct transfer_request *requests, size_t count,
                           struct interrupt *interrupt, recmap_error *error) {
    *failed_index = 0;
    RETURN_IF_FAILED(storage_prepare(storage, error));
    RETURN_IF_FAILED(curl_library_load(error));
    RETURN_IF_FAILED(prepare_credentials(storage, requests, count, error));
    struct run run = {.storage = storage,
                      .transfer = join(storage),
                      .requests = requests,
                      .count = count,
                      .waiting = SIZE_MAX,
                      .hedge_due_ns = UINT64_MAX};
    enum activity_stage former = activity_enter(ACTIVITY_STORE);
    recmap_status status = prepare_slots(&run) ? loop(failed_index, &run, interrupt, error)
                                               : fail_memory(error);
    activity_set_request(NULL);
    activity_leave(former);
    for (size_t i = 0; run.slots && i < run.slot_count; i++)
        if (run.slots[i].easy && run.slots[i].index != SIZE_MAX) end_slot(&run.slots[i]);
    leave(storage, run.transfer);
    storage_options_deinit(&run.options);
    explicit_bzero(&run.signing_key, sizeof run.signing_key);
    free(run.slots);
    free(run.attempts);
    return status;
}
