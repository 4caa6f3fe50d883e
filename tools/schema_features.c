#include "schema_features.h"

#include <stdbool.h>
#include <string.h>

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
                                           {"bytes", "RECMAP_ELEMENT_BYTES"}};
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
    return element_name(feature) ? NULL : "has no values";
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
        fprintf(stream, ", .shape = (const uint64_t[]){%llu}, .dimension_count = 1",
                (unsigned long long)feature->min_length);
    fputs("},", stream);
    if (feature->share < 1) fprintf(stream, " /* in %.2f %% */", feature->share * 100);
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
    unsigned long long count = recmap_schema_record_count(schema);
    fprintf(stream, "/* The features of %llu record%s. */\n", count, count == 1 ? "" : "s");
    print_array(stream, schema, false, "features");
    print_array(stream, schema, true, "feature_lists");
}
