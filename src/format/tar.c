#include "format/tar.h"

#include <inttypes.h>
#include <string.h>

#include "base/bytes.h"
#include "format/tar_member.h"

/* How far behind an archive's end other bytes than zeros are looked for. */
enum { TRAILER_SEEN = 1 << 20 };

/* How far behind a member that may end before it a guess looks for the next one's headers. */
enum { HEADERS_SEEN = 1 << 16 };

/* The first byte of the part of a path that ends before `end`. */
static uint64_t part_begin(const uint8_t *name, uint64_t end) {
    while (end && name[end - 1] != '/') end--;
    return end;
}

/* WebDataset passes over what lies in, or is, `__NAME__`. */
static bool is_meta(const struct tar_member *member) {
    const uint8_t *slash = memchr(member->name, '/', (size_t)member->name_size);
    uint64_t size = slash ? (uint64_t)(slash - member->name) : member->name_size;
    return size >= 4 && !memcmp(member->name, "__", 2) && !memcmp(member->name + size - 2, "__", 2);
}

/* How many bytes of the name are the sample's; 0 where the member is part of none. A last part that
 * begins with a dot goes, as in WebDataset, with its folder, if that has no dot. */
static uint64_t key_size(const struct tar_member *member) {
    const uint8_t *name = member->name;
    uint64_t begin = part_begin(name, member->name_size);
    if (!member->is_file || !member->name_size || is_meta(member)) return 0;
    const uint8_t *dot = memchr(name + begin, '.', (size_t)(member->name_size - begin));
    if (!dot) return 0;
    if (dot > name + begin) return (uint64_t)(dot - name);
    if (!begin) return 0;
    uint64_t folder = part_begin(name, begin - 1);
    return memchr(name + folder, '.', (size_t)(begin - folder)) ? 0 : begin;
}

/* The sample's key, out of the member that showed it first. */
struct sample_key {
    struct tar_member member;
    uint64_t size;
};

/* Whether the member stands in the same record as those before it. */
static bool belongs(struct sample_key *key, const struct tar_member *member) {
    uint64_t size = key_size(member);
    if (!size) return true;
    if (key->size) return key->size == size && !memcmp(key->member.name, member->name, size);
    key->member = *member;
    if (member->name == member->joined) key->member.name = key->member.joined;
    key->size = size;
    return true;
}

/* Zeros end an archive. Where other bytes follow, the zeros are a hole, or another archive follows;
 * both are not to be passed over in silence. */
static frame_verdict parse_end(const uint8_t *bytes, uint64_t size, struct frame_fault *fault) {
    uint64_t seen = min_u64(size, TRAILER_SEEN);
    if (!seen || (!bytes[0] && !memcmp(bytes, bytes + 1, (size_t)seen - 1))) return FRAME_AT_END;
    return frame_is_bad(fault, FRAME_BAD_LENGTH,
                        "zeros end the archive here, but other bytes follow them");
}

static frame_verdict parse(struct frame *frame, const struct framing *framing, const uint8_t *bytes,
                           uint64_t size, frame_check check, struct frame_fault *fault) {
    (void)framing;
    struct sample_key key = {.size = 0};
    struct tar_member member;
    struct frame_fault said = {""};
    uint64_t at = 0;
    for (; at < size; at += member.size) {
        tar_verdict verdict = tar_member_read(&member, bytes + at, size - at, &said);
        bool is_named = verdict == TAR_MEMBER || verdict == TAR_CUT;
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

static bool begins_frame(const struct framing *framing, const uint8_t *bytes, uint64_t size) {
    (void)framing;
    return tar_header_holds(bytes, size);
}

bool tar_is_likely(const uint8_t *bytes, uint64_t size) {
    enum { MAGIC_AT = 257 };
    return size >= TAR_BLOCK_SIZE && !memcmp(bytes + MAGIC_AT, "ustar", 5) &&
           tar_header_holds(bytes, size);
}

/* The member that is found first may stand inside a sample; where that ends, one begins. */
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
};
