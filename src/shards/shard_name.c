#include "shards/shard_name.h"

#include <assert.h>
#include <string.h>

static bool ends_with(const char *name, const char *end) {
    size_t size = strlen(name), end_size = strlen(end);
    return size >= end_size && !memcmp(name + size - end_size, end, end_size);
}

bool shard_name_is_possible(const char *name) {
    return !ends_with(name, ".rmx") && !ends_with(name, ".rmx.lock") &&
           !strstr(name, ".rmx.tmp-") && !ends_with(name, ".rmv") && !strstr(name, ".rmv.tmp-");
}

bool shard_name_stays_inside(const char *name) {
    for (const char *part = name;; part++) {
        size_t size = strcspn(part, "/");
        if (size <= 2 && strspn(part, ".") >= size) return false;
        part += size;
        if (!*part) return true;
    }
}

bool shard_name_is_likely(const char *name) {
    static const char *const companions[] = {".rmx",  ".rmx.lock", ".rmv", ".idx",
                                             ".json", ".crc",      ".tmp", "~"};
    if (name[0] == '.' || name[0] == '_' || strstr(name, ".tmp-")) return false;
    for (size_t i = 0; i < sizeof companions / sizeof *companions; i++)
        if (ends_with(name, companions[i])) return false;
    return true;
}

size_t shard_name_stem_size(const char *name) {
    size_t dots = strspn(name, ".");
    size_t size = dots + strcspn(name + dots, ".");
    return size > dots ? size : strlen(name);
}

size_t shard_name_common_size(const char *first, size_t size, const char *other) {
    size_t common = 0;
    while (common < size && first[common] == other[common]) common++;
    return common;
}

static bool is_letter(unsigned char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c >= 0x80;
}

static bool continues_character(unsigned char c) {
    return (c & 0xc0) == 0x80;
}

size_t shard_name_trim_size(const char *name, size_t size) {
    assert(size <= strlen(name));
    while (size && continues_character((unsigned char)name[size])) size--;
    while (size && !is_letter((unsigned char)name[size - 1])) size--;
    return size;
}
