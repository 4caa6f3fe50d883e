#include "storage/remote/remote.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/core/error.h"
#include "base/core/path_pattern.h"
#include "base/core/plural.h"
#include "storage/protocol/list_reply.h"
#include "storage/remote/client.h"
#include "storage/remote/transfer.h"

#define NS_PER_S 1000000000ll

struct remote_source {
    struct source source; /* first, so that a source is its object */
    recmap_storage *storage;
    char *url;
    char *name; /* without a query */
    char *etag;
};

static recmap_status fail_url(const char *url, const char *reason, recmap_error *error) {
    fail(error, RECMAP_INVALID, "the URL cannot be read: %s", reason);
    fail_file(error, url);
    fail_advise(error, "write it as s3://BUCKET/KEY, gs://BUCKET/KEY, az://CONTAINER/BLOB or "
                       "https://HOST/PATH; credentials are storage options");
    if (url_is_hadoop(url))
        fail_advise(error, "open it in Python, which reads it with fsspec (recmap.open(URL), or "
                           "with fs=); or mount or copy the folder");
    return RECMAP_INVALID;
}

static recmap_status check_any_url(const char *url, recmap_error *error) {
    struct url parsed;
    const char *reason = url_parse_any(&parsed, url);
    if (!reason) return RECMAP_OK;
    fail_url(url, reason, error);
    fail_advise(error, "write it as SCHEME://HOST/PATH, without credentials");
    return RECMAP_INVALID;
}

/* An index names its shards by their URLs. A query may contain a signature, so it must not get
 * there: presigned URLs are split before (net/signed_urls.h). */
recmap_status remote_check_url(const char *url, const recmap_storage *storage,
                               recmap_error *error) {
    struct url parsed;
    if (storage_has_client(storage)) return check_any_url(url, error);
    const char *reason = url_parse(&parsed, url);
    bool is_web = !reason && !url_has_listing(parsed.scheme);
    if (!reason && is_web && strchr(parsed.host, '?'))
        reason = "it has a query (?...): name the object without it, and pass the whole URL as "
                 "the storage option urls";
    if (!reason && strstr(parsed.key, "?sv=")) reason = "it has a signature: pass it as sas";
    return reason ? fail_url(url, reason, error) : RECMAP_OK;
}

/* ---- Sources. */

static struct range_request expected_range(const struct remote_source *remote, uint64_t offset,
                                           uint64_t size) {
    const struct file_stat *stat = &remote->source.stat;
    int64_t seconds = stat->mtime_ns / NS_PER_S;
    return (struct range_request){.offset = offset,
                                  .size = size,
                                  .object_size = stat->size,
                                  .etag = remote->etag,
                                  .modified = seconds ? seconds : REPLY_NO_TIME};
}

static bool is_within(const struct source_read *read) {
    uint64_t size = read->source->stat.size;
    return read->offset <= size && read->size <= size - read->offset;
}

static recmap_status fail_outside(const struct source_read *read, recmap_error *error) {
    fail(error, RECMAP_IO, "the object ends here, %zu byte%s too early", read->size,
         plural(read->size));
    fail_at(error, read->source->name, RECMAP_NO_RECORD, read->offset);
    fail_advise(error, "restore the complete object");
    return RECMAP_IO;
}

/* The requests of `count` reads. Returns how many there are; reads of no bytes need none. */
static size_t plan_requests(struct transfer_request *requests, size_t *origins,
                            const struct source_read *reads, size_t count) {
    size_t planned = 0;
    for (size_t i = 0; i < count; i++) {
        const struct remote_source *remote = (const struct remote_source *)reads[i].source;
        if (!reads[i].size) continue;
        origins[planned] = i;
        requests[planned++] = (struct transfer_request){
            .name = remote->url,
            .range = expected_range(remote, reads[i].offset, reads[i].size),
            .data = reads[i].data};
    }
    return planned;
}

static recmap_storage *storage_of(const struct source_read *read) {
    return ((const struct remote_source *)read->source)->storage;
}

/* Reads of sources that have the same storage. */
static recmap_status read_together(size_t *failed_index, const struct source_read *reads,
                                   size_t count, struct interrupt *interrupt, recmap_error *error) {
    struct transfer_request *requests = calloc(count + 1, sizeof *requests);
    size_t *origins = calloc(count + 1, sizeof *origins), request_index = 0;
    recmap_status status = requests && origins ? RECMAP_OK : fail_memory(error);
    *failed_index = 0;
    if (status == RECMAP_OK) {
        size_t planned = plan_requests(requests, origins, reads, count);
        storage_count_reads(storage_of(reads), reads, count);
        status =
            transfer_run(&request_index, storage_of(reads), requests, planned, interrupt, error);
        *failed_index = origins[request_index];
    }
    free(requests);
    free(origins);
    return status;
}

