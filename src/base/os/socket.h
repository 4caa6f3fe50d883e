/* Sockets. */
#ifndef RECMAP_BASE_OS_SOCKET_H
#define RECMAP_BASE_OS_SOCKET_H

#include <sys/socket.h>

/* Opens a socket that is closed when the process executes another program. Returns the descriptor,
 * or -1 on failure. */
int socket_open(int family, int type, int protocol);

#endif
