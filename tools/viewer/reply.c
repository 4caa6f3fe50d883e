#include "viewer/reply.h"

#include <stdlib.h>
#include <string.h>

#include "viewer/http_library.h"
#include "viewer/page_json.h"

enum { METHOD_NOT_ALLOWED = 405, NO_MEMORY = 503 };

void reply_init(struct reply *reply) {
    *reply = (struct reply){.status = 200, .type = "application/json"};
    reply->stream = open_memstream(&reply->body, &reply->body_size);
}

static void close_stream(struct reply *reply) {
    if (reply->stream && (ferror(reply->stream) | fclose(reply->stream))) {
        free(reply->body);
        reply->body = NULL;
    }
    reply->stream = NULL;
}

void reply_deinit(struct reply *reply) {
    close_stream(reply);
    free(reply->body);
    reply->body = NULL;
}

static void restart(struct reply *reply, int status, const char *type) {
    reply_deinit(reply);
    reply_init(reply);
    reply->status = status;
    reply->type = type;
}

void reply_refuse(struct reply *reply, int status, const char *reason) {
    restart(reply, status, "text/plain; charset=utf-8");
    if (reply->stream) fprintf(reply->stream, "%s\n", reason);
}

static int status_of(recmap_status status) {
    switch (status) {
    case RECMAP_INVALID: return 400;
    case RECMAP_NOT_FOUND:
    case RECMAP_NO_COLUMN: return 404;
    case RECMAP_NO_MEMORY:
    case RECMAP_CANCELLED: return 503;
    default: return 500;
    }
}

void reply_fail(struct reply *reply, const recmap_error *error) {
    restart(reply, status_of(error->status), "application/json");
    if (!reply->stream) return;
    struct page_json json = {.stream = reply->stream};
    page_json_begin(&json, '{');
    page_json_error(&json, error);
    page_json_end(&json, '}');
}

/* The page may load its own parts, and nothing else. Bytes of records are pictures or sounds by
 * their declared type, whatever they contain, and run nothing if they are opened as a page. */
static const char *policy_of(const struct reply *reply) {
    return reply->is_page ? "default-src 'none'; script-src 'self'; style-src 'self'; "
                            "img-src 'self'; media-src 'self'; connect-src 'self'; "
                            "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
                          : "default-src 'none'; frame-ancestors 'none'; sandbox";
}

static bool add_header(struct MHD_Response *response, const char *name, const char *value) {
    return microhttpd.add_response_header(response, name, value) == MHD_YES;
}

static bool add_headers(struct MHD_Response *response, const struct reply *reply) {
    return add_header(response, "Content-Type", reply->type) &&
           add_header(response, "Content-Security-Policy", policy_of(reply)) &&
           add_header(response, "X-Content-Type-Options", "nosniff") &&
           add_header(response, "Referrer-Policy", "no-referrer") &&
           add_header(response, "Cross-Origin-Resource-Policy", "same-origin") &&
           add_header(response, "Cross-Origin-Opener-Policy", "same-origin") &&
           add_header(response, "Cache-Control", "no-store") &&
           (reply->status != METHOD_NOT_ALLOWED || add_header(response, "Allow", "GET, HEAD"));
}

bool reply_send(struct reply *reply, struct MHD_Connection *connection) {
    close_stream(reply);
    if (!reply->body) {
        reply->status = NO_MEMORY;
        reply->body_size = 0;
    }
    struct MHD_Response *response = microhttpd.create_response_from_buffer(
        reply->body_size, reply->body, MHD_RESPMEM_MUST_FREE);
    if (!response) return false;
    reply->body = NULL; /* the response owns it */
    bool is_sent = add_headers(response, reply) &&
                   microhttpd.queue_response(connection, (unsigned)reply->status, response) ==
                       MHD_YES;
    microhttpd.destroy_response(response);
    return is_sent;
}
