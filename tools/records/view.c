#include "records/view.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <recmap/filter.h>

#include "indexing/shard_operand.h"
#include "records/message_type.h"
#include "terminal/interrupt.h"
#include "terminal/message.h"

enum { FILTER_CHUNK = 1 << 16 };

static recmap_status open_selection(struct view *view, const struct args *args,
                                    recmap_error *error) {
    RETURN_IF_FAILED(recmap_selection_open(&view->selection, args->operands[0], 1, error));
    view->index_path = args->index_path ? args->index_path
                                        : recmap_selection_index_path(view->selection);
    RETURN_IF_FAILED(recmap_selection_open_dataset(
        &view->dataset, view->selection, args->index_path, &args->dataset_options, error));
    view->numbers = recmap_selection_numbers(view->selection);
    view->count = recmap_selection_count(view->selection);
    return RECMAP_OK;
}

static int open_view(struct view *view, const struct args *args) {
    *view = (struct view){.path = args->operand_count ? args->operands[0] : NULL};
    int exit_status = args_check_opening(args);
    if (exit_status) return exit_status;
    if (args_name_selection(args)) {
        recmap_error error = RECMAP_ERROR_INIT;
        if (open_selection(view, args, &error) == RECMAP_OK) return 0;
        return message_print(&error);
    }
    bool are_shards = shard_operand_is_named(args);
    exit_status = are_shards ? shard_operand_open(&view->dataset, &view->found_path, args)
                             : args_open(&view->dataset, args);
    if (exit_status) return exit_status;
    view->index_path = are_shards ? view->found_path : args->operands[0];
    view->count = recmap_dataset_count(view->dataset);
    return 0;
}

/* Opens the view again, with what reads the ids of its records, which only the index knows. */
static int open_lifting(struct view *view, const struct args *args, const char *id) {
    struct args lifting = *args;
    recmap_message_type *type = view->message_type;
    recmap_message_lift *lift = NULL;
    int exit_status = message_lift_open(&lift, type, id, NULL, 0);
    if (exit_status) return exit_status;
    lifting.dataset_options.lift = recmap_message_lift_read;
    lifting.dataset_options.lift_context = lift;
    view->message_type = NULL;
    view_close(view);
    exit_status = open_view(view, &lifting);
    view->message_type = type;
    view->lift = lift;
    return exit_status;
}

int view_open(struct view *view, const struct args *args) {
    int exit_status = open_view(view, args);
    if (exit_status || !args->descriptor) return exit_status;
    const char *id = recmap_dataset_get_info(view->dataset)->id_name;
    exit_status = message_type_open(&view->message_type, args, id);
    if (exit_status || !id || !strchr(id, ':')) return exit_status;
    char *copy = strdup(id); /* the index is closed */
    if (!copy) return message_error(RECMAP_NO_MEMORY, NULL, NULL, "out of memory");
    exit_status = open_lifting(view, args, copy);
    free(copy);
    return exit_status;
}

void view_close(struct view *view) {
    free(view->chosen);
    free(view->sorted);
    free(view->found_path);
    recmap_selection_close(view->selection);
    recmap_dataset_close(view->dataset);
    recmap_message_lift_destroy(view->lift);
    recmap_message_type_release(view->message_type);
}

void view_choose(struct view *view, uint64_t *numbers, uint64_t count) {
    free(view->chosen);
    free(view->sorted);
    view->sorted = NULL;
    view->chosen = numbers;
    view->numbers = numbers;
    view->count = count;
}

/* Sets a bit for each record of the data set that matches. */
static recmap_status match_records(uint64_t *bits, recmap_filter *filter, uint64_t record_count,
                                   recmap_error *error) {
    uint8_t matches[FILTER_CHUNK];
    for (uint64_t first = 0; first < record_count; first += FILTER_CHUNK) {
        uint64_t left = record_count - first;
        size_t count = left < FILTER_CHUNK ? (size_t)left : FILTER_CHUNK;
        if (interrupt_is_pending()) return interrupt_fail(error);
        recmap_status status = recmap_filter_match(matches, filter, first, count, error);
        if (status != RECMAP_OK) return status;
        for (size_t i = 0; i < count; i++)
            bits[(first + i) / 64] |= (uint64_t)matches[i] << ((first + i) % 64);
    }
    return RECMAP_OK;
}

static bool has_bit(const uint64_t *bits, uint64_t number) {
    return bits[number / 64] >> (number % 64) & 1;
}

/* Keeps the items whose bit is set. */
static recmap_status keep_items(struct view *view, const uint64_t *bits, recmap_error *error) {
    uint64_t kept = 0;
    for (uint64_t i = 0; i < view->count; i++) kept += has_bit(bits, view_number(view, i));
    uint64_t *numbers = malloc((size_t)(kept + 1) * sizeof *numbers);
    if (!numbers) return message_fail_memory(error);
    kept = 0;
    for (uint64_t i = 0; i < view->count; i++)
        if (has_bit(bits, view_number(view, i))) numbers[kept++] = view_number(view, i);
    view_choose(view, numbers, kept);
    return RECMAP_OK;
}

