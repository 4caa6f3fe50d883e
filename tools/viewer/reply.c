#include "viewer/reply.h"

#include <stdlib.h>
#include <string.h>

#include "viewer/page_json.h"

enum { NO_MEMORY = 503 };

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

static const char *status_name(int status) {
    switch (status) {
    case 200: return "OK";
    case 400: return "Bad Request";
    case 403: return "Forbidden";
    case 404: return "Not Found";
    case 405: return "Method Not Allowed";
    case 413: return "Content Too Large";
    case 431: return "Request Header Fields Too Large";
    case 503: return "Service Unavailable";
    case 505: return "HTTP Version Not Supported";
    default: return "Internal Server Error";
    }
}

/* The page may load its own parts, and nothing else. Bytes of records are pictures or sounds by
 * their declared type, whatever they contain, and run nothing if they are opened as a page. */
static const char *policy_of(const struct reply *reply) {
    return reply->is_page ? "default-src 'none'; script-src 'self'; style-src 'self'; "
                            "img-src 'self'; media-src 'self'; connect-src 'self'; "
                            "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
                          : "default-src 'none'; frame-ancestors 'none'; sandbox";
}

void reply_finish(struct reply *reply) {
    close_stream(reply);
    if (!reply->body) {
        reply->status = NO_MEMORY;
        reply->body_size = 0;
    }
    int size = snprintf(reply->header, sizeof reply->header,
                        "HTTP/1.1 %d %s\r\n"
                        "Content-Type: %s\r\n"
                        "Content-Length: %zu\r\n"
                        "Content-Security-Policy: %s\r\n"
                        "X-Content-Type-Options: nosniff\r\n"
                        "Referrer-Policy: no-referrer\r\n"
                        "Cross-Origin-Resource-Policy: same-origin\r\n"
                        "Cross-Origin-Opener-Policy: same-origin\r\n"
                        "Cache-Control: no-store\r\n"
                        "%s"
                        "Connection: close\r\n"
                        "\r\n",
                        reply->status, status_name(reply->status), reply->type, reply->body_size,
                        policy_of(reply), reply->status == 405 ? "Allow: GET, HEAD\r\n" : "");
    reply->header_size = (size_t)size;
}
