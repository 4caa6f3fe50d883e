/* Temporary credentials of a role at Amazon: of the one that a profile names, from STS; or of the
 * one that this machine, container or job has, from STS for a web identity, from the endpoint of a
 * container, or from the metadata service of a machine (IMDSv2). They are fetched when the first
 * object is requested, if no keys are configured, and again before they expire. */
#ifndef RECMAP_NET_ROLE_H
#define RECMAP_NET_ROLE_H

#include "net/storage.h"

/* Makes the credentials of the storage current. Of the threads that call it, one fetches them. The
 * others wait only if there are no credentials yet. A service that a profile or the environment
 * names must answer; the metadata service, which is tried last, need not exist. Errors: IO (EACCES:
 * the service refuses), INVALID (the profile or the environment), CANCELLED, NO_MEMORY. */
recmap_status role_prepare(recmap_storage *storage, recmap_error *error);

#endif
