#include "storage/remote/transfer_verdict.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/core/error.h"
#include "base/core/redact.h"

void slot_judge(struct slot *slot) {
    const struct transfer_request *request = &slot->run->requests[slot->index];
    libcurl.easy_getinfo(slot->easy, CURLINFO_RESPONSE_CODE, &slot->reply.status);
    slot->is_judged = true;
    atomic_store_explicit(&slot->run->storage->has_answered, true, memory_order_relaxed);
    if (request->text && slot->reply.status == 200) {
        slot->verdict = REPLY_GOOD;
        slot->body_size = 0;
        return;
    }
    slot->verdict = reply_check(&slot->body_size, &slot->reason, &slot->reply, &slot->range);
}

static bool is_listing(const struct slot *slot) {
    const struct address *text = slot->run->requests[slot->index].text;
    return text && text->is_listing;
}

/* Returns true if an error of libcurl is one of the connection, which may work the next time. */
static bool is_passing(CURLcode code) {
    switch (code) {
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_RESOLVE_PROXY:
    case CURLE_COULDNT_CONNECT:
    case CURLE_PARTIAL_FILE:
    case CURLE_OPERATION_TIMEDOUT:
    case CURLE_GOT_NOTHING:
    case CURLE_SEND_ERROR:
    case CURLE_RECV_ERROR:
    case CURLE_SSL_CONNECT_ERROR: return true;
    default: return false;
    }
}

/* Returns true if what arrived is not a reply of HTTP, like the rest of an earlier, longer body. */
static bool is_garbage(CURLcode code) {
    return code == CURLE_UNSUPPORTED_PROTOCOL || code == CURLE_WEIRD_SERVER_REPLY;
}

/* Returns true if the store has sent a reply of HTTP before, so that its address must be right. */
static bool has_answered(const struct slot *slot) {
    return atomic_load_explicit(&slot->run->storage->has_answered, memory_order_relaxed);
}

static bool is_text(const struct slot *slot) {
    return slot->run->requests[slot->index].text != NULL;
}

/* Returns true if all of a reply that libcurl did not object to arrived: if its length is not
 * given, it ends with the connection. */
static bool is_complete(const struct slot *slot) {
    return slot->is_judged && !is_text(slot) && slot->received == slot->body_size;
}

/* The verdict on a reply that libcurl did not object to, but that is not complete. */
static void judge_body(struct slot *slot) {
    const struct transfer_request *request = &slot->run->requests[slot->index];
    const recmap_text *body = request->body;
    enum text_verdict verdict = TEXT_CUT;
    if (is_text(slot) && slot->is_judged)
        verdict = request->judge(body->data ? body->data : "", body->size);
    if (verdict == TEXT_GOOD) return;
    slot->verdict = verdict == TEXT_CUT ? REPLY_TRY_AGAIN : REPLY_ODD;
    slot->reason = verdict == TEXT_CUT ? "the reply ended early"
                   : verdict == TEXT_INCOMPLETE
                       ? "the server's list is incomplete, and lacks the token to "
                         "request the rest"
                   : is_listing(slot) ? "the server's list cannot be understood"
                                      : "the server's reply cannot be understood";
}

/* The verdict on a request that ended. A reply that was judged as bad stays so, whatever happened
 * to the rest of its body. A range of which all bytes arrived is good, even if the connection was
 * cut before the reply's end: no bytes would be left to request again. A connection that ends in
 * the headers is not an error for libcurl, but must not be judged by the headers that arrived. */
void slot_conclude(struct slot *slot, CURLcode code) {
    slot->code = code;
    if (code == CURLE_OK && !slot->is_judged && slot->has_head) slot_judge(slot);
    if (slot->is_judged && slot->verdict != REPLY_GOOD) return;
    if (is_complete(slot)) return;
    if (code == CURLE_OK) {
        judge_body(slot);
        return;
    }
    bool may_pass = is_passing(code) || (is_garbage(code) && has_answered(slot));
    slot->verdict = may_pass && !slot->is_refused ? REPLY_TRY_AGAIN : REPLY_UNUSABLE;
    if (!slot->is_refused)
        slot->reason = slot->curl_text[0] ? slot->curl_text : libcurl.easy_strerror(code);
}

static recmap_status status_of(enum reply_verdict verdict) {
    if (verdict == REPLY_CHANGED) return RECMAP_STALE;
    return RECMAP_IO;
}

static int errno_of(const struct slot *slot) {
    if (slot->is_refused) return EACCES;
    switch (slot->verdict) {
    case REPLY_MISSING: return ENOENT;
    case REPLY_DENIED: return EACCES;
    case REPLY_TRY_AGAIN: return ETIMEDOUT;
    default: return EIO;
    }
}

/* What a request for a private container of Azure needs, which the store does not say. */
static const char *advice_for_azure(const struct slot *slot) {
    const struct storage_options *options = &slot->run->options;
    bool has_credentials = options->values[OPTION_SAS] || options->values[OPTION_TOKEN] ||
                           options->values[OPTION_ISSUED_TOKEN];
    if (has_credentials) return NULL;
    return "set RECMAP_CREDENTIAL_PROCESS to `az account get-access-token --resource "
           "https://storage.azure.com/`, or pass the storage option sas or token; in Python, "
           "credentials=recmap.storage.azure()";
}

