/* Writes HTML. Markup of the report itself is written as it is; everything that comes from a data
 * set goes through html_text, the only function that escapes, or html_base64. */
#ifndef RECMAP_TOOLS_REPORT_HTML_H
#define RECMAP_TOOLS_REPORT_HTML_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct html {
    FILE *stream;
    uint64_t size;    /* bytes written */
    int system_errno; /* of the first write that failed, or 0 */
};

/* Writes markup. */
void html_put(struct html *html, const char *markup);

/* Writes formatted markup. Only numbers and static strings may be arguments. */
void html_format(struct html *html, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Writes untrusted text, of which up to `limit` characters are shown. Characters that HTML
 * interprets are escaped, for element content and quoted attributes. Bytes that are not UTF-8 and
 * characters that are invisible or change the direction of text become \xff or \u202e. */
void html_text(struct html *html, const void *text, size_t size, size_t limit);

/* The same for a C string. */
void html_string(struct html *html, const char *text);

void html_base64(struct html *html, const uint8_t *data, size_t size);

#endif
