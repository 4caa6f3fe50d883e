/* Reaches the objects of the simulated store. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "simulation/program/program.h"
#include "simulation/world/store.h"

static recmap_status fail_request(recmap_error *error) {
    *error = (recmap_error)RECMAP_ERROR_INIT;
    error->status = RECMAP_IO;
    error->system_errno = ECONNRESET;
    snprintf(error->message, sizeof error->message, "the connection was dropped");
    return RECMAP_IO;
}

static recmap_status stat_object(recmap_object *object, const char *name, recmap_error *error,
                                 void *context) {
    (void)context;
    bool is_known = store_stat(&object->size, object->etag, sizeof object->etag, name);
    return is_known ? RECMAP_OK : fail_request(error);
}

static recmap_status read_ranges(size_t *failed_index, const recmap_object_range *ranges,
                                 size_t count, recmap_error *error, void *context) {
    (void)context;
    for (size_t i = 0; i < count; i++) {
        *failed_index = i;
        if (!store_read(ranges[i].data, ranges[i].size, ranges[i].offset, ranges[i].name))
            return fail_request(error);
    }
    return RECMAP_OK;
}

static recmap_status list_nothing(const char *folder, int is_deep,
                                  recmap_status (*add)(const char *name, recmap_error *error,
                                                       void *names),
                                  void *names, recmap_error *error, void *context) {
    (void)folder, (void)is_deep, (void)add, (void)names, (void)error, (void)context;
    return RECMAP_OK;
}

recmap_storage *actor_create_storage(void) {
    recmap_client client = RECMAP_CLIENT_INIT;
    recmap_storage *storage = NULL;
    client.stat = stat_object;
    client.read = read_ranges;
    client.list = list_nothing;
    if (recmap_storage_create(&storage, NULL) != RECMAP_OK) return NULL;
    if (recmap_storage_set_client(storage, &client, NULL) == RECMAP_OK) return storage;
    recmap_storage_release(storage);
    return NULL;
}
