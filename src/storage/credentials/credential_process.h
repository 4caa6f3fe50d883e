/* Credentials that a program prints, which the option `credential_process` or an AWS profile names.
 * It runs when the first object is requested, and again before they expire. */
#ifndef RECMAP_STORAGE_CREDENTIALS_CREDENTIAL_PROCESS_H
#define RECMAP_STORAGE_CREDENTIALS_CREDENTIAL_PROCESS_H

#include "storage/credentials/identity.h"

/* The credentials that the command prints, which runs without a shell for a minute at most: keys
 * for s3://, or with the option a token for gs:// and az://. No message quotes the output, nor the
 * arguments of the command, which may be secrets. Errors: INVALID (not a command), IO (the program
 * fails, or prints something else), CANCELLED, NO_MEMORY. */
extern const struct identity_kind credential_process_identity;

#endif
