/* recmap info: describes an index. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <recmap/dataset.h>

#include "commands/commands.h"
#include "indexing/repeated_ids.h"
#include "orders/request_table.h"
#include "records/view.h"
#include "terminal/message.h"

enum { BATCH_DEFAULT = 256, BATCH_MAX = 1 << 20 };

/* Keeps the text output short; --json lists all damage. */
enum { DAMAGE_SHOWN_MAX = 20 };

/* Prints the fixed lines. The labels are padded by hand to a column of 13 characters. */
static void print_totals(const char *path, const recmap_dataset_info *info) {
    char text[HUMAN_SIZE];
    fputs("index        ", stdout);
    print_safe(stdout, path);
    printf("\nrecords      %" PRIu64 "\n", info->record_count);
    printf("shards       %" PRIu64 "\n", info->file_count);
    printf("bytes        %" PRIu64 " (%s)\n", info->byte_count,
           human_bytes(text, (double)info->byte_count));
    printf("index bytes  %" PRIu64 " (%s", info->index_size,
           human_bytes(text, (double)info->index_size));
    if (info->record_count)
        printf(", %.2f per record", (double)info->index_size / (double)info->record_count);
    fputs(")\nfingerprint  ", stdout);
    for (size_t i = 0; i < sizeof info->fingerprint.bytes; i++)
        printf("%02x", info->fingerprint.bytes[i]);
    fputs("\nids          ", stdout);
    print_safe(stdout, info->id_name ? info->id_name : "none");
    if (info->id_name) printf(", %" PRIu64 " record%s", info->id_count, plural(info->id_count));
    putchar('\n');
}

static recmap_status print_columns(recmap_dataset *dataset, const recmap_dataset_info *info,
                                   recmap_error *error) {
    for (size_t i = 0; i < info->lifted_column_count; i++) {
        recmap_lifted_column column;
        RETURN_IF_FAILED(recmap_dataset_get_lifted_column(&column, dataset, i, error));
        fputs(i ? "             " : "columns      ", stdout);
        print_safe(stdout, column.name);
        printf(", %s", recmap_type_name(column.type));
        if (column.default_value) {
            fputs(", default ", stdout);
            print_safe(stdout, column.default_value);
        }
        if (column.null_count) printf(", %" PRIu64 " null", column.null_count);
        putchar('\n');
    }
    return RECMAP_OK;
}

static recmap_status print_counts(recmap_dataset *dataset, const recmap_dataset_info *info,
                                  recmap_error *error) {
    for (size_t i = 0; i < info->counted_feature_count; i++) {
        recmap_counted_feature feature;
        recmap_counts *counts = NULL;
        RETURN_IF_FAILED(recmap_dataset_get_counted_feature(&feature, dataset, i, error));
        RETURN_IF_FAILED(recmap_dataset_read_counts(&counts, dataset, feature.name, error));
        fputs(i ? "             " : "counts       ", stdout);
        print_safe(stdout, feature.name);
        if (feature.element) printf(", %s", recmap_element_name(feature.element));
        printf(", %" PRIu64 " element%s, at most %" PRIu64 " per record\n",
               recmap_counts_total(counts), plural(recmap_counts_total(counts)),
               recmap_counts_longest(counts));
        recmap_counts_release(counts);
    }
    return RECMAP_OK;
}

/* Prints one line per damaged range, as verify does. In a compressed shard the offset counts
 * inflated bytes, and the line says so: seeking there in the file would find something else. */
