/* Credentials that a program prints: `credential_process` of a profile in the files of AWS. */
#ifndef RECMAP_STORAGE_CREDENTIALS_CREDENTIAL_PROCESS_H
#define RECMAP_STORAGE_CREDENTIALS_CREDENTIAL_PROCESS_H

#include "storage/credentials/profile_files.h"
#include "storage/credentials/role_fetch.h"

/* Runs the program of the profile without a shell, for a minute at most, and sets
 * `fetch->credentials` to what it prints. No message quotes its output, nor its arguments, which
 * may be secrets. Errors: INVALID (the profile), IO (the program fails, or prints something else),
 * CANCELLED, NO_MEMORY. */
recmap_status credential_process_run(struct role_fetch *fetch, const struct profile_files *files,
                                     const char *profile, recmap_error *error);

#endif
