#include "parse/image/custom.h"

#include <stdio.h>
#include <string.h>

#include "base/core/error.h"

enum { NAME_MAX_SIZE = 63, REASON_SIZE = 160 };

/* What a decoder calls while it decodes a picture, and what it has done. */
struct custom_rows {
    recmap_image_rows functions; /* first, because the decoder knows only this */
    struct image_rows *rows;
    const struct image_header *header;
    uint32_t wanted_row; /* the first one */
    uint32_t next_row;
    bool has_rows;
    bool is_refused;
    char reason[REASON_SIZE];
};

static struct custom_rows *custom_of(recmap_image_rows *rows) {
    return (struct custom_rows *)(void *)rows;
}

/* Keeps the first reason, as a single line. */
static int refuse(struct custom_rows *custom, const char *reason) {
    if (custom->is_refused) return RECMAP_FEATURE;
    custom->is_refused = true;
    snprintf(custom->reason, sizeof custom->reason, "%s", reason);
    for (char *c = custom->reason; *c; c++)
        if ((unsigned char)*c < 0x20) *c = ' ';
    return RECMAP_FEATURE;
}

/* With the row that the decoder has reached. */
static int take_reason(recmap_image_rows *rows, const char *reason) {
    struct custom_rows *custom = custom_of(rows);
    char text[REASON_SIZE];
    snprintf(text, sizeof text, "%.120s at row %u of %u",
             reason && *reason ? reason : "it is damaged", custom->next_row,
             custom->header->height);
    return refuse(custom, text);
}

/* Sets the size of the picture as it is stored; `info` has its upright size. */
static void set_size(struct image_header *header, const recmap_image_info *info) {
    bool swaps = orientation_swaps(info->orientation);
    header->height = swaps ? info->width : info->height;
    header->width = swaps ? info->height : info->width;
}

static int take_header(recmap_image_rows *rows, const recmap_image_info *info) {
    struct custom_rows *custom = custom_of(rows);
    const struct image_header *header = custom->header;
    struct image_header own;
    char reason[REASON_SIZE];
    set_size(&own, info);
    if (custom->is_refused) return RECMAP_FEATURE;
    bool is_same = own.height == header->height && own.width == header->width &&
                   info->depth == header->depth && info->mode && !strcmp(info->mode, header->mode);
    if (is_same) return RECMAP_OK;
    snprintf(reason, sizeof reason,
             "it was described as %u x %u %s of %u bits, but is decoded as %u x %u %.8s of %u bits",
             header->height, header->width, header->mode, header->depth, own.height, own.width,
             info->mode ? info->mode : "", info->depth);
    return refuse(custom, reason);
}

/* Says what is wrong with row `y` at this place. */
static int refuse_row(struct custom_rows *custom, uint32_t y) {
    char reason[REASON_SIZE];
    if (y >= custom->header->height)
        snprintf(reason, sizeof reason, "the decoder gave row %u of %u", y, custom->header->height);
    else if (custom->has_rows)
        snprintf(reason, sizeof reason, "the decoder gave row %u instead of row %u", y,
                 custom->next_row);
    else
        snprintf(reason, sizeof reason, "the decoder began with row %u, but row %u is needed", y,
                 custom->wanted_row);
    return refuse(custom, reason);
}

static int take_row(recmap_image_rows *rows, uint32_t y, const void *samples) {
    struct custom_rows *custom = custom_of(rows);
    if (custom->is_refused) return RECMAP_FEATURE;
    if (!samples) return refuse(custom, "the decoder gave a row without samples");
    bool is_next = custom->has_rows ? y == custom->next_row : y <= custom->wanted_row;
    if (!is_next || y >= custom->header->height) return refuse_row(custom, y);
    custom->has_rows = true;
    custom->next_row = y + 1;
    image_rows_put(custom->rows, y, samples);
    return RECMAP_OK;
}

static const char *fault_of(const recmap_image_decoder *decoder) {
    if (decoder->version != RECMAP_IMAGE_DECODER_VERSION)
        return "its version is not RECMAP_IMAGE_DECODER_VERSION of this library";
    size_t size = decoder->name ? strlen(decoder->name) : 0;
    if (size < 1 || size > NAME_MAX_SIZE) return "its name must have 1 to 63 bytes";
    if (!decoder->recognizes) return "it has no function `recognizes`";
    if (!decoder->describe) return "it has no function `describe`";
    if (!decoder->decode) return "it has no function `decode`";
    return NULL;
}

static recmap_status fail_table(const char *fault, recmap_error *error) {
    fail(error, RECMAP_INVALID, "the decoder of pictures cannot be used: %s", fault);
    fail_advise(error, "see recmap/image_decoder.h for what a decoder needs");
    return RECMAP_INVALID;
}

