/* An HTTP server on the loopback interface, for one user: libmicrohttpd, with the checks of a gate.
 * One thread answers all requests, one after the other, and no client can keep it waiting. */
#ifndef RECMAP_TOOLS_VIEWER_SERVER_H
#define RECMAP_TOOLS_VIEWER_SERVER_H

#include "viewer/gate.h"
#include "viewer/reply.h"

/* Connections that wait for a request. At most as many again are replied to. */
enum { CONNECTIONS_MAX = 32 };

/* Fills the reply to a request that the gate let through. `resource` is the path after the secret.
 */
typedef void (*server_answer_fn)(void *context, struct reply *reply, const char *resource,
                                 const struct request *request);

/* Does some milliseconds of work that the answers started. Returns whether more is left. */
typedef bool (*server_continue_fn)(void *context);

struct server {
    struct MHD_Daemon *daemon;
    struct gate gate;
    server_answer_fn answer;
    server_continue_fn continue_work;
    void *context;
    struct MHD_Connection *waiting[CONNECTIONS_MAX]; /* for a request; oldest first */
    size_t waiting_count;
};

/* Listens on a port of 127.0.0.1; 0: the system chooses one. The caller closes the server, also
 * after an error. Errors: IO; UNSUPPORTED without libmicrohttpd. */
recmap_status server_open(struct server *server, unsigned port, recmap_error *error);
void server_close(struct server *server);

/* Answers requests, and does the work they started in between, until a signal asks for a stop
 * (terminal/interrupt.h). Errors: IO; CANCELLED. */
recmap_status server_run(struct server *server, recmap_error *error);

#endif
