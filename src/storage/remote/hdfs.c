#include "storage/remote/hdfs.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/core/error.h"
#include "storage/protocol/hdfs_reply.h"
#include "storage/remote/key_pattern.h"
#include "storage/remote/transfer.h"

enum { DEPTH_MAX = 64, PAGES_MAX = 100000 };

bool hdfs_is_url(const char *url) {
    struct url parsed;
    return !url_parse(&parsed, url) && url_is_hdfs(parsed.scheme);
}

/* What is requested of a file or folder. */
struct operation {
    const char *name;
    const char *after; /* the name that a page of a folder begins after; NULL: the first page */
};

static recmap_status write_address(struct address *address, recmap_storage *storage,
                                   const char *url, const struct operation *operation,
                                   recmap_error *error) {
    struct storage_options options;
    struct url parsed;
    url_parse(&parsed, url);
    RETURN_IF_FAILED(storage_prepare(storage, error));
    RETURN_IF_FAILED(storage_copy_options(&options, storage, error));
    recmap_status status = address_of_hdfs(address, &options, &parsed, operation->name, error);
    if (status == RECMAP_OK && operation->after)
        status = address_add_start(address, operation->after, error);
    storage_options_deinit(&options);
    if (status == RECMAP_INVALID) fail_file(error, url);
    return status;
}

static enum text_verdict judge(const char *text, size_t size) {
    if (!hdfs_is_object(text, size)) return TEXT_OTHER;
    return hdfs_is_cut(text, size) ? TEXT_CUT : TEXT_GOOD;
}

/* The caller frees `body->data`, which is the server's text, whatever the result. `reply` may be
 * NULL. */
static recmap_status request(recmap_text *body, struct reply *reply, recmap_storage *storage,
                             const char *url, const struct operation *operation,
                             recmap_error *error) {
    struct address address;
    size_t failed_index;
    struct transfer_request transfer = {
        .name = url, .text = &address, .body = body, .reply = reply, .judge = judge};
    recmap_status status = write_address(&address, storage, url, operation, error);
    if (status == RECMAP_OK)
        status = transfer_run(&failed_index, storage, &transfer, 1, NULL, error);
    explicit_bzero(address.url, sizeof address.url);
    return status;
}

static const char *text_of(const recmap_text *body) {
    return body->data ? body->data : "";
}

static recmap_status fail_reply(const char *url, const char *task, const char *reason,
                                const char *advice, recmap_error *error) {
    fail(error, RECMAP_IO, "cannot %s: %s", task, reason);
    fail_file(error, url);
    fail_advise(error, "%s", advice);
    if (error) error->system_errno = EIO;
    return RECMAP_IO;
}

static recmap_status fail_malformed(const char *url, const char *task, recmap_error *error) {
    return fail_reply(url, task, "the server's reply cannot be understood", ADVICE_NAMENODE, error);
}

recmap_status hdfs_stat(struct file_stat *stat, recmap_storage *storage, const char *url,
                        recmap_error *error) {
    struct hdfs_status found;
    recmap_text body = RECMAP_TEXT_INIT;
    recmap_status status =
        request(&body, NULL, storage, url, &(struct operation){"GETFILESTATUS", NULL}, error);
    if (status == RECMAP_OK && !hdfs_status_read(&found, text_of(&body), body.size))
        status = fail_malformed(url, "read the object", error);
    free(body.data);
    RETURN_IF_FAILED(status);
    if (found.kind != HDFS_FILE)
        return fail_reply(url, "read the object", "it is not a file",
                          "name a file, a pattern, or a folder with a slash at its end", error);
    *stat = (struct file_stat){.size = found.size, .mtime_ns = found.mtime_ns};
    return RECMAP_OK;
}

/* ---- Listing. */

/* What is looked for. HDFS lists one folder at a time, so the folders that the pattern can match
 * are visited one after the other. */
