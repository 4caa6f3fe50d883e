/* Temporary credentials of a role at Amazon: of the one that a profile names, from STS; or of the
 * one that this machine, container or job has, from STS for a web identity, from the endpoint of a
 * container, or from the metadata service of a machine (IMDSv2). They are fetched when the first
 * object is requested, if no keys are configured, and again before they expire. */
#ifndef RECMAP_CREDENTIALS_ROLE_H
#define RECMAP_CREDENTIALS_ROLE_H

#include "credentials/identity.h"

/* A service that a profile or the environment names must answer; the metadata service, which is
 * tried last, need not exist. Errors: IO (EACCES: the service refuses), INVALID (the profile or the
 * environment), CANCELLED, NO_MEMORY. */
extern const struct identity_kind role_identity;

#endif
