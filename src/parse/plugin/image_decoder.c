/* Decoders of pictures from shared objects. */
#include <recmap/image_decoder.h>

#include "base/core/error.h"
#include "base/os/library.h"
#include "parse/image/custom.h"

recmap_status recmap_image_decoder_load(const recmap_image_decoder **decoder, const char *path,
                                        recmap_error *error) {
    union {
        void (*symbol)(void);
        recmap_image_decoder_main_fn main;
    } function = {NULL};
    if (!path || !*path) return fail(error, RECMAP_INVALID, "the shared object has no path");
    RETURN_IF_FAILED(library_find(&function.symbol, path, RECMAP_IMAGE_DECODER_SYMBOL, error));
    const recmap_image_decoder *loaded = function.main();
    recmap_status status = custom_check(loaded, 1, error);
    if (status == RECMAP_OK) *decoder = loaded;
    else fail_file(error, path);
    return status;
}
