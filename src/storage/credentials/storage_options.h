/* The options of a storage: their names, values, and where they come from. */
#ifndef RECMAP_STORAGE_CREDENTIALS_STORAGE_OPTIONS_H
#define RECMAP_STORAGE_CREDENTIALS_STORAGE_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include <recmap/status.h>

/* Of the option gap, in bytes. */
enum { GAP_SET_MAX = 8 << 20 };

enum storage_option {
    OPTION_ENDPOINT,
    OPTION_REGION,
    OPTION_KEY,
    OPTION_SECRET,
    OPTION_TOKEN,
    OPTION_ANONYMOUS,
    OPTION_REQUESTER_PAYS,
    OPTION_ADDRESSING,
    OPTION_PROFILE,
    OPTION_CREDENTIAL_PROCESS,
    OPTION_ACCOUNT,
    OPTION_SAS,
    OPTION_CA_BUNDLE,
    OPTION_PROXY,
    OPTION_TIMEOUT,
    OPTION_GAP,
    /* Options without a name. Those of Amazon are for s3:// only. They come from the environment, a
     * profile or a program, and are not used if the caller passes keys. */
    OPTION_AMAZON_KEY,
    OPTION_AMAZON_SECRET,
    OPTION_AMAZON_TOKEN,
    OPTION_PROFILE_PROCESS, /* the credential_process of the profile, for s3:// only */
    OPTION_OTHER_PROFILE, /* a profile whose keys only the tools of AWS get: see profile_files.h */
    OPTION_ISSUED_TOKEN,  /* for gs:// and az://, from credential_process */
    OPTION_COUNT,
};

struct storage_options {
    char *values[OPTION_COUNT]; /* NULL: not set */
    bool is_explicit[OPTION_COUNT];
    uint64_t version; /* increases with every change */
};

/* The error names the option, never its value. Errors: INVALID, NO_MEMORY. */
recmap_status storage_options_set(struct storage_options *options, const char *name,
                                  const char *value, recmap_error *error);

/* Fills in what was not set from the environment. Then from the files of the AWS command line tools
 * (~/.aws/credentials and ~/.aws/config): region and endpoint, and, if there are still no keys and
 * requests are to be signed, keys or a program that prints them. Files may be missing.
 * Errors: INVALID (a profile that was passed does not exist), IO, NO_MEMORY.
 * One that the environment names concerns s3:// only, whose requests fail: see address.h. */
recmap_status storage_options_complete(struct storage_options *options, recmap_error *error);

/* Checks what only az:// uses of the environment: it must not prevent the use of other stores.
 * Errors: INVALID. */
recmap_status storage_options_check_azure(const struct storage_options *options,
                                          recmap_error *error);

/* Copies all options and the version. On failure, `copy` has none. Errors: NO_MEMORY. */
recmap_status storage_options_copy(struct storage_options *copy,
                                   const struct storage_options *options, recmap_error *error);

/* Sets an option without a name. Errors: NO_MEMORY. */
recmap_status storage_options_keep(struct storage_options *options, enum storage_option option,
                                   const char *value, recmap_error *error);

/* Exchanges the values of an option. */
void storage_options_swap(struct storage_options *a, struct storage_options *b,
                          enum storage_option option);

/* The value, or "". */
const char *storage_options_get(const struct storage_options *options, enum storage_option option);
bool storage_options_is_on(const struct storage_options *options, enum storage_option option);

/* In seconds. */
unsigned storage_options_timeout(const struct storage_options *options);

/* Returns true if the gap is set, in bytes: see storage/protocol/request_gap.h. */
bool storage_options_gap(uint64_t *gap, const struct storage_options *options);

/* Overwrites and frees all values. */
void storage_options_deinit(struct storage_options *options);

#endif
