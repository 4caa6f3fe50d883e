/* This build has the libraries of all formats; no_decoders.c replaces this file in others. */
#include "parse/image/decoder.h"

recmap_status decoders_check(recmap_error *error) {
    (void)error;
    return RECMAP_OK;
}
