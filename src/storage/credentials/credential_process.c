#include "storage/credentials/credential_process.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/core/error.h"
#include "base/os/process.h"
#include "base/os/program.h"
#include "base/words/shell_word.h"
#include "storage/protocol/process_reply.h"

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

/* `profile` has the command; "": the option. */
static recmap_status run_command(struct process_credentials *credentials, const char *text,
                                 const char *profile, recmap_error *error) {
    struct command *fresh = calloc(1, sizeof *fresh);
    if (!fresh) return fail_memory(error);
    recmap_status status = split(fresh, text, profile, error);
    if (status == RECMAP_OK) status = run(credentials, fresh, error);
    if (status == RECMAP_OK && profile[0] && !credentials->key[0])
        status = fail_program(fresh, "it prints no keys", error);
    explicit_bzero(fresh, sizeof *fresh);
    free(fresh);
    return status;
}

/* ---- The identity. */

/* What was passed comes first. A token by itself is not for Amazon, and the program of a profile
 * is. */
static bool is_used(const struct storage_options *options) {
    if (options->is_explicit[OPTION_KEY] || storage_options_is_on(options, OPTION_ANONYMOUS))
        return false;
    if (options->values[OPTION_CREDENTIAL_PROCESS]) return !options->is_explicit[OPTION_TOKEN];
    return options->values[OPTION_PROFILE_PROCESS];
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

static recmap_status fetch(struct storage_options *credentials, int64_t *expires_s,
                           const struct storage_options *options, recmap_error *error) {
    const char *command = options->values[OPTION_CREDENTIAL_PROCESS], *profile = "";
    struct process_credentials printed = {.expires_s = 0};
    if (!command) {
        command = storage_options_get(options, OPTION_PROFILE_PROCESS);
        profile = storage_options_get(options, OPTION_PROFILE);
        if (!profile[0]) profile = "default";
    }
    recmap_status status = run_command(&printed, command, profile, error);
    if (status == RECMAP_OK) status = keep(credentials, &printed, error);
    *expires_s = printed.expires_s;
    explicit_bzero(&printed, sizeof printed);
    return status;
}

const struct identity_kind credential_process_identity = {
    .credentials = {OPTION_AMAZON_KEY, OPTION_AMAZON_SECRET, OPTION_AMAZON_TOKEN,
                    OPTION_ISSUED_TOKEN},
    .credential_count = 4,
    .is_used = is_used,
    .fetch = fetch};
