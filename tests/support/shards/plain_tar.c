#include "support/shards/plain_tar.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { BLOCK = 512 };

struct text {
    uint8_t bytes[5000];
    size_t size;
};

struct entry {
    uint64_t after; /* where the next one begins */
    bool is_file, is_cut;
    struct text name;
};

static void set(struct text *text, const uint8_t *position, size_t size) {
    text->size = size < sizeof text->bytes ? size : sizeof text->bytes;
    memcpy(text->bytes, position, text->size);
}

static bool is_zero(const uint8_t *data, uint64_t size) {
    for (uint64_t i = 0; i < size; i++)
        if (data[i]) return false;
    return true;
}

static size_t field_size(const uint8_t *field, size_t width) {
    size_t size = 0;
    while (size < width && field[size]) size++;
    return size;
}

/* Returns -1 if the field is not a number. */
static int64_t number(const uint8_t *field, size_t size) {
    int64_t value = 0;
    size_t i = 0, end = field_size(field, size);
    if (field[0] >= 0x80) {
        if (field[0] != 0x80 || !is_zero(field + 1, size - 9) || field[size - 8] >= 0x80) return -1;
        for (i = size - 8; i < size; i++) value = value * 256 + field[i];
        return value;
    }
    for (; i < end && field[i] == ' '; i++) {
    }
    for (; i < end && field[i] >= '0' && field[i] < '8'; i++) value = value * 8 + (field[i] - '0');
    for (; i < end; i++)
        if (field[i] != ' ') return -1;
    return value;
}

static void sums(int64_t *of_unsigned, int64_t *of_signed, const uint8_t *header) {
    *of_unsigned = *of_signed = 0;
    for (int i = 0; i < BLOCK; i++) {
        uint8_t byte = i >= 148 && i < 156 ? ' ' : header[i];
        *of_unsigned += byte;
        *of_signed += (int8_t)byte;
    }
}

void plain_tar_sum(uint8_t *header) {
    int64_t sum, other;
    char digits[8];
    sums(&sum, &other, header);
    snprintf(digits, sizeof digits, "%06o", (unsigned)sum);
    memcpy(header + 148, digits, 7);
    header[155] = ' ';
}

/* Lines of `SIZE KEY=VALUE`. False: they are not, or speak of sparse files. */
static bool read_pax(struct entry *entry, bool *is_named, int64_t *size, const uint8_t *data,
                     uint64_t size_left) {
    bool names = false;
    while (size_left && data[0]) {
        uint64_t line = 0, at = 0;
        for (; at < size_left && at < 20 && data[at] >= '0' && data[at] <= '9'; at++) {
            if (line >= INT64_MAX / 10) return false;
            line = line * 10 + data[at] - '0';
        }
        if (!at || at == size_left || at == 20 || data[at++] != ' ' || line > size_left ||
            line <= at || data[line - 1] != '\n')
            return false;
        uint64_t key = at;
        while (at < line && data[at] != '=') at++;
        if (at == line) return false;
        if (at - key >= 11 && !memcmp(data + key, "GNU.sparse.", 11)) return false;
        uint64_t value = at + 1, end = line - 1;
        if (at - key == 4 && !memcmp(data + key, "path", 4)) {
            while (end > value && data[end - 1] == '/') end--;
            if (!*is_named) set(&entry->name, data + value, end - value);
            names = true;
        } else if (at - key == 4 && !memcmp(data + key, "size", 4)) {
            int64_t said = 0;
            for (at = value; at < end; at++) {
                if (data[at] < '0' || data[at] > '9' || said >= INT64_MAX / 10) return false;
                said = said * 10 + data[at] - '0';
            }
            if (value == end) return false;
            *size = said;
        }
        data += line;
        size_left -= line;
    }
    *is_named |= names;
    return true;
}

static bool read_global(const uint8_t *data, uint64_t size_left) {
    static struct entry nothing;
    bool is_named = false;
    int64_t size = -1;
    return read_pax(&nothing, &is_named, &size, data, size_left) && !is_named && size < 0;
}

