/* Reads the credentials that a program prints as JSON. Pure; nothing in the output is trusted. */
#ifndef RECMAP_STORAGE_PROTOCOL_PROCESS_REPLY_H
#define RECMAP_STORAGE_PROTOCOL_PROCESS_REPLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PROCESS_KEY_MAX = 256, PROCESS_TOKEN_MAX = 8192 };

/* The expiry of credentials that do not expire. */
#define PROCESS_NEVER INT64_MAX

/* Values are graphic ASCII: they become parts of headers. Erase it after use. */
struct process_credentials {
    char key[PROCESS_KEY_MAX]; /* "": there is only a token, of Google or Azure */
    char secret[PROCESS_KEY_MAX];
    char token[PROCESS_TOKEN_MAX]; /* "": keys without one */
    int64_t expires_s;             /* seconds since 1970, or PROCESS_NEVER */
};

/* Reads one of two objects, and returns whether the text is such a one:
 * - of a credential_process of AWS, in Version 1, with AccessKeyId, SecretAccessKey, SessionToken
 *   and Expiration, of which the last two may be missing;
 * - with `token` and `expires` (a time of ISO 8601, or seconds since 1970, or missing). `az account
 *   get-access-token` calls them accessToken and expires_on, and `gcloud config config-helper
 *   --format json` calls them access_token and token_expiry, in the member `credential`. */
bool process_reply_read(struct process_credentials *credentials, const char *text, size_t size);

#endif
