/* Profiles in ~/.aws/config whose credentials are issued for a time. A profile with `role_arn` gets
 * them from STS (AssumeRole), and names where the credentials come from that may assume the role:
 * another profile (`source_profile`), which may have a role, too, or a service
 * (`credential_source`). Other profiles get them from IAM Identity Center or from a program. */
#ifndef RECMAP_STORAGE_CREDENTIALS_ROLE_PROFILE_H
#define RECMAP_STORAGE_CREDENTIALS_ROLE_PROFILE_H

#include "storage/credentials/role_fetch.h"

/* Roles that are assumed one with the credentials of the other. */
enum { ROLE_CHAIN_MAX = 5 };

/* Sets `fetch->credentials` to those of the profile. Errors: INVALID (the profile), IO (EACCES:
 * STS, or a service before it, refuses), CANCELLED, NO_MEMORY. */
recmap_status role_fetch_profile(struct role_fetch *fetch, const char *profile,
                                 recmap_error *error);

#endif
