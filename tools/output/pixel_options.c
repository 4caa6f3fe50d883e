#include "output/pixel_options.h"

#include <stdlib.h>
#include <string.h>

#include "terminal/decoders.h"
#include "terminal/message.h"

enum { SIDE_MAX = 65535, PADDING = 4 }; /* padding as recmap.RandomCrop has by default */

void pixel_options_init(struct pixel_options *options) {
    *options = (struct pixel_options){
        .image = {.version = RECMAP_IMAGE_VERSION, .padding = PADDING},
        .draw = {.position = RECMAP_NO_RECORD},
    };
}

bool pixel_options_have(int option) {
    return option == OPTION_SEED || option == OPTION_EPOCH ||
           (option >= OPTION_PIXELS && option <= OPTION_POSITION);
}

/* "224" for both sides, or "HEIGHTxWIDTH". */
static int set_size(recmap_image *image, const struct args *args) {
    char height_text[16], *width_text;
    uint64_t height, width;
    snprintf(height_text, sizeof height_text, "%s", optarg);
    width_text = strchr(height_text, 'x');
    if (width_text) *width_text++ = 0;
    if (!args_number(args, "--size", height_text, SIDE_MAX, &height)) return 2;
    width = height;
    if (width_text && !args_number(args, "--size", width_text, SIDE_MAX, &width)) return 2;
    if (!height || !width) return args_usage_error(args, "--size must be at least 1");
    image->height = (uint32_t)height;
    image->width = (uint32_t)width;
    return 0;
}

static int set_mode(recmap_image *image, const struct args *args) {
    bool is_gray = !strcmp(optarg, "L");
    if (!is_gray && strcmp(optarg, "RGB") != 0)
        return args_usage_error(args, "invalid --mode '%s': use RGB or L", optarg);
    image->mode = is_gray ? RECMAP_IMAGE_GRAY : RECMAP_IMAGE_RGB;
    return 0;
}

/* Reads a number that ends at the character `end`, and returns where it ends; or NULL. */
static const char *read_number(double *number, const char *text, char end) {
    char *rest;
    *number = strtod(text, &rest);
    return rest > text && *rest == end ? rest : NULL;
}

static int set_range(double range[2], const struct args *args) {
    const char *rest = read_number(&range[0], optarg, ',');
    if (rest && read_number(&range[1], rest + 1, 0)) return 0;
    return args_usage_error(args, "%s must be two numbers, MIN,MAX, not '%s'", args->name, optarg);
}

static int set_flip(recmap_image *image, const struct args *args) {
    if (read_number(&image->flip, optarg, 0)) return 0;
    return args_usage_error(args, "--flip must be a number from 0 to 1, not '%s'", optarg);
}

static int set_count(uint32_t *count, const struct args *args) {
    uint64_t number = 0;
    int exit_status = args_option_number(args, SIDE_MAX, &number);
    *count = (uint32_t)number;
    return exit_status;
}

static int set_fill(recmap_image *image, const struct args *args) {
    uint64_t level = 0;
    int exit_status = args_option_number(args, UINT8_MAX, &level);
    image->fill = (uint8_t)level;
    return exit_status;
}

static int set_max_pixels(recmap_image *image, const struct args *args) {
    int exit_status = args_option_number(args, INT64_MAX, &image->max_pixels);
    if (exit_status || image->max_pixels) return exit_status;
    return args_usage_error(args, "--max-pixels must be at least 1");
}

int pixel_options_set(struct pixel_options *options, const struct args *args, int option) {
    recmap_image *image = &options->image;
    recmap_image_draw *draw = &options->draw;
    if (option != OPTION_PIXELS) options->given = option;
    switch (option) {
    case OPTION_PIXELS: options->are_wanted = true; return 0;
    case OPTION_SIZE: return set_size(image, args);
    case OPTION_CROP: image->crop = (recmap_crop)args->choice; return 0;
    case OPTION_SCALE: return set_range(image->scale, args);
    case OPTION_RATIO: return set_range(image->ratio, args);
    case OPTION_RESIZE: return set_count(&image->resize, args);
    case OPTION_PADDING: return set_count(&image->padding, args);
    case OPTION_FILL: return set_fill(image, args);
    case OPTION_FLIP: return set_flip(image, args);
    case OPTION_MODE: return set_mode(image, args);
    case OPTION_DTYPE:
        image->element = args->choice ? RECMAP_ELEMENT_UINT16 : RECMAP_ELEMENT_UINT8;
        return 0;
    case OPTION_INTERPOLATION: image->interpolation = (recmap_interpolation)args->choice; return 0;
    case OPTION_NO_ANTIALIAS: image->no_antialias = true; return 0;
    case OPTION_NO_EXIF: image->ignores_exif = true; return 0;
    case OPTION_MAX_PIXELS: return set_max_pixels(image, args);
    case OPTION_DRAW: image->draw = optarg; return 0;
    case OPTION_SEED: return args_option_number(args, UINT64_MAX, &draw->seed);
    case OPTION_EPOCH: return args_option_number(args, UINT64_MAX, &draw->epoch);
    default: return args_option_number(args, UINT64_MAX, &draw->position);
    }
}

recmap_image pixel_options_image(const struct pixel_options *options) {
    recmap_image image = options->image;
    image.decoders = decoders_loaded(&image.decoder_count);
    return image;
}

static int check_without_pixels(const struct pixel_options *options, const struct args *args) {
    const bool has_decoders = pixel_options_image(options).decoder_count > 0;
    const int given = has_decoders ? OPTION_DECODER : options->given;
    return given == OPTION_NONE ? 0
                                : args_usage_error(args, "--%s needs --pixels", option_name(given));
}

/* The library says what is wrong with a description, whatever the picture is: here it is empty. */
int pixel_options_check(const struct pixel_options *options, const struct args *args) {
    uint32_t height, width;
    recmap_error error = RECMAP_ERROR_INIT;
    if (!options->are_wanted) return check_without_pixels(options, args);
    if (recmap_image_size(&height, &width, &options->image, "", 0, &error) == RECMAP_INVALID)
        return args_usage_error(args, "%s", error.message);
    return 0;
}
