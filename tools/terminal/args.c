#include "terminal/args.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <recmap/framing.h>

#include "base/words/character.h"
#include "base/words/near_name.h"
#include "base/words/url_prefix.h"
#include "terminal/decoders.h"
#include "terminal/message.h"
#include "terminal/renamed.h"

static void add_option(struct args *args, size_t index, const struct option_row *row) {
    int has_argument = row->argument ? required_argument : no_argument;
    args->table[index] = (struct option){row->name, has_argument, NULL, row->option};
    args->rows[index] = row;
    if (row->option >= OPTION_LONG) return;
    size_t end = strlen(args->letters);
    snprintf(args->letters + end, sizeof args->letters - end, "%c%s", row->option,
             row->argument ? ":" : "");
}

/* Adds the options of the command, each by the first of its rows. */
static void add_options(struct args *args) {
    size_t count = 0;
    for (const struct option_row *row = option_table; row->text; row++) {
        if (!row->name || !option_row_is_for(row, args->command->name)) continue;
        if (!count || args->rows[count - 1]->option != row->option) add_option(args, count++, row);
    }
}

void args_init(struct args *args, const struct command *command, int argc, char **argv) {
    memset(args, 0, sizeof *args);
    args->command = command;
    args->argc = argc;
    args->argv = argv;
    args->dataset_options = (recmap_dataset_options)RECMAP_DATASET_OPTIONS_INIT;
    args->dataset_options.guard = 1;
    /* The user named the index, so its absolute shard paths and URLs are trusted. */
    args->dataset_options.allow_absolute_paths = 1;
    args->dataset_options.allow_urls = 1;
    /* Some commands describe an index without its shards. The others fail at the first record. */
    args->dataset_options.allow_missing_shards = 1;
    /* The leading colon makes getopt silent and return ':' for a missing argument. */
    args->letters[0] = ':';
    add_options(args);
}

static int stop(struct args *args, int exit_status) {
    args->exit_status = exit_status;
    return ARGS_STOP;
}

int args_usage_error(const struct args *args, const char *format, ...) {
    char text[1024], advice[64];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    snprintf(advice, sizeof advice, "try 'recmap %s --help'", args->command->name);
    return message_error(RECMAP_INVALID, args->command->name, advice, "%s", text);
}

/* Returns true if `word` is a long option or an abbreviation of one. */
static bool names_option(const struct args *args, const char *word) {
    size_t size = strcspn(word, "=");
    for (size_t i = 0; args->table[i].name; i++)
        if (!strncmp(args->table[i].name, word, size)) return true;
    return false;
}

static int unknown_option(const struct args *args, const char *word) {
    struct near_name near = NEAR_NAME_INIT;
    size_t size = strcspn(word, "=");
    for (size_t i = 0; args->table[i].name && !strncmp(word, "--", 2); i++)
        near_name_offer(&near, word + 2, size - 2, args->table[i].name,
                        strlen(args->table[i].name));
    if (!near.name) return args_usage_error(args, "unknown option '%s'", word);
    char advice[128];
    snprintf(advice, sizeof advice, "did you mean '--%s'? 'recmap %s --help' lists the options",
             near.name, args->command->name);
    return message_error(RECMAP_INVALID, args->command->name, advice, "unknown option '%s'", word);
}

/* Reports the option that getopt rejected. For a short option getopt sets optopt to its letter; for
 * a long option optopt is 0, or the option's value if it was given an argument it does not take,
 * and the option is the word before optind. */
static int option_error(const struct args *args) {
    const char *word = args->argv[optind - 1];
    if (optopt > 0 && optopt < OPTION_LONG && optopt != OPTION_HELP) {
        if (is_digit((char)optopt)) {
            /* getopt increments optind only after the last letter of a word. */
            if (word[0] != '-' || word[1] != optopt) word = args->argv[optind];
            return args_usage_error(args,
                                    "unknown option '%s' (write -- before operands that begin "
                                    "with a dash)",
                                    word);
        }
        return args_usage_error(args, "unknown option '-%c'", optopt);
    }
    if (optopt)
        return args_usage_error(args, "option '%.*s' takes no argument", (int)strcspn(word, "="),
                                word);
    if (!strncmp(word, "--", 2) && names_option(args, word + 2))
        return args_usage_error(args, "option '%s' is ambiguous", word);
    return unknown_option(args, word);
}

/* For shell completion: prints every long option, and its argument, on a line of its own. */
static int list_options(struct args *args) {
    for (size_t i = 0; args->rows[i]; i++) {
        const char *argument = args->rows[i]->argument;
        printf("--%s%s%s\n", args->rows[i]->name, argument ? " " : "", argument ? argument : "");
    }
    return stop(args, 0);
}

