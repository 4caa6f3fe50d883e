/* A growing piece of text that the caller owns and uses again: where JSON is written to. */
#ifndef RECMAP_TEXT_H
#define RECMAP_TEXT_H

#include <recmap/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* `data` is NUL-terminated whenever it is not NULL; `size` does not count the NUL. Functions that
 * take a recmap_text append to it, and leave it as it was when they fail. Set `size` to 0 to use
 * its memory again. */
typedef struct recmap_text {
    char *data;
    size_t size;
    size_t capacity;
} recmap_text;

#define RECMAP_TEXT_INIT                                                                           \
    { NULL, 0, 0 }

/* Frees the memory and leaves an empty text behind. */
RECMAP_API void recmap_text_deinit(recmap_text *text);

#ifdef __cplusplus
}
#endif
#endif
