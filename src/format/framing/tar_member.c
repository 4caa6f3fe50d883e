#include "format/framing/tar_member.h"

#include <inttypes.h>
#include <string.h>

#include "base/core/bytes.h"
#include "base/core/plural.h"
#include "base/words/cut_file.h"
#include "format/framing/tar.h"

/* Offsets and sizes of the header's fields. */
enum {
    SIZE_AT = 124,
    SIZE_FIELD = 12,
    SUM_AT = 148,
    SUM_FIELD = 8,
    TYPE_AT = 156,
    MAGIC_AT = 257,
    PREFIX_AT = 345,
};

static uint64_t padded(uint64_t size) {
    return (size + TAR_BLOCK_SIZE - 1) / TAR_BLOCK_SIZE * TAR_BLOCK_SIZE;
}

static uint64_t text_size(const uint8_t *field, uint64_t capacity) {
    const uint8_t *end = memchr(field, 0, (size_t)capacity);
    return end ? (uint64_t)(end - field) : capacity;
}

/* GNU stores sizes from 8 GiB on in base 256: a byte 0x80, then the number, big-endian. */
static bool read_binary(uint64_t *number, const uint8_t *field, size_t size) {
    uint64_t value = 0;
    for (size_t i = 1; i < size; i++) {
        if (value >> 55) return false;
        value = value << 8 | field[i];
    }
    *number = value;
    return field[0] == 0x80;
}

/* Octal digits with optional spaces around them, up to the first NUL. No digits mean 0. */
static bool read_number(uint64_t *number, const uint8_t *field, size_t size) {
    if (field[0] & 0x80) return read_binary(number, field, size);
    uint64_t value = 0;
    size_t i = 0, end = (size_t)text_size(field, size);
    while (i < end && field[i] == ' ') i++;
    for (; i < end && field[i] >= '0' && field[i] <= '7'; i++) value = value << 3 | (field[i] & 7);
    while (i < end && field[i] == ' ') i++;
    *number = value;
    return i == end;
}

/* The sum of all bytes, eight at a time. Each 16-bit lane sums 128 bytes, at most 128 * 255 < 2^16.
 */
static uint64_t sum_of(const uint8_t *header) {
    static const uint64_t evens = 0x00ff00ff00ff00ff;
    uint64_t sums = 0, sum = 0;
    for (size_t i = 0; i < TAR_BLOCK_SIZE; i += 8) {
        uint64_t eight = load64(header + i);
        sums += (eight & evens) + (eight >> 8 & evens);
    }
    for (; sums; sums >>= 16) sum += sums & 0xffff;
    return sum;
}

/* The checksum counts its own field as spaces. Some old writers summed signed bytes, which is 256
 * less for each byte from 0x80 on; both sums are accepted. */
static bool sum_holds(uint64_t *field_sum, uint64_t *byte_sum, const uint8_t *header) {
    uint64_t sum = sum_of(header), high = 0;
    for (size_t i = SUM_AT; i < SUM_AT + SUM_FIELD; i++) sum += (uint64_t)' ' - header[i];
    *byte_sum = sum;
    if (!read_number(field_sum, header + SUM_AT, SUM_FIELD)) return false;
    if (*field_sum == sum) return true;
    for (size_t i = 0; i < TAR_BLOCK_SIZE; i++)
        if (i < SUM_AT || i >= SUM_AT + SUM_FIELD) high += header[i] >> 7;
    return *field_sum + 256 * high == sum;
}

bool tar_header_holds(const uint8_t *bytes, uint64_t size) {
    uint64_t field_sum, byte_sum;
    return size >= TAR_BLOCK_SIZE && sum_holds(&field_sum, &byte_sum, bytes);
}

static enum tar_verdict bad(struct frame_fault *fault, const char *reason) {
    frame_is_bad(fault, FRAME_BAD_LENGTH, "%s", reason);
    return TAR_BAD;
}

/* What extended headers say about the member after them. The first header that sets a field wins.
 */
struct extension {
    const uint8_t *name;
    uint64_t name_size;
    uint64_t size;
    bool has_size;
};