static recmap_status print_damage(recmap_dataset *dataset, const recmap_dataset_info *info,
                                  recmap_error *error) {
    if (!info->damage_count) {
        puts("damage       none");
        return RECMAP_OK;
    }
    printf("damage       %" PRIu64 " place%s, %" PRIu64 " byte%s\n", info->damage_count,
           plural(info->damage_count), info->damaged_byte_count, plural(info->damaged_byte_count));
    for (uint64_t i = 0; i < info->damage_count && i < DAMAGE_SHOWN_MAX; i++) {
        recmap_damage damage;
        RETURN_IF_FAILED(recmap_dataset_get_damage(&damage, dataset, i, error));
        recmap_shard_info shard;
        RETURN_IF_FAILED(recmap_dataset_get_shard(&shard, dataset, damage.shard_index, error));
        bool is_plain = !strcmp(shard.compression, "none");
        fputs("  ", stdout);
        print_safe(stdout, damage.path);
        printf(": %" PRIu64 " byte%s at byte %" PRIu64 "%s: ", damage.size, plural(damage.size),
               damage.offset, is_plain ? "" : " of the inflated data");
        print_safe(stdout, damage.reason);
        putchar('\n');
    }
    if (info->damage_count > DAMAGE_SHOWN_MAX) puts("  ... (--json lists all)");
    return RECMAP_OK;
}

/* A span of this size or more is read in pieces: reading one record of it can take long. */
#define LARGE_SPAN ((uint64_t)64 << 20)

/* Returns how many records `count` spans hold on average, at least 1. */
static uint64_t records_in_spans(const recmap_dataset *dataset, const recmap_span_info *spans,
                                 uint64_t count) {
    return recmap_dataset_count(dataset) * count / spans->span_count + 1;
}

/* Prints how compressed shards are read, then warns of the two cases in which reading is slow: more
 * inflated bytes than are kept, and a span that is too large. Both have the same remedies. */
static recmap_status print_compressed(recmap_dataset *dataset, recmap_error *error) {
    recmap_span_info spans;
    char text[HUMAN_SIZE];
    recmap_status status = recmap_dataset_get_span_info(&spans, dataset, error);
    if (status != RECMAP_OK || !spans.shard_count) return status;
    printf("compressed   %" PRIu64 " shard%s, inflated %s in %" PRIu64 " span%s", spans.shard_count,
           plural(spans.shard_count), human_bytes(text, (double)spans.inflated_size),
           spans.span_count, plural(spans.span_count));
    printf(" of %s on average",
           human_bytes(text, (double)spans.inflated_size / (double)spans.span_count));
    printf(", %s at most\n", human_bytes(text, (double)spans.largest_size));
    bool is_slow = spans.inflated_size > spans.keep_size;
    bool is_large = spans.largest_size > LARGE_SPAN;
    if (is_large)
        puts(
            "             the largest span is one deflate block: reading a record in it the first\n"
            "             time inflates everything before the record");
    if (is_slow)
        printf(
            "             a true shuffle is slow: %s are kept inflated, so %.0f %% of the records\n"
            "             need a span inflated again\n",
            human_bytes(text, (double)spans.keep_size),
            100 - 100 * (double)spans.keep_size / (double)spans.inflated_size);
    if (is_slow || is_large)
        printf(
            "             remedies: keep inflated spans on a local disk (--cache FOLDER; in "
            "Python\n"
            "             Storage(cache=FOLDER)), write the records uncompressed (recmap cat\n"
            "             --decompress -o NAME@N), or use a windowed order (in Python or C) with\n"
            "             blocks of %" PRIu64 " records\n",
            records_in_spans(dataset, &spans, 4));
    return RECMAP_OK;
}

static recmap_status print_shards(recmap_dataset *dataset, uint64_t count, recmap_error *error) {
    puts("\n   shard  first record       records           bytes  path");
    for (uint64_t i = 0; i < count; i++) {
        recmap_shard_info shard;
        RETURN_IF_FAILED(recmap_dataset_get_shard(&shard, dataset, i, error));
        printf("%8" PRIu64 "  %12" PRIu64 "  %12" PRIu64 "  %14" PRIu64 "  ", i, shard.first_record,
               shard.record_count, shard.size);
        print_safe(stdout, shard.path);
        putchar('\n');
    }
    return RECMAP_OK;
}

/* Describes the selection, before the lines that describe its index. */
static void print_selection(const struct view *view, const char *path) {
    fputs("selection    ", stdout);
    print_safe(stdout, path);
    printf(", %s of %" PRIu64 " record%s\n",
           recmap_selection_is_set(view->selection) ? "a set" : "an ordered list", view->count,
           plural(view->count));
}

