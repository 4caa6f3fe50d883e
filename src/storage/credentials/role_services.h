/* Services that issue the credentials of a role because of where the process runs: STS for a web
 * identity, the endpoint of a container, and the metadata service of a machine. */
#ifndef RECMAP_STORAGE_CREDENTIALS_ROLE_SERVICES_H
#define RECMAP_STORAGE_CREDENTIALS_ROLE_SERVICES_H

#include "storage/credentials/role_fetch.h"

/* Each sets `fetch->credentials`. The environment must name the first two. The metadata service of
 * a machine need not exist, and must not be used if the environment says so: `fetch->is_absent` is
 * set then. Errors: IO (EACCES: the service refuses), INVALID (the environment), CANCELLED,
 * NO_MEMORY. */
recmap_status role_fetch_web_identity(struct role_fetch *fetch, recmap_error *error);
recmap_status role_fetch_container(struct role_fetch *fetch, recmap_error *error);
recmap_status role_fetch_machine(struct role_fetch *fetch, recmap_error *error);

/* Whether the environment names the endpoint of a container. */
bool role_has_container(const struct role_fetch *fetch);

#endif