static int print_help(struct args *args) {
    printf("%s\n", args->command->help);
    options_print(args->command->name);
    return stop(args, 0);
}

recmap_status args_prepare_storage(recmap_dataset_options *options, recmap_error *error) {
    static recmap_storage *storage;
    recmap_status status = storage ? RECMAP_OK : recmap_storage_create(&storage, error);
    options->storage = storage;
    return status;
}

/* Sets a storage option in place: KEY=VALUE. Returns 0, or the exit status after printing the
 * error, which does not quote the value. */
static int set_storage(struct args *args, char *text) {
    recmap_error error = RECMAP_ERROR_INIT;
    char *equals = strchr(text, '=');
    if (!equals) return args_usage_error(args, "--storage needs KEY=VALUE");
    *equals = 0;
    recmap_status status = args_prepare_storage(&args->dataset_options, &error);
    if (status == RECMAP_OK)
        status = recmap_storage_set(args->dataset_options.storage, text, equals + 1, &error);
    return status == RECMAP_OK ? 0 : message_print(&error);
}

static int set_framing(struct args *args, const char *text) {
    if (strchr(text, '/')) return args_load_framing(&args->framing, text);
    return args_usage_error(args,
                            "--framing must be the path of a custom framing (./mine.so), not '%s'; "
                            "the index names the others",
                            text);
}

/* Sets what a shared option says in args->dataset_options. Returns 0, or the exit status after
 * printing the error. */
static int set_shared(struct args *args, int option) {
    recmap_dataset_options *options = &args->dataset_options;
    switch (option) {
    case OPTION_ACCESS: options->access = (recmap_access)args->choice; return 0;
    case OPTION_CHECK: options->check = (recmap_check)args->choice; return 0;
    case OPTION_STORAGE: return set_storage(args, optarg);
    case OPTION_CACHE_SIZE: return args_option_size(args, &options->cache_size);
    case OPTION_DECODER: return decoders_load(args, optarg);
    case OPTION_PLUGIN: return set_framing(args, optarg);
    case OPTION_SHARDS_FOLDER: options->shards = optarg; return 0;
    case OPTION_INDEX: args->index_path = optarg; return 0;
    case OPTION_DESCRIPTOR: args->descriptor = optarg; return 0;
    case OPTION_MESSAGE: args->message = optarg; return 0;
    case OPTION_CACHE: options->cache = optarg; return 0;
    default: return 0;
    }
}

/* Prints an error that lists the choices: "use a, b or c". */
static int invalid_choice(const struct args *args) {
    char list[96] = "";
    for (const char *choice = args->row->argument; *choice;) {
        size_t size = strcspn(choice, "|"), used = strlen(list);
        bool is_last = !choice[size];
        const char *joint = !used ? "" : is_last ? " or " : ", ";
        snprintf(list + used, sizeof list - used, "%s%.*s", joint, (int)size, choice);
        choice += size + !is_last;
    }
    return args_usage_error(args, "invalid %s '%s': use %s", args->name, optarg, list);
}

/* Sets args->row, name and choice, and checks what the table says about the argument. Returns 0,
 * or the exit status after printing the error. */
static int check_option(struct args *args, int option) {
    size_t index = 0;
    while (args->rows[index]->option != option) index++;
    const struct option_row *row = args->row = args->rows[index];
    snprintf(args->name, sizeof args->name, "--%s", row->name);
    if (option == OPTION_OUTPUT && !*optarg)
        return args_usage_error(args, "-o needs a %s name",
                                strcmp(row->argument, "FOLDER") ? "file" : "folder");
    if (!option_row_has_choices(row)) return 0;
    args->choice = option_row_find_choice(row, renamed_value(optarg));
    return args->choice < 0 ? invalid_choice(args) : 0;
}

/* Handles the options that commands share here, and returns the command's own. The shared options
 * only fill args->dataset_options, so their order does not matter. */
int args_next(struct args *args) {
    if (args->argc == 2 && !strcmp(args->argv[1], "--list-options")) return list_options(args);
    int exit_status = args->is_begun ? 0 : renamed_options(args);
    if (exit_status) return stop(args, exit_status);
    args->is_begun = true;
    for (;;) {
        int option = getopt_long(args->argc, args->argv, args->letters, args->table, NULL);
        switch (option) {
        case -1:
            args->operands = args->argv + optind;
            args->operand_count = args->argc - optind;
            return ARGS_END;
        case OPTION_HELP: return print_help(args);
        case ':':
            return stop(args, args_usage_error(args, "option '%s' needs an argument",
                                               args->argv[optind - 1]));
        case '?': return stop(args, option_error(args));
        default: break;
        }
        exit_status = check_option(args, option);
        if (!exit_status && option < OPTION_SHARED) return option;
        if (!exit_status) exit_status = set_shared(args, option);
        if (exit_status) return stop(args, exit_status);
    }
}

