#include "schemas/schema_features.h"

#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "schemas/table_kind.h"

/* Prints a C string literal that is also safe inside a comment: it never contains the end of one.
 */
static void print_string(FILE *stream, const char *text, size_t size) {
    putc('"', stream);
    for (size_t i = 0; i < size; i++) {
        unsigned char c = (unsigned char)text[i];
        bool is_plain = c >= 0x20 && c < 0x7f && c != '"' && c != '\\' && c != '?' &&
                        !(c == '/' && i && text[i - 1] == '*');
        if (is_plain) putc(c, stream);
        else fprintf(stream, "\\%03o", c);
    }
    putc('"', stream);
}

static const char *element_name(const recmap_schema_feature *feature) {
    static const char *const names[][2] = {{"int64", "RECMAP_ELEMENT_INT64"},
                                           {"float", "RECMAP_ELEMENT_FLOAT32"},
                                           {"bytes", "RECMAP_ELEMENT_BYTES"},
                                           {"bool", "RECMAP_ELEMENT_BOOL"}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(feature->kind, names[i][0])) return names[i][1];
    return NULL;
}

static const char *kind_name(const recmap_schema_feature *feature) {
    if (!feature->is_fixed) return "RECMAP_FEATURE_VAR_LEN";
    return feature->is_list ? "RECMAP_FEATURE_FIXED_LEN_SEQUENCE" : "RECMAP_FEATURE_FIXED_LEN";
}

/* Returns why a parser cannot read the feature, or NULL if it can. */
static const char *reason_unsupported(const recmap_schema_feature *feature) {
    if (memchr(feature->name, 0, feature->name_size)) return "has a NUL in its name";
    if (!strcmp(feature->kind, "mixed")) return "is of several kinds";
    if (!strcmp(feature->kind, "nested")) return "has arrays within arrays: give it their shape";
    return element_name(feature) ? NULL : "has no values";
}

/* Returns true if the feature is one picture in each record. */
static bool is_image(const recmap_schema_feature *feature) {
    return feature->is_fixed && !feature->is_list && feature->min_length == 1 &&
           feature->image_count && feature->image_count == feature->bytes_count;
}

/* Appends what to know about a feature, in a comment of the language: its share of the records,
 * and that its values are pictures, of which size, and how many of them EXIF turns. */
static void print_comment(FILE *stream, const recmap_schema_feature *feature, const char *start,
                          const char *end, bool says_pictures) {
    const char *separator = start;
    if (feature->share < 1) {
        fprintf(stream, "%sin %.2f %%", separator, feature->share * 100);
        separator = ", ";
    }
    if (feature->image_count && says_pictures) {
        fprintf(stream, "%s%spictures", separator,
                feature->image_count < feature->bytes_count ? "some " : "");
        separator = ", ";
    }
    if (feature->image_count && feature->image_height) {
        fprintf(stream, "%smostly (%u, %u)", separator, feature->image_height,
                feature->image_width);
        separator = ", ";
    }
    /* TensorFlow, Pillow and torchvision decode these as they are stored. */
    if (feature->turned_count) {
        fprintf(stream, "%s%" PRIu64 " turned by EXIF", separator, feature->turned_count);
        separator = ", ";
    }
    if (separator != start) fputs(end, stream);
}

static void print_feature(FILE *stream, const recmap_schema_feature *feature) {
    const char *reason = reason_unsupported(feature);
    if (reason) {
        fputs("    /* ", stream);
        print_string(stream, feature->name, feature->name_size);
        fprintf(stream, " %s */\n", reason);
        return;
    }
    fputs("    {.name = ", stream);
    print_string(stream, feature->name, feature->name_size);
    fprintf(stream, ", .kind = %s, .element = %s", kind_name(feature), element_name(feature));
    if (feature->is_fixed && feature->min_length > 1)
        fprintf(stream, ", .shape = (const uint64_t[]){%" PRIu64 "}, .dimension_count = 1",
                feature->min_length);
    fputs("},", stream);
    print_comment(stream, feature, " /* ", " */", true);
    putc('\n', stream);
}

static void print_array(FILE *stream, const recmap_schema *schema, bool is_list, const char *name) {
    size_t count = recmap_schema_feature_count(schema);
    bool is_empty = true;
    for (size_t i = 0; i < count; i++) {
        recmap_schema_feature feature = recmap_schema_get_feature(schema, i);
        if (is_list == (feature.is_list != 0) && !reason_unsupported(&feature)) is_empty = false;
    }
    /* C has no empty arrays. */
    if (!is_empty) fprintf(stream, "static const recmap_feature %s[] = {\n", name);
    for (size_t i = 0; i < count; i++) {
        recmap_schema_feature feature = recmap_schema_get_feature(schema, i);
        if (is_list == (feature.is_list != 0)) print_feature(stream, &feature);
    }
    if (!is_empty) fputs("};\n", stream);
}

void schema_features_print_c(FILE *stream, const recmap_schema *schema) {
    uint64_t count = recmap_schema_record_count(schema);
    fprintf(stream, "/* The features of %" PRIu64 " record%s. */\n", count, count == 1 ? "" : "s");
    print_array(stream, schema, false, "features");
    print_array(stream, schema, true, "feature_lists");
}

/* ---- Python. */

