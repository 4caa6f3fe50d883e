/* Recognises pictures and sound by their contents. The bytes are untrusted. */
#ifndef RECMAP_TOOLS_REPORT_MEDIA_H
#define RECMAP_TOOLS_REPORT_MEDIA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum media_kind { MEDIA_NONE, MEDIA_PICTURE, MEDIA_SOUND };

enum { MEDIA_PROBLEM_SIZE = 160 };

struct media {
    enum media_kind kind;
    const char *name; /* such as "JPEG" */
    const char *type; /* such as "image/jpeg"; NULL for a picture whose header is damaged */
    uint32_t width;   /* of a picture, upright; 0: the header is damaged */
    uint32_t height;
    bool is_custom;                   /* of a decoder, so that browsers do not know the format */
    bool is_wide_gray;                /* 16 bits: browsers show only the high ones */
    char problem[MEDIA_PROBLEM_SIZE]; /* why a picture cannot be shown; "" if it may be */
};

struct media media_detect(const uint8_t *data, size_t size);

#endif
