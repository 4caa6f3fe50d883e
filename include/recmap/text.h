/* A growable text buffer, which functions append JSON or bytes to. */
#ifndef RECMAP_TEXT_H
#define RECMAP_TEXT_H

#include <stddef.h>
#include <stdint.h>

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

/* Texts from data (records, ids, names, URLs) can control a terminal, or look like other texts. So
 * all messages of the library have escapes for control characters, for characters that are
 * invisible or change the direction of text (such as U+200B, U+202E and U+E0041), and for bytes
 * from 0x80 to 0x9f that are not UTF-8. The same is here for programs that print such texts. */

/* If a text of `size` bytes begins with such a character or byte, sets `character` and returns its
 * length in bytes; else 0. */
RECMAP_API size_t recmap_text_unprintable(uint32_t *character, const void *text, size_t size);

#define RECMAP_ESCAPE_SIZE 11

/* Writes the first character of the text, NUL-terminated: as it is, or as an escape of Python's
 * (\t, \x1b, \u202e, \U000e0041). Returns how many bytes of the text it takes; 0 if `size` is 0. */
RECMAP_API size_t recmap_text_escape(char escaped[RECMAP_ESCAPE_SIZE], const void *text,
                                     size_t size);

#ifdef __cplusplus
}
#endif
#endif