static recmap_status read_objects(size_t *failed_index, const struct source_read *reads,
                                  size_t count, struct interrupt *interrupt, recmap_error *error) {
    for (size_t i = 0; i < count; i++) {
        *failed_index = i;
        if (!is_within(&reads[i])) return fail_outside(&reads[i], error);
    }
    for (size_t i = 0, end; i < count; i = end) {
        for (end = i + 1; end < count && storage_of(&reads[end]) == storage_of(&reads[i]);) end++;
        recmap_status status = read_together(failed_index, reads + i, end - i, interrupt, error);
        assert(status == RECMAP_OK || *failed_index < end - i);
        if (status == RECMAP_OK) continue;
        *failed_index += i;
        return status;
    }
    return RECMAP_OK;
}

static void close_object(struct source *source) {
    struct remote_source *remote = (struct remote_source *)source;
    recmap_storage_release(remote->storage);
    free(remote->url);
    free(remote->name);
    free(remote->etag);
    free(remote);
}

static const struct source_table remote_table = {read_objects, close_object, NULL, NULL, NULL};

/* Finds out size, time and ETag by requesting the first byte. A request for a header alone would
 * not do: URLs that are signed for GET do not allow it. */
static recmap_status probe(struct remote_source *remote, recmap_error *error) {
    uint8_t first;
    struct reply reply;
    uint64_t size = 0;
    size_t failed_index;
    struct transfer_request request = {.name = remote->url,
                                       .range = {.size = 1,
                                                 .accepts_shorter = true,
                                                 .object_size = REPLY_NO_SIZE,
                                                 .etag = "",
                                                 .modified = REPLY_NO_TIME},
                                       .data = &first,
                                       .reply = &reply,
                                       .size = &size};
    RETURN_IF_FAILED(transfer_run(&failed_index, remote->storage, &request, 1, NULL, error));
    struct file_stat *stat = &remote->source.stat;
    /* An empty object has no first byte. A reply without a range (200) is the whole object. */
    stat->size = size == 0 ? 0 : reply.status == 206 ? reply.range_total : size;
    stat->mtime_ns = reply.modified == REPLY_NO_TIME ? 0 : reply.modified * NS_PER_S;
    if (stat->size == REPLY_NO_SIZE) {
        fail(error, RECMAP_IO, "cannot read the object: the server does not say its size");
        fail_file(error, remote->name);
        fail_advise(error, "use a server that supports range requests, or copy the shards to this "
                           "machine");
        return RECMAP_IO;
    }
    return (remote->etag = strdup(reply.etag)) ? RECMAP_OK : fail_memory(error);
}

static recmap_status expect(struct remote_source *remote, const struct remote_identity *expected,
                            recmap_error *error) {
    remote->source.stat =
        (struct file_stat){.size = expected->size, .mtime_ns = expected->mtime_ns};
    return (remote->etag = strdup(expected->etag)) ? RECMAP_OK : fail_memory(error);
}

static recmap_status fill(struct remote_source *remote, recmap_storage *storage, const char *url,
                          const struct remote_identity *expected, recmap_error *error) {
    remote->url = strdup(url);
    remote->name = strdup(url);
    if (!remote->url || !remote->name) return fail_memory(error);
    RETURN_IF_FAILED(storage_retain(&remote->storage, storage, error));
    return expected ? expect(remote, expected, error) : probe(remote, error);
}

recmap_status remote_open(struct source **source, recmap_storage *storage, const char *url,
                          const struct remote_identity *expected, recmap_error *error) {
    RETURN_IF_FAILED(remote_check_url(url, storage, error));
    if (storage_has_client(storage)) return client_open(source, storage, url, expected, error);
    struct remote_source *remote = calloc(1, sizeof *remote);
    if (!remote) return fail_memory(error);
    remote->source = (struct source){.table = &remote_table, .fd = -1};
    recmap_status status = fill(remote, storage, url, expected, error);
    remote->source.name = remote->name;
    remote->source.etag = remote->etag;
    if (status == RECMAP_OK) *source = &remote->source;
    else close_object(&remote->source);
    return status;
}

/* ---- Listing. */

