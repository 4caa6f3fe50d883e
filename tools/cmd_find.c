/* recmap find: prints the numbers of the records that have an id. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <recmap/dataset.h>
#include <recmap/example.h>

#include "commands.h"
#include "message.h"

static const struct option options[] = {{"framing", required_argument, NULL, ARGS_FRAMING},
                                        {"shards", required_argument, NULL, ARGS_SHARDS},
                                        {"storage", required_argument, NULL, ARGS_STORAGE},
                                        {NULL, 0, NULL, 0}};

/* The numbers of one id's records. The buffer is reused for the next id. */
struct match_list {
    uint64_t *numbers;
    size_t count;
    size_t capacity;
};

static recmap_status find(recmap_dataset *dataset, const recmap_value *id,
                          struct match_list *matches, recmap_error *error) {
    for (;;) {
        recmap_status status = recmap_dataset_find_all(matches->numbers, matches->capacity,
                                                       &matches->count, dataset, id, error);
        if (status != RECMAP_OK || matches->count <= matches->capacity) return status;
        uint64_t *numbers = realloc(matches->numbers, matches->count * sizeof *numbers);
        if (!numbers) {
            errno = ENOMEM;
            return message_fail_errno(error, "", "keep the matches");
        }
        matches->numbers = numbers;
        matches->capacity = matches->count;
    }
}

/* Returns true if `text` is an int64 in decimal, without a plus sign or spaces. */
static bool parse_int64(const char *text, int64_t *number) {
    const char *digits = text + (*text == '-');
    char *end;
    errno = 0;
    long long value = strtoll(text, &end, 10);
    *number = value;
    return *digits >= '0' && *digits <= '9' && !*end && !errno;
}

/* The command line does not say whether an id is bytes or an integer: bytes are tried first. */
static recmap_status find_text(recmap_dataset *dataset, const char *text,
                               struct match_list *matches, recmap_error *error) {
    recmap_value id = {.type = RECMAP_TYPE_BYTES,
                       .as.bytes = {(const uint8_t *)text, strlen(text)}};
    recmap_status status = find(dataset, &id, matches, error);
    int64_t number;
    if (status != RECMAP_OK || matches->count || !parse_int64(text, &number)) return status;
    id = (recmap_value){.type = RECMAP_TYPE_INT64, .as.int64 = number};
    return find(dataset, &id, matches, error);
}

/* On a terminal, control bytes of the id are escaped; a pipe or file gets the id unchanged. */
static void print_match(const char *id, uint64_t number) {
    if (isatty(STDOUT_FILENO) == 1) print_readable(stdout, id, strlen(id));
    else fputs(id, stdout);
    printf("\t%llu\n", (unsigned long long)number);
}

/* Adds the first records to the schema; they show of what kind the ids are. */
static recmap_status add_first_records(recmap_schema *schema, recmap_dataset *dataset) {
    enum { COUNT_MAX = 100 };
    uint64_t count = recmap_dataset_count(dataset);
    recmap_status status = RECMAP_OK;
    for (uint64_t i = 0; i < count && i < COUNT_MAX && status == RECMAP_OK; i++) {
        recmap_record record;
        status = recmap_dataset_get(&record, dataset, i, NULL);
        if (status != RECMAP_OK) break;
        status = recmap_schema_add(schema, record.data, record.size, NULL);
        recmap_record_release(&record);
    }
    return status;
}

static bool schema_has_int64(const recmap_schema *schema, const char *name) {
    for (size_t i = 0; name && i < recmap_schema_feature_count(schema); i++) {
        recmap_schema_feature feature = recmap_schema_get_feature(schema, i);
        if (!feature.is_list && !strcmp(feature.name, name)) return !strcmp(feature.kind, "int64");
    }
    return false;
}

static bool has_int64_ids(recmap_dataset *dataset) {
    recmap_schema *schema;
    if (recmap_schema_create(&schema, NULL) != RECMAP_OK) return false;
    bool is_int64 = add_first_records(schema, dataset) == RECMAP_OK &&
                    schema_has_int64(schema, recmap_dataset_get_info(dataset)->id_name);
    recmap_schema_destroy(schema);
    return is_int64;
}

static int report_missing(recmap_dataset *dataset, const char *path, const char *id) {
    int64_t number;
    const char *advice = !has_int64_ids(dataset)
                             ? "ids are compared byte for byte; 'recmap info' shows which feature "
                               "they are from"
                         : parse_int64(id, &number)
                             ? "'recmap info' shows which feature the ids are from"
                             : "the ids are int64: write a decimal number; 'recmap info' shows "
                               "which feature they are from";
    return message_error(RECMAP_NOT_FOUND, path, advice, "no record has the id '%s'", id);
}

/* An id without a record is reported and the search continues, so that a script gets all matches;
 * any other error ends it. */
static int find_operands(recmap_dataset *dataset, const struct args *args) {
    struct match_list matches = {NULL, 0, 0};
    recmap_error error = RECMAP_ERROR_INIT;
    int exit_status = 0;
    for (int i = 1; i < args->operand_count; i++) {
        const char *id = args->operands[i];
        if (find_text(dataset, id, &matches, &error) != RECMAP_OK) {
            exit_status = recmap_error_print(&error, stderr);
            break;
        }
        for (size_t k = 0; k < matches.count; k++) print_match(id, matches.numbers[k]);
        if (!matches.count) exit_status = report_missing(dataset, args->operands[0], id);
    }
    free(matches.numbers);
    return exit_status;
}

static int run(int argc, char **argv) {
    struct args args;
    args_init(&args, &cmd_find, options, argc, argv);
    for (int option; (option = args_next(&args)) != ARGS_END;)
        if (option == ARGS_STOP) return args.exit_status;
    if (args.operand_count == 1) return args_usage_error(&args, "no id given");
    recmap_dataset *dataset;
    int exit_status = args_open(&dataset, &args);
    if (exit_status) return exit_status;
    exit_status = find_operands(dataset, &args);
    recmap_dataset_close(dataset);
    return exit_status;
}

static const char help[] =
    "usage: recmap find [OPTION]... NAME.rmx ID...\n"
    "\n"
    "Prints ID <tab> NUMBER for each record that has the ID. The index must have been built\n"
    "with --id. An ID is compared as bytes first, then, if no record has it and it is a decimal\n"
    "integer, as an int64. The exit status is 1 if an ID was not found.\n"
    "\n"
    "      --access A         how to read shards: map (default), read, direct or auto\n"
    "      --check C          what to verify in a record: data (default) or header\n"
    "      --framing ./MY.so  load the custom framing of the shards\n"
    "      --shards FOLDER    read the shards from FOLDER or URL, if the index was moved\n"
    "      --storage K=V      an option for remote stores: endpoint, key, ...; repeatable\n"
    "      --help             print this help\n"
    "      --                 end of options: the next ID may begin with a dash\n";

const struct command cmd_find = {"find", "find record numbers by id", help, true, run};
