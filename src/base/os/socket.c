#include "base/os/socket.h"

#include <netdb.h>
#include <stddef.h>

int socket_open(int family, int type, int protocol) {
    return socket(family, type | SOCK_CLOEXEC, protocol);
}

bool socket_host_is_unknown(const char *host) {
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
    struct addrinfo *found = NULL;
    int code = getaddrinfo(host, NULL, &hints, &found);
    if (!code) freeaddrinfo(found);
#ifdef EAI_NODATA
    if (code == EAI_NODATA) return true;
#endif
    return code == EAI_NONAME;
}