struct search {
    struct path_list *list;
    recmap_storage *storage;
    path_filter filter;
    size_t key_offset; /* in a URL */
    char *pattern;     /* of keys; NULL: all files of the first folder */
    bool is_unpaged;   /* the server sends folders as a whole only */
};

/* The URL of an entry of a folder, whose URL ends with a slash; one of a folder does, too. */
static char *join(const char *folder, const struct hdfs_entry *entry) {
    size_t size = strlen(folder) + strlen(entry->name) + 2;
    char *url = malloc(size);
    const char *end = entry->kind == HDFS_FOLDER ? "/" : "";
    if (url) snprintf(url, size, "%s%s%s", folder, entry->name, end);
    return url;
}

static bool is_wanted(const struct search *search, const struct hdfs_entry *entry, char *key) {
    if (entry->kind != HDFS_FILE || !search->filter(entry->name)) return false;
    return !search->pattern || key_pattern_matches(search->pattern, key);
}

/* The key ends with a slash, which is cut for the time of the call. */
static bool is_visited(const struct search *search, const struct hdfs_entry *entry, char *key) {
    if (entry->kind != HDFS_FOLDER || !search->pattern) return false;
    char *end = key + strlen(key) - 1;
    *end = 0;
    bool may_contain = key_pattern_may_contain(search->pattern, key);
    *end = '/';
    return may_contain;
}

/* Adds the entry to the files that were found, or to the folders to visit; or leaves it out. */
static recmap_status sort_entry(struct search *search, struct path_list *folders,
                                const char *folder, const struct hdfs_entry *entry,
                                recmap_error *error) {
    char *url = join(folder, entry);
    if (!url) return fail_memory(error);
    struct path_list *list = is_wanted(search, entry, url + search->key_offset)    ? search->list
                             : is_visited(search, entry, url + search->key_offset) ? folders
                                                                                   : NULL;
    if (list) return path_list_add(list, url) ? RECMAP_OK : fail_memory(error);
    free(url);
    return RECMAP_OK;
}

static recmap_status fail_list(const char *url, enum list_verdict verdict, recmap_error *error) {
    return verdict == LIST_NO_MEMORY ? fail_memory(error)
                                     : fail_malformed(url, "list the files", error);
}

static recmap_status read_whole(struct hdfs_folder *folder, recmap_storage *storage,
                                const char *url, recmap_error *error) {
    recmap_text body = RECMAP_TEXT_INIT;
    recmap_status status =
        request(&body, NULL, storage, url, &(struct operation){"LISTSTATUS", NULL}, error);
    if (status == RECMAP_OK) {
        enum list_verdict verdict = hdfs_folder_read(folder, text_of(&body), body.size);
        if (verdict != LIST_OK) status = fail_list(url, verdict, error);
    }
    free(body.data);
    return status;
}

static bool is_unknown_operation(long status) {
    return status == 400 || status == 405 || status == 501;
}

/* The page of a folder after an entry. `is_refused` says that the server does not know pages. */
static recmap_status read_page(struct hdfs_folder *page, bool *has_more, bool *is_refused,
                               recmap_storage *storage, const char *url, const char *after,
                               recmap_error *error) {
    struct reply reply = {0};
    recmap_text body = RECMAP_TEXT_INIT;
    recmap_status status =
        request(&body, &reply, storage, url, &(struct operation){"LISTSTATUS_BATCH", after}, error);
    *is_refused = status == RECMAP_IO && is_unknown_operation(reply.status);
    if (status == RECMAP_OK) {
        enum list_verdict verdict = hdfs_page_read(page, has_more, text_of(&body), body.size);
        if (verdict != LIST_OK) status = fail_list(url, verdict, error);
    }
    free(body.data);
    return status;
}

/* Reads a folder in pages, so that it may have any number of files. Servers that are older than the
 * operation refuse the first page: then this folder and those that follow are read as a whole. */
