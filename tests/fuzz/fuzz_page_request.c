/* Any bytes as a request to the server of `recmap view`: what the parser returns lies within them,
 * does not depend on how they arrive, and does not pass the gate without the secret. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz/fuzz.h"
#include "viewer/gate.h"

static const struct gate gate = {8080, "0123456789abcdef0123456789abcdef"};

static void check(bool holds) {
    if (!holds) abort();
}

static void check_text(struct request_text text, const uint8_t *data, size_t size) {
    const char *first = (const char *)data;
    if (!text.data) return;
    check(text.data >= first && text.data + text.size <= first + size);
    check(!memchr(text.data, '\r', text.size) && !memchr(text.data, 0, text.size));
}

/* A number is what its digits say. */
static void check_number(const struct request *request, const char *name) {
    char text[32], digits[32];
    uint64_t number = 0;
    if (request_get_number(&number, request, name) != FIELD_VALID) return;
    check(request_get_text(text, sizeof text, request, name) == FIELD_VALID);
    snprintf(digits, sizeof digits, "%0*" PRIu64, (int)strlen(text), number);
    check(!strcmp(text, digits));
}

static void check_fields(const struct request *request) {
    static const char *const names[] = {"first", "filter", "", "number"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char value[16];
        if (request_get_text(value, sizeof value, request, names[i]) == FIELD_VALID)
            check(strlen(value) < sizeof value);
        check_number(request, names[i]);
    }
}

/* Only a request that has the secret and names this server gets through. */
static void check_gate(const struct request *request, const uint8_t *data, size_t size) {
    struct request_text resource;
    const char *reason;
    int status = gate_check(&resource, &reason, &gate, request);
    check(status == 200 || status == 403);
    if (status != 200) return;
    check_text(resource, data, size);
    check(memmem(request->path.data, request->path.size, gate.secret, SECRET_SIZE) != NULL);
    check(request_text_equals(request->host, "127.0.0.1:8080") ||
          request_text_equals(request->host, "localhost:8080"));
    check(!request->origin.data || request->origin.size == request->host.size + 7);
}

/* A request is complete at its empty line, however many bytes were received with it. */
static void check_prefixes(const uint8_t *data, size_t size, int status) {
    struct request request;
    for (size_t i = 0; i < size && i < 256; i++) {
        int early = request_parse(&request, (const char *)data, i);
        check(!early || early == status);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct request request;
    if (size > REQUEST_SIZE_MAX) size = REQUEST_SIZE_MAX;
    int status = request_parse(&request, (const char *)data, size);
    check(status == 0 || status == 200 || (status >= 400 && status < 600));
    check_prefixes(data, size, status);
    if (status != 200) return 0;
    check_text(request.path, data, size);
    check_text(request.query, data, size);
    check_text(request.host, data, size);
    check_text(request.origin, data, size);
    check_fields(&request);
    check_gate(&request, data, size);
    return 0;
}
