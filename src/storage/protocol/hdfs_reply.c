#include "storage/protocol/hdfs_reply.h"

#include <stdlib.h>
#include <string.h>

#include "base/core/array.h"
#include "base/text/json_reader.h"

#define NS_PER_MS 1000000

/* ---- The status of a file: an object with a dozen members. */

static enum hdfs_kind kind_of(const struct json_string *type) {
    if (json_string_is(type, "FILE")) return HDFS_FILE;
    return json_string_is(type, "DIRECTORY") ? HDFS_FOLDER : HDFS_OTHER;
}

/* Times are in milliseconds. */
static bool read_time(int64_t *time_ns, struct json_reader *reader) {
    uint64_t ms;
    if (!json_read_uint64(reader, &ms) || ms > INT64_MAX / NS_PER_MS) return false;
    *time_ns = (int64_t)ms * NS_PER_MS;
    return true;
}

/* What was found of a status. */
struct found {
    struct hdfs_status status;
    struct json_string name;
    bool has_kind, has_size, has_name;
};

static bool read_member(struct found *found, struct json_reader *reader) {
    struct json_string member, type;
    if (!json_read_string(&member, reader) || !json_take(reader, ':')) return false;
    if (json_string_is(&member, "length"))
        return found->has_size = json_read_uint64(reader, &found->status.size) &&
                                 found->status.size <= INT64_MAX;
    if (json_string_is(&member, "modificationTime"))
        return read_time(&found->status.mtime_ns, reader);
    if (json_string_is(&member, "pathSuffix"))
        return found->has_name = json_read_string(&found->name, reader);
    if (!json_string_is(&member, "type")) {
        json_skip_value(reader);
        return true;
    }
    found->has_kind = json_read_string(&type, reader);
    if (found->has_kind) found->status.kind = kind_of(&type);
    return found->has_kind;
}

static bool read_status(struct found *found, struct json_reader *reader) {
    *found = (struct found){.has_kind = false};
    if (!json_take(reader, '{')) return false;
    do
        if (!read_member(found, reader)) return false;
    while (json_take(reader, ','));
    return json_take(reader, '}') && found->has_kind;
}

/* Takes the beginning of an object whose only member has this name. */
static bool take_member(struct json_reader *reader, const char *name) {
    struct json_string member;
    return json_take(reader, '{') && json_read_string(&member, reader) &&
           json_string_is(&member, name) && json_take(reader, ':');
}

bool hdfs_status_read(struct hdfs_status *status, const char *text, size_t size) {
    struct json_reader reader = {text, text + size};
    struct found found;
    if (!take_member(&reader, "FileStatus") || !read_status(&found, &reader) || !found.has_size ||
        !json_take(&reader, '}') || !json_at_end(&reader))
        return false;
    *status = found.status;
    return true;
}

/* ---- The files of a folder. */

static bool is_name(const char *name) {
    return !strchr(name, '/') && strcmp(name, ".") != 0 && strcmp(name, "..") != 0;
}

/* The only entry of a file that is listed as if it were a folder has no name: it is left out. */
static enum list_verdict add_entry(struct hdfs_folder *folder, const struct found *found) {
    if (!found->has_name) return LIST_MALFORMED;
    if (!found->name.size) return LIST_OK;
    if (!array_reserve(&folder->entries, &folder->capacity, folder->count + 1,
                       sizeof *folder->entries))
        return LIST_NO_MEMORY;
    char *name = malloc(found->name.size + 1);
    if (!name) return LIST_NO_MEMORY;
    size_t size = json_string_decode(name, found->name.size, &found->name);
    bool is_text = size != SIZE_MAX && !memchr(name, 0, size);
    if (is_text) name[size] = 0;
    if (!is_text || !is_name(name)) {
        free(name);
        return LIST_MALFORMED;
    }
    folder->entries[folder->count++] = (struct hdfs_entry){name, found->status.kind};
    return LIST_OK;
}

static enum list_verdict read_entries(struct hdfs_folder *folder, struct json_reader *reader) {
    if (!json_take(reader, '[')) return LIST_MALFORMED;
    if (json_take(reader, ']')) return LIST_OK;
    do {
        struct found found;
        if (!read_status(&found, reader)) return LIST_MALFORMED;
        enum list_verdict verdict = add_entry(folder, &found);
        if (verdict != LIST_OK) return verdict;
    } while (json_take(reader, ','));
    return json_take(reader, ']') ? LIST_OK : LIST_MALFORMED;
}

