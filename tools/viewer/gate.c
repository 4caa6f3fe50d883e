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

static bool equals(const char *text, const char *word) {
    return text && !strcmp(text, word);
}

/* A browser leaves the port out if it is HTTP's. */
static bool is_own_host(const struct gate *gate, const char *host) {
    static const char *const names[] = {"127.0.0.1", "localhost"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char own[32];
        snprintf(own, sizeof own, "%s:%u", names[i], gate->port);
        if (equals(host, own) || (gate->port == HTTP_PORT && equals(host, names[i]))) return true;
    }
    return false;
}

static bool is_own_origin(const struct request *request) {
    static const char scheme[] = "http://";
    const size_t scheme_size = sizeof scheme - 1;
    const char *origin = request->origin;
    return !origin ||
           (!strncmp(origin, scheme, scheme_size) && equals(request->host, origin + scheme_size));
}

/* A link to the page may be on any other page; everything else is requested by the page itself, or
 * by programs that are not browsers. */
static bool is_own_fetch(const struct request *request, const char *resource) {
    const char *site = request->fetch_site;
    if (!site || equals(site, "same-origin") || equals(site, "none")) return true;
    return !*resource && equals(request->fetch_mode, "navigate") &&
           equals(request->fetch_dest, "document");
}

/* Compares all bytes, so that the time does not tell how many are right. */
static bool has_secret(const struct gate *gate, const char *path) {
    unsigned char difference = 0;
    if (*path != '/' || strlen(path) < SECRET_SIZE + 2) return false;
    for (size_t i = 0; i < SECRET_SIZE; i++)
        difference |= (unsigned char)(path[1 + i] ^ gate->secret[i]);
    return !difference && path[SECRET_SIZE + 1] == '/';
}

int gate_check(const char **resource, const char **reason, const struct gate *gate,
               const struct request *request) {
    *reason = "The host of this request is not this server.";
    if (!is_own_host(gate, request->host)) return FORBIDDEN;
    *reason = "This request was made by another site.";
    if (!is_own_origin(request)) return FORBIDDEN;
    *reason = "The secret of this address is missing or wrong: use the address that recmap view "
              "printed.";
    if (!has_secret(gate, request->path)) return FORBIDDEN;
    *resource = request->path + SECRET_SIZE + 2;
    *reason = "This request was made by another site.";
    return is_own_fetch(request, *resource) ? OK : FORBIDDEN;
}
