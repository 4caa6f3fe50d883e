/* Opens the page in the user's browser.
 *
 * The browser's command line, which all users of the machine can read, must not contain the
 * secret. It names a private file instead, which redirects to the page. */
#ifndef RECMAP_TOOLS_VIEWER_BROWSER_H
#define RECMAP_TOOLS_VIEWER_BROWSER_H

#include <stdbool.h>

enum { BROWSER_PATH_SIZE = 4096 };

struct browser {
    char path[BROWSER_PATH_SIZE]; /* of the private file; "" if there is none */
};

/* Starts the browser if there is a display. Returns false if that is not possible. */
bool browser_open(struct browser *browser, const char *url);

/* Removes the private file. */
void browser_close(struct browser *browser);

#endif
