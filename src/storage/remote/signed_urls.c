#include "storage/remote/signed_urls.h"

#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/core/error.h"
#include "storage/protocol/url.h"

enum { CAPACITY_FIRST = 64 };

size_t signed_url_bare_size(const char *url) {
    return strcspn(url, "?");
}

bool signed_url_is_signed(const char *text) {
    bool is_web = !strncmp(text, "http://", 7) || !strncmp(text, "https://", 8);
    return is_web && text[signed_url_bare_size(text)];
}

/* FNV-1a. */
static uint64_t hash(const char *url) {
    uint64_t value = 0xcbf29ce484222325ull;
    for (; *url; url++) value = (value ^ (unsigned char)*url) * 0x100000001b3ull;
    return value;
}

/* The entry of the URL, or the free one where it belongs. There always is a free one. */
static char **find_entry(const struct signed_urls *urls, const char *url) {
    size_t mask = urls->capacity - 1;
    for (size_t i = (size_t)hash(url) & mask;; i = (i + 1) & mask)
        if (!urls->entries[i] || !strcmp(urls->entries[i], url)) return &urls->entries[i];
}

static void erase(char *entry) {
    if (!entry) return;
    size_t url_size = strlen(entry) + 1;
    explicit_bzero(entry + url_size, strlen(entry + url_size));
    free(entry);
}

/* At least a quarter of the entries stay free. */
static bool grow(struct signed_urls *urls) {
    if (urls->capacity && urls->count < urls->capacity / 4 * 3) return true;
    struct signed_urls grown = {.count = urls->count,
                                .capacity = urls->capacity ? 2 * urls->capacity : CAPACITY_FIRST};
    grown.entries = calloc(grown.capacity, sizeof *grown.entries);
    if (!grown.entries) return false;
    for (size_t i = 0; i < urls->capacity; i++)
        if (urls->entries[i]) *find_entry(&grown, urls->entries[i]) = urls->entries[i];
    free(urls->entries);
    *urls = grown;
    return true;
}

static recmap_status check(const char *url, recmap_error *error) {
    struct url parsed;
    const char *reason = url_parse(&parsed, url);
    if (!reason && !signed_url_is_signed(url)) reason = "it is not a web URL with a query";
    if (!reason) return RECMAP_OK;
    fail(error, RECMAP_INVALID, "the signed URL cannot be used: %s", reason);
    fail_file(error, url);
    fail_advise(error, "write it as https://HOST/PATH?QUERY, exactly as the store signed it");
    return RECMAP_INVALID;
}

recmap_status signed_urls_add(struct signed_urls *urls, const char *url, recmap_error *error) {
    RETURN_IF_FAILED(check(url, error));
    char *entry = strdup(url);
    if (!entry || !grow(urls)) {
        free(entry);
        return fail_memory(error);
    }
    entry[signed_url_bare_size(entry)] = 0;
    char **place = find_entry(urls, entry);
    urls->count += !*place;
    assert(urls->count < urls->capacity);
    erase(*place);
    *place = entry;
    return RECMAP_OK;
}

const char *signed_urls_find(const struct signed_urls *urls, const char *url) {
    const char *entry = urls->capacity ? *find_entry(urls, url) : NULL;
    return entry ? entry + strlen(entry) + 1 : NULL;
}

void signed_urls_deinit(struct signed_urls *urls) {
    for (size_t i = 0; i < urls->capacity; i++) erase(urls->entries[i]);
    free(urls->entries);
    *urls = (struct signed_urls){0};
}
