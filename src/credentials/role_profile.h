/* Roles of profiles in ~/.aws/config (AssumeRole of STS). A profile with `role_arn` names where the
 * credentials come from that may assume the role: another profile (`source_profile`), which may
 * have a role, too, or a service (`credential_source`). */
#ifndef RECMAP_CREDENTIALS_ROLE_PROFILE_H
#define RECMAP_CREDENTIALS_ROLE_PROFILE_H

#include "credentials/role_fetch.h"

/* Roles that are assumed one with the credentials of the other. */
enum { ROLE_CHAIN_MAX = 5 };

/* Assumes the role of the profile, and sets `fetch->credentials`. Errors: INVALID (the profile), IO
 * (EACCES: STS, or a service before it, refuses), CANCELLED, NO_MEMORY. */
recmap_status role_fetch_profile(struct role_fetch *fetch, const char *profile,
                                 recmap_error *error);

#endif
