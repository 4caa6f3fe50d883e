/* The parts of the page. CMake writes their bytes from the files in this folder. */
#ifndef RECMAP_TOOLS_VIEWER_ASSETS_H
#define RECMAP_TOOLS_VIEWER_ASSETS_H

#include <stddef.h>

struct asset {
    const char *path; /* after the secret; "" is the page */
    const char *type;
    const unsigned char *data;
    size_t size;
};

enum { ASSET_COUNT = 3 };

extern const struct asset assets[ASSET_COUNT];

#endif