static bool read_decimal(uint64_t *number, const uint8_t *text, uint64_t size) {
    uint64_t value = 0;
    for (uint64_t i = 0; i < size; i++) {
        if (text[i] < '0' || text[i] > '9' || value >= INT64_MAX / 10) return false;
        value = value * 10 + (uint64_t)(text[i] - '0');
    }
    *number = value;
    return size > 0;
}

/* A line of a pax header: `LENGTH KEY=VALUE` LF, where LENGTH counts the whole line. */
struct pax_line {
    uint64_t size, key_size, value_size;
    const uint8_t *key, *value;
};

static bool read_line(struct pax_line *line, const uint8_t *text, uint64_t size) {
    enum { DIGITS_MAX = 20 };
    const uint8_t *space = memchr(text, ' ', (size_t)min_u64(size, DIGITS_MAX));
    if (!space || !read_decimal(&line->size, text, (uint64_t)(space - text))) return false;
    uint64_t head = (uint64_t)(space - text) + 1;
    if (line->size > size || line->size <= head || text[line->size - 1] != '\n') return false;
    line->key = space + 1;
    const uint8_t *equals = memchr(line->key, '=', (size_t)(line->size - head));
    if (!equals) return false;
    line->key_size = (uint64_t)(equals - line->key);
    line->value = equals + 1;
    line->value_size = line->size - head - line->key_size - 2;
    return true;
}

static bool has_key(const struct pax_line *line, const char *key) {
    return line->key_size == strlen(key) && !memcmp(line->key, key, (size_t)line->key_size);
}

/* Reads name and size from a pax header. */
static enum tar_verdict read_pax(struct extension *extension, const uint8_t *text, uint64_t size,
                                 struct frame_fault *fault) {
    static const char sparse[] = "GNU.sparse.";
    struct extension said = {0};
    struct pax_line line;
    for (; size && text[0]; text += line.size, size -= line.size) {
        if (!read_line(&line, text, size)) return bad(fault, "its pax header is malformed");
        if (line.key_size >= sizeof sparse - 1 && !memcmp(line.key, sparse, sizeof sparse - 1))
            return bad(fault, "it is a sparse file, whose data is not contiguous");
        if (has_key(&line, "path")) {
            said.name = line.value;
            said.name_size = line.value_size;
        } else if (has_key(&line, "size")) {
            if (!read_decimal(&said.size, line.value, line.value_size))
                return bad(fault, "the size in its pax header is not a number");
            said.has_size = true;
        }
    }
    while (said.name_size && said.name[said.name_size - 1] == '/') said.name_size--;
    if (!extension->name && said.name) {
        extension->name = said.name;
        extension->name_size = said.name_size;
    }
    if (!extension->has_size && said.has_size) {
        extension->has_size = true;
        extension->size = said.size;
    }
    return TAR_MEMBER;
}

/* A pax header for the whole archive is treated as a member that is not a file. It would apply to
 * members in other records, so it may set neither name nor size. */
static bool global_is_void(const uint8_t *text, uint64_t size) {
    struct extension said = {0};
    return read_pax(&said, text, size, NULL) == TAR_MEMBER && !said.name && !said.has_size;
}

/* Reads the extended header at bytes[*position] and advances `*position` past it. */
static enum tar_verdict read_extension(struct extension *extension, uint64_t *position,
                                       const uint8_t *bytes, uint64_t size, uint64_t data_size,
                                       struct frame_fault *fault) {
    const uint8_t *data = bytes + *position + TAR_BLOCK_SIZE;
    uint8_t type = bytes[*position + TYPE_AT];
    uint64_t left = size - *position - TAR_BLOCK_SIZE;
    if (data_size > left || padded(data_size) > left)
        return bad(fault, "the archive ends inside an extended header" FILE_IS_CUT);
    *position += TAR_BLOCK_SIZE + padded(data_size);
    if (type == 'x' || type == 'X') return read_pax(extension, data, data_size, fault);
    if (type == 'L' && !extension->name) {
        extension->name = data;
        extension->name_size = text_size(data, data_size);
    }
    return TAR_MEMBER;
}

static bool is_extension(uint8_t type) {
    return type && strchr("LKxX", type);
}

/* Links, devices, folders and pipes have no data, whatever their size field says. */
static bool has_data(uint8_t type) {
    return type < '1' || type > '6';
}

