#include "net/blocked.h"

#include <netinet/in.h>
#include <stdint.h>
#include <string.h>

static bool is_link_local_v4(const uint8_t ip[4]) {
    return ip[0] == 169 && ip[1] == 254;
}

/* The IPv4 address is in the last four bytes, following one of these prefixes. */
static bool is_link_local_v4_within(const uint8_t ip[16]) {
    static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};
    static const uint8_t nat64[12] = {0x00, 0x64, 0xff, 0x9b};
    return (!memcmp(ip, mapped, sizeof mapped) || !memcmp(ip, nat64, sizeof nat64)) &&
           is_link_local_v4(ip + 12);
}

static bool is_blocked_v6(const uint8_t ip[16]) {
    static const uint8_t metadata[16] = {0xfd, 0x00,        0x0e,
                                         0xc2, [14] = 0x02, [15] = 0x54}; /* fd00:ec2::254 */
    bool is_link_local = ip[0] == 0xfe && (ip[1] & 0xc0) == 0x80;
    return is_link_local || is_link_local_v4_within(ip) || !memcmp(ip, metadata, sizeof metadata);
}

bool host_is_blocked(const char *host) {
    char name[256];
    struct sockaddr_storage address;
    bool is_v6 = host[0] == '[';
    size_t size = is_v6 ? strcspn(++host, "]") : strcspn(host, ":/?#");
    if (size >= sizeof name) return false;
    memcpy(name, host, size);
    name[size] = 0;
    return socket_parse_address(&address, name) &&
           address_is_blocked((const struct sockaddr *)&address);
}

bool address_is_blocked(const struct sockaddr *address) {
    if (address->sa_family == AF_INET) {
        struct in_addr ip = ((const struct sockaddr_in *)address)->sin_addr;
        return is_link_local_v4((const uint8_t *)&ip.s_addr);
    }
    return address->sa_family == AF_INET6 &&
           is_blocked_v6(((const struct sockaddr_in6 *)address)->sin6_addr.s6_addr);
}