static void own_name(struct entry *entry, const uint8_t *header) {
    size_t prefix = field_size(header + 345, 155), name = field_size(header, 100);
    if (memcmp(header + 257, "ustar\0", 6)) prefix = 0;
    memcpy(entry->name.bytes, header + 345, prefix);
    if (prefix) entry->name.bytes[prefix++] = '/';
    memcpy(entry->name.bytes + prefix, header, name);
    entry->name.size = prefix + name;
}

/* The entry at data[at]; false: there is none. */
static bool read_entry(struct entry *entry, const uint8_t *data, uint64_t begin, uint64_t end) {
    bool is_named = false;
    int64_t said = -1;
    for (uint64_t first = begin;;) {
        int64_t due, old;
        const uint8_t *header = data + begin;
        if (end - begin < BLOCK || is_zero(header, BLOCK)) return false;
        sums(&due, &old, header);
        int64_t sum = number(header + 148, 8), length = number(header + 124, 12);
        if (sum < 0 || (sum != due && sum != old) || length < 0) return false;
        uint64_t left = end - begin - BLOCK, size = (uint64_t)length;
        uint8_t type = header[156];
        bool is_more = type == 'x' || type == 'X' || type == 'L' || type == 'K';
        uint64_t step = BLOCK + (size > left ? left : (size + BLOCK - 1) / BLOCK * BLOCK);
        if (is_more && (size > left || step > left + BLOCK)) return false;
        if (type == 'L' && !is_named)
            set(&entry->name, header + BLOCK, field_size(header + BLOCK, size));
        if (type == 'L') is_named = true;
        int64_t said_here = -1;
        if ((type == 'x' || type == 'X') &&
            !read_pax(entry, &is_named, &said_here, header + BLOCK, size))
            return false;
        if (said < 0) said = said_here;
        begin += step;
        if (is_more) continue;
        size_t name = field_size(header, 100);
        if (type == 'S' || (type == 'g' && begin - step != first)) return false;
        if (!type && !is_named && name && header[name - 1] == '/') type = '5';
        if (!is_named) own_name(entry, header);
        size = said >= 0 ? (uint64_t)said : size;
        if (type >= '1' && type <= '6') size = 0;
        entry->is_file = !type || type == '0' || type == '7';
        entry->is_cut = size > left;
        if (entry->is_cut) return true;
        if (type == 'g' && !read_global(header + BLOCK, size)) return false;
        step = (size + BLOCK - 1) / BLOCK * BLOCK;
        entry->after = (uint64_t)(header - data) + BLOCK + (step < left ? step : left);
        return true;
    }
}

/* By WebDataset's pattern ^((?:.*\/|)[^.]+)[.]([^\/]*)$, tried place by place; 0: it does not fit.
 */
static size_t key_of(const struct entry *entry) {
    const uint8_t *name = entry->name.bytes;
    size_t size = entry->name.size, first = 0;
    if (!entry->is_file) return 0;
    while (first < size && name[first] != '/') first++;
    if (first >= 4 && !memcmp(name, "__", 2) && !memcmp(name + first - 2, "__", 2)) return 0;
    for (size_t b = size + 1; b-- > 0;) {
        if (b && name[b - 1] != '/') continue;
        size_t dot = b;
        while (dot < size && name[dot] != '.') dot++;
        if (dot > b && dot < size && !memchr(name + dot, '/', size - dot)) return dot;
    }
    return 0;
}

/* Collects consecutive members with the same key, as WebDataset does. Members without a key belong
 * to the current sample; a zero block ends the archive. */
enum plain_tar_answer plain_tar_sample(uint64_t *size, const uint8_t *data, uint64_t end) {
    static struct entry first, next;
    uint64_t at = 0;
    size_t key = 0;
    if (!end || (end >= BLOCK && is_zero(data, BLOCK)))
        return is_zero(data, end) ? PLAIN_END : PLAIN_BAD;
    while (at < end && !(end - at >= BLOCK && is_zero(data + at, BLOCK))) {
        if (!read_entry(&next, data, at, end)) return PLAIN_BAD;
        size_t own = key_of(&next);
        if (own && key && (own != key || memcmp(first.name.bytes, next.name.bytes, key))) break;
        if (next.is_cut) return PLAIN_BAD;
        if (own && !key) {
            first = next;
            key = own;
        }
        at = next.after;
    }
    *size = at;
    return key ? PLAIN_SAMPLE : PLAIN_BAD;
}
