#include "terminal/message.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <string.h>

size_t control_size(const char *text, size_t size) {
    if (!size) return 0;
    unsigned char byte = (unsigned char)text[0];
    if (byte < 0x20 || byte == 0x7f) return 1;
    if (byte != 0xc2 || size < 2) return 0;
    unsigned char next = (unsigned char)text[1];
    return next >= 0x80 && next < 0xa0 ? 2 : 0;
}

enum { ESCAPE_SIZE = 5 };

/* Writes the character that the text begins with, escaped as in the library's messages if it is a
 * control character. Returns its size. */
static size_t escape(char escaped[ESCAPE_SIZE], const char *text, size_t left) {
    size_t size = control_size(text, left);
    if (!size) memcpy(escaped, (char[]){*text, 0}, 2);
    else if (*text == '\t') snprintf(escaped, ESCAPE_SIZE, "\\t");
    else if (*text == '\n') snprintf(escaped, ESCAPE_SIZE, "\\n");
    else if (*text == '\r') snprintf(escaped, ESCAPE_SIZE, "\\r");
    else snprintf(escaped, ESCAPE_SIZE, "\\x%02x", (unsigned char)text[size - 1]);
    return size ? size : 1;
}

enum { TEXT_SIZE = 8192 };

/* Escapes control characters. What then does not fit is cut. `capacity` is at most TEXT_SIZE. */
static void make_safe(char *text, size_t capacity) {
    char safe[TEXT_SIZE];
    size_t size = 0, read;
    for (size_t left = strlen(text), i = 0; left; i += read, left -= read) {
        char escaped[ESCAPE_SIZE];
        read = escape(escaped, text + i, left);
        size_t escaped_size = strlen(escaped);
        if (size + escaped_size >= capacity) break;
        memcpy(safe + size, escaped, escaped_size);
        size += escaped_size;
    }
    memcpy(text, safe, size);
    text[size] = 0;
}

void print_safe(FILE *stream, const char *text) {
    for (size_t left = strlen(text), size; left; text += size, left -= size) {
        char escaped[ESCAPE_SIZE];
        size = escape(escaped, text, left);
        fputs(escaped, stream);
    }
}

void print_readable(FILE *stream, const char *text, size_t size) {
    for (size_t i = 0; i < size; i++) {
        size_t control = control_size(text + i, size - i);
        if (text[i] == '\t') fputs("\\t", stream);
        else if (text[i] == '\n') fputs("\\n", stream);
        else if (!control) putc(text[i], stream);
        else fprintf(stream, "\\u%04x", (unsigned char)text[i + control - 1]);
        i += control == 2;
    }
}

static bool is_plain(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           (c && strchr("_-./:@%+,=", c));
}

/* Within single quotes all characters stand for themselves. A single quote ends them, so it is
 * written as '\''. */
bool shell_word(char word[WORD_SIZE], const char *text) {
    size_t size = 0, left = strlen(text);
    const char *quote = left ? "" : "'";
    for (size_t i = 0; i < left; i++) {
        if (text[i] == '`' || control_size(text + i, left - i)) return false;
        if (!is_plain(text[i])) quote = "'";
    }
    size += (size_t)snprintf(word, WORD_SIZE, "%s", quote);
    for (; *text && size < WORD_SIZE; text++)
        size +=
            (size_t)snprintf(word + size, WORD_SIZE - size, *text == '\'' ? "'\\''" : "%c", *text);
    if (size >= WORD_SIZE) return false;
    size += (size_t)snprintf(word + size, WORD_SIZE - size, "%s", quote);
    return size < WORD_SIZE;
}

void message(const char *format, ...) {
    char text[TEXT_SIZE];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    make_safe(text, sizeof text);
    fprintf(stderr, "recmap: %s\n", text);
}

/* Fills in everything but the message, which is already written, and makes all of it safe. */
static void finish_error(recmap_error *error, recmap_status status, const char *path,
                         const char *advice) {
    error->status = status;
    error->system_errno = 0;
    error->record = RECMAP_NO_RECORD;
    error->offset = RECMAP_NO_OFFSET;
    snprintf(error->path, sizeof error->path, "%s", path ? path : "");
    snprintf(error->advice, sizeof error->advice, "%s", advice ? advice : "");
    make_safe(error->message, sizeof error->message);
    make_safe(error->path, sizeof error->path);
    make_safe(error->advice, sizeof error->advice);
}

int message_error(recmap_status status, const char *path, const char *advice, const char *format,
                  ...) {
    recmap_error error;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(error.message, sizeof error.message, format, arguments);
    va_end(arguments);
    finish_error(&error, status, path, advice);
    return recmap_error_print(&error, stderr);
}

recmap_status message_fail(recmap_error *error, recmap_status status, const char *path,
                           const char *advice, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(error->message, sizeof error->message, format, arguments);
    va_end(arguments);
    finish_error(error, status, path, advice);
    return status;
}

recmap_status message_fail_errno(recmap_error *error, const char *path, const char *action) {
    int system_errno = errno;
    *error = (recmap_error)RECMAP_ERROR_INIT;
    error->status = RECMAP_IO;
    error->system_errno = system_errno;
    snprintf(error->path, sizeof error->path, "%s", path);
    make_safe(error->path, sizeof error->path);
    snprintf(error->message, sizeof error->message, "cannot %s: %s", action,
             strerror(system_errno));
    const char *advice = "check the path, its permissions and the state of the device";
    if (system_errno == ENOSPC || system_errno == EDQUOT)
        advice = "free some space on that file system, or write elsewhere with -o";
    if (system_errno == ENOENT && strstr(path, "://"))
        advice = "a URL cannot be used here: name a local file";
    if (system_errno == EPIPE) advice = "the reader of the output has exited";
    snprintf(error->advice, sizeof error->advice, "%s", advice);
    return RECMAP_IO;
}

const char *human_bytes(char text[HUMAN_SIZE], double bytes) {
    static const char *const units[] = {"B", "kB", "MB", "GB", "TB", "PB", "EB"};
    unsigned unit = 0;
    while (bytes >= 999.5 && unit < 6) {
        bytes /= 1000;
        unit++;
    }
    int digits = unit == 0 || bytes >= 99.95 ? 0 : bytes >= 9.995 ? 1 : 2;
    snprintf(text, HUMAN_SIZE, "%.*f %s", digits, bytes, units[unit]);
    return text;
}

const char *plural(uint64_t count) {
    return count == 1 ? "" : "s";
}
