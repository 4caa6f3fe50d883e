/* Waiting for many sockets at once, at a cost that depends on those that are ready only. */
#ifndef RECMAP_BASE_OS_SOCKET_EVENTS_H
#define RECMAP_BASE_OS_SOCKET_EVENTS_H

#include <stdbool.h>
#include <stddef.h>

/* A socket that is ready. A failed one is ready for everything: reading and writing tell why. */
struct socket_event {
    int socket;
    bool can_read;
    bool can_write;
    bool has_failed;
};

enum { SOCKET_EVENTS_MAX = 64 }; /* that one call returns */

/* Returns the descriptor of an empty set of sockets, to be closed with socket_events_close; -1 on
 * failure. A set belongs to one thread at a time. */
int socket_events_open(void);

/* Closes a set; -1 is ignored. */
void socket_events_close(int set);

/* Adds a socket to the set, or changes what is waited for. Returns false on failure. */
bool socket_events_watch(int set, int socket, bool to_read, bool to_write);

/* Removes a socket, before it is closed: another process can keep what a descriptor refers to open,
 * and the set would still report it. One that is not in the set is ignored. */
void socket_events_forget(int set, int socket);

/* Waits until a socket is ready, at most `timeout_ms`. Returns how many of `events` are filled, 0
 * also if a signal came first. */
size_t socket_events_wait(struct socket_event events[SOCKET_EVENTS_MAX], int set, int timeout_ms);

#endif
