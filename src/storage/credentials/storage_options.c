#include "storage/credentials/storage_options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/core/error.h"
#include "base/words/near_name.h"
#include "storage/credentials/profile_files.h"
#include "storage/protocol/profile.h"

enum {
    TIMEOUT_DEFAULT = 180,
    TIMEOUT_MAX = 86400,
};

enum value_kind {
    VALUE_TEXT,
    VALUE_WORD,
    VALUE_NAME,
    VALUE_SWITCH,
    VALUE_SECONDS,
    VALUE_GAP,
    VALUE_ADDRESSING
};

static const struct option_name {
    const char *name;
    enum storage_option option;
    enum value_kind kind;
} names[] = {
    {"endpoint", OPTION_ENDPOINT, VALUE_WORD},
    {"region", OPTION_REGION, VALUE_NAME},
    {"key", OPTION_KEY, VALUE_TEXT},
    {"secret", OPTION_SECRET, VALUE_TEXT},
    {"token", OPTION_TOKEN, VALUE_TEXT},
    {"anonymous", OPTION_ANONYMOUS, VALUE_SWITCH},
    {"requester_pays", OPTION_REQUESTER_PAYS, VALUE_SWITCH},
    {"addressing", OPTION_ADDRESSING, VALUE_ADDRESSING},
    {"profile", OPTION_PROFILE, VALUE_TEXT},
    {"credential_process", OPTION_CREDENTIAL_PROCESS, VALUE_TEXT},
    {"account", OPTION_ACCOUNT, VALUE_NAME},
    {"sas", OPTION_SAS, VALUE_WORD},
    {"ca_bundle", OPTION_CA_BUNDLE, VALUE_TEXT},
    {"proxy", OPTION_PROXY, VALUE_TEXT},
    {"timeout", OPTION_TIMEOUT, VALUE_SECONDS},
    {"gap", OPTION_GAP, VALUE_GAP},
    /* Other spellings: of fsspec's s3fs and adlfs, and of PyArrow. */
    {"anon", OPTION_ANONYMOUS, VALUE_SWITCH},
    {"endpoint_url", OPTION_ENDPOINT, VALUE_WORD},
    {"endpoint_override", OPTION_ENDPOINT, VALUE_WORD},
    {"region_name", OPTION_REGION, VALUE_NAME},
    {"access_key", OPTION_KEY, VALUE_TEXT},
    {"secret_key", OPTION_SECRET, VALUE_TEXT},
    {"session_token", OPTION_TOKEN, VALUE_TEXT},
    {"account_name", OPTION_ACCOUNT, VALUE_NAME},
    {"sas_token", OPTION_SAS, VALUE_WORD},
};

enum { NAME_COUNT = sizeof names / sizeof *names };

static const struct option_name *find_name(const char *name) {
    for (size_t i = 0; i < NAME_COUNT; i++)
        if (!strcmp(names[i].name, name)) return &names[i];
    return NULL;
}

/* Options without a name are texts. */
static enum value_kind kind_of(enum storage_option option) {
    for (size_t i = 0; i < NAME_COUNT; i++)
        if (names[i].option == option) return names[i].kind;
    return VALUE_TEXT;
}

static recmap_status fail_name(const char *name, recmap_error *error) {
    struct near_name near = NEAR_NAME_INIT;
    for (size_t i = 0; i < NAME_COUNT; i++)
        near_name_offer(&near, name, strlen(name), names[i].name, strlen(names[i].name));
    fail(error, RECMAP_INVALID, "there is no storage option \"%.64s\"", name);
    if (near.name) fail_advise(error, "did you mean '%s'?", near.name);
    else
        fail_advise(error, "the options are endpoint, region, key, secret, token, anonymous, "
                           "requester_pays, addressing, profile, credential_process, account, sas, "
                           "ca_bundle, proxy, timeout, gap and urls");
    return RECMAP_INVALID;
}

static bool is_switch(const char *value, bool *is_on) {
    *is_on = !strcasecmp(value, "true") || !strcmp(value, "1");
    return *is_on || !strcasecmp(value, "false") || !strcmp(value, "0");
}

static bool parse_seconds(unsigned *seconds, const char *value) {
    size_t digits = strspn(value, "0123456789");
    if (!digits || digits > 5 || value[digits]) return false;
    *seconds = (unsigned)strtoul(value, NULL, 10);
    return *seconds > 0 && *seconds <= TIMEOUT_MAX;
}

