#include "viewer/server.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "terminal/interrupt.h"
#include "terminal/message.h"
#include "viewer/http_library.h"

/* Limits: a signal that arrives just before the wait starts is seen after POLL_MS. A connection is
 * closed after this time without any byte of a request, or of a reply. Its memory holds the request
 * and the headers of the reply. */
enum { POLL_MS = 200, READING_S = 5, WRITING_S = 30, CONNECTION_MEMORY = 24 << 10 };

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

/* ---- Replies. */

/* Says why a request is refused. Returns its status; 200 if it is answered. */
static int check_request(const char **resource, const char **reason, const struct server *server,
                         const struct request *request, const char *method) {
    const char *size = request->content_length;
    *reason = "Only GET and HEAD are answered.";
    if (strcmp(method, "GET") && strcmp(method, "HEAD")) return 405;
    *reason = "Requests with a body are not answered.";
    if (request->transfer_encoding || (size && strcmp(size, "0"))) return 413;
    *reason = "The request is malformed.";
    if (request->is_ambiguous) return 400;
    return gate_check(resource, reason, &server->gate, request);
}

static void forget(struct server *server, const struct MHD_Connection *connection) {
    size_t count = 0;
    for (size_t i = 0; i < server->waiting_count; i++)
        if (server->waiting[i] != connection) server->waiting[count++] = server->waiting[i];
    server->waiting_count = count;
}

/* Replies as soon as the headers are complete, so that no body is ever read: libmicrohttpd closes
 * the connection after such a reply, and tells the client so. */
static enum MHD_Result reply_to(void *context, struct MHD_Connection *connection, const char *path,
                                const char *method, const char *version, const char *upload,
                                size_t *upload_size, void **request_context) {
    struct server *server = context;
    struct request request;
    struct reply reply;
    const char *resource, *reason;
    (void)version, (void)upload, (void)upload_size, (void)request_context;
    if (interrupt_is_pending()) return MHD_NO;
    forget(server, connection);
    microhttpd.set_connection_option(connection, MHD_CONNECTION_OPTION_TIMEOUT,
                                     (unsigned)WRITING_S);
    request_init(&request, connection, path);
    reply_init(&reply);
    int status = check_request(&resource, &reason, server, &request, method);
    if (status == 200) server->answer(server->context, &reply, resource, &request);
    else reply_refuse(&reply, status, reason);
    bool is_sent = reply_send(&reply, connection);
    reply_deinit(&reply);
    return is_sent ? MHD_YES : MHD_NO;
}

/* ---- Connections. */

/* Ends the connection that has waited longest for its request. libmicrohttpd closes the socket. */
static void end_oldest(struct server *server) {
    const union MHD_ConnectionInfo *info =
        microhttpd.get_connection_info(server->waiting[0], MHD_CONNECTION_INFO_CONNECTION_FD);
    shutdown(info->connect_fd, SHUT_RDWR);
    forget(server, server->waiting[0]);
}

static void watch_connection(void *context, struct MHD_Connection *connection,
                             void **socket_context, enum MHD_ConnectionNotificationCode code) {
    struct server *server = context;
    (void)socket_context;
    forget(server, connection);
    if (code != MHD_CONNECTION_NOTIFY_STARTED) return;
    if (server->waiting_count == CONNECTIONS_MAX) end_oldest(server);
    server->waiting[server->waiting_count++] = connection;
}

/* ---- The server. */

/* Paths are compared, and fields decoded, as they were sent. */
static size_t keep_escapes(void *context, struct MHD_Connection *connection, char *text) {
    (void)context, (void)connection;
    return strlen(text);
}

/* Binds to the loopback interface alone, so that other machines cannot connect. */
static recmap_status listen_on(struct server *server, unsigned *port, recmap_error *error) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)*port)};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    server->daemon = microhttpd.start_daemon(
        MHD_USE_EPOLL | MHD_USE_SUPPRESS_DATE_NO_CLOCK, 0, NULL, NULL, reply_to, server,
        MHD_OPTION_SOCK_ADDR, &address, MHD_OPTION_STRICT_FOR_CLIENT, 1,
        MHD_OPTION_UNESCAPE_CALLBACK, keep_escapes, NULL, MHD_OPTION_NOTIFY_CONNECTION,
        watch_connection, server, MHD_OPTION_CONNECTION_LIMIT, 2U * CONNECTIONS_MAX,
        MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)READING_S, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
        (size_t)CONNECTION_MEMORY, MHD_OPTION_END);
    if (!server->daemon) return fail_listen(error, *port);
    *port = microhttpd.get_daemon_info(server->daemon, MHD_DAEMON_INFO_BIND_PORT)->port;
    return RECMAP_OK;
}

recmap_status server_open(struct server *server, unsigned port, recmap_error *error) {
    RETURN_IF_FAILED(http_library_load(error));
    RETURN_IF_FAILED(listen_on(server, &port, error));
    if (gate_init(&server->gate, port)) return RECMAP_OK;
    return message_fail_errno(error, "getrandom", "draw a secret");
}

void server_close(struct server *server) {
    if (server->daemon) microhttpd.stop_daemon(server->daemon);
}

recmap_status server_run(struct server *server, recmap_error *error) {
    bool has_work = false;
    while (!interrupt_is_pending()) {
        if (!microhttpd.run_wait(server->daemon, has_work ? 0 : POLL_MS))
            return message_fail_errno(error, "", "wait for requests");
        has_work = server->continue_work(server->context);
    }
    return interrupt_fail(error);
}
