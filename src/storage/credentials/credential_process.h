/* Credentials that a program prints: that of the option `credential_process`, or of a profile in
 * the files of AWS. It runs when the first object is requested, and again before they expire. */
#ifndef RECMAP_STORAGE_CREDENTIALS_CREDENTIAL_PROCESS_H
#define RECMAP_STORAGE_CREDENTIALS_CREDENTIAL_PROCESS_H

#include "storage/credentials/identity.h"
#include "storage/protocol/process_reply.h"

/* Runs a command without a shell, for a minute at most, and reads what it prints. `profile` is the
 * one that has the command; "": the option. No message quotes the output, nor the arguments of the
 * command, which may be secrets. Errors: INVALID (not a command), IO (the program fails, or prints
 * something else), CANCELLED, NO_MEMORY. */
recmap_status credential_process_run(struct process_credentials *credentials, const char *command,
                                     const char *profile, recmap_error *error);

/* The credentials of the option: keys for s3://, or a token for gs:// and az://. */
extern const struct identity_kind credential_process_identity;

#endif
