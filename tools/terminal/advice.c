#include "terminal/advice.h"

#include <stdbool.h>
#include <string.h>

#include "base/words/character.h"

static bool is_name_character(char c) {
    return c == '_' || is_letter(c) || is_digit(c);
}

/* Returns true if the code, which ends in a backtick, is one name of C. */
static bool is_name_of_c(const char *code) {
    if (strncmp(code, "RECMAP_", 7) != 0 && strncmp(code, "recmap_", 7) != 0) return false;
    while (is_name_character(*code)) code++;
    return *code == '`';
}

/* The size of the clause, which ends at a semicolon or with the text. A semicolon in code, such as
 * one in a path, is not the end. Sets whether the clause names something of C. */
static size_t clause_size(bool *names_c, const char *clause) {
    bool is_code = false;
    const char *c = clause;
    *names_c = false;
    for (; *c && (is_code || *c != ';'); c++) {
        if (*c != '`') continue;
        is_code = !is_code;
        *names_c |= is_code && is_name_of_c(c + 1);
    }
    return (size_t)(c - clause);
}

void advice_remove_c(char *advice) {
    const char *clause = advice;
    char *end = advice;
    for (;;) {
        bool names_c;
        size_t size = clause_size(&names_c, clause);
        bool is_last = !clause[size];
        if (!names_c) {
            if (end > advice) *end++ = ';';
            size_t gap = end > advice ? 0 : strspn(clause, " ");
            memmove(end, clause + gap, size - gap);
            end += size - gap;
        }
        if (is_last) break;
        clause += size + 1;
    }
    *end = 0;
}