static const char *advice_if_denied(const struct slot *slot) {
    const char *name = slot->run->requests[slot->index].name;
    const char *advice = !strncmp(name, "az://", 5) ? advice_for_azure(slot) : NULL;
    if (advice) return advice;
    if (strncmp(name, "http", 4) != 0)
        return "check the credentials and their permission to read this object";
    return "if the URL must be signed, or its signature has expired, pass a newly signed URL as "
           "the storage option urls";
}

/* The most specific advice comes first: what the server itself said (its region, its error code),
 * then what the verdict implies. */
static void advise(const struct slot *slot, const char *code, recmap_error *error) {
    const char *region = slot->reply.region;
    if (slot->is_refused) fail_advise(error, ADVICE_BLOCKED);
    else if (region[0] &&
             strcmp(region, storage_options_get(&slot->run->storage->options, OPTION_REGION)) != 0)
        fail_advise(error, "the bucket is in region %s: pass the storage option region=%s", region,
                    region);
    else if (!strcmp(code, "RequestTimeTooSkewed")) fail_advise(error, "set this machine's clock");
    else if (!strcmp(code, "ExpiredToken") || !strcmp(code, "TokenRefreshRequired"))
        fail_advise(error, "renew the credentials, and open the data set again");
    else if (slot->verdict == REPLY_CHANGED)
        fail_advise(error, "restore the indexed object, or build the index again with "
                           "`recmap index`");
    else if (slot->verdict == REPLY_ODD && slot->reason == reply_lacks_etag)
        fail_advise(error, "let the server send ETags again, or build the index again with "
                           "`recmap index`");
    else if (slot->verdict == REPLY_MISSING)
        fail_advise(error, "check the URL, the endpoint and the region");
    else if (slot->verdict == REPLY_DENIED) fail_advise(error, "%s", advice_if_denied(slot));
    else if (slot->verdict == REPLY_TRY_AGAIN && slot->is_lasting)
        fail_advise(error, "check the host and the port of the URL, the endpoint and the proxy: no "
                           "server answers there");
    else if (slot->verdict == REPLY_TRY_AGAIN)
        fail_advise(error, "check the network and the endpoint, and try again later; the storage "
                           "option timeout sets how long requests are repeated");
    else if (!slot->is_judged && !strncmp(slot->reason, "SSL", 3))
        fail_advise(error, "check the server's certificate, or name the file of the authority that "
                           "signed it with the storage option ca_bundle");
    else if (is_text(slot)) fail_advise(error, ADVICE_LIST);
    else if (slot->verdict == REPLY_REDIRECTED)
        fail_advise(error, "check the URL, the endpoint and the region: the object may have moved, "
                           "or the server asks for a login");
    else if (!slot->is_judged || (slot->reply.status != 200 && slot->reply.status != 206))
        fail_advise(error, "check the URL, the endpoint and the proxy: no web server that has the "
                           "object answers there");
    else
        fail_advise(error, "use a server that supports range requests, or copy the shards to this "
                           "machine");
}

/* The reason, with what the server's error code adds. Without a bucket, an object is also missing;
 * a store that does not say which has no bucket if it cannot list the objects. */
static const char *reason_of(const struct slot *slot, const char *code) {
    bool is_bucket = is_listing(slot) || !strcmp(code, "NoSuchBucket") ||
                     !strcmp(code, "ContainerNotFound");
    if (slot->verdict != REPLY_MISSING || !is_bucket) return slot->reason;
    return "there is no such bucket or container";
}

/* Which server sent what, if it is not the text that was asked for: its first bytes tell whether a
 * proxy, a web site or another service answered. */
static void describe_text(char *text, size_t capacity, const struct slot *slot) {
    const struct transfer_request *request = &slot->run->requests[slot->index];
    char url[448], quote[QUOTE_MAX];
    text[0] = 0;
    if (slot->verdict != REPLY_ODD || !is_text(slot)) return;
    redact_url(url, sizeof url, request->text->url);
    reply_quote(quote, request->body->data ? request->body->data : "", request->body->size);
    snprintf(text, capacity, "; %s sent \"%s\"", url, quote);
}

recmap_status slot_fail(const struct slot *slot, recmap_error *error) {
    char code[CODE_MAX], answer[CODE_MAX + 64] = "", repeats[64] = "", sent[640], reason[320];
    const struct transfer_request *request = &slot->run->requests[slot->index];
    unsigned attempts = slot->run->attempts[slot->index].count;
    reply_find_code(code, slot->body, slot->body_used);
    if (slot->is_judged && slot->reply.status != 206)
        snprintf(answer, sizeof answer, " (HTTP %ld%s%s)", slot->reply.status, code[0] ? " " : "",
                 code);
    if (attempts > 1) snprintf(repeats, sizeof repeats, ", after %u attempts", attempts);
    describe_text(sent, sizeof sent, slot);
    redact_url(reason, sizeof reason,
               reason_of(slot, code)); /* libcurl's may have the proxy's URL */
    fail(error, status_of(slot->verdict), "cannot %s: %s%s%s%s",
         is_listing(slot) ? "list the objects" : "read the object", reason, answer, repeats, sent);
    fail_at(error, request->name, RECMAP_NO_RECORD,
            request->text ? RECMAP_NO_OFFSET : slot->range.offset);
    if (error) error->system_errno = errno_of(slot);
    advise(slot, code, error);
    return status_of(slot->verdict);
}
