#include "format/shards/set_name.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/os/file.h"
#include "base/words/character.h"

/* Numbers with more digits in the name of a file do not number shards. */
enum { DIGITS_MAX = 7 };

/* The digits of each number in the names that NAME@N stands for, if N has no more. */
enum { SHORT_DIGITS = 5 };

static const char separator[] = "-of-";

const char *set_name_find_count(const char *path) {
    const char *sign = strrchr(path, '@');
    return sign && sign != path && sign[-1] != '/' && !strchr(sign, '/') ? sign + 1 : NULL;
}

bool set_name_parse(struct set_name *set, const char *path) {
    const char *start = set_name_find_count(path);
    if (!start || *start == '0') return false;
    unsigned count = 0;
    const char *c = start;
    for (; is_digit(*c) && count <= SET_SHARDS_MAX; c++) count = count * 10 + (unsigned)(*c - '0');
    *set = (struct set_name){path, (size_t)(start - 1 - path), count, c};
    return count && count <= SET_SHARDS_MAX;
}

bool set_name_is_impossible(const char *path) {
    struct set_name set;
    const char *number = set_name_find_count(path);
    size_t size = number ? strspn(number, "0123456789") : 0;
    if (!size || (number[size] && number[size] != '.')) return false;
    return strspn(number, "0") == size || (*number != '0' && !set_name_parse(&set, path));
}

char *set_name_format(const struct set_name *set, unsigned number) {
    size_t size = strlen(set->path) + 32;
    char *path = malloc(size);
    assert(number < set->count && set->name_size <= strlen(set->path));
    if (path)
        snprintf(path, size, "%.*s-%05u-of-%05u%s", (int)set->name_size, set->path, number,
                 set->count, set->end);
    return path;
}

static int count_digits(const char *text) {
    int count = 0;
    while (count <= DIGITS_MAX && is_digit(text[count])) count++;
    return count;
}

static int count_digits_before(const char *text, const char *start) {
    int count = 0;
    while (count <= DIGITS_MAX && text - count > start && is_digit(text[-count - 1])) count++;
    return count;
}

static const char *find_last_separator(const char *text) {
    const char *found = NULL;
    for (const char *next = text; (next = strstr(next, separator)); next++) found = next;
    return found;
}

/* The size of a hyphen and a hash of the shard's contents or a UUID, which some writers add. */
static size_t measure_hash(const char *text) {
    enum { DIGITS_MIN = 16 };
    size_t size = text[0] == '-' ? 1 + strspn(text + 1, "0123456789abcdefABCDEF-") : 0;
    return size > DIGITS_MIN && (!text[size] || text[size] == '.') ? size : 0;
}

/* Returns true if the digits of a number and of the count go together. With zeros before the count,
 * all numbers have as many digits as it: x-01-of-12, x-001-of-012. Without, they may have fewer. */
static bool digits_fit(int number_digits, const char *count, int digits) {
    if (!number_digits || !digits || number_digits > DIGITS_MAX || digits > DIGITS_MAX)
        return false;
    return *count != '0' || number_digits == digits;
}

bool set_member_parse(struct set_member *member, const char *path) {
    const char *file = path_name(path), *of = find_last_separator(file);
    if (!of) return false;
    const char *count = of + strlen(separator);
    int digits = count_digits(count), number_digits = count_digits_before(of, file);
    if (!digits_fit(number_digits, count, digits)) return false;
    size_t hash_size = measure_hash(count + digits);
    *member = (struct set_member){.path = path,
                                  .stem_size = (size_t)(of - number_digits - path),
                                  .number_digits = number_digits,
                                  .digits = digits,
                                  .number = (unsigned)strtoul(of - number_digits, NULL, 10),
                                  .count = (unsigned)strtoul(count, NULL, 10),
                                  .hash_size = hash_size,
                                  .end = count + digits + hash_size,
                                  .copy_mark = copy_mark_find(file)};
    return member->count > 0;
}

bool set_member_has_number(const struct set_member *member, const char *pattern) {
    const char *file = path_name(pattern), *of = strstr(file, separator);
    size_t size = (size_t)member->number_digits;
    const char *number = member->path + member->stem_size, *end = of ? of : file + strlen(file);
    for (const char *c = file; c + size <= end; c++) {
        bool is_whole = (c == file || !is_digit(c[-1])) && (c + size == end || !is_digit(c[size]));
        if (is_whole && !memcmp(c, number, size)) return true;
    }
    return false;
}

static int compare_stems(const struct set_member *a, const struct set_member *b) {
    struct path_part stem_a = {a->path, a->stem_size}, stem_b = {b->path, b->stem_size};
    size_t size_a = copy_mark_original_size(stem_a, a->copy_mark);
    size_t size_b = copy_mark_original_size(stem_b, b->copy_mark);
    if (size_a != size_b) return size_a < size_b ? -1 : 1;
    if (a->copy_mark.size || b->copy_mark.size)
        return copy_mark_compare(stem_a, a->copy_mark, stem_b, b->copy_mark);
    return memcmp(a->path, b->path, a->stem_size);
}

static int compare_ends(const struct set_member *a, const struct set_member *b) {
    struct path_part end_a = {a->end, strlen(a->end)}, end_b = {b->end, strlen(b->end)};
    return copy_mark_compare(end_a, a->copy_mark, end_b, b->copy_mark);
}

int set_member_compare_sets(const struct set_member *a, const struct set_member *b) {
    int order = compare_stems(a, b);
    if (!order && a->count != b->count) order = a->count < b->count ? -1 : 1;
    if (!order) order = a->digits - b->digits;
    if (!order) order = (a->hash_size > 0) - (b->hash_size > 0);
    return order ? order : compare_ends(a, b);
}

void set_member_write(char *path, size_t capacity, const struct set_member *member,
                      unsigned number) {
    snprintf(path, capacity, "%.*s%0*u-of-%0*u%s%s", (int)member->stem_size, member->path,
             member->number_digits, number, member->digits, member->count,
             member->hash_size ? "-*" : "", member->end);
}

bool set_member_has_short_name(const struct set_member *member) {
    return member->digits == SHORT_DIGITS && member->number_digits == SHORT_DIGITS &&
           member->number < member->count && !member->hash_size && !member->copy_mark.size &&
           member->stem_size && member->path[member->stem_size - 1] == '-';
}

size_t set_member_write_set(char *name, size_t capacity, const struct set_member *member,
                            const char *start) {
    int stem_size = (int)(member->path + member->stem_size - start), size;
    if (set_member_has_short_name(member)) /* the @ is in the place of the last hyphen */
        size =
            snprintf(name, capacity, "%.*s@%u%s", stem_size - 1, start, member->count, member->end);
    else
        size = snprintf(name, capacity, "%.*s*-of-%0*u%s%s", stem_size, start, member->digits,
                        member->count, member->hash_size ? "-*" : "", member->end);
    return size < 0 ? 0 : (size_t)size;
}