static recmap_status read_some(struct hdfs_folder *page, bool *has_more, struct search *search,
                               const char *url, const char *after, recmap_error *error) {
    bool is_refused;
    recmap_error failure = RECMAP_ERROR_INIT;
    *has_more = false;
    if (search->is_unpaged) return read_whole(page, search->storage, url, error);
    recmap_status status =
        read_page(page, has_more, &is_refused, search->storage, url, after, &failure);
    search->is_unpaged = is_refused && !after;
    if (search->is_unpaged) return read_whole(page, search->storage, url, error);
    if (status != RECMAP_OK && error) *error = failure;
    return status;
}

/* Sets the entry that the next page begins after. A server that sends the same page again does not
 * understand the request. */
static recmap_status pass_page(char **after, const struct hdfs_folder *page, const char *url,
                               recmap_error *error) {
    assert(page->count > 0);
    const char *last = page->entries[page->count - 1].name;
    if (*after && !strcmp(*after, last)) return fail_list(url, LIST_MALFORMED, error);
    free(*after);
    return (*after = strdup(last)) ? RECMAP_OK : fail_memory(error);
}

/* A folder without end is stopped at PAGES_MAX. */
static recmap_status visit(struct search *search, struct path_list *folders, const char *url,
                           recmap_error *error) {
    char *after = NULL;
    bool has_more = true;
    recmap_status status = RECMAP_OK;
    for (size_t i = 0; status == RECMAP_OK && has_more; i++) {
        struct hdfs_folder page = {0};
        status = i < PAGES_MAX ? read_some(&page, &has_more, search, url, after, error)
                               : fail_list(url, LIST_MALFORMED, error);
        for (size_t j = 0; status == RECMAP_OK && j < page.count; j++)
            status = sort_entry(search, folders, url, &page.entries[j], error);
        if (status == RECMAP_OK && has_more) status = pass_page(&after, &page, url, error);
        hdfs_folder_deinit(&page);
    }
    free(after);
    return status;
}

/* Visits folders level by level. A server whose folders have no end is stopped at DEPTH_MAX. */
static recmap_status visit_levels(struct search *search, struct path_list *level,
                                  recmap_error *error) {
    recmap_status status = RECMAP_OK;
    for (size_t depth = 0; status == RECMAP_OK && level->count; depth++) {
        struct path_list next = {0};
        if (depth == DEPTH_MAX)
            status = fail_reply(level->paths[0], "list the files", "the folders are too deep",
                                "name the folder of the shards", error);
        for (size_t i = 0; status == RECMAP_OK && i < level->count; i++)
            status = visit(search, &next, level->paths[i], error);
        path_list_deinit(level);
        *level = next;
    }
    path_list_deinit(level);
    return status;
}

/* Takes the URL of the folder that is visited first: the last one before the first wildcard. */
static recmap_status begin(struct search *search, struct path_list *level, const char *pattern,
                           recmap_error *error) {
    const char *key = pattern + search->key_offset, *wildcard = key + strcspn(key, "*?[");
    const char *end = wildcard;
    while (end > key && end[-1] != '/') end--;
    if (*wildcard && !(search->pattern = strdup(key))) return fail_memory(error);
    /* A host alone, without a slash, is the root. */
    size_t size = (size_t)(end - pattern);
    bool needs_slash = end == key && key[-1] != '/';
    char *folder = malloc(size + 2);
    if (folder) snprintf(folder, size + 2, "%.*s%s", (int)size, pattern, needs_slash ? "/" : "");
    if (!path_list_add(level, folder)) return fail_memory(error);
    search->key_offset += needs_slash;
    return RECMAP_OK;
}

recmap_status hdfs_list(struct path_list *list, recmap_storage *storage, const char *pattern,
                        path_filter filter, recmap_error *error) {
    struct url url;
    struct path_list level = {0};
    url_parse(&url, pattern);
    struct search search = {.list = list,
                            .storage = storage,
                            .filter = filter,
                            .key_offset = (size_t)(url.key - pattern)};
    recmap_status status = begin(&search, &level, pattern, error);
    if (status == RECMAP_OK) status = visit_levels(&search, &level, error);
    else path_list_deinit(&level);
    free(search.pattern);
    return status;
}