static bool parse_gap(uint64_t *gap, const char *value) {
    size_t digits = strspn(value, "0123456789");
    if (!digits || digits > 7 || value[digits]) return false;
    *gap = strtoul(value, NULL, 10);
    return *gap <= GAP_SET_MAX;
}

/* Returns true if the value may be part of a URL as it is. */
static bool is_word(const char *value) {
    for (; *value; value++)
        if ((unsigned char)*value <= 0x20 || (unsigned char)*value >= 0x7f) return false;
    return true;
}

/* Returns true if the value may be part of a host name. */
static bool is_name(const char *value) {
    static const char allowed[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_";
    return !value[strspn(value, allowed)];
}

/* What a value of the kind must be; NULL if this one is that. */
static const char *check_value(enum value_kind kind, const char *value) {
    bool is_on;
    unsigned seconds;
    uint64_t gap;
    for (const char *c = value; *c; c++)
        if ((unsigned char)*c < 0x20 || *c == 0x7f) return "text without control characters";
    switch (kind) {
    case VALUE_TEXT: break;
    case VALUE_WORD: return is_word(value) ? NULL : "ASCII text without spaces";
    case VALUE_NAME: return is_name(value) ? NULL : "letters, digits, dashes and underscores";
    case VALUE_SWITCH: return is_switch(value, &is_on) ? NULL : "true or false";
    case VALUE_SECONDS:
        return parse_seconds(&seconds, value) ? NULL : "a number of seconds from 1 to 86400";
    case VALUE_GAP: return parse_gap(&gap, value) ? NULL : "a number of bytes from 0 to 8388608";
    case VALUE_ADDRESSING:
        return !strcmp(value, "path") || !strcmp(value, "virtual") ? NULL : "path or virtual";
    }
    return NULL;
}

/* Erases the value first, since it may be a secret. */
static void value_deinit(char **value) {
    if (*value) explicit_bzero(*value, strlen(*value));
    free(*value);
    *value = NULL;
}

static recmap_status put(struct storage_options *options, enum storage_option option,
                         const char *value, size_t size, recmap_error *error) {
    char *copy = strndup(value, size);
    if (!copy) return fail_memory(error);
    value_deinit(&options->values[option]);
    options->values[option] = copy;
    options->version++;
    return RECMAP_OK;
}

recmap_status storage_options_set(struct storage_options *options, const char *name,
                                  const char *value, recmap_error *error) {
    const struct option_name *option = find_name(name);
    if (!option) return fail_name(name, error);
    const char *expected = check_value(option->kind, value);
    if (expected)
        return fail(error, RECMAP_INVALID, "the storage option %s must be %s", option->name,
                    expected);
    options->is_explicit[option->option] = true;
    return put(options, option->option, value, strlen(value), error);
}

/* ---- The environment. */

/* An option, and the environment variable that sets it. */
struct variable {
    enum storage_option option;
    const char *name;
};

static const struct variable azure_variables[] = {{OPTION_ACCOUNT, "AZURE_STORAGE_ACCOUNT"},
                                                  {OPTION_SAS, "AZURE_STORAGE_SAS_TOKEN"}};
enum { AZURE_COUNT = sizeof azure_variables / sizeof *azure_variables };

static recmap_status check_variable(const struct variable *variable, const char *value,
                                    recmap_error *error) {
    const char *expected = check_value(kind_of(variable->option), value);
    if (!expected) return RECMAP_OK;
    return fail(error, RECMAP_INVALID, "the environment variable %s must be %s", variable->name,
                expected);
}

static recmap_status take_unchecked(struct storage_options *options,
                                    const struct variable *variable, recmap_error *error) {
    const char *value = getenv(variable->name);
    if (!value || !value[0] || options->values[variable->option]) return RECMAP_OK;
    return put(options, variable->option, value, strlen(value), error);
}

static recmap_status take_variable(struct storage_options *options, enum storage_option option,
                                   const char *name, recmap_error *error) {
    struct variable variable = {option, name};
    const char *value = getenv(name);
    if (!value || options->values[option]) return RECMAP_OK;
    RETURN_IF_FAILED(check_variable(&variable, value, error));
    return take_unchecked(options, &variable, error);
}

static bool has_passed_keys(const struct storage_options *options) {
    return options->values[OPTION_KEY] || options->values[OPTION_SECRET];
}

/* Keys belong together: a secret from elsewhere would not fit an explicit key. A program comes
 * before the other keys of the environment, and after what was passed. */
static recmap_status take_keys(struct storage_options *options, recmap_error *error) {
    if (has_passed_keys(options) || options->is_explicit[OPTION_PROFILE]) return RECMAP_OK;
    RETURN_IF_FAILED(
        take_variable(options, OPTION_CREDENTIAL_PROCESS, "RECMAP_CREDENTIAL_PROCESS", error));
    if (options->values[OPTION_CREDENTIAL_PROCESS]) return RECMAP_OK;
    RETURN_IF_FAILED(take_variable(options, OPTION_AMAZON_KEY, "AWS_ACCESS_KEY_ID", error));
    RETURN_IF_FAILED(take_variable(options, OPTION_AMAZON_SECRET, "AWS_SECRET_ACCESS_KEY", error));
    return take_variable(options, OPTION_AMAZON_TOKEN, "AWS_SESSION_TOKEN", error);
}

static recmap_status take_environment(struct storage_options *options, recmap_error *error) {
    static const struct variable variables[] = {
        {OPTION_PROFILE, "AWS_PROFILE"},       {OPTION_REGION, "AWS_REGION"},
        {OPTION_REGION, "AWS_DEFAULT_REGION"}, {OPTION_ENDPOINT, "AWS_ENDPOINT_URL_S3"},
        {OPTION_ENDPOINT, "AWS_ENDPOINT_URL"}, {OPTION_CA_BUNDLE, "AWS_CA_BUNDLE"},
        {OPTION_CA_BUNDLE, "SSL_CERT_FILE"},
    };
    RETURN_IF_FAILED(take_keys(options, error));
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++)
        RETURN_IF_FAILED(take_variable(options, variables[i].option, variables[i].name, error));
    for (size_t i = 0; i < AZURE_COUNT; i++)
        RETURN_IF_FAILED(take_unchecked(options, &azure_variables[i], error));
    return RECMAP_OK;
}

