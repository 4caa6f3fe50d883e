/* The options of get --pixels: the pixels to make of pictures, as recmap.Image describes them, and
 * the draw of a loader. */
#ifndef RECMAP_TOOLS_OUTPUT_PIXEL_OPTIONS_H
#define RECMAP_TOOLS_OUTPUT_PIXEL_OPTIONS_H

#include <recmap/image.h>

#include "terminal/args.h"

struct pixel_options {
    bool are_wanted;        /* --pixels was given */
    int given;              /* the last other option that was given, or OPTION_NONE */
    recmap_image image;     /* without decoders */
    recmap_image_draw draw; /* without the record's number */
};

/* Sets the defaults. */
void pixel_options_init(struct pixel_options *options);

/* Returns true if args_next returned one of these options. */
bool pixel_options_have(int option);

/* Sets one of the options. Returns 0, or the exit status after printing the error. */
int pixel_options_set(struct pixel_options *options, const struct args *args, int option);

/* Checks that the options can be combined, before any record is read. Returns 0, or the exit status
 * after printing the error. */
int pixel_options_check(const struct pixel_options *options, const struct args *args);

/* The description of the pixels, with the decoders of --decoder. */
recmap_image pixel_options_image(const struct pixel_options *options);

#endif