const char *remote_name(const char *url) {
    const char *slash = strrchr(url, '/');
    return slash ? slash + 1 : url;
}

/* One page of a listing, and what becomes of its names. */
struct listing {
    struct path_list *list;
    struct url url;
    const char *text; /* of the URL */
    size_t prefix_size;
    bool is_flat;
    bool has_pattern; /* otherwise all names match */
    struct path_pattern pattern;
    path_filter filter;
};

static bool is_wanted(const struct listing *listing, char *key) {
    size_t size = strlen(key);
    if (!size || key[size - 1] == '/') return false; /* a marker of a folder */
    if (!listing->filter(remote_name(key))) return false;
    return !listing->has_pattern || path_pattern_matches(&listing->pattern, key);
}

static recmap_status add_names(const struct listing *listing, const struct list_page *page,
                               recmap_error *error) {
    int start = (int)(listing->url.host + listing->url.host_size - listing->text);
    for (size_t i = 0; i < page->count; i++) {
        if (!is_wanted(listing, page->names[i])) continue;
        size_t size = (size_t)start + strlen(page->names[i]) + 2;
        char *name = malloc(size);
        if (name) snprintf(name, size, "%.*s/%s", start, listing->text, page->names[i]);
        if (!path_list_add(listing->list, name)) return fail_memory(error);
    }
    return RECMAP_OK;
}

static recmap_status fail_page(const struct listing *listing, enum list_verdict verdict,
                               recmap_error *error) {
    if (verdict == LIST_NO_MEMORY) return fail_memory(error);
    fail(error, RECMAP_IO, "cannot list the objects: the server's list cannot be understood");
    fail_file(error, listing->text);
    fail_advise(error, ADVICE_LIST);
    return RECMAP_IO;
}

static enum text_verdict judge_list(const struct list_dialect *dialect, const char *text,
                                    size_t size) {
    struct list_page page = {0};
    if (list_is_cut(dialect, text, size)) return TEXT_CUT;
    enum list_verdict verdict = list_page_read(&page, dialect, text, size);
    list_page_deinit(&page);
    return verdict == LIST_MALFORMED    ? TEXT_OTHER
           : verdict == LIST_INCOMPLETE ? TEXT_INCOMPLETE
                                        : TEXT_GOOD;
}

static enum text_verdict judge_s3(const char *text, size_t size) {
    return judge_list(&list_dialect_s3, text, size);
}

static enum text_verdict judge_azure(const char *text, size_t size) {
    return judge_list(&list_dialect_azure, text, size);
}

/* The body is the server's text: list_page_read trusts nothing in it. */
static recmap_status fetch_page(struct list_page *page, recmap_storage *storage,
                                const struct listing *listing, const char *next,
                                recmap_error *error) {
    struct address address;
    size_t failed_index;
    recmap_text body = RECMAP_TEXT_INIT;
    struct storage_options options;
    RETURN_IF_FAILED(storage_copy_options(&options, storage, error));
    recmap_status status = address_of_listing(&address, &options, &listing->url, listing->url.key,
                                              listing->prefix_size, listing->is_flat, next, error);
    storage_options_deinit(&options);
    if (status != RECMAP_OK) {
        fail_file(error, listing->text);
        explicit_bzero(address.url, sizeof address.url);
        return status;
    }
    bool is_azure = listing->url.scheme == URL_AZ;
    struct transfer_request request = {.name = listing->text,
                                       .text = &address,
                                       .body = &body,
                                       .judge = is_azure ? judge_azure : judge_s3};
    status = transfer_run(&failed_index, storage, &request, 1, NULL, error);
    const struct list_dialect *dialect = is_azure ? &list_dialect_azure : &list_dialect_s3;
    if (status == RECMAP_OK) {
        enum list_verdict verdict =
            list_page_read(page, dialect, body.data ? body.data : "", body.size);
        if (verdict != LIST_OK) status = fail_page(listing, verdict, error);
    }
    explicit_bzero(address.url, strlen(address.url));
    free(body.data);
    return status;
}

static recmap_status add_page(struct list_page *page, recmap_storage *storage,
                              const struct listing *listing, const char *next,
                              recmap_error *error) {
    RETURN_IF_FAILED(fetch_page(page, storage, listing, next, error));
    return add_names(listing, page, error);
}

/* Returns true if the next page would be this one again. */
static bool is_repeated(const char *next, const struct list_page *page) {
    return next && page->next && !strcmp(next, page->next);
}