static recmap_status check_variables(const struct storage_options *options,
                                     const struct variable *variables, size_t count,
                                     recmap_error *error) {
    for (size_t i = 0; i < count; i++)
        RETURN_IF_FAILED(check_variable(&variables[i],
                                        storage_options_get(options, variables[i].option), error));
    return RECMAP_OK;
}

recmap_status storage_options_check_azure(const struct storage_options *options,
                                          recmap_error *error) {
    return check_variables(options, azure_variables, AZURE_COUNT, error);
}

/* ---- Profiles. */

/* Takes what is not set yet: options that were passed win. */
static recmap_status take_value(struct storage_options *options, enum storage_option option,
                                const char *value, size_t size, recmap_error *error) {
    if (!value || options->values[option]) return RECMAP_OK;
    return put(options, option, value, size, error);
}

static recmap_status take_profile_keys(struct storage_options *options, const char *text,
                                       const char *profile, recmap_error *error) {
    static const struct {
        enum storage_option option;
        const char *name;
    } keys[] = {{OPTION_AMAZON_KEY, "aws_access_key_id"},
                {OPTION_AMAZON_SECRET, "aws_secret_access_key"},
                {OPTION_AMAZON_TOKEN, "aws_session_token"}};
    recmap_status status = RECMAP_OK;
    for (size_t i = 0; status == RECMAP_OK && i < sizeof keys / sizeof *keys; i++) {
        size_t size = 0;
        bool has_section;
        const char *value = profile_find(&size, &has_section, text, profile, keys[i].name);
        status = take_value(options, keys[i].option, value, size, error);
    }
    return status;
}

static recmap_status take_section(struct storage_options *options, enum storage_option option,
                                  const struct profile_files *files, const char *profile,
                                  const char *name, recmap_error *error) {
    size_t size = 0;
    const char *value = profile_files_find(&size, files, profile, name);
    return take_value(options, option, value, size, error);
}

static recmap_status fail_profile(const char *profile, recmap_error *error) {
    fail(error, RECMAP_INVALID,
         "there is no profile \"%.64s\" in ~/.aws/credentials or ~/.aws/config", profile);
    fail_advise(error, "name an existing profile, or pass the storage options key and secret "
                       "instead");
    return RECMAP_INVALID;
}

/* A profile with a role stands for the role, even if it has keys, as for the tools of AWS. A
 * program is run later, when credentials are needed. */
