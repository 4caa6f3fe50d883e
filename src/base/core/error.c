#include "base/core/error.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/core/redact.h"
#include "base/words/errno_advice.h"
#include "base/words/printable.h"

const char *recmap_version(void) {
    return RECMAP_VERSION;
}

const char *recmap_status_name(recmap_status status) {
    switch (status) {
#define NAME(name, exit_status, text)                                                              \
    case RECMAP_##name: return #name;
        RECMAP_STATUSES(NAME)
#undef NAME
    }
    return "?";
}

const char *recmap_status_text(recmap_status status) {
    switch (status) {
#define TEXT(name, exit_status, text)                                                              \
    case RECMAP_##name: return text;
        RECMAP_STATUSES(TEXT)
#undef TEXT
    }
    return "?";
}

int recmap_status_exit(recmap_status status) {
    switch (status) {
#define EXIT(name, exit_status, text)                                                              \
    case RECMAP_##name: return exit_status;
        RECMAP_STATUSES(EXIT)
#undef EXIT
    }
    return 4;
}

recmap_status fail(recmap_error *error, recmap_status status, const char *format, ...) {
    if (!error) return status;
    error->status = status;
    error->system_errno = 0;
    error->record = RECMAP_NO_RECORD;
    error->offset = RECMAP_NO_OFFSET;
    error->path[0] = 0;
    error->advice[0] = 0;
    memset(error->reserved, 0, sizeof error->reserved);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(error->message, sizeof error->message, format, arguments);
    va_end(arguments);
    make_printable(error->message, sizeof error->message);
    return status;
}

recmap_status fail_memory(recmap_error *error) {
    fail(error, RECMAP_NO_MEMORY, "out of memory");
    if (error) error->system_errno = ENOMEM;
    return RECMAP_NO_MEMORY;
}

recmap_status fail_errno(recmap_error *error, int system_errno, const char *path,
                         const char *action) {
    recmap_status status = system_errno == ENOMEM ? RECMAP_NO_MEMORY : RECMAP_IO;
    char text[128];
    /* strerror is not thread-safe. %m in vsnprintf is, but it reads errno. */
    int saved = errno;
    errno = system_errno;
    snprintf(text, sizeof text, "%m");
    errno = saved;
    fail(error, status, "cannot %s: %s", action, text);
    if (!error) return status;
    error->system_errno = system_errno;
    fail_file(error, path);
    fail_advise(error, "%s", errno_advice(system_errno, path ? path : ""));
    return status;
}

void fail_append(recmap_error *error, const char *format, ...) {
    if (!error) return;
    size_t used = strlen(error->message);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(error->message + used, sizeof error->message - used, format, arguments);
    va_end(arguments);
    make_printable(error->message, sizeof error->message);
}

void fail_at(recmap_error *error, const char *path, uint64_t record, uint64_t offset) {
    if (!error) return;
    if (path) {
        redact_url(error->path, sizeof error->path, path);
        make_printable(error->path, sizeof error->path);
    }
    if (record != RECMAP_NO_RECORD) error->record = record;
    if (offset != RECMAP_NO_OFFSET) error->offset = offset;
}

void fail_file(recmap_error *error, const char *path) {
    fail_at(error, path, RECMAP_NO_RECORD, RECMAP_NO_OFFSET);
}

void fail_advise(recmap_error *error, const char *format, ...) {
    if (!error) return;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(error->advice, sizeof error->advice, format, arguments);
    va_end(arguments);
    make_printable(error->advice, sizeof error->advice);
}

size_t recmap_error_format(char *text, size_t capacity, const recmap_error *error) {
    char place[64] = "";
    bool has_record = error->record != RECMAP_NO_RECORD;
    bool has_offset = error->offset != RECMAP_NO_OFFSET;
    int n = 0;
    if (has_record)
        n = snprintf(place, sizeof place, "record %" PRIu64 "%s", error->record,
                     has_offset ? " at " : ": ");
    if (has_offset)
        snprintf(place + n, sizeof place - (size_t)n, "byte %" PRIu64 ": ", error->offset);
    int length = snprintf(text, capacity, "recmap: %s%s%s%s%s%s", error->path,
                          error->path[0] ? ": " : "", place, error->message,
                          error->advice[0] ? "\n  " : "", error->advice);
    return length < 0 ? 0 : (size_t)length;
}

int recmap_error_print(const recmap_error *error, FILE *stream) {
    char text[sizeof *error + 128];
    recmap_error_format(text, sizeof text, error);
    fprintf(stream, "%s\n", text);
    return recmap_status_exit(error->status);
}
