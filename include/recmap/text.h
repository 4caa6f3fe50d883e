/* A growable text buffer, which functions append JSON or bytes to. */
#ifndef RECMAP_TEXT_H
#define RECMAP_TEXT_H

#include <recmap/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* `data` is NUL-terminated unless it is NULL; `size` does not count the NUL. Functions that take a
 * recmap_text append to it, and leave it unchanged if they fail. Set `size` to 0 to reuse the
 * memory. */
typedef struct recmap_text {
    char *data;
    size_t size;
    size_t capacity;
} recmap_text;

#define RECMAP_TEXT_INIT                                                                           \
    { NULL, 0, 0 }

/* Frees the memory and makes the text empty. The text may be used again. */
RECMAP_API void recmap_text_deinit(recmap_text *text);

#ifdef __cplusplus
}
#endif
#endif
