#include "storage/remote/client.h"

#include <stdlib.h>
#include <string.h>

#include "base/core/error.h"
#include "base/core/interrupt.h"
#include "base/core/plural.h"

struct client_source {
    struct source source; /* first, so that a source is its object */
    recmap_storage *storage;
    char *url;
    recmap_object object;
};

static const struct client_source *client_source_of(const struct source_read *read) {
    return (const struct client_source *)read->source;
}

/* The error has no place of its own, or the client's: a record is not known here. */
static recmap_status fail_read(const struct source_read *read, recmap_status status,
                               recmap_error *error) {
    if (status != RECMAP_CANCELLED)
        fail_at(error, read->source->name, RECMAP_NO_RECORD, read->offset);
    return status;
}

static recmap_status check_within(const struct source_read *read, recmap_error *error) {
    uint64_t size = read->source->stat.size;
    if (read->offset <= size && read->size <= size - read->offset) return RECMAP_OK;
    fail(error, RECMAP_IO, "the object ends here, %zu byte%s too early", read->size,
         plural(read->size));
    fail_advise(error, "restore the complete object");
    return fail_read(read, RECMAP_IO, error);
}

/* How many of the reads one call of the client makes: reads of the same storage, within its limits.
 */
static size_t count_together(const struct source_read *reads, size_t count) {
    size_t size = reads[0].size, together = 1;
    const recmap_storage *storage = client_source_of(reads)->storage;
    for (; together < count && together < CLIENT_RANGES_MAX; together++) {
        const struct source_read *read = &reads[together];
        if (client_source_of(read)->storage != storage) break;
        if (read->size > CLIENT_SIZE_MAX - (size < CLIENT_SIZE_MAX ? size : CLIENT_SIZE_MAX)) break;
        size += read->size;
    }
    return together;
}

static recmap_status read_together(size_t *failed_index, const struct source_read *reads,
                                   size_t count, recmap_error *error) {
    recmap_object_range ranges[CLIENT_RANGES_MAX] = {{0}};
    recmap_storage *storage = client_source_of(reads)->storage;
    const recmap_client *client = &storage->client;
    for (size_t i = 0; i < count; i++)
        ranges[i] = (recmap_object_range){client_source_of(&reads[i])->url, reads[i].data,
                                          reads[i].size, reads[i].offset};
    size_t range_index = 0;
    recmap_error own = RECMAP_ERROR_INIT; /* clients may always fill in an error */
    if (!error) error = &own;
    for (size_t i = 0; i < count; i++) storage_count_request(storage, REQUEST_FIRST);
    storage_count_reads(storage, reads, count);
    recmap_status status = client->read(&range_index, ranges, count, error, client->context);
    if (status == RECMAP_OK) return RECMAP_OK;
    *failed_index = range_index < count ? range_index : 0;
    return fail_read(&reads[*failed_index], status, error);
}

static recmap_status read_ranges(size_t *failed_index, const struct source_read *reads,
                                 size_t count, struct interrupt *interrupt, recmap_error *error) {
    if (!interrupt || !interrupt->function) interrupt = thread_interrupt();
    for (size_t i = 0; i < count; i++) {
        *failed_index = i;
        RETURN_IF_FAILED(check_within(&reads[i], error));
    }
    for (size_t i = 0, together; i < count; i += together) {
        together = count_together(reads + i, count - i);
        recmap_status status = read_together(failed_index, reads + i, together, error);
        if (status == RECMAP_OK && i + together < count)
            status = interrupt_check(interrupt, INTERRUPT_WORK, error);
        if (status == RECMAP_OK) continue;
        *failed_index = *failed_index < together ? *failed_index + i : i;
        return status;
    }
    return RECMAP_OK;
}

static void close_object(struct source *source) {
    struct client_source *object = (struct client_source *)source;
    recmap_storage_release(object->storage);
    free(object->url);
    free(object);
}

static const struct source_table client_table = {read_ranges, close_object, NULL, NULL, NULL};

static recmap_status find_object(struct client_source *source, const char *url,
                                 recmap_error *error) {
    const recmap_client *client = &source->storage->client;
    recmap_object *object = &source->object;
    recmap_error own = RECMAP_ERROR_INIT;
    if (!error) error = &own;
    if (!(source->url = strdup(url))) return fail_memory(error);
    recmap_status status = client->stat(object, url, error, client->context);
    if (status != RECMAP_OK && status != RECMAP_CANCELLED) fail_file(error, url);
    object->etag[RECMAP_ETAG_MAX - 1] = 0;
    source->source.stat = (struct file_stat){.size = object->size, .mtime_ns = object->mtime_ns};
    return status;
}

static bool is_expected(const recmap_object *object, const struct remote_identity *expected) {
    if (object->size != expected->size) return false;
    if (object->etag[0] && expected->etag[0]) return !strcmp(object->etag, expected->etag);
    return object->mtime_ns == expected->mtime_ns;
}

static recmap_status fail_changed(const char *url, recmap_error *error) {
    fail(error, RECMAP_STALE, "the object changed");
    fail_file(error, url);
    fail_advise(error, "restore the indexed object, or build the index again with `recmap index`");
    return RECMAP_STALE;
}

recmap_status client_open(struct source **source, recmap_storage *storage, const char *url,
                          const struct remote_identity *expected, recmap_error *error) {
    struct client_source *fresh = calloc(1, sizeof *fresh);
    if (!fresh) return fail_memory(error);
    fresh->storage = recmap_storage_retain(storage);
    fresh->source = (struct source){.table = &client_table, .fd = -1, .etag = fresh->object.etag};
    recmap_status status = find_object(fresh, url, error);
    fresh->source.name = fresh->url;
    if (status == RECMAP_OK && expected && !is_expected(&fresh->object, expected))
        status = fail_changed(url, error);
    if (status == RECMAP_OK) *source = &fresh->source;
    else close_object(&fresh->source);
    return status;
}
