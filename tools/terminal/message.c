#include "terminal/message.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <recmap/text.h>

#include "base/words/errno_advice.h"
#include "base/words/printable.h"
#include "terminal/advice.h"

void print_readable(FILE *stream, const char *text, size_t size) {
    for (size_t read; size; text += read, size -= read) {
        char escaped[RECMAP_ESCAPE_SIZE];
        read = recmap_text_escape(escaped, text, size);
        fputs(escaped, stream);
    }
}

bool print_float(FILE *stream, float value) {
    char text[32];
    for (int digits = 6; digits <= 9; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, (double)value);
        if (strtof(text, NULL) == value) break;
    }
    return fputs(text, stream) != EOF;
}

void print_safe(FILE *stream, const char *text) {
    print_readable(stream, text, strlen(text));
}

void message(const char *format, ...) {
    char text[PRINTABLE_MAX];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    make_printable(text, sizeof text);
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
    make_printable(error->message, sizeof error->message);
    make_printable(error->path, sizeof error->path);
    make_printable(error->advice, sizeof error->advice);
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

int message_print(const recmap_error *error) {
    recmap_error shown = *error;
    advice_remove_c(shown.advice);
    return recmap_error_print(&shown, stderr);
}

void message_print_warning(const recmap_error *warning, void *unused) {
    (void)unused;
    message_print(warning);
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

recmap_status message_fail_memory(recmap_error *error) {
    return message_fail(error, RECMAP_NO_MEMORY, NULL, NULL, "out of memory");
}

recmap_status message_fail_errno(recmap_error *error, const char *path, const char *action) {
    int system_errno = errno;
    *error = (recmap_error)RECMAP_ERROR_INIT;
    error->status = RECMAP_IO;
    error->system_errno = system_errno;
    snprintf(error->path, sizeof error->path, "%s", path);
    make_printable(error->path, sizeof error->path);
    snprintf(error->message, sizeof error->message, "cannot %s: %s", action,
             strerror(system_errno));
    snprintf(error->advice, sizeof error->advice, "%s", errno_advice(system_errno, path));
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
