/* recmap schema: lists the features of records. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <recmap/dataset.h>
#include <recmap/example.h>
#include <recmap/table.h>

#include "base/words/sample.h"
#include "commands/commands.h"
#include "records/view.h"
#include "schemas/schema_features.h"
#include "schemas/schema_table.h"
#include "schemas/table_kind.h"
#include "terminal/interrupt.h"
#include "terminal/message.h"
#include "terminal/progress_bar.h"

enum { DEFAULT_SAMPLE = 1000 };

/* From FORM_PYTHON on, the choices of --features. */
enum schema_form { FORM_TABLE, FORM_JSON, FORM_PYTHON, FORM_C, FORM_TF };

struct sampling {
    uint64_t next; /* record of the sample */
    uint64_t size;
    uint64_t count; /* of records to choose from */
};

static recmap_status next_positions(void *context, uint64_t *positions, size_t count,
                                    recmap_error *error) {
    (void)error;
    struct sampling *sampling = context;
    for (size_t i = 0; i < count; i++)
        positions[i] = sample_position(sampling->next++, sampling->size, sampling->count);
    return RECMAP_OK;
}

/* The records whose features are collected. */
struct collecting {
    recmap_schema *schema;
    const recmap_dataset *dataset;
};

static recmap_status add_record(void *context, const recmap_record *record, recmap_error *error) {
    const struct collecting *collecting = context;
    return recmap_schema_add_record(collecting->schema, collecting->dataset, record, error);
}

static recmap_status print_json(const recmap_schema *schema, recmap_error *error) {
    recmap_text text = RECMAP_TEXT_INIT;
    recmap_status status = recmap_schema_to_json(&text, schema, error);
    if (status == RECMAP_OK) puts(text.data);
    recmap_text_deinit(&text);
    return status;
}

static void print_messages(const recmap_schema *schema, const struct view *view) {
    uint64_t record_count = view->count;
    enum table_kind kind = table_kind_of(view->dataset);
    uint64_t seen = recmap_schema_record_count(schema);
    uint64_t others = recmap_schema_other_count(schema);
    if (seen < record_count)
        message("sampled %" PRIu64 " of %" PRIu64 " records from all parts; --sample 0 reads all",
                seen, record_count);
    if (others)
        message("%" PRIu64 " of %" PRIu64 " record%s not %s", others, seen,
                seen == 1 ? " is" : "s are", table_kind_records(kind));
}

static recmap_status collect(recmap_schema *schema, const struct view *view, uint64_t sample,
                             recmap_error *error) {
    struct sampling sampling = {.size = sample_clamp(sample, view->count), .count = view->count};
    struct view_source mapping = {view, {sampling.size, next_positions, &sampling}};
    struct progress_bar progress = progress_bar_start("reading");
    struct collecting collecting = {schema, view->dataset};
    interrupt_watch();
    recmap_status status = iterate_records(view->dataset, view_source_numbers(&mapping), add_record,
                                           &collecting, progress_bar_report, &progress, error);
    progress_bar_clear(&progress);
    return status;
}

static recmap_status print_schema(const recmap_schema *schema, const struct view *view,
                                  enum schema_form form, recmap_error *error) {
    switch (form) {
    case FORM_JSON: return print_json(schema, error);
    case FORM_C: schema_features_print_c(stdout, schema); break;
    case FORM_PYTHON: schema_features_print_python(stdout, schema, view->dataset); break;
    case FORM_TF: schema_features_print_tf(stdout, schema); break;
    case FORM_TABLE: schema_table_print(stdout, schema); break;
    }
    return RECMAP_OK;
}

static recmap_status print_field(const char *path, const recmap_message_field *field,
                                 void *context) {
    (void)context;
    printf("%-9s %6zu  ", field->kind, field->levels);
    print_safe(stdout, path);
    putchar('\n');
    return RECMAP_OK;
}

