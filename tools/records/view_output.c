#include "records/view_output.h"

#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "terminal/interrupt.h"
#include "terminal/message.h"
#include "terminal/progress_bar.h"

int view_output_check(const struct view *view, const char *path) {
    int exit_status = 0;
    if (view->selection) exit_status = output_check_input(path, view->path, "the selection itself");
    return exit_status ? exit_status : output_check(path, view->index_path, view->dataset);
}

static bool ends_in(const char *path, const char *ending) {
    size_t size = path ? strlen(path) : 0, ending_size = strlen(ending);
    return size > ending_size && !strcmp(path + size - ending_size, ending);
}

int view_output_check_name(const char *path) {
    if (view_output_is_index(path))
        return message_error(RECMAP_INVALID, path,
                             "end the name differently; `recmap index` makes indexes",
                             "is the name of an index, but this command writes records");
    if (!view_output_is_selection(path)) return 0;
    return message_error(RECMAP_INVALID, path,
                         "end the name differently, or write a selection with `recmap select` or "
                         "`recmap sample`",
                         "is the name of a selection, but this command writes records");
}

int view_output_check_records(const struct view *view, const char *path) {
    int exit_status = view_output_check(view, path);
    return exit_status ? exit_status : view_output_check_name(path);
}

static recmap_status write_record(void *context, const recmap_record *record, recmap_error *error) {
    return output_write(context, record, error);
}

static recmap_status write_numbers(struct output *output, struct number_source source,
                                   recmap_error *error) {
    enum { GROUP_SIZE = 1024 };
    recmap_status status = RECMAP_OK;
    for (uint64_t left = source.count; status == RECMAP_OK && left;) {
        uint64_t numbers[GROUP_SIZE];
        size_t count = left < GROUP_SIZE ? (size_t)left : GROUP_SIZE;
        status = source.next(source.context, numbers, count, error);
        for (size_t i = 0; status == RECMAP_OK && i < count; i++) {
            recmap_record record = {.number = numbers[i]};
            status = output_write(output, &record, error);
        }
        left -= count;
    }
    return status;
}

recmap_status view_output_write(struct output *output, const struct view *view,
                                struct number_source positions, recmap_error *error) {
    struct view_source mapping = {view, positions};
    struct number_source source = view_source_numbers(&mapping);
    if (output->format == OUTPUT_NUMBER) return write_numbers(output, source, error);
    if (!output->path)
        return iterate_records(view->dataset, source, write_record, output, NULL, NULL, error);
    struct progress_bar progress = progress_bar_start("writing");
    recmap_status status = iterate_records(view->dataset, source, write_record, output,
                                           progress_bar_report, &progress, error);
    progress_bar_clear(&progress);
    return status;
}

recmap_status view_output_denied(mode_t *denied, const struct view *view, gid_t group,
                                 recmap_error *error) {
    uint64_t count = recmap_dataset_get_info(view->dataset)->shard_count;
    *denied = output_denied_by(view->index_path, group);
    for (uint64_t i = 0; i < count; i++) {
        char path[PATH_MAX];
        RETURN_IF_FAILED(recmap_dataset_shard_path(path, sizeof path, view->dataset, i, error));
        *denied |= output_denied_by(path, group);
    }
    return RECMAP_OK;
}

recmap_status view_output_open(struct output *output, const struct view *view, const char *path,
                               enum output_format format, recmap_error *error) {
    RETURN_IF_FAILED(output_open(output, path, format, error));
    output->dataset = view->dataset;
    output->message_type = view->message_type;
    if (output->format == OUTPUT_NUMBER || !output->temporary) return RECMAP_OK;
    mode_t denied;
    RETURN_IF_FAILED(view_output_denied(&denied, view, output_group(output), error));
    return output_deny(output, denied, error);
}

int view_output_write_all(const struct view *view, const char *path, enum output_format format) {
    uint64_t next = 0;
    struct number_source positions = view_all_positions(view, &next);
    struct output output = {.stream = NULL};
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_status status = view_output_open(&output, view, path, format, &error);
    if (status == RECMAP_OK) status = view_output_write(&output, view, positions, &error);
    if (status == RECMAP_OK) status = output_finish(&output, &error);
    output_close(&output);
    return interrupt_finish(status == RECMAP_OK ? 0 : message_print(&error));
}

bool view_output_is_selection(const char *path) {
    return ends_in(path, ".rmv");
}

bool view_output_is_index(const char *path) {
    return ends_in(path, ".rmx");
}

/* The numbers of all items, even if the view is a whole index. The caller frees them. */
static uint64_t *copy_numbers(const struct view *view) {
    uint64_t *numbers = malloc((size_t)(view->count + 1) * sizeof *numbers);
    for (uint64_t i = 0; numbers && i < view->count; i++) numbers[i] = view_number(view, i);
    return numbers;
}

recmap_status view_output_save(const struct view *view, const char *path, uint64_t total,
                               recmap_error *error) {
    uint64_t *numbers = copy_numbers(view);
    if (!numbers) return message_fail_memory(error);
    recmap_selection *selection = NULL;
    recmap_status status =
        recmap_selection_create(&selection, view->dataset, numbers, (size_t)view->count, error);
    free(numbers);
    if (status == RECMAP_OK) status = recmap_selection_save(selection, path, error);
    recmap_selection_close(selection);
    if (status == RECMAP_OK)
        message("%s: %" PRIu64 " of %" PRIu64 " record%s", path, view->count, total, plural(total));
    return status;
}
