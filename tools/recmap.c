/* The recmap executable: finds the command and runs it. */
#include <stdio.h>
#include <string.h>

#include <recmap/status.h>
#include <recmap/warning.h>

#include "base/words/near_name.h"
#include "commands/commands.h"
#include "output/output.h"
#include "terminal/message.h"

static const struct command *const commands[] = {
    &cmd_index,  &cmd_info,   &cmd_report, &cmd_view,   &cmd_schema, &cmd_get,        &cmd_find,
    &cmd_cat,    &cmd_order,  &cmd_select, &cmd_sample, &cmd_split,  &cmd_duplicates, &cmd_annotate,
    &cmd_verify, &cmd_doctor, &cmd_warm,   &cmd_merge,  &cmd_import, &cmd_export,
};

enum { COMMAND_COUNT = sizeof commands / sizeof *commands };

static int print_help(void) {
    fputs("usage: recmap COMMAND [OPTION]... NAME.rmx|SHARD...\n"
          "       recmap --help | --version\n"
          "\n"
          "Random access, true shuffling and exact resume for TFRecord files.\n"
          "\n"
          "commands:\n",
          stdout);
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        printf("  %-10s %s\n", commands[i]->name, commands[i]->summary);
    fputs("\n"
          "'recmap COMMAND --help' lists the options of a command; 'man recmap' is the manual.\n"
          "\n"
          "exit status: 0 success; 1 negative result (id not found, damage found); 2 wrong usage;\n"
          "3 damaged or mismatched data or index; 4 system error (I/O, memory)\n",
          stdout);
    return 0;
}

/* For shell completion. */
static int list_commands(void) {
    for (size_t i = 0; i < COMMAND_COUNT; i++) puts(commands[i]->name);
    return 0;
}

static int unknown_word(const char *word) {
    struct near_name near = NEAR_NAME_INIT;
    near_name_offer(&near, word, strlen(word), "--help", strlen("--help"));
    near_name_offer(&near, word, strlen(word), "--version", strlen("--version"));
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        near_name_offer(&near, word, strlen(word), commands[i]->name, strlen(commands[i]->name));
    char advice[64] = "try 'recmap --help'";
    if (near.name) snprintf(advice, sizeof advice, "did you mean 'recmap %s'?", near.name);
    return message_error(RECMAP_INVALID, NULL, advice, "unknown %s '%s'",
                         word[0] == '-' ? "option" : "command", word);
}

static int run_command(int argc, char **argv) {
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        if (!strcmp(commands[i]->name, argv[0])) return commands[i]->run(argc, argv);
    return unknown_word(argv[0]);
}

/* `recmap help COMMAND` is `recmap COMMAND --help`. */
static int help(char *command) {
    char option[] = "--help";
    char *arguments[] = {command, option, NULL};
    return command ? run_command(2, arguments) : print_help();
}

static int run(int argc, char **argv) {
    if (argc < 2)
        return message_error(RECMAP_INVALID, NULL, "try 'recmap --help'", "no command given");
    const char *word = argv[1];
    if (!strcmp(word, "--help") || !strcmp(word, "-h")) return print_help();
    if (!strcmp(word, "help")) return help(argv[2]);
    if (!strcmp(word, "--version")) return printf("recmap %s\n", recmap_version()) < 0;
    if (!strcmp(word, "--list-commands")) return list_commands();
    return run_command(argc - 1, argv + 1);
}

int main(int argc, char **argv) {
    recmap_set_warn(message_print_warning, NULL);
    return output_check_stdout(run(argc, argv));
}
