/* Addresses that are not connected to.
 *
 * A machine in a data center reaches its own services, such as the one from which it gets its
 * credentials, at fixed addresses. A URL in an index from elsewhere must not reach them. */
#ifndef RECMAP_NET_BLOCKED_H
#define RECMAP_NET_BLOCKED_H

#include <stdbool.h>

#include "os/socket.h"

/* Whether the address is link-local, also as an IPv4 address within an IPv6 one (mapped, or as
 * NAT64 translates it), or that of the metadata service of Amazon's machines. */
bool address_is_blocked(const struct sockaddr *address);

/* Whether the text begins with such an address, in any notation that connects to it. Names are not
 * looked up. */
bool host_is_blocked(const char *host);

#endif
