#include "dataset/doctor/picture_names.h"

#include <string.h>
#include <strings.h>

enum { NAME_SIZE_MAX = 255 };

static const struct {
    const char *suffix;
    int format;
} formats[] = {{".jpg", RECMAP_IMAGE_JPEG},
               {".jpeg", RECMAP_IMAGE_JPEG},
               {".png", RECMAP_IMAGE_PNG},
               {".webp", RECMAP_IMAGE_WEBP}};

enum { FORMAT_COUNT = sizeof formats / sizeof *formats };

void picture_names_add_picture(struct picture_names *names, int format) {
    if (names->has_picture && names->format != format) names->has_several_formats = true;
    names->has_picture = true;
    names->format = format;
}

static bool ends_in(const char *text, size_t size, const char *end) {
    size_t end_size = strlen(end);
    return size >= end_size && !strncasecmp(text + size - end_size, end, end_size);
}

/* Returns true if the feature's values are words such as "jpeg". */
static bool names_formats(const struct feature_exam *feature) {
    return ends_in(feature->name, feature->name_size, "format") ||
           ends_in(feature->name, feature->name_size, "encoding") ||
           ends_in(feature->name, feature->name_size, "extension");
}

/* Most texts differ in the last letter from all names of formats, which end in g or p. */
static bool may_name_format(char last) {
    return last == 'g' || last == 'G' || last == 'p' || last == 'P';
}

/* Returns the format that the text is the name of a file in, or that it names itself; else -1. */
static int find_format(const struct feature_exam *feature, const char *text, size_t size) {
    if (!may_name_format(text[size - 1])) return -1;
    bool is_word = names_formats(feature);
    for (size_t i = 0; i < FORMAT_COUNT; i++) {
        const char *word = formats[i].suffix + 1;
        if (size > strlen(formats[i].suffix) && ends_in(text, size, formats[i].suffix))
            return formats[i].format;
        if (is_word && size == strlen(word) && ends_in(text, size, word)) return formats[i].format;
    }
    return -1;
}

void picture_names_add_value(struct picture_names *names, struct feature_exam *feature,
                             const uint8_t *data, size_t size) {
    if (!size || size > NAME_SIZE_MAX || names->count == NAMES_MAX) return;
    int format = find_format(feature, (const char *)data, size);
    if (format >= 0) names->names[names->count++] = (struct format_name){feature, format};
}

bool picture_names_check(const struct picture_names *names, uint64_t item) {
    bool is_wrong = false;
    if (!names->has_picture || names->has_several_formats || names->format == RECMAP_IMAGE_CUSTOM)
        return false;
    for (size_t i = 0; i < names->count; i++) {
        if (names->names[i].format == names->format) continue;
        feature_exam_note(names->names[i].feature, TRAIT_MISNAMED, item);
        is_wrong = true;
    }
    return is_wrong;
}