/* A server that lists pages without end is stopped at PAGES_MAX. */
static recmap_status list_pages(recmap_storage *storage, const struct listing *listing,
                                recmap_error *error) {
    enum { PAGES_MAX = 100000 };
    char *next = NULL;
    recmap_status status = RECMAP_OK;
    for (size_t i = 0; status == RECMAP_OK && (!i || next); i++) {
        struct list_page page = {0};
        status = i < PAGES_MAX ? add_page(&page, storage, listing, next, error)
                               : fail_page(listing, LIST_MALFORMED, error);
        if (status == RECMAP_OK && is_repeated(next, &page))
            status = fail_page(listing, LIST_MALFORMED, error);
        free(next);
        next = page.next;
        page.next = NULL;
        list_page_deinit(&page);
    }
    free(next);
    return status;
}

/* A client may name objects outside the folder: they are left out. */
static recmap_status add_client_name(const char *name, recmap_error *error, void *context) {
    const struct listing *listing = context;
    size_t start = (size_t)(listing->url.key - listing->text);
    if (strncmp(name, listing->text, listing->prefix_size) != 0) return RECMAP_OK;
    if (listing->is_flat && strchr(name + listing->prefix_size, '/')) return RECMAP_OK;
    char *copy = strdup(name);
    bool is_added = copy && is_wanted(listing, copy + start);
    if (is_added && !path_list_add(listing->list, copy)) return fail_memory(error);
    if (copy && !is_added) free(copy);
    return copy ? RECMAP_OK : fail_memory(error);
}

/* Prepares the pattern if the key has wildcards. remote_list frees its text. */
static recmap_status take_pattern(struct listing *listing, recmap_error *error) {
    const char *key = listing->url.key;
    listing->is_flat = path_pattern_is_flat(key);
    listing->has_pattern = strpbrk(key, "*?[") != NULL;
    if (!listing->has_pattern) return RECMAP_OK;
    char *text = strdup(key);
    if (!text) return fail_memory(error);
    recmap_status status = path_pattern_init(&listing->pattern, text, true, error);
    if (status != RECMAP_OK) fail_file(error, listing->text);
    return status;
}

/* A client lists a folder: the last one before the first wildcard. */
static recmap_status list_with_client(struct listing *listing, const recmap_client *client,
                                      recmap_error *error) {
    url_parse_any(&listing->url, listing->text);
    RETURN_IF_FAILED(take_pattern(listing, error));
    const char *key = listing->url.key, *end = key + strcspn(key, "*?[");
    while (end > key && end[-1] != '/') end--;
    listing->prefix_size = (size_t)(end - listing->text);
    recmap_error own = RECMAP_ERROR_INIT; /* clients may always fill in an error */
    if (!error) error = &own;
    char *folder = strndup(listing->text, listing->prefix_size);
    if (!folder) return fail_memory(error);
    recmap_status status =
        client->list(folder, !listing->is_flat, add_client_name, listing, error, client->context);
    if (status != RECMAP_OK) fail_file(error, listing->text);
    free(folder);
    return status;
}

/* Stores list names by prefix, so that is what is asked for: everything before the first wildcard.
 * The rest of the pattern is matched here. If it is flat, the store need not descend into folders.
 */
static recmap_status list_with_requests(struct listing *listing, recmap_storage *storage,
                                        recmap_error *error) {
    url_parse(&listing->url, listing->text);
    if (!url_has_listing(listing->url.scheme)) {
        fail_url(listing->text, "a web server does not list its files", error);
        fail_advise(error, "name each shard, all shards of a set (NAME@N), or a file with one URL "
                           "per line (@FILE)");
        return RECMAP_INVALID;
    }
    if (!storage) return fail(error, RECMAP_INVALID, "a listing needs a storage");
    RETURN_IF_FAILED(take_pattern(listing, error));
    listing->prefix_size = strcspn(listing->url.key, "*?[");
    RETURN_IF_FAILED(storage_prepare(storage, error));
    return list_pages(storage, listing, error);
}

recmap_status remote_list(struct path_list *list, recmap_storage *storage, const char *pattern,
                          path_filter filter, recmap_error *error) {
    struct listing listing = {.list = list, .text = pattern, .filter = filter};
    RETURN_IF_FAILED(remote_check_url(pattern, storage, error));
    recmap_status status = storage_has_client(storage)
                               ? list_with_client(&listing, &storage->client, error)
                               : list_with_requests(&listing, storage, error);
    free(listing.pattern.text);
    return status;
}
