#include "base/os/socket.h"

int socket_open(int family, int type, int protocol) {
    return socket(family, type | SOCK_CLOEXEC, protocol);
}
