/* Recognises pictures and sound by their first bytes. The bytes are untrusted: a picture counts as
 * one only if its header gives a size that a browser can decode in bounded memory. */
#ifndef RECMAP_TOOLS_REPORT_MEDIA_H
#define RECMAP_TOOLS_REPORT_MEDIA_H

#include <stddef.h>
#include <stdint.h>

enum media_kind { MEDIA_NONE, MEDIA_PICTURE, MEDIA_SOUND };

struct media {
    enum media_kind kind;
    const char *name; /* such as "JPEG" */
    const char *type; /* such as "image/jpeg" */
    unsigned width;   /* of a picture; 0: the header is malformed */
    unsigned height;
};

struct media media_detect(const uint8_t *data, size_t size);

/* Not 0 if the picture's header is valid and its pixels are few enough to show. */
int media_is_shown(const struct media *media);

#endif
