/* Any bytes as the reply of a server: to a request for a range, and to one for a listing.
 *
 * The input's first line is the status and what was requested: STATUS OFFSET SIZE TOTAL FLAGS. The
 * lines up to an empty one are headers, and the rest is the body. */
#define _GNU_SOURCE
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz/fuzz.h"
#include "storage/protocol/list_reply.h"
#include "storage/protocol/process_reply.h"
#include "storage/protocol/reply.h"

static void check(bool holds) {
    if (!holds) abort();
}

/* A good reply has bytes of the expected object only, and begins where it should. */
static void check_good(uint64_t body_size, const struct reply *reply,
                       const struct range_request *request) {
    check(body_size <= request->size);
    check(request->accepts_shorter || body_size == request->size);
    check(!reply->is_malformed && !reply->is_encoded);
    check(reply->status == 206 || (reply->status == 200 && request->offset == 0));
    if (reply->status == 206) {
        check(reply->has_range && reply->range_begin == request->offset);
        check(reply->range_end - reply->range_begin == body_size);
    }
    if (request->etag[0]) check(!strcmp(request->etag, reply->etag));
}

static void check_reply(const struct reply *reply, const struct range_request *request) {
    const char *reason = NULL;
    uint64_t body_size = 0;
    check(strlen(reply->etag) < ETAG_MAX && strlen(reply->region) < REGION_MAX);
    check(etag_is_valid(reply->etag));
    enum reply_verdict verdict = reply_check(&body_size, &reason, reply, request);
    check(verdict == REPLY_GOOD || (reason && reason[0]));
    if (verdict == REPLY_GOOD) check_good(body_size, reply, request);
}

static void check_code(const char *body, size_t size) {
    char code[CODE_MAX];
    reply_find_code(code, body, size);
    check(strlen(code) < CODE_MAX);
    for (const char *c = code; *c; c++) check((unsigned char)*c > 0x20 && (unsigned char)*c < 0x7f);
    char quote[QUOTE_MAX];
    reply_quote(quote, body, size);
    check(strlen(quote) < QUOTE_MAX);
}

static void check_listing(const struct list_dialect *dialect, const char *body, size_t size) {
    struct list_page page = {0};
    enum list_verdict verdict = list_page_read(&page, dialect, body, size);
    check(verdict != LIST_NO_MEMORY);
    check(verdict != LIST_OK || !page.has_more || page.next);
    list_is_cut(dialect, body, size);
    size_t total = 0;
    for (size_t i = 0; i < page.count; i++) total += strlen(page.names[i]);
    check(total <= size);
    check(!page.next || strlen(page.next) <= size);
    list_page_deinit(&page);
}

/* What is accepted may become part of a header. */
static void check_graphic(const char *text) {
    for (const char *c = text; *c; c++) check((unsigned char)*c > 0x20 && (unsigned char)*c < 0x7f);
}

static void check_printed(const char *body, size_t size) {
    struct process_credentials printed;
    if (!process_reply_read(&printed, body, size)) return;
    check(printed.key[0] ? printed.secret[0] : printed.token[0]);
    check(printed.expires_s > 0);
    check_graphic(printed.key);
    check_graphic(printed.secret);
    check_graphic(printed.token);
}

/* The next number of the line; any text is some number. */
static uint64_t take_number(char **line) {
    const char *word = strsep(line, " ");
    return word ? strtoull(word, NULL, 10) : 0;
}

static struct range_request parse_request(long *status, char *line) {
    *status = (long)take_number(&line);
    uint64_t offset = take_number(&line), size = take_number(&line), total = take_number(&line);
    uint64_t flags = take_number(&line);
    return (struct range_request){.offset = offset >> 1,
                                  .size = (size >> 1) + 1,
                                  .accepts_shorter = flags & 1,
                                  .object_size = flags & 2 ? total : REPLY_NO_SIZE,
                                  .etag = flags & 4 ? "\"tag\"" : "",
                                  .modified = flags & 8 ? 784111777 : REPLY_NO_TIME};
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char *text = malloc(size + 1), *rest = text;
    check(text != NULL);
    if (size) memcpy(text, data, size);
    text[size] = 0;
    struct reply reply;
    reply_reset(&reply);
    struct range_request request = parse_request(&reply.status, strsep(&rest, "\n"));
    long status = reply.status;
    for (char *line; rest && *rest && (line = strsep(&rest, "\n")) && *line;)
        reply_add_header(&reply, line, strlen(line));
    reply.status = status;
    check_reply(&reply, &request);
    const char *body = rest ? rest : text + size;
    size_t body_size = (size_t)(text + size - body);
    check_code(body, body_size);
    check_printed(body, body_size);
    check_listing(&list_dialect_s3, body, body_size);
    check_listing(&list_dialect_azure, body, body_size);
    free(text);
    return 0;
}
