#include "format/framing/tar.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <xxhash.h>

#include "base/core/array.h"
#include "base/core/bytes.h"
#include "format/framing/tar_member.h"

/* How many bytes after the end of an archive are checked to be zeros. */
enum { TRAILER_SEEN = 1 << 20 };

/* How far past a member a guess looks for the headers of the next one. */
enum { HEADERS_SEEN = 1 << 16 };

/* Returns the start of the path component that ends at `end`. */
static uint64_t part_begin(const uint8_t *name, uint64_t end) {
    while (end && name[end - 1] != '/') end--;
    return end;
}

/* WebDataset skips files named `__NAME__` and files in such folders. */
static bool is_meta(const struct tar_member *member) {
    const uint8_t *slash = memchr(member->name, '/', (size_t)member->name_size);
    uint64_t size = slash ? (uint64_t)(slash - member->name) : member->name_size;
    return size >= 4 && !memcmp(member->name, "__", 2) && !memcmp(member->name + size - 2, "__", 2);
}

/* macOS stores the attributes of the file NAME as `._NAME`, next to it. */
static bool is_apple_double(const struct tar_member *member, uint64_t begin) {
    return member->name_size - begin >= 2 && !memcmp(member->name + begin, "._", 2);
}

/* Returns how many bytes of the name form the sample's key, or 0 if the member is not part of a
 * sample. As in WebDataset, if the last component starts with a dot, the key is its folder,
 * provided the folder's name has no dot. */
static uint64_t key_size(const struct tar_member *member) {
    const uint8_t *name = member->name;
    uint64_t begin = part_begin(name, member->name_size);
    if (!member->is_file || !member->name_size || is_meta(member) || is_apple_double(member, begin))
        return 0;
    const uint8_t *dot = memchr(name + begin, '.', (size_t)(member->name_size - begin));
    if (!dot) return 0;
    if (dot > name + begin) return (uint64_t)(dot - name);
    if (!begin) return 0;
    uint64_t folder = part_begin(name, begin - 1);
    return memchr(name + folder, '.', (size_t)(begin - folder)) ? 0 : begin;
}

/* The sample's key, borrowed from the first member that has one. */
struct sample_key {
    struct tar_member member;
    uint64_t size;
};

/* Returns whether the member belongs to the same record as the preceding ones. */
static bool belongs(struct sample_key *key, const struct tar_member *member) {
    uint64_t size = key_size(member);
    if (!size) return true;
    if (key->size) return key->size == size && !memcmp(key->member.name, member->name, size);
    key->member = *member;
    if (member->name == member->joined) key->member.name = key->member.joined;
    key->size = size;
    return true;
}

/* Zeros end an archive. If other bytes follow, the zeros are a hole in the file or a second archive
 * follows. Both are errors, since ignoring them would lose records silently. */
static enum frame_verdict parse_end(const uint8_t *bytes, uint64_t size,
                                    struct frame_fault *fault) {
    uint64_t seen = min_u64(size, TRAILER_SEEN);
    if (!seen || (!bytes[0] && !memcmp(bytes, bytes + 1, (size_t)seen - 1))) return FRAME_AT_END;
    return frame_is_bad(fault, FRAME_BAD_LENGTH,
                        "the archive ends in zeros here, but other bytes follow them");
}

/* Reads members until one belongs to another sample. A record must contain at least one member with
 * a key; a truncated last member makes the whole sample bad, since part of a sample is useless. */
static enum frame_verdict parse(struct frame *frame, const struct framing *framing,
                                const uint8_t *bytes, uint64_t size, enum frame_check check,
                                struct frame_fault *fault) {
    (void)framing;
    struct sample_key key = {.size = 0};
    struct tar_member member;
    struct frame_fault said = {""};
    uint64_t at = 0;
    for (; at < size; at += member.size) {
        enum tar_verdict verdict = tar_member_read(&member, bytes + at, size - at, &said);
        bool is_named = verdict == TAR_MEMBER || verdict == TAR_CUT;
        /* A cut member of the next sample does not harm this one. */
        if (verdict == TAR_END || (is_named && !belongs(&key, &member))) break;
        if (verdict != TAR_MEMBER)
            return frame_is_bad(fault, FRAME_BAD_LENGTH, "%s (member at byte %" PRIu64 " of it)",
                                said.reason, at);
    }
    if (!at) return parse_end(bytes, size, fault);
    if (!key.size)
        return frame_is_bad(fault, FRAME_BAD_LENGTH,
                            "no member is part of a sample: a file whose name has a dot");
    *frame = (struct frame){.size = at, .data_size = at};
    if (check == FRAME_CHECK_STORED) frame->check = framing_hash(bytes, at);
    return FRAME_GOOD;
}

/* A file of a sample, by the hash of what follows its key: the extension, in lower case. */
struct sample_file {
    uint64_t hash;
    uint64_t begin; /* of the member in the record */
};

struct sample_files {
    struct sample_file *files;
    size_t count, capacity;
};

