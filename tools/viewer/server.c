#include "viewer/server.h"

#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "terminal/interrupt.h"
#include "terminal/message.h"

/* A signal that arrives just before poll starts to wait is seen after this time. */
enum { POLL_MS = 200 };

static recmap_status fail_listen(recmap_error *error, unsigned port) {
    char path[32];
    int system_errno = errno;
    snprintf(path, sizeof path, "127.0.0.1:%u", port);
    message_fail_errno(error, path, "listen");
    const char *advice = "try another port, or leave out --port";
    if (system_errno != EADDRINUSE && system_errno != EACCES)
        advice = "check that this machine allows connections to itself";
    snprintf(error->advice, sizeof error->advice, "%s", advice);
    return RECMAP_IO;
}

/* Binds to the loopback interface alone, so that other machines cannot connect. */
static recmap_status listen_on(struct server *server, unsigned *port, recmap_error *error) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)*port)};
    socklen_t size = sizeof address;
    int yes = 1;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    server->listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (server->listener < 0) return fail_listen(error, *port);
    /* Without this, the port of a server that just ended cannot be used again for a minute. */
    setsockopt(server->listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (bind(server->listener, (struct sockaddr *)&address, size) ||
        listen(server->listener, CONNECTIONS_MAX) ||
        getsockname(server->listener, (struct sockaddr *)&address, &size))
        return fail_listen(error, *port);
    *port = ntohs(address.sin_port);
    return RECMAP_OK;
}

recmap_status server_open(struct server *server, unsigned port, recmap_error *error) {
    for (size_t i = 0; i < CONNECTIONS_MAX; i++) server->connections[i].state = CONNECTION_CLOSED;
    RETURN_IF_FAILED(listen_on(server, &port, error));
    if (gate_init(&server->gate, port)) return RECMAP_OK;
    return message_fail_errno(error, "getrandom", "draw a secret");
}

void server_close(struct server *server) {
    for (size_t i = 0; i < CONNECTIONS_MAX; i++) connection_close(&server->connections[i]);
    if (server->listener >= 0) close(server->listener);
    server->listener = -1;
}

static const char *reason_of(int status) {
    switch (status) {
    case 405: return "Only GET and HEAD are answered.";
    case 413: return "Requests with a body are not answered.";
    case 431: return "The request is too large.";
    case 505: return "Only HTTP/1.1 is answered.";
    default: return "The request is malformed.";
    }
}

static void reply_to(void *context, struct reply *reply, const struct request *request,
                     int status) {
    struct server *server = context;
    struct request_text resource = {NULL, 0};
    const char *reason = reason_of(status);
    if (status == 200) status = gate_check(&resource, &reason, &server->gate, request);
    if (status == 200) server->answer(server->context, reply, resource, request);
    else reply_refuse(reply, status, reason);
}

/* A free connection; else the one that has waited longest for its request, which is closed. NULL if
 * all are being answered. */
static struct connection *find_room(struct server *server) {
    struct connection *oldest = NULL;
    for (size_t i = 0; i < CONNECTIONS_MAX; i++) {
        struct connection *connection = &server->connections[i];
        if (connection->state == CONNECTION_CLOSED) return connection;
        if (connection->state == CONNECTION_WRITING) continue;
        if (!oldest || connection->deadline_ms < oldest->deadline_ms) oldest = connection;
    }
    if (oldest) connection_close(oldest);
    return oldest;
}

static void accept_connection(struct server *server) {
    int socket = accept4(server->listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (socket < 0) return;
    struct connection *connection = find_room(server);
    if (connection) connection_open(connection, socket);
    else close(socket);
}

/* Closes connections that exceed their time limit. Returns how many are open, with their sockets in
 * `polls` and their indexes in `indexes`. */
static nfds_t list_open(struct pollfd *polls, size_t *indexes, struct server *server) {
    nfds_t count = 0;
    uint64_t now = connection_clock_ms();
    for (size_t i = 0; i < CONNECTIONS_MAX; i++) {
        struct connection *connection = &server->connections[i];
        if (connection->state != CONNECTION_CLOSED && now > connection->deadline_ms)
            connection_close(connection);
        if (connection->state == CONNECTION_CLOSED) continue;
        polls[count] = (struct pollfd){connection->socket, connection_events(connection), 0};
        indexes[count++] = i;
    }
    return count;
}

recmap_status server_run(struct server *server, recmap_error *error) {
    struct pollfd polls[CONNECTIONS_MAX + 1];
    size_t indexes[CONNECTIONS_MAX];
    bool has_work = false;
    while (!interrupt_is_pending()) {
        nfds_t count = list_open(polls, indexes, server);
        polls[count] = (struct pollfd){server->listener, POLLIN, 0};
        if (poll(polls, count + 1, has_work ? 0 : POLL_MS) < 0) {
            if (errno == EINTR) continue;
            return message_fail_errno(error, "", "wait for requests");
        }
        for (nfds_t i = 0; i < count && !interrupt_is_pending(); i++)
            if (polls[i].revents)
                connection_continue(&server->connections[indexes[i]], reply_to, server);
        if (polls[count].revents) accept_connection(server);
        has_work = server->continue_work(server->context);
    }
    return interrupt_fail(error);
}
