#include "os/socket.h"

#include <netdb.h>
#include <string.h>

int socket_open(int family, int type, int protocol) {
    return socket(family, type | SOCK_CLOEXEC, protocol);
}

bool socket_parse_address(struct sockaddr_storage *address, const char *text) {
    struct addrinfo *addresses;
    const struct addrinfo hints = {.ai_flags = AI_NUMERICHOST};
    if (getaddrinfo(text, NULL, &hints, &addresses) != 0) return false;
    *address = (struct sockaddr_storage){.ss_family = AF_UNSPEC};
    memcpy(address, addresses->ai_addr, addresses->ai_addrlen);
    freeaddrinfo(addresses);
    return true;
}
