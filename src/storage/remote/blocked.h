/* Hosts and addresses that nothing is requested from.
 *
 * A machine in a data center reaches its own services, such as the one from which it gets its
 * credentials, at fixed addresses. A URL in an index from elsewhere must not reach them. Sockets
 * are checked by their address, so that no name leads there. With a proxy, only the proxy sees the
 * address: then the host of the URL is all that can be checked. */
#ifndef RECMAP_STORAGE_REMOTE_BLOCKED_H
#define RECMAP_STORAGE_REMOTE_BLOCKED_H

#include <stdbool.h>

#include "base/os/socket.h"

/* Returns true if the address is link-local, also as an IPv4 address within an IPv6 one (mapped,
 * NAT64, 6to4, Teredo, ISATAP), or is the address of Amazon's metadata service. */
bool address_is_blocked(const struct sockaddr *address);

/* Returns why a URL with the host that the text begins with, perhaps with a port, is not requested;
 * NULL if it may be. Names are not looked up.
 *
 * The same address has countless notations: other bases, fewer numbers, dots and digits of other
 * scripts. Which of them a proxy understands is not known. So a host must be a name in ASCII, four
 * decimal numbers, or an IPv6 address in brackets. Only then its address is compared. */
const char *host_refusal(const char *host);

#endif