static recmap_status take_source(struct storage_options *options, const struct profile_files *files,
                                 const char *profile, recmap_error *error) {
    switch (profile_files_source(files, profile)) {
    case PROFILE_NOTHING: break;
    case PROFILE_OTHER: return storage_options_keep(options, OPTION_OTHER_PROFILE, profile, error);
    case PROFILE_PROCESS:
        return take_section(options, OPTION_PROFILE_PROCESS, files, profile, "credential_process",
                            error);
    case PROFILE_KEYS:
        return take_profile_keys(options, profile_files_with_key(files, profile), profile, error);
    }
    return RECMAP_OK;
}

static bool needs_keys(const struct storage_options *options) {
    return !options->values[OPTION_KEY] && !options->values[OPTION_AMAZON_KEY] &&
           !options->values[OPTION_CREDENTIAL_PROCESS] &&
           !storage_options_is_on(options, OPTION_ANONYMOUS);
}

/* The region and the endpoint come from the profile wherever the keys come from, as for the tools
 * of AWS. */
static recmap_status take_files(struct storage_options *options, const struct profile_files *files,
                                recmap_error *error) {
    const char *named = storage_options_get(options, OPTION_PROFILE);
    const char *profile = named[0] ? named : "default";
    if (!profile_files_have(files, profile) && options->is_explicit[OPTION_PROFILE])
        return fail_profile(named, error);
    RETURN_IF_FAILED(take_section(options, OPTION_REGION, files, profile, "region", error));
    RETURN_IF_FAILED(take_section(options, OPTION_ENDPOINT, files, profile, "endpoint_url", error));
    return needs_keys(options) ? take_source(options, files, profile, error) : RECMAP_OK;
}

/* Files that cannot be read count as missing if nothing depends on them: keys that were passed
 * suffice without them. */
static recmap_status take_profile(struct storage_options *options, recmap_error *error) {
    bool is_needed = needs_keys(options) || options->is_explicit[OPTION_PROFILE];
    const struct profile_places places = {.credentials = getenv("AWS_SHARED_CREDENTIALS_FILE"),
                                          .config = getenv("AWS_CONFIG_FILE"),
                                          .home = getenv("HOME")};
    struct profile_files files;
    recmap_status status = profile_files_read(&files, &places, is_needed ? error : NULL);
    bool is_missing = status == RECMAP_IO && !is_needed;
    if (status == RECMAP_OK) status = take_files(options, &files, error);
    profile_files_deinit(&files);
    return is_missing ? RECMAP_OK : status;
}

recmap_status storage_options_complete(struct storage_options *options, recmap_error *error) {
    RETURN_IF_FAILED(take_environment(options, error));
    return take_profile(options, error);
}

const char *storage_options_get(const struct storage_options *options, enum storage_option option) {
    return options->values[option] ? options->values[option] : "";
}

bool storage_options_is_on(const struct storage_options *options, enum storage_option option) {
    bool is_on = false;
    return options->values[option] && is_switch(options->values[option], &is_on) && is_on;
}

unsigned storage_options_timeout(const struct storage_options *options) {
    unsigned seconds = TIMEOUT_DEFAULT;
    const char *value = options->values[OPTION_TIMEOUT];
    if (value) parse_seconds(&seconds, value);
    return seconds;
}

bool storage_options_gap(uint64_t *gap, const struct storage_options *options) {
    const char *value = options->values[OPTION_GAP];
    return value && parse_gap(gap, value);
}

recmap_status storage_options_copy(struct storage_options *copy,
                                   const struct storage_options *options, recmap_error *error) {
    *copy = (struct storage_options){.version = options->version};
    for (size_t i = 0; i < OPTION_COUNT; i++) {
        copy->is_explicit[i] = options->is_explicit[i];
        if (!options->values[i] || (copy->values[i] = strdup(options->values[i]))) continue;
        storage_options_deinit(copy);
        return fail_memory(error);
    }
    return RECMAP_OK;
}

recmap_status storage_options_keep(struct storage_options *options, enum storage_option option,
                                   const char *value, recmap_error *error) {
    return put(options, option, value, strlen(value), error);
}

void storage_options_swap(struct storage_options *a, struct storage_options *b,
                          enum storage_option option) {
    char *value = a->values[option];
    bool is_explicit = a->is_explicit[option];
    a->values[option] = b->values[option];
    a->is_explicit[option] = b->is_explicit[option];
    b->values[option] = value;
    b->is_explicit[option] = is_explicit;
    a->version++;
    b->version++;
}

void storage_options_deinit(struct storage_options *options) {
    for (size_t i = 0; i < OPTION_COUNT; i++) value_deinit(&options->values[i]);
    options->version = 0;
}
