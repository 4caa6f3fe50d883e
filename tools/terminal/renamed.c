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

/* Returns NULL if the word is not an old name of an option of the table. */
static const struct renamed *find_renamed(const char *word, const struct option *table) {
    if (strncmp(word, "--", 2) != 0) return NULL;
    const struct renamed *found = find_option(word + 2, strcspn(word + 2, "="));
    bool is_old = found && !has_option(table, found->old) && has_option(table, found->now);
    return is_old ? found : NULL;
}

/* The new word is never freed: it lives as long as the words of the command line. */
static void rename_word(char **word, const struct renamed *found) {
    const char *name = *word + 2;
    size_t size = strcspn(name, "=");
    message("--%s is now --%s; the old name works until recmap 2.0", found->old, found->now);
    size_t capacity = strlen(found->now) + strlen(name + size) + 3;
    char *renamed = malloc(capacity);
    if (!renamed) return;
    snprintf(renamed, capacity, "--%s%s", found->now, name + size);
    *word = renamed;
}

static bool is_given(char *const *words, int count, const char *name) {
    size_t size = strlen(name);
    for (int i = 0; i < count; i++) {
        const char *word = words[i];
        if (!strncmp(word, "--", 2) && strcspn(word + 2, "=") == size &&
            !memcmp(word + 2, name, size))
            return true;
    }
    return false;
}

int renamed_options(const struct args *args) {
    char **words = args->argv + 1;
    int count = 0;
    while (count < args->argc - 1 && strcmp(words[count], "--") != 0) count++;
    for (int i = 0; i < count; i++) {
        const struct renamed *found = find_renamed(words[i], args->table);
        if (found && is_given(words, count, found->now))
            return args_usage_error(args, "--%s is the old name of --%s: give --%s only",
                                    found->old, found->now, found->now);
    }
    for (int i = 0; i < count; i++) {
        const struct renamed *found = find_renamed(words[i], args->table);
        if (found) rename_word(&words[i], found);
    }
    return 0;
}

const char *renamed_value(const char *value) {
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        if (strcmp(values[i].old, value) != 0) continue;
        message("%s is now %s; the old name works until recmap 2.0", value, values[i].now);
        return values[i].now;
    }
    return value;
}
