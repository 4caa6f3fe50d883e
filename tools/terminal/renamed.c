#include "terminal/renamed.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "terminal/message.h"

struct renamed {
    const char *old;
    const char *now;
};

static const struct renamed options[] = {
    {"batch", "batch-size"},         {"missing", "missing-values"}, {"on", "by"},
    {"on-corrupt", "on-bad-record"}, {"world", "world-size"},
};

static const struct renamed values[] = {{"pread", "read"}, {"raise", "error"}};

static bool has_option(const struct option *table, const char *name) {
    for (; table->name; table++)
        if (!strcmp(table->name, name)) return true;
    return false;
}

static const struct renamed *find_option(const char *name, size_t size) {
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        if (strlen(options[i].old) == size && !memcmp(options[i].old, name, size))
            return &options[i];
    return NULL;
}

/* The new word is never freed: it lives as long as the words of the command line. */
static void rename_word(char **word, const struct option *table) {
    const char *name = *word + 2;
    size_t size = strcspn(name, "=");
    const struct renamed *found = find_option(name, size);
    if (!found || has_option(table, found->old) || !has_option(table, found->now)) return;
    message("--%s is now --%s; the old name works until recmap 2.0", found->old, found->now);
    size_t capacity = strlen(found->now) + strlen(name + size) + 3;
    char *renamed = malloc(capacity);
    if (!renamed) return;
    snprintf(renamed, capacity, "--%s%s", found->now, name + size);
    *word = renamed;
}

void renamed_options(int argc, char **argv, const struct option *table) {
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
        if (!strncmp(argv[i], "--", 2)) rename_word(&argv[i], table);
}

const char *renamed_value(const char *value) {
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        if (strcmp(values[i].old, value) != 0) continue;
        message("%s is now %s; the old name works until recmap 2.0", value, values[i].now);
        return values[i].now;
    }
    return value;
}
