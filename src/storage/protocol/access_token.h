/* Reads an access token from the reply of Google's metadata service. Pure; nothing in the reply is
 * trusted. */
#ifndef RECMAP_STORAGE_PROTOCOL_ACCESS_TOKEN_H
#define RECMAP_STORAGE_PROTOCOL_ACCESS_TOKEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { ACCESS_TOKEN_MAX = 4096 };

/* Erase it after use. */
struct access_token {
    char text[ACCESS_TOKEN_MAX]; /* graphic ASCII: it becomes a part of a header */
    uint64_t lifetime_s;         /* at most a day */
};

/* Returns whether the reply has a bearer token and its lifetime. */
bool access_token_read(struct access_token *token, const char *text, size_t size);

#endif
