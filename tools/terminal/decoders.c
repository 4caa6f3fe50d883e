#include "terminal/decoders.h"

#include <string.h>

#include "terminal/message.h"

enum { DECODERS_MAX = 16 }; /* as in Python */

static recmap_image_decoder loaded[DECODERS_MAX];
static size_t loaded_count;

int decoders_load(const struct args *args, const char *path) {
    const recmap_image_decoder *decoder;
    recmap_error error = RECMAP_ERROR_INIT;
    if (!strchr(path, '/'))
        return args_usage_error(
            args, "--decoder must be the path of a shared object (./qoi.so), not '%s'", path);
    if (loaded_count == DECODERS_MAX)
        return args_usage_error(args, "--decoder can be given %d times at most", DECODERS_MAX);
    if (recmap_image_decoder_load(&decoder, path, &error) != RECMAP_OK)
        return message_print(&error);
    loaded[loaded_count++] = *decoder;
    return 0;
}

const recmap_image_decoder *decoders_loaded(size_t *count) {
    *count = loaded_count;
    return loaded;
}