recmap_status custom_check(const recmap_image_decoder *decoders, size_t count,
                           recmap_error *error) {
    if (count && !decoders) return fail_table("the list is NULL", error);
    for (size_t i = 0; i < count; i++) {
        const char *fault = fault_of(&decoders[i]);
        if (fault) return fail_table(fault, error);
    }
    return RECMAP_OK;
}

const recmap_image_decoder *custom_find(const recmap_image_decoder *decoders, size_t count,
                                        const uint8_t *data, size_t size) {
    for (size_t i = 0; i < count; i++)
        if (decoders[i].recognizes(data, size, decoders[i].context)) return &decoders[i];
    return NULL;
}

static recmap_status fail_custom(const recmap_image_decoder *decoder, const char *reason,
                                 recmap_error *error) {
    return fail(error, RECMAP_FEATURE, "the picture cannot be decoded by \"%s\": %s", decoder->name,
                reason);
}

/* A status of the decoder other than OK. */
static recmap_status fail_status(const recmap_image_decoder *decoder, recmap_status status,
                                 const char *place, recmap_error *error) {
    char reason[REASON_SIZE];
    if (status == RECMAP_NO_MEMORY) return fail_memory(error);
    if (status == RECMAP_FEATURE) snprintf(reason, sizeof reason, "%s is damaged", place);
    else
        snprintf(reason, sizeof reason, "it returned the status %d, %s", (int)status,
                 recmap_status_text(status));
    return fail_custom(decoder, reason, error);
}

struct mode {
    const char *name;
    uint8_t channels;
    enum sample_layout layout;
};

static const struct mode *find_mode(const char *name) {
    static const struct mode modes[] = {
        {"L", 1, SAMPLES_GRAY},    {"LA", 2, SAMPLES_GRAY_ALPHA}, {"RGB", 3, SAMPLES_RGB},
        {"RGBA", 4, SAMPLES_RGBA}, {"CMYK", 4, SAMPLES_CMYK},
    };
    for (size_t i = 0; name && i < sizeof modes / sizeof *modes; i++)
        if (!strcmp(modes[i].name, name)) return &modes[i];
    return NULL;
}

static const char *header_fault(const recmap_image_info *info) {
    if (!info->height || !info->width) return "its header has no pixels";
    if (info->height > INT32_MAX || info->width > INT32_MAX)
        return "its header has a side of 2^31 pixels or more";
    if (!find_mode(info->mode)) return "its mode is not L, LA, RGB, RGBA or CMYK";
    if (info->depth != 8 && info->depth != 16) return "its depth is not 8 or 16 bits";
    if (info->orientation < 1 || info->orientation > 8) return "its orientation is not 1 to 8";
    return NULL;
}

recmap_status custom_header_read(struct image_header *header, const recmap_image_decoder *decoder,
                                 const uint8_t *data, size_t size, recmap_error *error) {
    recmap_image_info info = {.depth = 8, .orientation = 1};
    recmap_status status = decoder->describe(&info, data, size, decoder->context);
    if (status != RECMAP_OK) return fail_status(decoder, status, "its header", error);
    const char *fault = header_fault(&info);
    if (fault) return fail_custom(decoder, fault, error);
    const struct mode *mode = find_mode(info.mode);
    *header = (struct image_header){.format = RECMAP_IMAGE_CUSTOM,
                                    .custom = decoder,
                                    .mode = mode->name,
                                    .channels = mode->channels,
                                    .depth = (uint8_t)info.depth,
                                    .orientation = (uint8_t)info.orientation};
    set_size(header, &info);
    return RECMAP_OK;
}

recmap_status custom_decode(struct image_rows *rows, const struct encoded *encoded,
                            const struct region *region, recmap_error *error) {
    const struct image_header *header = encoded->header;
    const recmap_image_decoder *decoder = header->custom;
    const recmap_region wanted = {region->x, region->y, region->width, region->height};
    struct custom_rows custom = {.functions = {take_header, take_row, take_reason},
                                 .rows = rows,
                                 .header = header,
                                 .wanted_row = region->y};
    if (!image_rows_begin(rows, find_mode(header->mode)->layout, header->depth == 16, 0))
        return fail_wide_gray(error);
    recmap_status status =
        decoder->decode(&custom.functions, &wanted, encoded->data, encoded->size, decoder->context);
    if (custom.is_refused) return fail_custom(decoder, custom.reason, error);
    if (status != RECMAP_OK) return fail_status(decoder, status, "it", error);
    if (!image_rows_left(rows)) return RECMAP_OK;
    snprintf(custom.reason, sizeof custom.reason,
             "the decoder did not give row %u, which is needed", rows->next_row);
    return fail_custom(decoder, custom.reason, error);
}
