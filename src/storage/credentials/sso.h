/* Credentials of IAM Identity Center (SSO). A person logs in with `aws sso login`, which keeps an
 * access token in ~/.aws/sso/cache. The portal issues credentials for a role to its bearer. The
 * token itself is not renewed. */
#ifndef RECMAP_STORAGE_CREDENTIALS_SSO_H
#define RECMAP_STORAGE_CREDENTIALS_SSO_H

#include "storage/credentials/profile_files.h"
#include "storage/credentials/role_fetch.h"

/* Sets `fetch->credentials` to those of the account and the role that the profile names. Errors:
 * INVALID (the profile), IO (EACCES: nobody is logged in, or the portal refuses), CANCELLED,
 * NO_MEMORY. */
recmap_status sso_fetch(struct role_fetch *fetch, const struct profile_files *files,
                        const char *profile, recmap_error *error);

#endif
