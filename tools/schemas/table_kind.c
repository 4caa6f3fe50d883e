#include "schemas/table_kind.h"

#include <string.h>

/* Returns "" without a data set or shards. */
static const char *framing_of(const recmap_dataset *dataset) {
    recmap_shard_info shard;
    recmap_error error = RECMAP_ERROR_INIT;
    if (!dataset) return "";
    if (recmap_dataset_get_shard(&shard, dataset, 0, &error) != RECMAP_OK) return "";
    return shard.framing;
}

enum table_kind table_kind_of(const recmap_dataset *dataset) {
    const char *framing = framing_of(dataset);
    if (!strncmp(framing, "csv", 3)) return TABLE_CSV;
    return !strcmp(framing, "lines") ? TABLE_LINES : TABLE_NONE;
}

const char *table_kind_records(enum table_kind kind) {
    switch (kind) {
    case TABLE_CSV: return "a row with the fields of the header";
    case TABLE_LINES: return "a JSON object";
    default: return "a single tf.Example or tf.SequenceExample";
    }
}

void table_kind_print_start(FILE *stream, const recmap_dataset *dataset) {
    static const char *const starts[] = {"{\n", "recmap.Csv({\n", "recmap.JsonLines({\n"};
    fputs(starts[table_kind_of(dataset)], stream);
}

/* The separator of `csv:tab,noheader`, as Python writes it. NULL for a comma. */
static const char *delimiter_of(const char *framing) {
    if (!strncmp(framing, "csv:tab", 7)) return "\\t";
    if (!strncmp(framing, "csv:semicolon", 13)) return ";";
    return strncmp(framing, "csv:pipe", 8) ? NULL : "|";
}

void table_kind_print_end(FILE *stream, const recmap_dataset *dataset) {
    enum table_kind kind = table_kind_of(dataset);
    const char *framing = framing_of(dataset), *delimiter = delimiter_of(framing);
    fputc('}', stream);
    if (kind == TABLE_CSV && delimiter) fprintf(stream, ", delimiter=\"%s\"", delimiter);
    if (kind == TABLE_CSV && strstr(framing, "noquotes")) fputs(", quote=None", stream);
    fputs(kind == TABLE_NONE ? "\n" : ")\n", stream);
}
