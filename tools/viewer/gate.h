/* Decides which requests are answered.
 *
 * Any program of this machine can connect to the port, and any web page can make a browser send
 * requests to it. The secret in the path keeps both out. The other checks hold if the secret leaks:
 * a page from elsewhere has another origin, or, if its own name was made to point to this machine
 * (DNS rebinding), another host. */
#ifndef RECMAP_TOOLS_VIEWER_GATE_H
#define RECMAP_TOOLS_VIEWER_GATE_H

#include <stdbool.h>

#include "viewer/request.h"

enum { SECRET_SIZE = 32 }; /* hexadecimal digits: 128 random bits */

struct gate {
    unsigned port;
    char secret[SECRET_SIZE + 1];
};

/* Draws the secret. Returns false, with errno, if the system has no random bits. */
bool gate_init(struct gate *gate, unsigned port);

/* Returns 200, and the part of the path that follows `/SECRET/`; or the HTTP status of a refusal,
 * with a sentence that says why. */
int gate_check(const char **resource, const char **reason, const struct gate *gate,
               const struct request *request);

#endif