/* The fields of messages, as the descriptor set defines them. No record is read. */
static int run_fields(const struct view *view, enum schema_form form) {
    recmap_text text = RECMAP_TEXT_INIT;
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_status status;
    if (form == FORM_JSON) {
        status = recmap_message_type_to_json(&text, view->message_type, &error);
        if (status == RECMAP_OK) puts(text.data);
        recmap_text_deinit(&text);
    } else {
        printf("%-9s %6s  field of %s\n", "kind", "levels",
               recmap_message_type_name(view->message_type));
        status = recmap_message_type_visit(print_field, NULL, view->message_type, &error);
    }
    return status == RECMAP_OK ? 0 : message_print(&error);
}

static int run_schema(const struct view *view, uint64_t sample, enum schema_form form) {
    recmap_schema *schema = NULL;
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_status status = recmap_schema_create(&schema, &error);
    if (status == RECMAP_OK) status = collect(schema, view, sample, &error);
    if (status == RECMAP_OK) {
        print_messages(schema, view);
        status = print_schema(schema, view, form, &error);
    }
    recmap_schema_destroy(schema);
    return interrupt_finish(status == RECMAP_OK ? 0 : message_print(&error));
}

/* Returns 0, or the exit status after printing the error. */
static int set_option(const struct args *args, int option, uint64_t *sample,
                      enum schema_form *form) {
    if (option == OPTION_SAMPLE) return args_option_number(args, UINT64_MAX, sample);
    enum schema_form wanted = FORM_JSON;
    if (option == OPTION_FEATURES) wanted = (enum schema_form)(FORM_PYTHON + args->choice);
    if (*form != FORM_TABLE && (*form == FORM_JSON) != (wanted == FORM_JSON))
        return args_usage_error(args, "--json and --features cannot be combined");
    *form = wanted;
    return 0;
}

static int run(int argc, char **argv) {
    struct args args;
    uint64_t sample = DEFAULT_SAMPLE;
    enum schema_form form = FORM_TABLE;
    args_init(&args, &cmd_schema, argc, argv);
    for (int option; (option = args_next(&args)) != ARGS_END;) {
        if (option == ARGS_STOP) return args.exit_status;
        int exit_status = set_option(&args, option, &sample, &form);
        if (exit_status) return exit_status;
    }
    if (args.operand_count > 1) return args_usage_error(&args, "only one index can be given");
    struct view view;
    int exit_status = view_open(&view, &args);
    if (!exit_status && view.message_type && form > FORM_JSON)
        exit_status = args_usage_error(&args, "--features is for tf.Examples, not for messages");
    else if (!exit_status && form == FORM_TF && table_kind_of(view.dataset) != TABLE_NONE)
        exit_status = args_usage_error(&args, "--features tf is for tf.Examples, not for tables");
    else if (!exit_status)
        exit_status = view.message_type ? run_fields(&view, form) : run_schema(&view, sample, form);
    view_close(&view);
    return exit_status;
}

static const char help[] =
    "usage: recmap schema [OPTION]... NAME.rmx|NAME.rmv|SHARDS\n"
    "\n"
    "Lists the features of tf.Example and tf.SequenceExample records: kind of values, share of\n"
    "records that have the feature, minimum and maximum number of values per record, and range of\n"
    "the values (for bytes: of their sizes). Feature lists follow in a second table, with the\n"
    "minimum and maximum number of steps per record and of values per step.\n"
    "\n"
    "Of CSV: the same of its fields, whose kinds are those that all values read like. Of JSON\n"
    "lines: of the members of their objects; a.b is a member of the object a, or of the objects "
    "in\n"
    "the array a.\n"
    "\n"
    "With --descriptor and --message: lists the fields of that type of messages, the kind of each\n"
    "and how many of the fields on its path are repeated. No record is read.\n" HELP_SHARDS;

const struct command cmd_schema = {"schema", "list the features of records", help, run};
