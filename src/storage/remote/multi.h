/* Many requests of libcurl at once, driven by the events of their sockets. libcurl's own loop,
 * curl_multi_perform, asks each request each time, which cost 45 % of the CPU time of small
 * requests; here it hears only of sockets that are ready and of timers that have expired.
 *
 * libcurl before 7.88 lets OpenSSL write to connections with a plain write(), which raises SIGPIPE
 * if the server has closed them. Its own remedy changes the handling of the signal for the whole
 * process, so it is turned off (CURLOPT_NOSIGNAL). Instead, all calls that send something or close
 * connections are made here, under a guard. */
#ifndef RECMAP_STORAGE_REMOTE_MULTI_H
#define RECMAP_STORAGE_REMOTE_MULTI_H

#include <stdbool.h>
#include <stdint.h>

#include "storage/remote/curl_library.h"

/* Requests are added to `curl` with libcurl's function, and removed with multi_remove. It belongs
 * to one thread at a time, and stays where it is, because libcurl keeps pointers to it. */
struct multi {
    CURLM *curl;
    int sockets;     /* the set of socket_events */
    uint64_t due_ns; /* the next timer; UINT64_MAX: none */
};

/* Returns false if memory or descriptors run out; it is then as after multi_deinit. */
bool multi_init(struct multi *multi);

/* Closes the connections. Removes no request: there must be none. */
void multi_deinit(struct multi *multi);

/* In a forked child: frees what can be freed without a word to the parent's servers. */
void multi_abandon(struct multi *multi);

/* Removes a request. If it has not ended, its connection is closed. */
void multi_remove(struct multi *multi, CURL *easy);

/* Handles timers that have expired. A new request is one, so this begins it. */
void multi_expire(struct multi *multi);

/* Waits until a socket is ready or a timer expires, at most `timeout_ms`, and handles the sockets
 * that are ready. */
void multi_wait(struct multi *multi, unsigned timeout_ms);

#endif
