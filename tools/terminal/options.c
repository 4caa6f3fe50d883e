#include "terminal/options.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

bool option_row_is_for(const struct option_row *row, const char *command) {
    size_t size = strlen(command);
    if (!row->commands) return true;
    for (const char *word = row->commands; *word;) {
        size_t word_size = strcspn(word, " ");
        if (word_size == size && !memcmp(word, command, size)) return true;
        word += word_size + (word[word_size] == ' ');
    }
    return false;
}

bool option_row_has_choices(const struct option_row *row) {
    if (!row->argument) return false;
    for (const char *c = row->argument; *c; c++)
        if (isupper((unsigned char)*c)) return false;
    return true;
}

int option_row_find_choice(const struct option_row *row, const char *word) {
    size_t size = strlen(word);
    int index = 0;
    for (const char *choice = row->argument;; index++) {
        size_t choice_size = strcspn(choice, "|");
        if (choice_size == size && !memcmp(choice, word, size)) return index;
        if (!choice[choice_size]) return -1;
        choice += choice_size + 1;
    }
}

const char *option_name(int option) {
    const struct option_row *row = option_table;
    while (row->option != option) row++;
    return row->name;
}

enum { TEXT_COLUMN = 27, LINE_MAX_SIZE = 92 };

/* Prints words from TEXT_COLUMN on, in as many lines as they need. `column` is where the cursor is
 * in the first one. */
static void print_text(const char *text, size_t column) {
    bool is_new_line = column + 2 > TEXT_COLUMN;
    if (!is_new_line) printf("%*s", (int)(TEXT_COLUMN - column), "");
    for (column = TEXT_COLUMN; *text; text += *text != 0) {
        size_t size = strcspn(text, " \n");
        if (is_new_line || column + size > LINE_MAX_SIZE) {
            printf("\n%*s", TEXT_COLUMN, "");
            column = TEXT_COLUMN;
        }
        printf("%s%.*s", column > TEXT_COLUMN ? " " : "", (int)size, text);
        column += size + (column > TEXT_COLUMN);
        text += size;
        is_new_line = *text == '\n';
    }
    putchar('\n');
}

static void print_row(const struct option_row *row) {
    char head[96], letter[8] = "    ";
    if (row->option < OPTION_LONG) snprintf(letter, sizeof letter, "-%c, ", row->option);
    int size = snprintf(head, sizeof head, "  %s--%s%s%s", letter, row->name,
                        row->argument ? " " : "", row->argument ? row->argument : "");
    fputs(head, stdout);
    print_text(row->text, (size_t)size);
}

void options_print(const char *command) {
    for (const struct option_row *row = option_table; row->text; row++) {
        if (!option_row_is_for(row, command)) continue;
        if (row->name) print_row(row);
        else printf("\n%s\n", row->text);
    }
}
