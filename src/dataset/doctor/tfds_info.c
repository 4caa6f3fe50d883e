#include "dataset/doctor/tfds_info.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/core/array.h"
#include "base/core/error.h"
#include "base/text/json_reader.h"

enum { SHARDS_MAX = 1 << 20, SPLITS_MAX = 1 << 16, NATURAL_DIGITS_MAX = 18 };

struct info_reader {
    struct json_reader json;
    struct tfds_info *info;
    struct tfds_split *split; /* whose members are read */
    const char *wrong;        /* the member whose value is wrong; NULL: the text is not JSON */
    bool is_other;            /* the splits are not a list, as another program writes them */
    bool has_memory;
};

/* Reads one member or item, whose value is next. */
typedef bool (*member_fn)(struct info_reader *reader, const struct json_string *key);
typedef bool (*item_fn)(struct info_reader *reader);

static bool read_members(struct info_reader *reader, member_fn read) {
    if (!json_take(&reader->json, '{')) return false;
    if (json_take(&reader->json, '}')) return true;
    do {
        struct json_string key;
        if (!json_read_string(&key, &reader->json) || !json_take(&reader->json, ':') ||
            !read(reader, &key))
            return false;
    } while (json_take(&reader->json, ','));
    return json_take(&reader->json, '}');
}

static bool read_items(struct info_reader *reader, item_fn read) {
    if (!json_take(&reader->json, '[')) return false;
    if (json_take(&reader->json, ']')) return true;
    do {
        if (!read(reader)) return false;
    } while (json_take(&reader->json, ','));
    return json_take(&reader->json, ']');
}

static bool fail_member(struct info_reader *reader, const char *name) {
    if (!reader->wrong) reader->wrong = name;
    return false;
}

/* Reads a string into a copy that the caller frees. The last of equal members wins. */
static bool read_text(struct info_reader *reader, char **text) {
    struct json_string string;
    if (!json_read_string(&string, &reader->json)) return false;
    char *copy = malloc(string.size + 1);
    if (!copy) {
        reader->has_memory = false;
        return false;
    }
    size_t size = json_string_decode(copy, string.size, &string);
    copy[size <= string.size ? size : 0] = 0;
    free(*text);
    *text = copy;
    return strlen(copy) == size;
}

/* Reads a whole number, which protobuf's JSON writes as a string. */
static bool read_natural(struct info_reader *reader, uint64_t *number) {
    if (json_peek(&reader->json) != '"') return json_read_uint64(&reader->json, number);
    struct json_string string;
    if (!json_read_string(&string, &reader->json)) return false;
    if (!string.size || string.size > NATURAL_DIGITS_MAX) return false;
    *number = 0;
    for (size_t i = 0; i < string.size; i++) {
        if (string.data[i] < '0' || string.data[i] > '9') return false;
        *number = *number * 10 + (uint64_t)(string.data[i] - '0');
    }
    return true;
}

static bool read_length(struct info_reader *reader) {
    struct tfds_split *split = reader->split;
    if (split->shard_count == SHARDS_MAX) return fail_member(reader, "shardLengths");
    if (!array_reserve(&split->lengths, &split->capacity, split->shard_count + 1,
                       sizeof *split->lengths)) {
        reader->has_memory = false;
        return false;
    }
    return read_natural(reader, &split->lengths[split->shard_count++]);
}

static bool read_split_member(struct info_reader *reader, const struct json_string *key) {
    struct tfds_split *split = reader->split;
    if (json_string_is(key, "name"))
        return read_text(reader, &split->name) || fail_member(reader, "the name of a split");
    if (json_string_is(key, "filepathTemplate"))
        return read_text(reader, &split->file_template) || fail_member(reader, "filepathTemplate");
    if (json_string_is(key, "numBytes"))
        return read_natural(reader, &split->byte_count) || fail_member(reader, "numBytes");
    if (!json_string_is(key, "shardLengths")) return json_check_value(&reader->json);
    split->shard_count = 0;
    return read_items(reader, read_length) || fail_member(reader, "shardLengths");
}

static bool read_split(struct info_reader *reader) {
    struct tfds_info *info = reader->info;
    if (info->split_count == SPLITS_MAX) return fail_member(reader, "the number of splits");
    if (!array_reserve(&info->splits, &info->capacity, info->split_count + 1,
                       sizeof *info->splits)) {
        reader->has_memory = false;
        return false;
    }
    reader->split = &info->splits[info->split_count++];
    *reader->split = (struct tfds_split){0};
    return read_members(reader, read_split_member) &&
           (reader->split->name || fail_member(reader, "the name of a split"));
}

