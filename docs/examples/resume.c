/* One rank of a run that is stopped and resumed:
 *
 *     resume NAME.rmx FROM TO RANK WORLD BATCH STEPS
 *
 * Loads the state in file FROM ("-": starts at the beginning), makes up to STEPS steps of a
 * shuffled epoch, prints the numbers of its records, and saves the state in file TO. */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <recmap/recmap.h>

/* Sets the error for a failed system call on a file. */
static recmap_status fail_errno(const char *path, recmap_error *error) {
    error->status = RECMAP_IO;
    snprintf(error->message, sizeof error->message, "%s: %s", path, strerror(errno));
    return RECMAP_IO;
}

/* A missing or damaged state is an error. Treating it as the start would silently repeat the epoch.
 */
static recmap_status load(recmap_loader *loader, const char *path, recmap_error *error) {
    char text[4096];
    recmap_state *state;
    FILE *file = fopen(path, "r");
    if (!file) return fail_errno(path, error);
    size_t size = fread(text, 1, sizeof text, file);
    fclose(file);
    recmap_status status = recmap_state_from_json(&state, text, size, error);
    if (status != RECMAP_OK) return status;
    status = recmap_loader_load(loader, state, error);
    recmap_state_destroy(state);
    return status;
}

/* Writes a temporary file, syncs and renames it, so that a kill leaves either the old or the new
 * file. */
static recmap_status replace_file(const char *path, const char *text, recmap_error *error) {
    char temporary[4096];
    snprintf(temporary, sizeof temporary, "%s.new", path);
    FILE *file = fopen(temporary, "w");
    if (!file) return fail_errno(temporary, error);
    int is_written = fprintf(file, "%s\n", text) > 0 && !fflush(file) && !fsync(fileno(file));
    if (fclose(file) || !is_written) return fail_errno(temporary, error);
    return rename(temporary, path) ? fail_errno(path, error) : RECMAP_OK;
}

static recmap_status save(const recmap_loader *loader, const char *path, recmap_error *error) {
    recmap_text text = RECMAP_TEXT_INIT;
    recmap_state *state;
    recmap_status status = recmap_loader_save(&state, loader, error);
    if (status != RECMAP_OK) return status;
    status = recmap_state_to_json(&text, state, error);
    if (status == RECMAP_OK) status = replace_file(path, text.data, error);
    recmap_text_deinit(&text);
    recmap_state_destroy(state);
    return status;
}

static recmap_status train(recmap_loader *loader, long steps, recmap_error *error) {
    recmap_batch *batch = NULL;
    recmap_status status = RECMAP_OK;
    while (steps-- > 0 && status == RECMAP_OK) {
        status = recmap_loader_next(&batch, loader, error);
        if (!batch) break; /* end of the epoch */
        for (size_t i = 0; status == RECMAP_OK && i < recmap_batch_count(batch); i++)
            printf("%" PRIu64 "\n", recmap_batch_records(batch)[i].number);
    }
    recmap_batch_destroy(batch);
    return status;
}

static int print_usage(void) {
    fprintf(stderr, "usage: resume NAME.rmx FROM|- TO RANK WORLD BATCH STEPS\n");
    return 2;
}

int main(int argc, char **argv) {
    recmap_dataset *dataset = NULL;
    recmap_order *order = NULL;
    recmap_loader *loader = NULL;
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_loader_options options = RECMAP_LOADER_OPTIONS_INIT;
    if (argc != 8) return print_usage();
    options.rank = (uint32_t)strtoul(argv[4], NULL, 10);
    options.world_size = (uint32_t)strtoul(argv[5], NULL, 10);
    options.batch_size = strtoull(argv[6], NULL, 10);
    recmap_status status = recmap_dataset_open(&dataset, argv[1], NULL, &error);
    if (status == RECMAP_OK)
        status = recmap_order_shuffled(&order, recmap_dataset_count(dataset), 7, &error);
    if (status == RECMAP_OK)
        status = recmap_loader_create(&loader, dataset, order, &options, &error);
    if (status == RECMAP_OK && strcmp(argv[2], "-")) status = load(loader, argv[2], &error);
    if (status == RECMAP_OK) status = train(loader, strtol(argv[7], NULL, 10), &error);
    if (status == RECMAP_OK) status = save(loader, argv[3], &error);
    recmap_loader_destroy(loader);
    recmap_order_release(order);
    recmap_dataset_close(dataset);
    return status == RECMAP_OK ? 0 : recmap_error_print(&error, stderr);
}
