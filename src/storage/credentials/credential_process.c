#include "storage/credentials/credential_process.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/core/error.h"
#include "base/os/process.h"
#include "base/os/program.h"
#include "base/text/shell_word.h"

#define TIMEOUT_NS ((uint64_t)TIMEOUT_S * 1000000000)

enum { TIMEOUT_S = 60, COMMAND_SIZE = 4096, WORDS_MAX = 256, OUTPUT_MAX = 64 << 10 };

/* A command as words, and what it printed. */
struct command {
    char name[96]; /* for messages */
    char text[COMMAND_SIZE];
    char *words[WORDS_MAX + 1];
    char output[OUTPUT_MAX + 1];
};

static recmap_status fail_command(const struct command *command, const char *reason,
                                  recmap_error *error) {
    fail(error, RECMAP_INVALID, "%s is %s", command->name, reason);
    fail_advise(error, "write PROGRAM and its arguments, with double quotes around those that have "
                       "spaces");
    return RECMAP_INVALID;
}

static recmap_status split(struct command *command, const char *text, const char *profile,
                           recmap_error *error) {
    if (profile[0])
        snprintf(command->name, sizeof command->name,
                 "the credential_process of the profile \"%.40s\"", profile);
    else snprintf(command->name, sizeof command->name, "the credential_process");
    if (strlen(text) >= sizeof command->text) return fail_command(command, "too long", error);
    memcpy(command->text, text, strlen(text) + 1);
    size_t count = shell_words_split(command->words, WORDS_MAX + 1, command->text);
    if (count && count != SIZE_MAX && command->words[0][0]) return RECMAP_OK;
    return fail_command(command, "not a command", error);
}

static recmap_status fail_program(const struct command *command, const char *reason,
                                  recmap_error *error) {
    fail(error, RECMAP_IO, "no credentials from %s: %s", command->name, reason);
    fail_file(error, command->words[0]);
    fail_advise(error,
                "run the command in a shell to see its messages: within %d seconds, without asking "
                "anything, it must print JSON of Version 1 as for AWS, or {\"token\", \"expires\"} "
                "for gs:// and az://",
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
        snprintf(reason, sizeof reason, "it printed more than %d bytes", OUTPUT_MAX);
        break;
    }
    return fail_program(command, reason, error);
}

static recmap_status run(struct process_credentials *credentials, struct command *command,
                         recmap_error *error) {
    struct program_result result;
    RETURN_IF_FAILED(program_run(&result, command->output, sizeof command->output,
                                 (const char *const *)command->words, TIMEOUT_NS, error));
    RETURN_IF_FAILED(check_end(&result, command, error));
    if (!process_reply_read(credentials, command->output, result.size))
        return fail_program(command, "its output cannot be understood", error);
    if (credentials->expires_s <= clock_unix_s())
        return fail_program(command, "what it printed has expired", error);
    return RECMAP_OK;
}

recmap_status credential_process_run(struct process_credentials *credentials, const char *command,
                                     const char *profile, recmap_error *error) {
    struct command *fresh = calloc(1, sizeof *fresh);
    if (!fresh) return fail_memory(error);
    recmap_status status = split(fresh, command, profile, error);
    if (status == RECMAP_OK) status = run(credentials, fresh, error);
    explicit_bzero(fresh, sizeof *fresh);
    free(fresh);
    return status;
}

/* ---- The option. */

/* What was passed comes first. */
static bool is_used(const struct storage_options *options, const struct identity_share *share) {
    (void)share;
    return options->values[OPTION_CREDENTIAL_PROCESS] && !options->is_explicit[OPTION_KEY] &&
           !options->is_explicit[OPTION_TOKEN] && !storage_options_is_on(options, OPTION_ANONYMOUS);
}

static recmap_status keep(struct storage_options *options,
                          const struct process_credentials *credentials, recmap_error *error) {
    if (!credentials->key[0])
        return storage_options_keep(options, OPTION_ISSUED_TOKEN, credentials->token, error);
    RETURN_IF_FAILED(storage_options_keep(options, OPTION_AMAZON_KEY, credentials->key, error));
    RETURN_IF_FAILED(
        storage_options_keep(options, OPTION_AMAZON_SECRET, credentials->secret, error));
    return storage_options_keep(options, OPTION_AMAZON_TOKEN, credentials->token, error);
}

static recmap_status fetch(struct storage_options *options, int64_t *expires_s,
                           const struct identity *identity, recmap_error *error) {
    const char *command =
        storage_options_get(identity_options(identity), OPTION_CREDENTIAL_PROCESS);
    struct process_credentials credentials = {.expires_s = 0};
    recmap_status status = credential_process_run(&credentials, command, "", error);
    if (status == RECMAP_OK) status = keep(options, &credentials, error);
    if (status == RECMAP_OK) *expires_s = credentials.expires_s;
    explicit_bzero(&credentials, sizeof credentials);
    return status;
}

const struct identity_kind credential_process_identity = {
    .credentials = {OPTION_AMAZON_KEY, OPTION_AMAZON_SECRET, OPTION_AMAZON_TOKEN,
                    OPTION_ISSUED_TOKEN},
    .credential_count = 4,
    .is_used = is_used,
    .fetch = fetch};
