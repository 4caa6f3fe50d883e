/* Temporary credentials at Amazon: those of the profile, from STS, IAM Identity Center or a
 * program; or of the role that this machine, container or job has, from STS for a web identity,
 * from the endpoint of a container, or from the metadata service of a machine (IMDSv2). They are
 * fetched when the first object is requested, if no keys are configured, and again before they
 * expire. */
#ifndef RECMAP_STORAGE_CREDENTIALS_ROLE_H
#define RECMAP_STORAGE_CREDENTIALS_ROLE_H

#include "storage/credentials/identity.h"

/* A service that a profile or the environment names must answer; the metadata service, which is
 * tried last, need not exist. Errors: IO (EACCES: the service refuses), INVALID (the profile or the
 * environment), CANCELLED, NO_MEMORY. */
extern const struct identity_kind role_identity;

#endif