static uint64_t extension_hash(const struct tar_member *member, uint64_t key) {
    uint8_t text[256];
    uint64_t size = min_u64(member->name_size - key, sizeof text);
    for (uint64_t i = 0; i < size; i++) {
        uint8_t byte = member->name[key + i];
        text[i] = byte >= 'A' && byte <= 'Z' ? (uint8_t)(byte + 'a' - 'A') : byte;
    }
    /* Of longer ones, the rest counts as it is. */
    return XXH3_64bits_withSeed(text, (size_t)size, 0) ^
           XXH3_64bits_withSeed(member->name + key + size, (size_t)(member->name_size - key - size),
                                1);
}

static bool add_file(struct sample_files *files, struct sample_file file) {
    if (!array_reserve(&files->files, &files->capacity, files->count + 1, sizeof file))
        return false;
    files->files[files->count++] = file;
    return true;
}

static int compare_files(const void *left, const void *right) {
    const struct sample_file *a = left, *b = right;
    if (a->hash != b->hash) return a->hash < b->hash ? -1 : 1;
    return (a->begin > b->begin) - (a->begin < b->begin);
}

/* Returns where the first file begins that repeats an earlier one, or FRAME_NOWHERE. */
static uint64_t find_repeated(struct sample_files *files) {
    uint64_t first = FRAME_NOWHERE;
    if (files->count > 1) qsort(files->files, files->count, sizeof *files->files, compare_files);
    for (size_t i = 1; i < files->count; i++)
        if (files->files[i].hash == files->files[i - 1].hash)
            first = min_u64(first, files->files[i].begin);
    return first;
}

/* Returns how many bytes at the start of a key name no folder: `./0` and `0` are the same file.
 * Other bytes follow them. */
static uint64_t dot_size(const uint8_t *key, uint64_t size) {
    uint64_t at = 0;
    while (size - at > 2 && key[at] == '.' && key[at + 1] == '/')
        for (at += 2; size - at > 1 && key[at] == '/';) at++;
    return at;
}

/* As in WebDataset, `./0` and `0` are two samples. Their hashes are equal, so that the second one
 * is noticed. */
static void set_key(struct frame_key *key, const struct tar_member *member, uint64_t size) {
    size_t shown = (size_t)min_u64(size, sizeof key->text - 1);
    uint64_t dot = dot_size(member->name, size);
    key->hash = XXH3_64bits(member->name + dot, (size_t)(size - dot));
    memcpy(key->text, member->name, shown);
    key->text[shown] = 0;
}

static bool read_key(struct frame_key *key, const uint8_t *frame, uint64_t size) {
    struct sample_files files = {.count = 0};
    struct tar_member member;
    bool has_memory = true;
    for (uint64_t at = 0; has_memory && at < size; at += member.size) {
        if (tar_member_read(&member, frame + at, size - at, NULL) != TAR_MEMBER) break;
        uint64_t member_key = key_size(&member);
        if (!member_key) continue;
        if (!files.count) set_key(key, &member, member_key);
        struct sample_file file = {extension_hash(&member, member_key), at};
        has_memory = add_file(&files, file);
    }
    key->repeated_at = find_repeated(&files);
    free(files.files);
    return has_memory;
}

static bool begins_frame(const struct framing *framing, const uint8_t *bytes, uint64_t size) {
    (void)framing;
    return tar_header_holds(bytes, size);
}

bool tar_is_likely(const uint8_t *bytes, uint64_t size) {
    enum { MAGIC_AT = 257 };
    return size >= TAR_BLOCK_SIZE && !memcmp(bytes + MAGIC_AT, "ustar", 5) &&
           tar_header_holds(bytes, size);
}

/* The first member found may be inside a sample, so this parses the rest of that sample and returns
 * its end, where the next one starts. */
static uint64_t guess(const struct framing *framing, const uint8_t *bytes, uint64_t size,
                      uint64_t from, uint64_t limit, struct search_budget budget,
                      struct crc_sums *sums) {
    (void)sums;
    uint64_t at = (from + TAR_BLOCK_SIZE - 1) / TAR_BLOCK_SIZE * TAR_BLOCK_SIZE;
    limit = min_u64(limit, size);
    size = limit + min_u64(HEADERS_SEEN, size - limit);
    for (; at < limit; at += TAR_BLOCK_SIZE) {
        struct frame before;
        if (!budget.place_count--) break;
        if (!tar_is_likely(bytes + at, size - at)) continue;
        if (at == 0) return 0;
        if (parse(&before, framing, bytes + at, size - at, FRAME_CHECK_HEADER, NULL) != FRAME_GOOD)
            continue;
        return before.size < limit - at ? at + before.size : FRAME_NOWHERE;
    }
    return FRAME_NOWHERE;
}

const struct framing tar_framing = {
    .name = "tar",
    .parse = parse,
    .begins_frame = begins_frame,
    .guess = guess,
    .read_key = read_key,
    .missing_end = "no zeros that end an archive",
};
