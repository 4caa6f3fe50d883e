/* The files of the AWS command line tools, ~/.aws/credentials and ~/.aws/config. If both have a
 * value, the first file counts. */
#ifndef RECMAP_STORAGE_CREDENTIALS_PROFILE_FILES_H
#define RECMAP_STORAGE_CREDENTIALS_PROFILE_FILES_H

#include <stdbool.h>
#include <stddef.h>

#include <recmap/status.h>

/* The values of the variables that say where the files are: AWS_SHARED_CREDENTIALS_FILE,
 * AWS_CONFIG_FILE and HOME. NULL or "": not set. */
struct profile_places {
    const char *credentials, *config, *home;
};

/* The texts, which contain secrets; NULL: there is no such file, or it is larger than 1 MiB. */
struct profile_files {
    char *credentials, *config;
};

/* Deinitialise the files also after an error. Errors: IO, NO_MEMORY. */
recmap_status profile_files_read(struct profile_files *files, const struct profile_places *places,
                                 recmap_error *error);

/* Overwrites and frees the texts. */
void profile_files_deinit(struct profile_files *files);

bool profile_files_have(const struct profile_files *files, const char *profile);

/* Returns a pointer into a text and sets `size`; NULL if the profile has no such value. */
const char *profile_files_find(size_t *size, const struct profile_files *files, const char *profile,
                               const char *name);

/* Returns true if the profile has a value that is not empty. */
bool profile_files_have_value(const struct profile_files *files, const char *profile,
                              const char *name);

/* Where credentials come from. */
enum profile_source {
    PROFILE_NOTHING,
    PROFILE_KEYS,    /* in the file itself */
    PROFILE_PROCESS, /* a program: see credential_process.h */
    PROFILE_OTHER,   /* a role or IAM Identity Center (SSO): only the tools of AWS get them */
};

/* The source of the profile. Of several, it is the one that the command line tools of AWS use: a
 * role comes first, then IAM Identity Center, and a program before keys of the second file. */
enum profile_source profile_files_source(const struct profile_files *files, const char *profile);

/* The text of the file that has the key of the profile: its secret and its token are also there,
 * because another file's would not fit. NULL: the profile has no key. */
const char *profile_files_with_key(const struct profile_files *files, const char *profile);

#endif
