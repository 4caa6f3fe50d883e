#include "storage/remote/exchange_run.h"

#include <stdio.h>
#include <string.h>

#include "base/core/interrupt.h"
#include "base/os/socket.h"
#include "storage/remote/blocked.h"
#include "storage/remote/multi.h"
#include "storage/remote/redirect.h"
#include "storage/remote/transfer.h"

enum {
    LOCAL_CONNECT_MS = 1000,
    LOCAL_MS = 5000,
    CONNECT_MS = 5000,
    TOTAL_MS = 20000,
    POLL_MS = 50
};

struct exchange {
    const struct exchange_request *request;
    struct exchange_reply *reply;
    struct multi multi;
    CURL *easy;
    struct curl_slist *headers;
};

static size_t on_body(char *data, size_t unit, size_t count, void *context) {
    struct exchange_reply *reply = context;
    size_t size = unit * count;
    if (size > EXCHANGE_BODY_MAX - reply->size) return 0;
    memcpy(reply->body + reply->size, data, size);
    reply->size += size;
    return size;
}

static const char *refusal(const struct exchange_request *request) {
    return host_refusal(strstr(request->url, "://") + 3);
}

/* A name that is looked up must not lead to a link-local address: only its service itself may. */
static curl_socket_t on_socket(void *context, curlsocktype purpose, struct curl_sockaddr *address) {
    const struct exchange *exchange = context;
    (void)purpose;
    bool is_named = refusal(exchange->request) != NULL;
    if (address_is_blocked(&address->addr) && !(exchange->request->is_local && is_named))
        return CURL_SOCKET_BAD;
    return socket_open(address->family, address->socktype, address->protocol);
}

static bool add_headers(struct exchange *exchange) {
    for (size_t i = 0; i < EXCHANGE_HEADERS_MAX; i++) {
        if (!exchange->request->headers[i]) continue;
        struct curl_slist *grown =
            libcurl.slist_append(exchange->headers, exchange->request->headers[i]);
        if (!grown) return false;
        exchange->headers = grown;
    }
    return true;
}

static void set_connection(CURL *easy, const struct exchange_request *request,
                           const struct storage_options *options) {
    const char *bundle = transfer_find_bundle(options);
    const char *proxy = storage_options_get(options, OPTION_PROXY);
    bool is_local = request->is_local;
    libcurl.easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    libcurl.easy_setopt(easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    libcurl.easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS,
                        (long)(is_local ? LOCAL_CONNECT_MS : CONNECT_MS));
    libcurl.easy_setopt(easy, CURLOPT_TIMEOUT_MS, (long)(is_local ? LOCAL_MS : TOTAL_MS));
    if (is_local) libcurl.easy_setopt(easy, CURLOPT_NOPROXY, "*");
    else if (proxy[0]) libcurl.easy_setopt(easy, CURLOPT_PROXY, proxy);
    if (bundle) libcurl.easy_setopt(easy, CURLOPT_CAINFO, bundle);
    redirect_limit_protocols(easy, !strncmp(request->url, "https", 5));
}

static void set_request(struct exchange *exchange) {
    const struct exchange_request *request = exchange->request;
    CURL *easy = exchange->easy;
    libcurl.easy_setopt(easy, CURLOPT_URL, request->url);
    libcurl.easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_body);
    libcurl.easy_setopt(easy, CURLOPT_WRITEDATA, exchange->reply);
    libcurl.easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, on_socket);
    libcurl.easy_setopt(easy, CURLOPT_OPENSOCKETDATA, exchange);
    libcurl.easy_setopt(easy, CURLOPT_HTTPHEADER, exchange->headers);
    if (request->body) libcurl.easy_setopt(easy, CURLOPT_POSTFIELDS, request->body);
    libcurl.easy_setopt(easy, CURLOPT_CUSTOMREQUEST, request->method);
}

static void conclude(struct exchange *exchange, CURLcode code) {
    struct exchange_reply *reply = exchange->reply;
    reply->body[reply->size] = 0;
    if (code == CURLE_OK) {
        libcurl.easy_getinfo(exchange->easy, CURLINFO_RESPONSE_CODE, &reply->status);
        return;
    }
    const char *reason = code == CURLE_WRITE_ERROR ? "the reply is too long"
                                                   : libcurl.easy_strerror(code);
    snprintf(reply->reason, sizeof reply->reason, "%s", reason);
}

static recmap_status loop(struct exchange *exchange, recmap_error *error) {
    CURLMsg *message;
    int left;
    multi_expire(&exchange->multi);
    while (!(message = libcurl.multi_info_read(exchange->multi.curl, &left))) {
        if (!interrupt_continues(thread_interrupt(), INTERRUPT_WORK)) return interrupt_fail(error);
        multi_wait(&exchange->multi, POLL_MS);
        multi_expire(&exchange->multi);
    }
    conclude(exchange, message->data.result);
    return RECMAP_OK;
}

static recmap_status run(struct exchange *exchange, const struct storage_options *options,
                         recmap_error *error) {
    exchange->easy = libcurl.easy_init();
    if (!exchange->easy || !add_headers(exchange)) return fail_memory(error);
    set_connection(exchange->easy, exchange->request, options);
    set_request(exchange);
    if (libcurl.multi_add_handle(exchange->multi.curl, exchange->easy) != CURLM_OK)
        return fail_memory(error);
    recmap_status status = loop(exchange, error);
    multi_remove(&exchange->multi, exchange->easy);
    return status;
}

recmap_status exchange_run(struct exchange_reply *reply, const struct exchange_request *request,
                           const struct storage_options *options, recmap_error *error) {
    struct exchange exchange = {.request = request, .reply = reply};
    memset(reply, 0, sizeof *reply);
    const char *reason = request->is_local ? NULL : refusal(request);
    if (reason) {
        snprintf(reply->reason, sizeof reply->reason, "%s", reason);
        return RECMAP_OK;
    }
    RETURN_IF_FAILED(curl_library_load(error));
    if (!multi_init(&exchange.multi)) return fail_memory(error);
    recmap_status status = run(&exchange, options, error);
    libcurl.easy_cleanup(exchange.easy);
    multi_deinit(&exchange.multi);
    libcurl.slist_free_all(exchange.headers);
    return status;
}
