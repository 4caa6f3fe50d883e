#include "viewer/gate.h"

#include <stdio.h>
#include <string.h>
#include <sys/random.h>

enum { OK = 200, FORBIDDEN = 403, HTTP_PORT = 80 };

bool gate_init(struct gate *gate, unsigned port) {
    unsigned char bits[SECRET_SIZE / 2];
    if (getrandom(bits, sizeof bits, 0) != sizeof bits) return false;
    gate->port = port;
    for (size_t i = 0; i < sizeof bits; i++)
        snprintf(gate->secret + 2 * i, sizeof gate->secret - 2 * i, "%02x", bits[i]);
    return true;
}

/* A browser leaves the port out if it is that of HTTP. */
static bool is_own_host(const struct gate *gate, struct request_text host) {
    static const char *const names[] = {"127.0.0.1", "localhost"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char own[32];
        snprintf(own, sizeof own, "%s:%u", names[i], gate->port);
        if (request_text_equals(host, own)) return true;
        if (gate->port == HTTP_PORT && request_text_equals(host, names[i])) return true;
    }
    return false;
}

static bool is_own_origin(const struct request *request) {
    static const char scheme[] = "http://";
    const size_t scheme_size = sizeof scheme - 1;
    struct request_text origin = request->origin, host = request->host;
    if (!origin.data) return true;
    return origin.size == scheme_size + host.size && !memcmp(origin.data, scheme, scheme_size) &&
           !memcmp(origin.data + scheme_size, host.data, host.size);
}

/* A link to the page may be on any other page; everything else is requested by the page itself, or
 * by programs that are not browsers. */
static bool is_own_fetch(const struct request *request, struct request_text resource) {
    struct request_text site = request->fetch_site;
    if (!site.data || request_text_equals(site, "same-origin") || request_text_equals(site, "none"))
        return true;
    return !resource.size && request_text_equals(request->fetch_mode, "navigate") &&
           request_text_equals(request->fetch_dest, "document");
}

/* Compares all bytes, so that the time does not tell how many are right. */
static bool has_secret(const struct gate *gate, struct request_text path) {
    unsigned char difference = 0;
    if (path.size < SECRET_SIZE + 2) return false;
    for (size_t i = 0; i < SECRET_SIZE; i++)
        difference |= (unsigned char)(path.data[1 + i] ^ gate->secret[i]);
    return !difference && path.data[SECRET_SIZE + 1] == '/';
}

int gate_check(struct request_text *resource, const char **reason, const struct gate *gate,
               const struct request *request) {
    *reason = "The host of this request is not this server.";
    if (!is_own_host(gate, request->host)) return FORBIDDEN;
    *reason = "This request was made by another site.";
    if (!is_own_origin(request)) return FORBIDDEN;
    *reason = "The secret of this address is missing or wrong: use the address that recmap view "
              "printed.";
    if (!has_secret(gate, request->path)) return FORBIDDEN;
    *resource = (struct request_text){request->path.data + SECRET_SIZE + 2,
                                      request->path.size - SECRET_SIZE - 2};
    *reason = "This request was made by another site.";
    return is_own_fetch(request, *resource) ? OK : FORBIDDEN;
}
