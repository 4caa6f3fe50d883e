#define _GNU_SOURCE
#include "support/vector_file.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { ENTRIES_MAX = 24, LINE_MAX = 512, PATH_LIMIT = 4096 };

struct vector_entry {
    char *key;
    char *value;
};

struct vector_case {
    char *title;
    struct vector_entry entries[ENTRIES_MAX];
    size_t count;
};

static void *checked(void *memory) {
    if (!memory) abort();
    return memory;
}

static struct vector_entry *find_entry(const struct vector_case *vector, const char *key) {
    for (size_t i = 0; i < vector->count; i++)
        if (!strcmp(vector->entries[i].key, key)) return (struct vector_entry *)&vector->entries[i];
    return NULL;
}

static void add_case(struct vector_file *file, const char *title) {
    file->cases = checked(realloc(file->cases, (file->count + 1) * sizeof *file->cases));
    file->cases[file->count++] = (struct vector_case){.title = checked(strdup(title))};
}

static void add_line(struct vector_case *vector, const char *key, const char *value) {
    struct vector_entry *entry = find_entry(vector, key);
    if (!entry) {
        assert_true(vector->count < ENTRIES_MAX);
        vector->entries[vector->count++] =
            (struct vector_entry){checked(strdup(key)), checked(strdup(value))};
        return;
    }
    size_t size = strlen(entry->value);
    entry->value = checked(realloc(entry->value, size + strlen(value) + 2));
    entry->value[size] = ' ';
    memcpy(entry->value + size + 1, value, strlen(value) + 1);
}

/* A `case` line begins a case; the `KEY VALUE` lines after it belong to it. Empty lines and those
 * that begin with # are skipped. */
struct vector_file vectors_load(const char *name) {
    char line[LINE_MAX], path[PATH_LIMIT];
    snprintf(path, sizeof path, "%s/docs/formats/vectors/%s", RECMAP_SOURCE_DIR, name);
    FILE *stream = fopen(path, "r");
    if (!stream) fail_msg("%s: %s", path, strerror(errno));
    struct vector_file file = {0};
    while (fgets(line, sizeof line, stream)) {
        char *end = strchr(line, '\n');
        if (!end) fail_msg("%s: a line is too long", path);
        else *end = 0;
        if (!line[0] || line[0] == '#') continue;
        char *value = strchr(line, ' ');
        if (value) *value++ = 0;
        if (!strcmp(line, "case")) {
            add_case(&file, value ? value : "");
            continue;
        }
        assert_true(file.count > 0);
        add_line(&file.cases[file.count - 1], line, value ? value : "");
    }
    fclose(stream);
    assert_true(file.count > 0);
    return file;
}

void vectors_deinit(struct vector_file *file) {
    for (size_t i = 0; i < file->count; i++) {
        for (size_t e = 0; e < file->cases[i].count; e++) {
            free(file->cases[i].entries[e].key);
            free(file->cases[i].entries[e].value);
        }
        free(file->cases[i].title);
    }
    free(file->cases);
    *file = (struct vector_file){0};
}

const struct vector_case *vectors_at(const struct vector_file *file, size_t i) {
    assert_true(i < file->count);
    return &file->cases[i];
}

const struct vector_case *vectors_find(const struct vector_file *file, const char *title) {
    for (size_t i = 0; i < file->count; i++)
        if (!strcmp(file->cases[i].title, title)) return &file->cases[i];
    return NULL;
}

const char *vector_title(const struct vector_case *vector) {
    return vector->title;
}

bool vector_has(const struct vector_case *vector, const char *key) {
    return find_entry(vector, key) != NULL;
}

const char *vector_text(const struct vector_case *vector, const char *key) {
    const struct vector_entry *entry = find_entry(vector, key);
    if (!entry) fail_msg("case %s has no %s", vector->title, key);
    return entry->value;
}

static uint64_t parse_number(const char **text) {
    char *end;
    errno = 0;
    uint64_t number = strtoull(*text, &end, 10);
    if (errno || end == *text) fail_msg("\"%s\" is not a number", *text);
    *text = end;
    return number;
}

uint64_t vector_number(const struct vector_case *vector, const char *key) {
    const char *text = vector_text(vector, key);
    uint64_t number = parse_number(&text);
    assert_string_equal(text, "");
    return number;
}

uint64_t *vector_numbers(const struct vector_case *vector, const char *key, size_t *count) {
    const char *text = vector_text(vector, key);
    uint64_t *numbers = checked(malloc((strlen(text) + 1) * sizeof *numbers));
    for (*count = 0; *text; text += *text == ' ') numbers[(*count)++] = parse_number(&text);
    return numbers;
}

static unsigned parse_digit(char digit) {
    static const char digits[] = "0123456789abcdef";
    const char *place = digit ? strchr(digits, digit) : NULL;
    if (!place) fail_msg("'%c' is not a hex digit", digit);
    return place ? (unsigned)(place - digits) : 0;
}

size_t vector_parse_hex(uint8_t *bytes, const char **text) {
    size_t size = 0;
    for (; **text && **text != ' '; *text += 2)
        bytes[size++] = (uint8_t)(parse_digit((*text)[0]) << 4 | parse_digit((*text)[1]));
    return size;
}

uint8_t *vector_bytes(const struct vector_case *vector, const char *key, size_t *size) {
    const char *text = vector_text(vector, key);
    uint8_t *bytes = checked(malloc(strlen(text) + 1));
    for (*size = 0; *text; text += *text == ' ') *size += vector_parse_hex(bytes + *size, &text);
    return bytes;
}

void vector_expect(const struct vector_case *vector, const char *key, const void *bytes,
                   size_t size) {
    size_t expected_size;
    uint8_t *expected = vector_bytes(vector, key, &expected_size);
    if (size != expected_size || (size && memcmp(bytes, expected, size)))
        fail_msg("case %s: %s is another (%zu bytes, expected %zu)", vector->title, key, size,
                 expected_size);
    free(expected);
}
