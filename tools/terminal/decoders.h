/* The decoders of pictures that --decoder names. Like the code of a custom framing, they are loaded
 * for the whole process. */
#ifndef RECMAP_TOOLS_TERMINAL_DECODERS_H
#define RECMAP_TOOLS_TERMINAL_DECODERS_H

#include <recmap/image_decoder.h>

#include "terminal/args.h"

/* Loads one more from a shared object. Returns 0, or the exit status after printing the error. */
int decoders_load(const struct args *args, const char *path);

/* Those loaded so far, in the order of the options, and their number. */
const recmap_image_decoder *decoders_loaded(size_t *count);

#endif
