/* An HTTP reply. */
#ifndef RECMAP_TOOLS_VIEWER_REPLY_H
#define RECMAP_TOOLS_VIEWER_REPLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include <recmap/status.h>

enum { REPLY_HEADER_SIZE = 1024 };

struct reply {
    int status;       /* of HTTP */
    const char *type; /* of the body; a static string */
    bool is_page;     /* the page itself, which may run its script and load its parts */
    FILE *stream;     /* the body is written to it; NULL if memory is short */
    char *body;       /* set by reply_finish */
    size_t body_size;
    char header[REPLY_HEADER_SIZE]; /* set by reply_finish */
    size_t header_size;
};

void reply_init(struct reply *reply);
void reply_deinit(struct reply *reply);

/* Discards the body so far, and makes the reply an error with a sentence of text, or with an error
 * of the library as JSON: {"error": ..., "advice": ...}. */
void reply_refuse(struct reply *reply, int status, const char *reason);
void reply_fail(struct reply *reply, const recmap_error *error);

/* Completes body and header. Without memory for the body, it becomes a short error. */
void reply_finish(struct reply *reply);

#endif
