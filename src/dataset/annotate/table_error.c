#include "dataset/annotate/table_error.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/core/error.h"

const char *table_key_name(recmap_key key) {
    return key == RECMAP_KEY_NUMBER ? "number" : "id";
}

recmap_status table_fail(const struct table *table, uint64_t line, recmap_error *error,
                         const char *advice, const char *format, ...) {
    char what[400];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    fail(error, RECMAP_INVALID, "line %" PRIu64 ": %s", line, what);
    fail_file(error, table->path);
    fail_advise(error, "%s", advice);
    return RECMAP_INVALID;
}
