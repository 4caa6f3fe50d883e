#include "storage/credentials/credential_process.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/core/error.h"
#include "base/os/process.h"
#include "base/os/program.h"
#include "base/text/shell_word.h"

#define TIMEOUT_NS ((uint64_t)TIMEOUT_S * 1000000000)

enum { TIMEOUT_S = 60, COMMAND_SIZE = 4096, WORDS_MAX = 256 };

/* The command of a profile, as words. */
struct command {
    const char *profile;
    char text[COMMAND_SIZE];
    char *words[WORDS_MAX + 1];
};

static recmap_status read_command(struct command *command, const struct profile_files *files,
                                  recmap_error *error) {
    const char *profile = command->profile;
    size_t count = 0;
    bool fits = profile_files_copy(command->text, sizeof command->text, files, profile,
                                   "credential_process");
    if (fits) count = shell_words_split(command->words, WORDS_MAX + 1, command->text);
    if (count && count != SIZE_MAX && command->words[0][0]) return RECMAP_OK;
    return role_fail_profile(profile,
                             fits ? "its credential_process is not a command"
                                  : "its credential_process is too long",
                             "write PROGRAM and its arguments, with double quotes around those "
                             "that have spaces",
                             error);
}

static recmap_status fail_program(const struct command *command, const char *reason,
                                  recmap_error *error) {
    fail(error, RECMAP_IO,
         "no credentials from the credential_process of the profile \"%.64s\": %s",
         command->profile, reason);
    fail_file(error, command->words[0]);
    fail_advise(error,
                "run the command in a shell to see its messages: it must print JSON of "
                "Version 1 within %d seconds, without asking anything",
                TIMEOUT_S);
    if (error) error->system_errno = EIO;
    return RECMAP_IO;
}

/* The error of a program that did not end with the exit status 0. */
static recmap_status check_end(const struct program_result *result, const struct command *command,
                               recmap_error *error) {
    char reason[256];
    switch (result->end) {
    case PROGRAM_EXITED:
        if (!result->code) return RECMAP_OK;
        snprintf(reason, sizeof reason, "it exited with status %d", result->code);
        break;
    case PROGRAM_KILLED:
        snprintf(reason, sizeof reason, "it was killed by signal %d", result->code);
        break;
    case PROGRAM_NOT_STARTED:
        snprintf(reason, sizeof reason, "it cannot be run: %s", strerror(result->code));
        break;
    case PROGRAM_TOO_SLOW:
        snprintf(reason, sizeof reason, "it did not end within %d seconds", TIMEOUT_S);
        break;
    case PROGRAM_TOO_LONG:
        snprintf(reason, sizeof reason, "it printed more than %d bytes", EXCHANGE_BODY_MAX);
        break;
    }
    return fail_program(command, reason, error);
}

recmap_status credential_process_run(struct role_fetch *fetch, const struct profile_files *files,
                                     const char *profile, recmap_error *error) {
    struct command command = {.profile = profile};
    struct program_result result;
    char *output = fetch->reply.body;
    RETURN_IF_FAILED(read_command(&command, files, error));
    recmap_status status = program_run(&result, output, sizeof fetch->reply.body,
                                       (const char *const *)command.words, TIMEOUT_NS, error);
    if (status == RECMAP_OK) status = check_end(&result, &command, error);
    if (status == RECMAP_OK && !role_reply_read_process(&fetch->credentials, output, result.size))
        status = fail_program(&command, "its output cannot be understood", error);
    if (status == RECMAP_OK && fetch->credentials.expires_s <= clock_unix_s())
        status = fail_program(&command, "what it printed has expired", error);
    explicit_bzero(command.text, sizeof command.text);
    return status;
}
