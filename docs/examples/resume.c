/* One rank of a run that stops and goes on:
 *
 *     resume NAME.rmx FROM TO RANK WORLD BATCH STEPS
 *
 * takes up to STEPS steps of the shuffled epoch from the state in file FROM ("-": the start),
 * prints the numbers of its records, and leaves the state in file TO. */
#include <stdlib.h>
#include <string.h>

#include <recmap/recmap.h>

static recmap_status load(recmap_loader *loader, const char *path, recmap_error *error) {
    char text[4096];
    recmap_state *state;
    FILE *file = fopen(path, "r");
    if (!file) return recmap_loader_seek(loader, 0, 0, error);
    size_t size = fread(text, 1, sizeof text, file);
    fclose(file);
    recmap_status status = recmap_state_from_json(&state, text, size, error);
    if (status != RECMAP_OK) return status;
    status = recmap_loader_load(loader, state, error);
    recmap_state_destroy(state);
    return status;
}

static recmap_status save(const recmap_loader *loader, const char *path, recmap_error *error) {
    recmap_text text = RECMAP_TEXT_INIT;
    recmap_state *state;
    recmap_status status = recmap_loader_save(&state, loader, error);
    if (status != RECMAP_OK) return status;
    status = recmap_state_to_json(&text, state, error);
    FILE *file = status == RECMAP_OK ? fopen(path, "w") : NULL;
    if (file) {
        fprintf(file, "%s\n", text.data);
        fclose(file);
    }
    recmap_text_free(&text);
    recmap_state_destroy(state);
    return status;
}

static recmap_status train(recmap_loader *loader, long steps, recmap_error *error) {
    recmap_batch *batch = NULL;
    recmap_status status = RECMAP_OK;
    while (steps-- > 0 && status == RECMAP_OK) {
        status = recmap_loader_next(&batch, loader, error);
        if (!batch) break; /* the end of the epoch */
        for (size_t i = 0; status == RECMAP_OK && i < recmap_batch_count(batch); i++)
            printf("%llu\n", (unsigned long long)recmap_batch_records(batch)[i].number);
    }
    recmap_batch_destroy(batch);
    return status;
}

int main(int argc, char **argv) {
    recmap_dataset *dataset = NULL;
    recmap_order *order = NULL;
    recmap_loader *loader = NULL;
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_loader_options options = RECMAP_LOADER_OPTIONS_INIT;
    if (argc != 8) return 2;
    options.rank = (uint32_t)atoi(argv[4]);
    options.world_size = (uint32_t)atoi(argv[5]);
    options.batch_size = (uint64_t)atoll(argv[6]);
    recmap_status status = recmap_dataset_open(&dataset, argv[1], NULL, &error);
    if (status == RECMAP_OK)
        status = recmap_order_shuffled(&order, recmap_dataset_count(dataset), 7, &error);
    if (status == RECMAP_OK)
        status = recmap_loader_create(&loader, dataset, order, &options, &error);
    if (status == RECMAP_OK && strcmp(argv[2], "-")) status = load(loader, argv[2], &error);
    if (status == RECMAP_OK) status = train(loader, atol(argv[7]), &error);
    if (status == RECMAP_OK) status = save(loader, argv[3], &error);
    recmap_loader_destroy(loader);
    recmap_order_release(order);
    recmap_dataset_close(dataset);
    return status == RECMAP_OK ? 0 : recmap_error_print(&error, stderr);
}