/* What the command was asked for. */
struct info_request {
    bool with_shards;
    bool as_json;
    uint64_t batch_size;
};

static recmap_status print_human(const struct view *view, const char *path,
                                 const struct info_request *request, recmap_error *error) {
    struct request_table requests;
    recmap_dataset *dataset = view->dataset;
    const recmap_dataset_info *info = recmap_dataset_get_info(dataset);
    if (view->selection) print_selection(view, path);
    print_totals(view->index_path, info);
    RETURN_IF_FAILED(print_columns(dataset, info, error));
    RETURN_IF_FAILED(print_counts(dataset, info, error));
    RETURN_IF_FAILED(print_compressed(dataset, error));
    RETURN_IF_FAILED(request_table_fill(&requests, dataset, request->batch_size, error));
    request_table_print(&requests);
    RETURN_IF_FAILED(print_damage(dataset, info, error));
    if (request->with_shards) RETURN_IF_FAILED(print_shards(dataset, info->shard_count, error));
    return RECMAP_OK;
}

/* The document of the index. For a selection it begins with the selection's number of records, and
 * the index's becomes "total_records". */
static recmap_status print_json(const struct view *view, const struct info_request *request,
                                recmap_error *error) {
    static const char records[] = "{\"records\":";
    struct request_table requests;
    recmap_text text = RECMAP_TEXT_INIT;
    RETURN_IF_FAILED(request_table_fill(&requests, view->dataset, request->batch_size, error));
    RETURN_IF_FAILED(
        recmap_dataset_info_to_json(&text, view->dataset, request->with_shards, error));
    const char *rest = text.data;
    if (view->selection && !strncmp(rest, records, strlen(records))) {
        printf("%s%" PRIu64 ",\"ordered\":%s,\"total_records\":", records, view->count,
               recmap_selection_is_set(view->selection) ? "false" : "true");
        rest += strlen(records);
    }
    printf("%.*s,\"requests\":", (int)(strlen(rest) - 1), rest); /* without the last brace */
    request_table_print_json(&requests);
    puts("}");
    recmap_text_deinit(&text);
    return RECMAP_OK;
}

/* Returns ARGS_END, or the exit status. */
static int read_options(struct info_request *request, struct args *args) {
    for (int option; (option = args_next(args)) != ARGS_END;) {
        if (option == ARGS_STOP) return args->exit_status;
        if (option == OPTION_SHARDS) request->with_shards = true;
        else if (option == OPTION_JSON) request->as_json = true;
        else if (args_option_number(args, BATCH_MAX, &request->batch_size)) return 2;
    }
    if (!request->batch_size) return args_usage_error(args, "--batch-size must be at least 1");
    if (args->operand_count > 1) return args_usage_error(args, "only one index can be given");
    return ARGS_END;
}

static int run(int argc, char **argv) {
    struct args args;
    struct info_request request = {.batch_size = BATCH_DEFAULT};
    args_init(&args, &cmd_info, argc, argv);
    int exit_status = read_options(&request, &args);
    if (exit_status != ARGS_END) return exit_status;
    struct view view;
    exit_status = view_open(&view, &args);
    if (exit_status) {
        view_close(&view);
        return exit_status;
    }
    repeated_ids_warn(view.index_path, view.dataset);
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_status status = request.as_json ? print_json(&view, &request, &error)
                                           : print_human(&view, args.operands[0], &request, &error);
    view_close(&view);
    return status == RECMAP_OK ? 0 : message_print(&error);
}

static const char help[] =
    "usage: recmap info [OPTION]... NAME.rmx|NAME.rmv|SHARDS\n"
    "\n"
    "Describes an index: records, shards, bytes, ids, columns, counts, damage. No shard is read.\n"
    "For a selection, also how many records it has. For shards in a remote store, also how many\n"
    "requests an epoch makes, by its order.\n" HELP_SHARDS;

const struct command cmd_info = {"info", "describe an index", help, run};
