/* Sockets. */
#ifndef RECMAP_BASE_OS_SOCKET_H
#define RECMAP_BASE_OS_SOCKET_H

#include <stdbool.h>
#include <sys/socket.h>

/* Opens a socket that is closed when the process executes another program. Returns the descriptor,
 * or -1 on failure. */
int socket_open(int family, int type, int protocol);

/* Looks up a host. Returns true if the resolver says that it does not exist or has no address, and
 * false if it exists, or if that is not known, because the resolver cannot be reached for example.
 * May block for some seconds. */
bool socket_host_is_unknown(const char *host);

#endif