/* How Python code writes features: of recmap, or of tf.io. */
struct python_style {
    const char *fixed_len;
    const char *fixed_len_sequence;
    const char *var_len;
    const char *scalar_shape;
    const char *shape_start; /* before the dimension, */
    const char *shape_end;   /* and after it */
    const char *elements[4]; /* int64, float, bytes, bool */
    const char *image;       /* of one picture in each record; NULL: like other bytes */
    const char *wide_image;  /* the same, if some are gray with 16 bits */
};

static const struct python_style recmap_style = {
    "recmap.FixedLen",
    "recmap.FixedLenSequence",
    "recmap.VarLen",
    "()",
    "(",
    ",)",
    {"\"int64\"", "\"float32\"", "\"bytes\"", "\"bool\""},
    "recmap.Image()",
    "recmap.Image(mode=\"L\", dtype=\"uint16\")"};

static const struct python_style tf_style = {"tf.io.FixedLenFeature",
                                             "tf.io.FixedLenSequenceFeature",
                                             "tf.io.VarLenFeature",
                                             "[]",
                                             "[",
                                             "]",
                                             {"tf.int64", "tf.float32", "tf.string", "tf.bool"},
                                             NULL,
                                             NULL};

/* Decodes one character of valid UTF-8. Returns its size in bytes. */
static size_t decode_character(uint32_t *character, const unsigned char *text) {
    size_t size = text[0] < 0x80 ? 1 : text[0] < 0xe0 ? 2 : text[0] < 0xf0 ? 3 : 4;
    *character = size == 1 ? text[0] : text[0] & (0x7fu >> size);
    for (size_t i = 1; i < size; i++) *character = *character << 6 | (text[i] & 0x3f);
    return size;
}

/* Prints a Python string literal in ASCII. Names of features are valid UTF-8. */
static void print_python_string(FILE *stream, const char *text, size_t size) {
    putc('"', stream);
    for (size_t i = 0; i < size;) {
        uint32_t character;
        i += decode_character(&character, (const unsigned char *)text + i);
        bool is_plain = character >= 0x20 && character < 0x7f && character != '"' &&
                        character != '\\';
        if (is_plain) putc((int)character, stream);
        else if (character < 0x100) fprintf(stream, "\\x%02x", (unsigned)character);
        else if (character < 0x10000) fprintf(stream, "\\u%04x", (unsigned)character);
        else fprintf(stream, "\\U%08x", (unsigned)character);
    }
    putc('"', stream);
}

static const char *python_element(const struct python_style *style,
                                  const recmap_schema_feature *feature) {
    if (!strcmp(feature->kind, "int64")) return style->elements[0];
    if (!strcmp(feature->kind, "bool")) return style->elements[3];
    return style->elements[!strcmp(feature->kind, "float") ? 1 : 2];
}

static void print_call(FILE *stream, const struct python_style *style,
                       const recmap_schema_feature *feature) {
    const char *element = python_element(style, feature);
    if (!feature->is_fixed) {
        fprintf(stream, "%s(%s)", style->var_len, element);
        return;
    }
    fprintf(stream, "%s(", feature->is_list ? style->fixed_len_sequence : style->fixed_len);
    if (feature->min_length > 1)
        fprintf(stream, "%s%" PRIu64 "%s", style->shape_start, feature->min_length,
                style->shape_end);
    else fputs(style->scalar_shape, stream);
    fprintf(stream, ", %s)", element);
}

static void print_python_feature(FILE *stream, const struct python_style *style,
                                 const recmap_schema_feature *feature) {
    const char *reason = reason_unsupported(feature);
    fputs(reason ? "    # " : "    ", stream);
    print_python_string(stream, feature->name, feature->name_size);
    if (reason) {
        fprintf(stream, " %s\n", reason);
        return;
    }
    fputs(": ", stream);
    bool has_image = style->image && is_image(feature);
    if (has_image) fputs(feature->has_wide_gray ? style->wide_image : style->image, stream);
    else print_call(stream, style, feature);
    putc(',', stream);
    print_comment(stream, feature, "  # ", "", !has_image);
    putc('\n', stream);
}

static void print_dict(FILE *stream, const struct python_style *style, const recmap_schema *schema,
                       const recmap_dataset *dataset, bool is_list, const char *name) {
    fprintf(stream, "%s = ", name);
    table_kind_print_start(stream, dataset);
    for (size_t i = 0; i < recmap_schema_feature_count(schema); i++) {
        recmap_schema_feature feature = recmap_schema_get_feature(schema, i);
        if (is_list == (feature.is_list != 0)) print_python_feature(stream, style, &feature);
    }
    table_kind_print_end(stream, dataset);
}

static void print_dicts(FILE *stream, const struct python_style *style, const recmap_schema *schema,
                        const recmap_dataset *dataset) {
    uint64_t count = recmap_schema_record_count(schema);
    size_t last = recmap_schema_feature_count(schema);
    fprintf(stream, "# The features of %" PRIu64 " record%s.\n", count, count == 1 ? "" : "s");
    print_dict(stream, style, schema, dataset, false, "features");
    if (last && recmap_schema_get_feature(schema, last - 1).is_list)
        print_dict(stream, style, schema, dataset, true, "feature_lists");
}

void schema_features_print_python(FILE *stream, const recmap_schema *schema,
                                  const recmap_dataset *dataset) {
    print_dicts(stream, &recmap_style, schema, dataset);
}

void schema_features_print_tf(FILE *stream, const recmap_schema *schema) {
    print_dicts(stream, &tf_style, schema, NULL);
}
