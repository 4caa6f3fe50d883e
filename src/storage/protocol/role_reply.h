/* Reads temporary credentials from the reply of a service that issues them: JSON from the metadata
 * service of a machine or a container, or from the portal of IAM Identity Center; XML from Amazon's
 * token service (STS). Pure; nothing in a reply is trusted. */
#ifndef RECMAP_STORAGE_PROTOCOL_ROLE_REPLY_H
#define RECMAP_STORAGE_PROTOCOL_ROLE_REPLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { ROLE_KEY_MAX = 256, ROLE_TOKEN_MAX = 8192 };

/* The expiry of credentials that do not expire. */
#define ROLE_NEVER INT64_MAX

/* Erase it after use. */
struct role_credentials {
    char key[ROLE_KEY_MAX];
    char secret[ROLE_KEY_MAX];
    char token[ROLE_TOKEN_MAX];
    int64_t expires_s; /* seconds since 1970 */
};

/* Each returns whether the reply has all four values, and is well-formed as far as it was read.
 * Key, secret and token are then graphic ASCII. */
bool role_reply_read_json(struct role_credentials *credentials, const char *text, size_t size);
bool role_reply_read_portal(struct role_credentials *credentials, const char *text, size_t size);
bool role_reply_read_xml(struct role_credentials *credentials, const char *text, size_t size);

/* Parses 2026-01-31T23:59:59Z, with or without a fraction of the second. `UTC` or an offset such as
 * +01:00 may replace the Z. */
bool role_parse_time(int64_t *seconds, const char *text);

#endif
