#include "orders/state_order.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "records/whole_file.h"
#include "terminal/message.h"

enum { STATE_SIZE_MAX = 16 << 20 };

int state_read(recmap_state **state, const char *path) {
    char *text;
    size_t size;
    int exit_status = whole_file_read(&text, &size, path, STATE_SIZE_MAX);
    if (exit_status) return exit_status;
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_status status = recmap_state_from_json(state, text, size, &error);
    free(text);
    if (status == RECMAP_OK) return 0;
    return message_error(status, path, error.advice[0] ? error.advice : NULL, "%s", error.message);
}

/* ---- Descriptions, as docs/formats/order.md and rows.md define them. They are read loosely: the
 * order that results is described again and compared with the state, which finds any mistake. */

/* The value of a member; NULL if there is none. */
static const char *find(const char *text, const char *key) {
    const char *found = strstr(text, key);
    return found ? found + strlen(key) : NULL;
}

static uint64_t number_of(const char *text, const char *key) {
    const char *value = find(text, key);
    return value ? strtoull(value, NULL, 10) : 0;
}

static bool has_kind(const char *text, const char *kind) {
    static const char start[] = "{\"kind\":\"";
    const size_t size = strlen(kind);
    return !strncmp(text, start, sizeof start - 1) &&
           !strncmp(text + sizeof start - 1, kind, size) && text[sizeof start - 1 + size] == '"';
}

/* Creates an order of records that follows from its members alone. `order` stays NULL for any other
 * kind. */
static recmap_status create_records(recmap_order **order, const char *text, recmap_error *error) {
    const uint64_t n = number_of(text, "\"n\":"), seed = number_of(text, "\"seed\":");
    if (has_kind(text, "sequential")) return recmap_order_sequential(order, n, error);
    if (has_kind(text, "shuffled")) return recmap_order_shuffled(order, n, seed, error);
    if (has_kind(text, "windowed"))
        return recmap_order_windowed(order, n, number_of(text, "\"block\":"),
                                     number_of(text, "\"window\":"), seed, error);
    if (has_kind(text, "with_replacement"))
        return recmap_order_with_replacement(order, n, seed, number_of(text, "\"size\":"), error);
    return RECMAP_OK;
}

/* The same, also for a range of the records, such as every second one. */
static recmap_status create(recmap_order **order, const char *text, recmap_error *error) {
    const char *base_text = has_kind(text, "range") ? find(text, "\"of\":") : NULL;
    if (!base_text) return create_records(order, text, error);
    recmap_order *base = NULL;
    RETURN_IF_FAILED(create_records(&base, base_text, error));
    const char *step = find(text, "\"step\":");
    recmap_status status = RECMAP_OK;
    if (base)
        status = recmap_order_view_range(order, base, number_of(text, "\"first\":"),
                                         number_of(text, "\"count\":"),
                                         step ? strtoll(step, NULL, 10) : 1, error);
    recmap_order_release(base);
    return status;
}

static void set_long_documents(struct row_options *rows, const char *text) {
    if (find(text, "\"long\":\"truncate\"")) rows->packed.long_documents = RECMAP_LONG_TRUNCATE;
    if (find(text, "\"long\":\"drop\"")) rows->packed.long_documents = RECMAP_LONG_DROP;
    if (find(text, "\"group\":")) rows->packed.group = (uint32_t)number_of(text, "\"group\":");
}

/* Sets the options of rows. Returns false for other orders. */
static bool set_rows(struct row_options *rows, const char *text) {
    const uint64_t size = number_of(text, "\"size\":"), add = number_of(text, "\"add\":");
    const uint64_t stride = number_of(text, "\"stride\":");
    int option = OPTION_WINDOWS;
    if (has_kind(text, "chunked")) option = OPTION_CHUNKED;
    else if (has_kind(text, "packed")) option = OPTION_PACKED;
    else if (!has_kind(text, "windows")) return false;
    row_options_choose(rows, option, size);
    rows->chunked.overlap = number_of(text, "\"overlap\":");
    rows->chunked.add = rows->packed.add = add;
    if (find(text, "\"documents\":\"stored\"")) rows->chunked.documents = RECMAP_DOCUMENTS_STORED;
    if (find(text, "\"last\":\"pad\"")) rows->chunked.last = RECMAP_TAIL_PAD;
    set_long_documents(rows, text);
    if (stride) rows->windows.stride = stride;
    rows->windows.pad_before = number_of(text, "\"before\":");
    rows->windows.pad_after = number_of(text, "\"after\":");
    return true;
}

static int refuse_kind(const char *text, const char *path) {
    const char *kind = find(text, "\"kind\":\"");
    const char *end = kind ? strchr(kind, '"') : NULL;
    return message_error(RECMAP_UNSUPPORTED, path,
                         "in Python, loader.numbers_at(step) of the loader that loads the state "
                         "gives them",
                         "the state does not hold all that its order of kind '%.*s' is made of",
                         end ? (int)(end - kind) : 0, end ? kind : "");
}

/* Checks that the order and the data set are those of the state. */
static int check(const recmap_order *order, const recmap_state *state, const char *path,
                 const recmap_dataset *dataset) {
    const recmap_dataset_info *info = recmap_dataset_get_info(dataset);
    recmap_text text = RECMAP_TEXT_INIT;
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_status status = recmap_order_describe(&text, order, &error);
    if (status == RECMAP_OK) {
        recmap_state_info expected = {.format_version = RECMAP_STATE_FORMAT_VERSION,
                                      .fingerprint = info->fingerprint,
                                      .record_count = info->record_count,
                                      .position_count = recmap_order_count(order),
                                      .order = text.data};
        status = recmap_state_check(state, &expected, &error);
    }
    recmap_text_deinit(&text);
    if (status == RECMAP_OK) return 0;
    return message_error(status, path, "name the index of the run that saved the state", "%s",
                         error.message);
}

int state_order_create(recmap_order **order, const recmap_state *state, const char *path,
                       const struct row_options *rows, recmap_dataset *dataset,
                       const struct args *args) {
    const char *text = recmap_state_get_info(state)->order;
    recmap_error error = RECMAP_ERROR_INIT;
    struct row_options described;
    row_options_init(&described);
    described.feature = rows->feature;
    *order = NULL;
    if (set_rows(&described, text)) {
        int exit_status = row_options_create_order(order, &described, number_of(text, "\"seed\":"),
                                                   dataset, args);
        if (exit_status) return exit_status;
    } else if (create(order, text, &error) != RECMAP_OK) {
        return message_print(&error);
    }
    if (!*order) return refuse_kind(text, path);
    int exit_status = check(*order, state, path, dataset);
    if (exit_status) recmap_order_release(*order);
    return exit_status;
}