static void deinit_splits(struct tfds_info *info) {
    for (size_t i = 0; i < info->split_count; i++) {
        free(info->splits[i].name);
        free(info->splits[i].file_template);
        free(info->splits[i].lengths);
    }
    info->split_count = 0;
}

static bool read_info_member(struct info_reader *reader, const struct json_string *key) {
    struct tfds_info *info = reader->info;
    if (json_string_is(key, "name"))
        return read_text(reader, &info->name) || fail_member(reader, "name");
    if (json_string_is(key, "fileFormat")) {
        struct json_string format;
        if (!json_read_string(&format, &reader->json)) return fail_member(reader, "fileFormat");
        info->is_tfrecord = json_string_is(&format, "tfrecord");
        return true;
    }
    if (!json_string_is(key, "splits")) return json_check_value(&reader->json);
    deinit_splits(info);
    reader->is_other = json_peek(&reader->json) == '{';
    if (reader->is_other) return json_check_value(&reader->json);
    return read_items(reader, read_split) || fail_member(reader, "splits");
}

recmap_status tfds_info_read(struct tfds_info *info, const char *text, size_t size,
                             recmap_error *error) {
    *info = (struct tfds_info){.is_tfrecord = true};
    struct info_reader reader = {.json = {text, text + size}, .info = info, .has_memory = true};
    bool is_read = read_members(&reader, read_info_member) && json_at_end(&reader.json);
    if (!reader.has_memory) return fail_memory(error);
    if (is_read && (!info->name || reader.is_other))
        return fail(error, RECMAP_UNSUPPORTED, "this is not metadata of TFDS");
    if (is_read) return RECMAP_OK;
    if (reader.wrong)
        return fail(error, RECMAP_CORRUPT, "this metadata of TFDS is wrong: %s", reader.wrong);
    return fail(error, RECMAP_CORRUPT, "this metadata of TFDS is not JSON at byte %zu",
                (size_t)(reader.json.at - text));
}

void tfds_info_deinit(struct tfds_info *info) {
    deinit_splits(info);
    free(info->splits);
    free(info->name);
    *info = (struct tfds_info){0};
}

/* ---- Names of files. */

/* A part of a name that stands for something else. */
struct substitution {
    const char *key;
    const char *value;
};

static size_t append(char *name, size_t capacity, size_t size, const char *text, size_t length) {
    for (size_t i = 0; i < length && size + 1 < capacity; i++) name[size++] = text[i];
    name[size] = 0;
    return size;
}

/* Returns the substitution that `text` begins with, or NULL. */
static const struct substitution *find_substitution(const struct substitution *known,
                                                    const char *text) {
    for (; known->key; known++)
        if (!strncmp(text, known->key, strlen(known->key))) return known;
    return NULL;
}

void tfds_info_write_file(char *name, size_t capacity, const struct tfds_info *info,
                          const struct tfds_split *split, size_t shard) {
    char number[32], count[32], both[72];
    snprintf(number, sizeof number, "%05zu", shard);
    snprintf(count, sizeof count, "%05zu", split->shard_count);
    snprintf(both, sizeof both, "%s-of-%s", number, count);
    const struct substitution known[] = {{"{DATASET}", info->name},
                                         {"{SPLIT}", split->name},
                                         {"{FILEFORMAT}", "tfrecord"},
                                         {"{SHARD_X_OF_Y}", both},
                                         {"{SHARD_INDEX}", number},
                                         {"{NUM_SHARDS}", count},
                                         {NULL, NULL}};
    const char *text = split->file_template && *split->file_template
                           ? split->file_template
                           : "{DATASET}-{SPLIT}.{FILEFORMAT}-{SHARD_X_OF_Y}";
    const char *slash = strrchr(text, '/');
    size_t size = 0;
    name[0] = 0;
    for (text = slash ? slash + 1 : text; *text;) {
        const struct substitution *found = find_substitution(known, text);
        if (found) size = append(name, capacity, size, found->value, strlen(found->value));
        else size = append(name, capacity, size, text, 1);
        text += found ? strlen(found->key) : 1;
    }
}