/* Finds the records of the data set, also outside the view, for which the expression is true: a bit
 * for each record, which the caller frees, also after an error. */
static recmap_status match(uint64_t **bits, const struct view *view, const char *expression,
                           recmap_error *error) {
    recmap_filter *filter = NULL;
    uint64_t record_count = recmap_dataset_count(view->dataset);
    *bits = NULL;
    recmap_status status =
        recmap_filter_create(&filter, view->dataset, expression, strlen(expression), error);
    if (status != RECMAP_OK) return status;
    *bits = calloc((size_t)(record_count / 64 + 1), sizeof **bits);
    status = *bits ? match_records(*bits, filter, record_count, error) : message_fail_memory(error);
    recmap_filter_destroy(filter);
    return status;
}

recmap_status view_filter(struct view *view, const char *expression, recmap_error *error) {
    uint64_t *bits;
    recmap_status status = match(&bits, view, expression, error);
    if (status == RECMAP_OK) status = keep_items(view, bits, error);
    free(bits);
    return status;
}

/* ---- Positions of records. */

static int compare_positions(const void *a, const void *b, void *context) {
    const struct view *view = context;
    uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;
    uint64_t left_number = view->numbers[left], right_number = view->numbers[right];
    if (left_number != right_number) return left_number < right_number ? -1 : 1;
    return (left > right) - (left < right);
}

static recmap_status sort_positions(struct view *view, recmap_error *error) {
    view->sorted = malloc((size_t)(view->count + 1) * sizeof *view->sorted);
    if (!view->sorted) return message_fail_memory(error);
    for (uint64_t i = 0; i < view->count; i++) view->sorted[i] = i;
    qsort_r(view->sorted, (size_t)view->count, sizeof *view->sorted, compare_positions, view);
    return RECMAP_OK;
}

struct number_key {
    const uint64_t *numbers;
    uint64_t number;
};

static int compare_number(const void *a, const void *b) {
    const struct number_key *key = a;
    uint64_t number = key->numbers[*(const uint64_t *)b];
    return (key->number > number) - (key->number < number);
}

/* Returns the range of the sorted positions whose number is `number`: `end` is `first` if there are
 * none. bsearch finds any of them. */
static void find_range(size_t *first, size_t *end, const struct view *view, uint64_t number) {
    struct number_key key = {view->numbers, number};
    const uint64_t *found =
        bsearch(&key, view->sorted, (size_t)view->count, sizeof *view->sorted, compare_number);
    *first = *end = found ? (size_t)(found - view->sorted) : 0;
    if (!found) return;
    while (*first > 0 && view->numbers[view->sorted[*first - 1]] == number) --*first;
    while (*end < view->count && view->numbers[view->sorted[*end]] == number) ++*end;
}

recmap_status view_find(const uint64_t **positions, size_t *count, struct view *view,
                        uint64_t number, recmap_error *error) {
    if (!view->numbers) {
        view->found = number;
        *positions = &view->found;
        *count = 1;
        return RECMAP_OK;
    }
    recmap_status status = view->sorted ? RECMAP_OK : sort_positions(view, error);
    if (status != RECMAP_OK) return status;
    size_t first, end;
    find_range(&first, &end, view, number);
    *positions = view->sorted + first;
    *count = end - first;
    return RECMAP_OK;
}

recmap_status view_check(const struct view *view, uint64_t position, recmap_error *error) {
    if (!view->selection && !view->chosen) {
        recmap_location location;
        return recmap_dataset_locate(&location, view->dataset, position, 1, error);
    }
    if (position < view->count) return RECMAP_OK;
    return message_fail(
        error, RECMAP_INVALID, NULL, "items of a selection are numbered from 0, in its order",
        "item %" PRIu64 " is out of range: the selection has %" PRIu64, position, view->count);
}

static recmap_status next_numbers(void *context, uint64_t *numbers, size_t count,
                                  recmap_error *error) {
    const struct view_source *source = context;
    recmap_status status = source->positions.next(source->positions.context, numbers, count, error);
    for (size_t i = 0; status == RECMAP_OK && i < count; i++)
        numbers[i] = view_number(source->view, numbers[i]);
    return status;
}

struct number_source view_source_numbers(struct view_source *source) {
    return (struct number_source){source->positions.count, next_numbers, source};
}

/* A number_source_next_fn that counts. */
static recmap_status next_position(void *context, uint64_t *numbers, size_t count,
                                   recmap_error *error) {
    (void)error;
    uint64_t *next = context;
    for (size_t i = 0; i < count; i++) numbers[i] = (*next)++;
    return RECMAP_OK;
}

struct number_source view_all_positions(const struct view *view, uint64_t *next) {
    *next = 0;
    return (struct number_source){view->count, next_position, next};
}
