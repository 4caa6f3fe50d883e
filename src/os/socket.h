/* Sockets, and addresses in text. */
#ifndef RECMAP_OS_SOCKET_H
#define RECMAP_OS_SOCKET_H

#include <stdbool.h>
#include <sys/socket.h>

/* Opens a socket that is closed when the process executes another program. Returns the descriptor,
 * or -1 on failure. */
int socket_open(int family, int type, int protocol);

/* Whether the text is an address, in any notation that connects to it. Names are not looked up. */
bool socket_parse_address(struct sockaddr_storage *address, const char *text);

#endif
