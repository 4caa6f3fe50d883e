#include "storage/remote/blocked.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdint.h>
#include <string.h>

static bool is_link_local_v4(const uint8_t ip[4]) {
    return ip[0] == 169 && ip[1] == 254;
}

/* The kinds of IPv6 addresses that contain an IPv4 address: the bytes that tell the kind, where
 * they are, and the places of the four bytes of the IPv4 address. */
static const struct embedding {
    uint8_t mark[16];
    uint8_t mark_size;
    uint8_t mark_place;
    uint8_t places[4];
    uint8_t mask; /* the bytes of the IPv4 address are XORed with it */
} embeddings[] = {
    {{0}, 12, 0, {12, 13, 14, 15}, 0},                                 /* compatible */
    {{[10] = 0xff, 0xff}, 12, 0, {12, 13, 14, 15}, 0},                 /* mapped */
    {{[8] = 0xff, 0xff}, 12, 0, {12, 13, 14, 15}, 0},                  /* translated */
    {{0x00, 0x64, 0xff, 0x9b}, 12, 0, {12, 13, 14, 15}, 0},            /* NAT64 */
    {{0x00, 0x64, 0xff, 0x9b, 0x00, 0x01}, 6, 0, {6, 7, 9, 10}, 0},    /* NAT64 of a network, */
    {{0x00, 0x64, 0xff, 0x9b, 0x00, 0x01}, 6, 0, {7, 9, 10, 11}, 0},   /* with the prefixes */
    {{0x00, 0x64, 0xff, 0x9b, 0x00, 0x01}, 6, 0, {9, 10, 11, 12}, 0},  /* that RFC 6052 */
    {{0x00, 0x64, 0xff, 0x9b, 0x00, 0x01}, 6, 0, {12, 13, 14, 15}, 0}, /* allows */
    {{0x20, 0x02}, 2, 0, {2, 3, 4, 5}, 0},                             /* 6to4 */
    {{0x20, 0x01, 0x00, 0x00}, 4, 0, {12, 13, 14, 15}, 0xff},          /* Teredo */
    {{0x00, 0x00, 0x5e, 0xfe}, 4, 8, {12, 13, 14, 15}, 0},             /* ISATAP, in any network, */
    {{0x02, 0x00, 0x5e, 0xfe}, 4, 8, {12, 13, 14, 15}, 0},             /* unique or not */
};

static bool contains_link_local_v4(const uint8_t ip[16]) {
    for (size_t i = 0; i < sizeof embeddings / sizeof *embeddings; i++) {
        const struct embedding *embedding = &embeddings[i];
        uint8_t v4[4];
        if (memcmp(ip + embedding->mark_place, embedding->mark, embedding->mark_size) != 0)
            continue;
        for (size_t j = 0; j < sizeof v4; j++) v4[j] = ip[embedding->places[j]] ^ embedding->mask;
        if (is_link_local_v4(v4)) return true;
    }
    return false;
}

static bool is_blocked_v6(const uint8_t ip[16]) {
    static const uint8_t metadata[16] = {0xfd, 0x00,        0x0e,
                                         0xc2, [14] = 0x02, [15] = 0x54}; /* fd00:ec2::254 */
    bool is_link_local = ip[0] == 0xfe && (ip[1] & 0xc0) == 0x80;
    return is_link_local || contains_link_local_v4(ip) || !memcmp(ip, metadata, sizeof metadata);
}

bool address_is_blocked(const struct sockaddr *address) {
    if (address->sa_family == AF_INET) {
        struct in_addr ip = ((const struct sockaddr_in *)address)->sin_addr;
        return is_link_local_v4((const uint8_t *)&ip.s_addr);
    }
    return address->sa_family == AF_INET6 &&
           is_blocked_v6(((const struct sockaddr_in6 *)address)->sin6_addr.s6_addr);
}

static const char link_local[] = "its host is a link-local address";
static const char not_plain[] = "its host is neither a plain name nor a plain address";

static const char digits[] = "0123456789";
static const char hex_digits[] = "0123456789abcdefABCDEF";
static const char name_characters[] = "0123456789-._abcdefghijklmnopqrstuvwxyz"
                                      "ABCDEFGHIJKLMNOPQRSTUVWXYZ";

/* Returns true if the last part of the name, dots at its end aside, is a number: decimal, octal or
 * hex. No such name exists, so whoever looks it up takes it for an address in some notation. */
static bool ends_in_number(const char *name, size_t size) {
    while (size && name[size - 1] == '.') size--;
    const char *part = name + size;
    while (part > name && part[-1] != '.') part--;
    size -= (size_t)(part - name);
    bool is_hex = size >= 2 && part[0] == '0' && (part[1] == 'x' || part[1] == 'X');
    return is_hex ? strspn(part + 2, hex_digits) >= size - 2 : strspn(part, digits) >= size;
}

static const char *refuse_v6(const char *text) {
    uint8_t ip[16];
    if (inet_pton(AF_INET6, text, ip) != 1) return not_plain; /* a zone, for example */
    return is_blocked_v6(ip) ? link_local : NULL;
}

/* inet_pton accepts IPv4 addresses as four decimal numbers only. */
static const char *refuse_name(const char *text, size_t size) {
    uint8_t ip[4];
    if (inet_pton(AF_INET, text, ip) == 1) return is_link_local_v4(ip) ? link_local : NULL;
    bool is_plain = strspn(text, name_characters) == size && !ends_in_number(text, size);
    return is_plain ? NULL : not_plain;
}

const char *host_refusal(const char *host) {
    char name[256];
    bool is_v6 = host[0] == '[';
    size_t size = is_v6 ? strcspn(++host, "]/?#") : strcspn(host, ":/?#");
    if (!size || size >= sizeof name || (is_v6 && host[size] != ']')) return not_plain;
    memcpy(name, host, size);
    name[size] = 0;
    return is_v6 ? refuse_v6(name) : refuse_name(name, size);
}
