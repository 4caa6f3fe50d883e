#include "terminal/message.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <string.h>

static bool is_control(unsigned char c) {
    return c < 0x20 || c == 0x7f;
}

static void make_safe(char *text) {
    for (; *text; text++)
        if (is_control((unsigned char)*text)) *text = '?';
}

void print_safe(FILE *stream, const char *text) {
    for (; *text; text++) putc(is_control((unsigned char)*text) ? '?' : *text, stream);
}

void print_readable(FILE *stream, const char *text, size_t size) {
    for (size_t i = 0; i < size; i++) {
        if (text[i] == '\t') fputs("\\t", stream);
        else if (text[i] == '\n') fputs("\\n", stream);
        else if (is_control((unsigned char)text[i])) fprintf(stream, "\\u%04x", text[i]);
        else putc(text[i], stream);
    }
}

void message(const char *format, ...) {
    char text[8192];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    make_safe(text);
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
    make_safe(error->message);
    make_safe(error->path);
    make_safe(error->advice);
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
    make_safe(error->path);
    snprintf(error->message, sizeof error->message, "cannot %s: %s", action,
             strerror(system_errno));
    const char *advice = "check the path, its permissions and the state of the device";
    if (system_errno == ENOSPC || system_errno == EDQUOT)
        advice = "free some space on that file system, or write elsewhere with -o";
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
