#include "viewer/connection.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

/* Time limits: for the whole request; for some progress of the reply; for the other side to close.
 */
enum { READING_MS = 5000, WRITING_MS = 30000, DRAINING_MS = 2000 };

uint64_t connection_clock_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static void enter(struct connection *connection, enum connection_state state, unsigned limit_ms) {
    connection->state = state;
    connection->deadline_ms = connection_clock_ms() + limit_ms;
}

void connection_open(struct connection *connection, int socket) {
    connection->socket = socket;
    connection->input_size = 0;
    connection->has_body = true;
    connection->written = 0;
    connection->reply = (struct reply){.status = 0};
    enter(connection, CONNECTION_READING, READING_MS);
}

void connection_close(struct connection *connection) {
    if (connection->state == CONNECTION_CLOSED) return;
    reply_deinit(&connection->reply);
    close(connection->socket);
    connection->state = CONNECTION_CLOSED;
}

short connection_events(const struct connection *connection) {
    return connection->state == CONNECTION_WRITING ? POLLOUT : POLLIN;
}

static bool would_block(void) {
    return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
}

/* Makes the reply once the request is complete or known to be wrong. */
static void try_reply(struct connection *connection, connection_reply_fn reply, void *context) {
    struct request request;
    int status = request_parse(&request, connection->input, connection->input_size);
    if (!status) return;
    reply_init(&connection->reply);
    reply(context, &connection->reply, &request, status);
    reply_finish(&connection->reply);
    connection->has_body = !request.is_head;
    enter(connection, CONNECTION_WRITING, WRITING_MS);
}

static void read_request(struct connection *connection, connection_reply_fn reply, void *context) {
    size_t room = sizeof connection->input - connection->input_size;
    ssize_t size = recv(connection->socket, connection->input + connection->input_size, room, 0);
    if (size > 0) {
        connection->input_size += (size_t)size;
        try_reply(connection, reply, context);
    } else if (!size || !would_block()) {
        connection_close(connection);
    }
}

/* Sends what is left of header or body. Returns false if nothing more can be sent now. */
static bool send_some(struct connection *connection, size_t total) {
    const struct reply *reply = &connection->reply;
    bool is_header = connection->written < reply->header_size;
    const char *data = is_header ? reply->header + connection->written
                                 : reply->body + (connection->written - reply->header_size);
    size_t end = is_header ? reply->header_size : total;
    ssize_t size = send(connection->socket, data, end - connection->written, MSG_NOSIGNAL);
    if (size < 0) {
        if (!would_block()) connection_close(connection);
        return false;
    }
    connection->written += (size_t)size;
    connection->deadline_ms = connection_clock_ms() + WRITING_MS;
    return true;
}

static void write_reply(struct connection *connection) {
    const struct reply *reply = &connection->reply;
    size_t total = reply->header_size + (connection->has_body ? reply->body_size : 0);
    while (connection->written < total)
        if (!send_some(connection, total)) return;
    shutdown(connection->socket, SHUT_WR);
    enter(connection, CONNECTION_DRAINING, DRAINING_MS);
}

static void drain(struct connection *connection) {
    ssize_t size = recv(connection->socket, connection->input, sizeof connection->input, 0);
    if (!size || (size < 0 && !would_block())) connection_close(connection);
}

void connection_continue(struct connection *connection, connection_reply_fn reply, void *context) {
    if (connection->state == CONNECTION_READING) read_request(connection, reply, context);
    else if (connection->state == CONNECTION_DRAINING) drain(connection);
    if (connection->state == CONNECTION_WRITING) write_reply(connection);
}