/* The name from the header itself. Only POSIX archives have a prefix; GNU stores other data in that
 * field. */
static void take_name(struct tar_member *member, const uint8_t *header) {
    uint64_t name_size = text_size(header, TAR_NAME_FIELD);
    uint64_t prefix_size = text_size(header + PREFIX_AT, TAR_PREFIX_FIELD);
    member->name = header;
    member->name_size = name_size;
    if (!prefix_size || memcmp(header + MAGIC_AT, "ustar", 6)) return;
    memcpy(member->joined, header + PREFIX_AT, (size_t)prefix_size);
    member->joined[prefix_size] = '/';
    memcpy(member->joined + prefix_size + 1, header, (size_t)name_size);
    member->name = member->joined;
    member->name_size = prefix_size + 1 + name_size;
}

/* Reads the member itself, whose header is at bytes[at]. An extended header's name and size
 * override the header's fields; types without data ignore both sizes. */
static enum tar_verdict read_body(struct tar_member *member, const struct extension *extension,
                                  const uint8_t *bytes, uint64_t size, uint64_t at,
                                  uint64_t data_size, struct frame_fault *fault) {
    const uint8_t *header = bytes + at;
    uint8_t type = header[TYPE_AT];
    uint64_t own_size = text_size(header, TAR_NAME_FIELD), left = size - at - TAR_BLOCK_SIZE;
    if (type == 'g' && at) return bad(fault, "no member follows an extended header");
    if (type == 'S') return bad(fault, "it is a sparse file, whose data is not contiguous");
    /* In the oldest archives a folder is a file whose name ends in '/'. A name cut at 100 bytes may
     * end so too, hence the test for an extended name. */
    if (!type && !extension->name && own_size && header[own_size - 1] == '/') type = '5';
    if (extension->has_size) data_size = extension->size;
    if (!has_data(type)) data_size = 0;
    member->is_file = type == '0' || type == 0 || type == '7';
    take_name(member, header);
    if (extension->name) {
        member->name = extension->name;
        member->name_size = extension->name_size;
    }
    if (data_size <= left && type == 'g' && !global_is_void(header + TAR_BLOCK_SIZE, data_size))
        return bad(fault, "a pax header for the whole archive is malformed, or has a name or size");
    if (data_size > left) {
        frame_is_cut(fault, "the archive ends in a member of %" PRIu64 " byte%s, after %" PRIu64,
                     data_size, plural(data_size), left);
        return TAR_CUT;
    }
    member->size = at + TAR_BLOCK_SIZE + min_u64(padded(data_size), left);
    return TAR_MEMBER;
}

/* Reads any number of extended headers, then the member. Each header is checked before its size is
 * used, and every size is compared with the bytes left. */
enum tar_verdict tar_member_read(struct tar_member *member, const uint8_t *bytes, uint64_t size,
                                 struct frame_fault *fault) {
    static const uint8_t zeros[TAR_BLOCK_SIZE];
    struct extension extension = {0};
    uint64_t field_sum, byte_sum, data_size, at = 0;
    if (!size) return TAR_END;
    for (;;) {
        const uint8_t *header = bytes + at;
        if (size - at < TAR_BLOCK_SIZE) {
            frame_is_cut(fault, "%" PRIu64 " byte%s left, too few for a header of 512", size - at,
                         size - at == 1 ? " is" : "s are");
            return TAR_BAD;
        }
        if (!memcmp(header, zeros, TAR_BLOCK_SIZE))
            return at ? bad(fault, "no member follows an extended header") : TAR_END;
        if (!sum_holds(&field_sum, &byte_sum, header)) {
            frame_is_bad(fault, FRAME_BAD_LENGTH,
                         "the checksum of a header is 0%" PRIo64 ", expected 0%" PRIo64, field_sum,
                         byte_sum);
            return TAR_BAD;
        }
        if (!read_number(&data_size, header + SIZE_AT, SIZE_FIELD))
            return bad(fault, "the size of a member is not a number below 2^63");
        if (!is_extension(header[TYPE_AT]))
            return read_body(member, &extension, bytes, size, at, data_size, fault);
        if (read_extension(&extension, &at, bytes, size, data_size, fault) == TAR_BAD)
            return TAR_BAD;
    }
}
