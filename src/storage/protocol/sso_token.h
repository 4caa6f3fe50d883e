/* Reads the access token that `aws sso login` keeps in a file, for IAM Identity Center. Pure;
 * nothing in the file is trusted. */
#ifndef RECMAP_STORAGE_PROTOCOL_SSO_TOKEN_H
#define RECMAP_STORAGE_PROTOCOL_SSO_TOKEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SSO_TOKEN_MAX = 8192 };

/* Erase it after use. */
struct sso_token {
    char text[SSO_TOKEN_MAX]; /* graphic ASCII: it becomes a part of a header */
    int64_t expires_s;        /* seconds since 1970 */
};

/* Returns whether the file has a token and when it expires. */
bool sso_token_read(struct sso_token *token, const char *text, size_t size);

#endif
