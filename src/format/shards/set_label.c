#include "format/shards/set_label.h"

#include <string.h>
#include <strings.h>

#include "base/os/file.h"
#include "base/words/character.h"

static const char *const record_suffixes[] = {".tfrecord", ".tfrecords", ".recordio", NULL};

static const char *const compression_suffixes[] = {".gz",  ".gzip", ".zlib", ".deflate",
                                                   ".bz2", ".xz",   ".zst",  NULL};

/* Suffixes that stay in the name of a set, but may follow the name of a split. */
static const char *const type_suffixes[] = {".tfrec", ".record", ".records", ".ofrecord", ".tar",
                                            ".bin",   ".dat",    ".txt",     ".jsonl",    ".ndjson",
                                            ".csv",   ".tsv",    NULL};

static const char *const splits[] = {"train", "test", "validation", "val",     "valid",
                                     "dev",   "eval", "training",   "testing", NULL};

static bool is_separator(char c) {
    return c == '-' || c == '_' || c == '.' || c == ' ';
}

static bool part_ends_in(struct path_part part, const char *end) {
    size_t size = strlen(end);
    return part.size >= size && !strncasecmp(part.start + part.size - size, end, size);
}

/* Cuts one of the suffixes off, but of a name not all that follows its first dots. Returns the
 * suffix. */
static struct path_part cut_suffix(struct path_part *part, const char *const *suffixes,
                                   bool is_name) {
    for (; *suffixes; suffixes++) {
        size_t size = strlen(*suffixes);
        if (!part_ends_in(*part, *suffixes)) continue;
        if (is_name && strspn(part->start, ".") >= part->size - size) continue;
        part->size -= size;
        return (struct path_part){part->start + part->size, size};
    }
    return (struct path_part){part->start + part->size, 0};
}

/* Returns true if the part is the word, or ends in it after a separator. */
static bool part_has_word(struct path_part part, const char *word) {
    size_t size = strlen(word);
    if (!size || !part_ends_in(part, word)) return false;
    return part.size == size || is_separator(part.start[part.size - size - 1]);
}

/* Returns true if the part begins with the word and a separator. */
static bool part_begins_with(struct path_part part, const char *word) {
    size_t size = strlen(word);
    return part.size > size && !strncasecmp(part.start, word, size) &&
           is_separator(part.start[size]);
}

/* Returns true if the part is the word. */
static bool part_is(struct path_part part, const char *word) {
    return part.size == strlen(word) && !strncasecmp(part.start, word, part.size);
}

/* The part without the numbers at its end: train of train-01 and of train00-107. */
static struct path_part cut_numbers(struct path_part part) {
    for (;;) {
        size_t size = part.size;
        while (size && is_digit(part.start[size - 1])) size--;
        if (size == part.size) return part;
        if (size && is_separator(part.start[size - 1])) size--;
        part.size = size;
    }
}

/* The part without a single capital letter at its end: train of trainA. */
static struct path_part cut_capital(struct path_part part) {
    if (part.size < 2) return part;
    char last = part.start[part.size - 1], previous = part.start[part.size - 2];
    bool is_single = last >= 'A' && last <= 'Z' && previous >= 'a' && previous <= 'z';
    return (struct path_part){part.start, part.size - is_single};
}

/* Cuts the mark of a copy off, if the part begins or ends with it. */
static void cut_mark(struct path_part *part, struct path_part mark) {
    if (!copy_mark_is_in(mark, *part)) return;
    if (mark.start == part->start) part->start += mark.size;
    else if (mark.start + mark.size != part->start + part->size) return;
    part->size -= mark.size;
}

/* The name of a loose file up to where the name of a split would end. Suffixes may precede the mark
 * of a copy, as in "train.tfrecord (1).gz", or follow it, as in "train (1).tfrec". */
static struct path_part stem_of(const struct set_label *label) {
    struct path_part stem = label->name;
    cut_suffix(&stem, type_suffixes, true);
    if (!label->copy_mark.size) return stem;
    cut_mark(&stem, label->copy_mark);
    cut_suffix(&stem, compression_suffixes, true);
    cut_suffix(&stem, record_suffixes, true);
    cut_suffix(&stem, type_suffixes, true);
    return stem;
}

/* The usual split that the part ends in, or empty. */
static struct path_part find_last_word(struct path_part part) {
    for (size_t i = 0; splits[i]; i++) {
        size_t size = strlen(splits[i]);
        if (part_has_word(part, splits[i]))
            return (struct path_part){part.start + part.size - size, size};
    }
    return (struct path_part){part.start, 0};
}

/* The usual split that the part begins with, or empty. */
static struct path_part find_first_word(struct path_part part) {
    for (size_t i = 0; splits[i]; i++)
        if (part_begins_with(part, splits[i]))
            return (struct path_part){part.start, strlen(splits[i])};
    return (struct path_part){part.start, 0};
}

static void find_split(struct set_label *label) {
    struct path_part stem = cut_numbers(stem_of(label));
    label->kind = SET_SPLIT;
    label->split = find_last_word(stem);
    if (label->split.size) return;
    label->kind = SET_SPLIT_VARIANT;
    label->split = find_last_word(cut_capital(stem));
    if (!label->split.size) label->split = find_first_word(stem);
    if (!label->split.size) label->kind = SET_LOOSE;
}

/* Finds the deepest folder, below `base` bytes of the path, that is named `split`, or after any
 * usual split if `split` is NULL. Empty if there is none. */
