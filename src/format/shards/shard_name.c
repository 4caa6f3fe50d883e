#include "format/shards/shard_name.h"

#include <assert.h>
#include <limits.h>
#include <string.h>

#include "base/os/file.h"
#include "base/words/character.h"
#include "format/shards/set_name.h"

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

/* ---- Names of temporary files and of files beside shards. */

#define HEX "0123456789abcdef"

static bool starts_with(const char *name, const char *start) {
    return !strncmp(name, start, strlen(start));
}

static bool ends_with_any(const char *name, const char *const *ends) {
    for (; *ends; ends++)
        if (ends_with(name, *ends)) return true;
    return false;
}

/* Returns true if exactly `count` characters of `set` precede the rest of the text, which begins
 * with `next`. */
static bool begins_with_span(const char *text, const char *set, size_t count, char next) {
    return strspn(text, set) == count && text[count] == next;
}

/* The file of a TFDS writer: incomplete.<32 hex digits>.NAME. */
static bool is_incomplete_file(const char *name) {
    static const char start[] = "incomplete.";
    return starts_with(name, start) && begins_with_span(name + strlen(start), HEX, 32, '.');
}

/* The folder of a TFDS writer: incomplete.ABC123_1.0.0, formerly 1.0.0.incompleteABC123. */
static bool is_incomplete_folder(const char *name) {
    static const char start[] = "incomplete.", infix[] = ".incomplete";
    static const char random[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
    const char *former = strstr(name, infix);
    return (starts_with(name, start) && begins_with_span(name + strlen(start), random, 6, '_')) ||
           (former && begins_with_span(former + strlen(infix), random, 6, 0));
}

/* The folder of Apache Beam: beam-temp-NAME-<32 hex digits>. */
static bool is_beam_folder(const char *name) {
    const char *last = strrchr(name, '-');
    return starts_with(name, "beam-temp-") && begins_with_span(last + 1, HEX, 32, 0);
}

/* Marks of Spark and Hadoop: _SUCCESS, _committed_123, _started_123. */
static bool is_mark(const char *name) {
    static const char *const starts[] = {"_committed_", "_started_"};
    for (size_t i = 0; i < 2; i++)
        if (starts_with(name, starts[i])) {
            const char *number = name + strlen(starts[i]);
            return *number && !number[strspn(number, "0123456789")];
        }
    return !strcmp(name, "_SUCCESS");
}

size_t shard_name_backup_size(const char *name) {
    static const char *const ends[] = {"~", ".bak", ".orig", ".old"};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (ends_with(name, ends[i])) return strlen(name) - strlen(ends[i]);
    return 0;
}

bool shard_name_is_temporary(const char *name) {
    static const char *const ends[] = {
        ".tmp",  ".temp",    "~",           ".bak",        ".orig",      ".old",
        ".crc",  "_.gstmp",  ".crdownload", ".aria2",      ".download",  ".filepart",
        ".part", ".partial", ".incomplete", ".inprogress", "._COPYING_", NULL};
    return temporary_target_size(name) || ends_with_any(name, ends) || is_incomplete_file(name) ||
           is_mark(name);
}

static bool is_temporary_folder(const char *name) {
    return !strcmp(name, "_temporary") || is_incomplete_folder(name) || is_beam_folder(name);
}

bool shard_path_is_temporary(const char *path) {
    char folder[NAME_MAX + 1];
    for (const char *slash; (slash = strchr(path, '/')); path = slash + 1) {
        size_t size = (size_t)(slash - path);
        if (size >= sizeof folder) continue;
        memcpy(folder, path, size);
        folder[size] = 0;
        if (is_temporary_folder(folder)) return true;
    }
    return shard_name_is_temporary(path);
}

static bool is_document(const char *name) {
    static const char *const names[] = {"README",    "LICENSE",  "LICENCE", "NOTICE",    "COPYING",
                                        "CHANGELOG", "CITATION", "MD5SUMS", "SHA256SUMS"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        size_t size = strlen(names[i]);
        if (starts_with(name, names[i]) && (!name[size] || !strcmp(name + size, ".txt")))
            return true;
    }
    return false;
}

bool shard_name_is_companion(const char *name) {
    static const char *const companions[] = {
        ".rmx",    ".rmx.lock", ".rmv", ".idx",  ".json", ".yaml",  ".yml", ".toml", ".xml",
        ".pbtxt",  ".md",       ".rst", ".html", ".pdf",  ".cff",   ".bib", ".md5",  ".sha1",
        ".sha256", ".sha512",   ".asc", ".sig",  ".py",   ".ipynb", ".sh",  ".npy",  ".npz",
        ".pkl",    ".png",      ".jpg", ".jpeg", ".lock", NULL};
    return ends_with_any(name, companions) || is_document(name);
}

bool shard_name_is_likely(const char *name) {
    return name[0] != '.' && name[0] != '_' && !shard_name_is_temporary(name) &&
           !shard_name_is_companion(name);
}

/* The size of the name without the ending of a compression. */
static size_t inflated_size(const char *name) {
    static const char *const ends[] = {".gz", ".gzip", ".zlib"};
    size_t size = strlen(name);
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (ends_with(name, ends[i])) return size - strlen(ends[i]);
    return size;
}

/* Returns true if one of the endings ends the name, apart from a compression's suffix. */
static bool has_type(const char *name, const char *const *ends) {
    size_t size = inflated_size(name);
    for (; *ends; ends++) {
        size_t end_size = strlen(*ends);
        if (size > end_size && !memcmp(name + size - end_size, *ends, end_size)) return true;
    }
    return false;
}

bool shard_name_is_text(const char *name) {
    static const char *const ends[] = {".txt",   ".text",   ".csv", ".tsv",
                                       ".jsonl", ".ndjson", ".log", NULL};
    return has_type(name, ends);
}

/* The names that Hadoop and Spark give to parts: part-00000, part-r-00000. */
static bool is_hadoop_part(const char *name) {
    static const char digits[] = "0123456789", start[] = "part-";
    if (!starts_with(name, start)) return false;
    name += strlen(start);
    if ((name[0] == 'r' || name[0] == 'm') && name[1] == '-') name += 2;
    return strspn(name, digits) == 5;
}

bool shard_name_is_record(const char *name) {
    static const char *const ends[] = {".tfrecord", ".tfrecords", ".tfrec", ".recordio", ".record",
                                       ".records",  ".ofrecord",  ".tar",   NULL};
    struct set_member member;
    if (shard_name_is_text(name)) return false;
    return has_type(name, ends) || is_hadoop_part(name) || set_member_parse(&member, name);
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

static bool continues_character(unsigned char c) {
    return (c & 0xc0) == 0x80;
}

size_t shard_name_trim_size(const char *name, size_t size) {
    assert(size <= strlen(name));
    while (size && continues_character((unsigned char)name[size])) size--;
    while (size && !is_letter(name[size - 1])) size--;
    return size;
}
