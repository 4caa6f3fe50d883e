#include "base/os/socket.h"

#include <netdb.h>
#include <stddef.h>

int socket_open(int family, int type, int protocol) {
    return socket(family, type | SOCK_CLOEXEC, protocol);
}

bool socket_host_is_unknown(const char *host) {
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
    struct addrinfo *addresses = NULL;
    int code = getaddrinfo(host, NULL, &hints, &addresses);
    if (!code) freeaddrinfo(addresses);
#ifdef EAI_NODATA
    if (code == EAI_NODATA) return true;
#endif
    return code == EAI_NONAME;
}