static enum list_verdict read_statuses(struct hdfs_folder *folder, struct json_reader *reader) {
    if (!take_member(reader, "FileStatuses") || !take_member(reader, "FileStatus"))
        return LIST_MALFORMED;
    enum list_verdict verdict = read_entries(folder, reader);
    if (verdict != LIST_OK) return verdict;
    return json_take(reader, '}') && json_take(reader, '}') ? LIST_OK : LIST_MALFORMED;
}

enum list_verdict hdfs_folder_read(struct hdfs_folder *folder, const char *text, size_t size) {
    struct json_reader reader = {text, text + size};
    enum list_verdict verdict = read_statuses(folder, &reader);
    if (verdict != LIST_OK) return verdict;
    return json_at_end(&reader) ? LIST_OK : LIST_MALFORMED;
}

/* What was found of a page. */
struct page {
    struct hdfs_folder *folder;
    uint64_t remaining_count;
    bool has_entries, has_count;
};

static enum list_verdict read_page_member(struct page *page, struct json_reader *reader) {
    struct json_string member;
    if (!json_read_string(&member, reader) || !json_take(reader, ':')) return LIST_MALFORMED;
    if (json_string_is(&member, "partialListing")) {
        if (page->has_entries) return LIST_MALFORMED;
        page->has_entries = true;
        return read_statuses(page->folder, reader);
    }
    if (!json_string_is(&member, "remainingEntries")) {
        json_skip_value(reader);
        return LIST_OK;
    }
    page->has_count = json_read_uint64(reader, &page->remaining_count);
    return page->has_count ? LIST_OK : LIST_MALFORMED;
}

static bool ends_page(struct json_reader *reader) {
    return json_take(reader, '}') && json_take(reader, '}') && json_at_end(reader);
}

enum list_verdict hdfs_page_read(struct hdfs_folder *folder, bool *has_more, const char *text,
                                 size_t size) {
    struct json_reader reader = {text, text + size};
    struct page page = {.folder = folder};
    *has_more = false;
    if (!take_member(&reader, "DirectoryListing") || !json_take(&reader, '{'))
        return LIST_MALFORMED;
    do {
        enum list_verdict verdict = read_page_member(&page, &reader);
        if (verdict != LIST_OK) return verdict;
    } while (json_take(&reader, ','));
    if (!ends_page(&reader) || !page.has_entries || !page.has_count) return LIST_MALFORMED;
    *has_more = page.remaining_count > 0;
    return *has_more && !folder->count ? LIST_MALFORMED : LIST_OK;
}

void hdfs_folder_deinit(struct hdfs_folder *folder) {
    for (size_t i = 0; i < folder->count; i++) free(folder->entries[i].name);
    free(folder->entries);
    *folder = (struct hdfs_folder){0};
}

/* ---- Errors. */

static bool is_class_name(const char *text) {
    static const char allowed[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._";
    return text[0] && !text[strspn(text, allowed)];
}

/* The body may be cut after the exception, because only the beginning of an error is kept. */
void hdfs_find_exception(char code[CODE_MAX], const char *body, size_t size) {
    struct json_reader reader = {body, body + size};
    struct json_string member;
    bool is_found = false;
    code[0] = 0;
    if (!take_member(&reader, "RemoteException") || !json_take(&reader, '{')) return;
    do {
        if (!json_read_string(&member, &reader) || !json_take(&reader, ':')) return;
        is_found = json_string_is(&member, "exception");
        if (!is_found) json_skip_value(&reader);
    } while (!is_found && json_take(&reader, ','));
    if (is_found && json_read_text(&reader, code, CODE_MAX) && is_class_name(code)) return;
    code[0] = 0;
}

bool hdfs_is_object(const char *text, size_t size) {
    struct json_reader reader = {text, text + size};
    return json_peek(&reader) == '{';
}

bool hdfs_is_cut(const char *text, size_t size) {
    if (!hdfs_is_object(text, size)) return false;
    while (size && strchr(" \t\r\n", text[size - 1])) size--;
    return text[size - 1] != '}';
}