static struct path_part find_folder(const struct set_label *label, size_t base, const char *split) {
    size_t end = label->folder.size;
    while (end > base) {
        size_t start = --end; /* of the slash */
        while (start > base && label->path[start - 1] != '/') start--;
        struct path_part name = {label->path + start, end - start};
        if (split && part_is(name, split)) return name;
        for (size_t i = 0; !split && splits[i]; i++)
            if (part_is(name, splits[i])) return name;
        end = start;
    }
    return (struct path_part){label->path, 0};
}

/* The suffixes may precede or follow the number: x.tfrecord-0-of-2.gz, x-0-of-2.tfrecord.gz. */
static void divide_numbered(struct set_label *label) {
    const struct set_member *member = &label->member;
    label->name.size = member->stem_size - label->folder.size;
    while (label->name.size && is_separator(label->name.start[label->name.size - 1]))
        label->name.size--;
    label->type = (struct path_part){member->end, strlen(member->end)};
    struct path_part *last = label->type.size ? &label->type : &label->name;
    label->compression = cut_suffix(last, compression_suffixes, last == &label->name);
    cut_suffix(&label->type, record_suffixes, false);
    cut_suffix(&label->name, record_suffixes, true);
}

void set_label_init(struct set_label *label, const char *path) {
    const char *file = path_name(path);
    struct path_part none = {path + strlen(path), 0};
    *label = (struct set_label){.path = path, .type = none, .split = none};
    label->folder = (struct path_part){path, (size_t)(file - path)};
    label->base = label->folder.size;
    label->name = (struct path_part){file, strlen(file)};
    label->copy_mark = copy_mark_find(file);
    if (set_member_parse(&label->member, path)) {
        label->kind = SET_NUMBERED;
        divide_numbered(label);
        return;
    }
    label->compression = cut_suffix(&label->name, compression_suffixes, true);
    cut_suffix(&label->name, record_suffixes, true);
    find_split(label);
}

static int compare_sizes(struct path_part a, struct path_part b) {
    return (a.size > b.size) - (a.size < b.size);
}

static int compare_parts(struct path_part a, struct path_part b) {
    int order = compare_sizes(a, b);
    return order ? order : memcmp(a.start, b.start, a.size);
}

/* The path up to the folder of a split, or empty. */
static struct path_part split_folder(const struct set_label *label) {
    struct path_part name = find_folder(label, 0, NULL);
    return (struct path_part){label->path, (size_t)(name.start + name.size - label->path)};
}

int set_label_compare_sets(const struct set_label *a, const struct set_label *b) {
    if (a->kind != b->kind) return a->kind < b->kind ? -1 : 1;
    if (a->kind == SET_LOOSE) return compare_parts(split_folder(a), split_folder(b));
    if (a->kind == SET_NUMBERED) return set_member_compare_sets(&a->member, &b->member);
    int order = compare_parts(a->folder, b->folder);
    if (!order) order = compare_sizes(a->split, b->split);
    return order ? order : strncasecmp(a->split.start, b->split.start, a->split.size);
}

int set_label_compare_names(const struct set_label *a, const struct set_label *b) {
    int order = compare_parts(a->folder, b->folder);
    if (!order) order = compare_parts(a->name, b->name);
    return order ? order : compare_parts(a->type, b->type);
}

static struct path_part plain_file(const struct set_label *label) {
    const char *start = label->name.start;
    return (struct path_part){start, (size_t)(label->compression.start - start)};
}

int set_label_compare_files(const struct set_label *a, const struct set_label *b) {
    int order = compare_parts(a->folder, b->folder);
    return order ? order : compare_parts(plain_file(a), plain_file(b));
}

bool set_label_is_copy(const struct set_label *a, const struct set_label *b) {
    if (a->kind == SET_NUMBERED || b->kind == SET_NUMBERED)
        return !set_label_compare_names(a, b) && set_label_compare_sets(a, b) != 0;
    return !set_label_compare_files(a, b) && compare_parts(a->compression, b->compression) != 0;
}

int set_label_compare_originals(const struct set_label *a, const struct set_label *b) {
    struct path_part whole_a = {a->path, strlen(a->path)}, whole_b = {b->path, strlen(b->path)};
    return copy_mark_compare(whole_a, a->copy_mark, whole_b, b->copy_mark);
}

bool set_label_is_marked_copy(const struct set_label *a, const struct set_label *b) {
    bool is_numbered = a->kind == SET_NUMBERED && strcmp(a->path, b->path) != 0;
    if (!is_numbered && !a->copy_mark.size == !b->copy_mark.size) return false;
    return !set_label_compare_originals(a, b);
}

static bool name_has_split(const struct set_label *label, const char *split) {
    struct path_part name = label->name, stem = stem_of(label);
    if (part_has_word(name, split) || part_has_word(stem, split)) return true;
    return label->kind != SET_NUMBERED && part_has_word(cut_numbers(stem), split);
}

/* The name of a file says more than the names of its folders. */
bool set_label_has_split(const struct set_label *label, const char *split) {
    if (name_has_split(label, split)) return true;
    for (size_t i = 0; splits[i]; i++)
        if (name_has_split(label, splits[i])) return false;
    return label->kind != SET_SPLIT_VARIANT && find_folder(label, label->base, split).size > 0;
}

bool set_label_is_in_split(const struct set_label *label, size_t base) {
    const char *start = label->path + base, *end = strchr(start, '/');
    for (size_t i = 0; end && splits[i]; i++)
        if (part_is((struct path_part){start, (size_t)(end - start)}, splits[i])) return true;
    return false;
}

const char *set_label_find_split(const struct set_label *label) {
    for (size_t i = 0; splits[i]; i++)
        if (set_label_has_split(label, splits[i])) return splits[i];
    return NULL;
}
