/* An HTTP reply. */
#ifndef RECMAP_TOOLS_VIEWER_REPLY_H
#define RECMAP_TOOLS_VIEWER_REPLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include <recmap/status.h>

struct MHD_Connection;

struct reply {
    int status;       /* of HTTP */
    const char *type; /* of the body; a static string */
    bool is_page;     /* the page itself, which may run its script and load its parts */
    FILE *stream;     /* the body is written to it; NULL if memory is short */
    char *body;       /* set when the stream is closed */
    size_t body_size;
};

void reply_init(struct reply *reply);
void reply_deinit(struct reply *reply);

/* Discards the body so far, and makes the reply an error with a sentence of text, or with an error
 * of the library as JSON: {"error": ..., "advice": ...}. */
void reply_refuse(struct reply *reply, int status, const char *reason);
void reply_fail(struct reply *reply, const recmap_error *error);

/* Sends the reply, of which only reply_deinit is left to call. Without memory for the body, it is
 * empty. Returns false without memory for the headers. */
bool reply_send(struct reply *reply, struct MHD_Connection *connection);

#endif
