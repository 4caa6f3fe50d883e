#include <recmap/text.h>

#include "base/words/printable.h"

size_t recmap_text_unprintable(uint32_t *character, const void *text, size_t size) {
    return text_unprintable(character, text, size);
}

size_t recmap_text_escape(char escaped[RECMAP_ESCAPE_SIZE], const void *text, size_t size) {
    return text_escape(escaped, text, size);
}
