/* One connection: reads a request, writes the reply, and closes. It never blocks: the server calls
 * it when its socket is ready, and closes it after a time limit. */
#ifndef RECMAP_TOOLS_VIEWER_CONNECTION_H
#define RECMAP_TOOLS_VIEWER_CONNECTION_H

#include <stdint.h>

#include "viewer/reply.h"
#include "viewer/request.h"

enum connection_state {
    CONNECTION_CLOSED,
    CONNECTION_READING,
    CONNECTION_WRITING,
    CONNECTION_DRAINING, /* replied; what else arrives is discarded until the other side closes, so
                            that it receives all of the reply */
};

/* Fills the reply to a request. `status` is 200, or that of an error of the request. */
typedef void (*connection_reply_fn)(void *context, struct reply *reply,
                                    const struct request *request, int status);

struct connection {
    enum connection_state state;
    int socket;
    uint64_t deadline_ms; /* on the monotonic clock */
    char input[REQUEST_SIZE_MAX];
    size_t input_size;
    bool has_body; /* false: HEAD */
    struct reply reply;
    size_t written; /* bytes of header and body */
};

/* The monotonic clock. */
uint64_t connection_clock_ms(void);

void connection_open(struct connection *connection, int socket);
void connection_close(struct connection *connection);

/* The poll events that it waits for. */
short connection_events(const struct connection *connection);

/* Reads, replies or writes, as far as possible without waiting. */
void connection_continue(struct connection *connection, connection_reply_fn reply, void *context);

#endif