bool args_is_negative(const char *text) {
    return *text == '-' && text[1] && !text[1 + strspn(text + 1, "0123456789")];
}

/* Does not use strtoull, which accepts leading spaces, signs and, with a locale, group separators.
 * The loop continues after an overflow, so that `12x` is reported as malformed whatever its length.
 */
bool args_number(const struct args *args, const char *name, const char *text, uint64_t limit,
                 uint64_t *number) {
    uint64_t value = 0;
    bool too_large = false;
    const char *c = text;
    for (; is_digit(*c); c++) {
        uint64_t digit = (uint64_t)(*c - '0');
        if (value > (UINT64_MAX - digit) / 10) too_large = true;
        value = value * 10 + digit;
    }
    if (args_is_negative(text)) {
        args_usage_error(args, "%s must not be negative, but is %s", name, text);
        return false;
    }
    if (*c || c == text) {
        args_usage_error(args, "%s must be a whole number, not '%s'", name, text);
        return false;
    }
    if (too_large || value > limit) {
        args_usage_error(args, "%s must be at most %" PRIu64 ", not %s", name, limit, text);
        return false;
    }
    *number = value;
    return true;
}

/* The factor of a unit: 1000 for kB, 1024 for KiB and so on. 0: it is not a unit. */
static uint64_t unit_factor(const char *unit) {
    static const char letters[] = "kMGT";
    uint64_t factor = 1;
    if (!*unit || !strcmp(unit, "B")) return 1;
    const char *letter = strchr(letters, *unit == 'K' ? 'k' : *unit);
    if (!letter) return 0;
    bool is_binary = unit[1] == 'i';
    if (strcmp(unit + 1, is_binary ? "iB" : "B") != 0) return 0;
    for (const char *c = letters; c <= letter; c++) factor *= is_binary ? 1024 : 1000;
    return factor;
}

int args_option_number(const struct args *args, uint64_t limit, uint64_t *number) {
    return args_number(args, args->name, optarg, limit, number) ? 0 : 2;
}

int args_option_threads(const struct args *args, unsigned *count) {
    enum { THREADS_MAX = 4096 };
    uint64_t number = 0;
    int exit_status = args_option_number(args, THREADS_MAX, &number);
    *count = (unsigned)number;
    return exit_status;
}

int args_option_size(const struct args *args, uint64_t *size) {
    size_t digits = strspn(optarg, "0123456789");
    uint64_t factor = unit_factor(optarg + digits + strspn(optarg + digits, " "));
    uint64_t number = digits && digits < 19 ? strtoull(optarg, NULL, 10) : 0;
    if (!factor || !number || number > UINT64_MAX / factor)
        return args_usage_error(args, "%s must be a size such as 200GB or 64MiB, not '%s'",
                                args->name, optarg);
    *size = number * factor;
    return 0;
}

int args_load_framing(const char **name, const char *path) {
    recmap_error error = RECMAP_ERROR_INIT;
    if (recmap_framing_load(name, path, &error) == RECMAP_OK) return 0;
    return message_print(&error);
}

bool args_name_selection(const struct args *args) {
    const char *path = args->operands[0];
    size_t size = strlen(path);
    return size > 4 && !strcmp(path + size - 4, ".rmv");
}

int args_check_opening(const struct args *args) {
    if (!args->operand_count) return args_usage_error(args, "no index given");
    if (args->index_path && !args_name_selection(args))
        return args_usage_error(args, "--index is for a selection (NAME.rmv)");
    if (args->dataset_options.cache_size && !args->dataset_options.cache)
        return args_usage_error(args, "--cache-size needs --cache");
    return 0;
}

int args_open(recmap_dataset **dataset, const struct args *args) {
    int exit_status = args_check_opening(args);
    if (exit_status) return exit_status;
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_dataset_options options = args->dataset_options;
    /* An index that is in a remote store has no business with files of this machine. */
    if (url_is_url(args->operands[0])) options.allow_absolute_paths = 0;
    if (recmap_dataset_open(dataset, args->operands[0], &options, &error) != RECMAP_OK)
        return message_print(&error);
    return 0;
}
