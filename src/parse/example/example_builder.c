/* Builds tf.Example and tf.SequenceExample. Every feature is encoded when it is added. What remains
 * for the end is sorting by name and writing the prefixes (tags and lengths) of the enclosing
 * messages, whose sizes are known only then. */
#include "parse/example/building.h"

#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/core/error.h"
#include "base/text/json.h"

enum {
    FIRST_TAG = 1 << 3 | 2,  /* an entry's key; a list's values; features; context */
    SECOND_TAG = 2 << 3 | 2, /* an entry's value; feature_lists */
};

recmap_status recmap_example_builder_create(recmap_example_builder **builder, recmap_error *error) {
    recmap_example_builder *fresh = calloc(1, sizeof *fresh);
    if (!fresh) return fail_memory(error);
    fresh->size_limit = INT32_MAX;
    *builder = fresh;
    return RECMAP_OK;
}

void recmap_example_builder_destroy(recmap_example_builder *builder) {
    if (!builder) return;
    message_deinit(&builder->arena);
    message_deinit(&builder->output);
    message_deinit(&builder->values);
    message_deinit(&builder->plain);
    message_deinit(&builder->name);
    message_deinit(&builder->rounded_names);
    entry_map_deinit(&builder->features);
    entry_map_deinit(&builder->lists);
    free(builder);
}

void recmap_example_builder_begin(recmap_example_builder *builder, recmap_message message) {
    builder->message = message;
    builder->arena.size = 0;
    builder->is_in_list = false;
    entry_map_clear(&builder->features);
    entry_map_clear(&builder->lists);
}

static uint64_t map_size(const struct entry_map *map, uint64_t entries_size) {
    return map->is_there || entries_size ? field_size(entries_size) : 0;
}

/* Returns an upper bound of the record's size with features of `features_size` bytes and
 * `open_size` bytes of steps in the open list. It is exact unless names repeat. */
static uint64_t record_size(const recmap_example_builder *builder, uint64_t features_size,
                            uint64_t open_size) {
    uint64_t lists_size = builder->lists.size;
    if (builder->is_in_list) lists_size += map_entry_size(&builder->open, open_size);
    return map_size(&builder->features, features_size) + map_size(&builder->lists, lists_size);
}

static uint64_t steps_size(const struct entry_map *map, size_t first, size_t count) {
    uint64_t size = 0;
    for (size_t i = 0; i < count; i++) size += map->entries[first + i].body_size;
    return size;
}

/* Sorts all entries and removes replaced ones, after which their sizes are exact. */
static void settle(recmap_example_builder *builder) {
    struct entry_map *lists = &builder->lists;
    const uint8_t *arena = builder->arena.data;
    entry_map_sort(&builder->features, arena);
    entry_map_keep_last(&builder->features, arena);
    entry_map_sort(lists, arena);
    lists->size = 0;
    for (size_t i = 0, count; i < lists->count; i += count) {
        count = entry_map_run(lists, i, arena);
        lists->size += map_entry_size(&lists->entries[i], steps_size(lists, i, count));
    }
}

/* Like settle, while a list is open, as if that list had `open_size` bytes. */
static void settle_open(recmap_example_builder *builder, uint64_t open_size) {
    struct entry_map *lists = &builder->lists;
    const uint8_t *arena = builder->arena.data;
    struct map_entry open = builder->open;
    open.body_size = (size_t)open_size;
    entry_map_add(lists, &open);
    settle(builder);
    size_t at = entry_map_find(lists, arena + open.name, open.name_size, arena);
    at += entry_map_run(lists, at, arena) - 1;
    lists->count--;
    memmove(&lists->entries[at], &lists->entries[at + 1],
            (lists->count - at) * sizeof *lists->entries);
    lists->size -= map_entry_size(&open, open_size);
}

/* Returns the size of the feature that a new one with this name would replace. The map must be
 * sorted. */
static uint64_t replaced_size(const recmap_example_builder *builder, const char *name,
                              size_t name_size) {
    const struct entry_map *map = &builder->features;
    size_t at = entry_map_find(map, name, name_size, builder->arena.data);
    return at == SIZE_MAX ? 0 : map_entry_size(&map->entries[at], map->entries[at].body_size);
}

/* What is about to be added: an entry of the feature map, or steps of the open list. */
struct addition {
    const char *name;
    size_t name_size;
    uint64_t size;
};

static uint64_t size_with(const recmap_example_builder *builder, const struct addition *addition,
                          uint64_t replaced) {
    const recmap_example_builder *b = builder;
    if (b->is_in_list) return record_size(b, b->features.size, b->open.body_size + addition->size);
    return record_size(b, b->features.size + addition->size - replaced, 0);
}

/* Returns an error if the record would become too large. The sums of sizes are upper bounds and
 * usually decide. Only if they exceed the limit are replaced features and merged lists taken into
 * account, which requires sorting. */
static recmap_status check_size(recmap_example_builder *builder, const struct addition *addition,
                                recmap_error *error) {
    /* The most that the prefix of a list can grow when its parts are merged. */
    enum { PREFIX_SLACK = 8 };
    if (size_with(builder, addition, 0) <= builder->size_limit) return RECMAP_OK;
    uint64_t replaced = 0;
    if (builder->is_in_list) {
        settle_open(builder, builder->open.body_size + addition->size);
    } else {
        settle(builder);
        replaced = replaced_size(builder, addition->name, addition->name_size);
    }
    uint64_t size = size_with(builder, addition, replaced);
    if (builder->is_in_list) builder->lists.size += PREFIX_SLACK;
    if (size <= builder->size_limit) return RECMAP_OK;
    fail(error, RECMAP_INVALID, "a record is limited to %" PRIu64 " bytes", builder->size_limit);
    fail_advise(error, "protobuf cannot read a larger message: split it into several records");
    return RECMAP_INVALID;
}

/* The sizes of an encoded feature, from the inside out. */
struct feature_sizes {
    recmap_type kind;
    uint64_t packed; /* its values; for numbers, without the tag and length of the packed field */
    uint64_t list;
    uint64_t feature;
};

static struct feature_sizes sizes_of(recmap_type kind, uint64_t packed) {
    struct feature_sizes sizes = {.kind = kind, .packed = packed, .list = packed};
    if (kind != RECMAP_TYPE_BYTES && packed) sizes.list = field_size(packed);
    if (kind != RECMAP_TYPE_NONE) sizes.feature = field_size(sizes.list);
    return sizes;
}

static uint8_t list_tag(recmap_type kind) {
    switch (kind) {
    case RECMAP_TYPE_BYTES: return 1 << 3 | 2;
    case RECMAP_TYPE_FLOAT: return 2 << 3 | 2;
    default: return 3 << 3 | 2;
    }
}

/* Writes everything that precedes the values. */
static void put_prefixes(struct message_writer *writer, const struct feature_sizes *sizes) {
    if (sizes->kind == RECMAP_TYPE_NONE) return;
    message_put_prefix(writer, list_tag(sizes->kind), sizes->list);
    if (sizes->kind != RECMAP_TYPE_BYTES && sizes->packed)
        message_put_prefix(writer, FIRST_TAG, sizes->packed);
}

static recmap_status check_begun(const recmap_example_builder *builder, recmap_error *error) {
    if (builder->message) return RECMAP_OK;
    return fail(error, RECMAP_INVALID, "no record was begun");
}

/* Reserves room in the arena for a step or an entry and writes its prefixes. The values follow. */
static recmap_status begin_values(recmap_example_builder *builder, const struct addition *addition,
                                  const struct feature_sizes *sizes, recmap_error *error) {
    struct message_writer *arena = &builder->arena;
    RETURN_IF_FAILED(check_size(builder, addition, error));
    if (!message_reserve(arena, (size_t)(addition->name_size + field_size(sizes->feature))) ||
        !entry_map_reserve(&builder->features))
        return fail_memory(error);
    if (builder->is_in_list) message_put_prefix(arena, FIRST_TAG, sizes->feature);
    else message_put_bytes(arena, addition->name, addition->name_size);
    put_prefixes(arena, sizes);
    return RECMAP_OK;
}

/* Call when the values are written. */
static void end_values(recmap_example_builder *builder, const struct addition *addition,
                       const struct feature_sizes *sizes, size_t origin) {
    if (builder->is_in_list) {
        builder->open.body_size += (size_t)addition->size;
        return;
    }
    size_t body = builder->arena.size - (size_t)sizes->feature;
    builder->features.is_there = true;
    entry_map_add(&builder->features, &(struct map_entry){.name = body - addition->name_size,
                                                          .name_size = addition->name_size,
                                                          .body = body,
                                                          .body_size = (size_t)sizes->feature,
                                                          .origin = origin});
}

static struct addition addition_of(const recmap_example_builder *builder, const char *name,
                                   size_t name_size, const struct feature_sizes *sizes) {
    struct map_entry entry = {.name_size = name_size};
    uint64_t step = field_size(sizes->feature);
    if (builder->is_in_list) return (struct addition){NULL, 0, step};
    return (struct addition){name, name_size, map_entry_size(&entry, sizes->feature)};
}

recmap_status builder_add_packed(recmap_example_builder *builder, const char *name,
                                 size_t name_size, size_t origin, recmap_type kind,
                                 const struct message_writer *values, recmap_error *error) {
    struct feature_sizes sizes = sizes_of(kind, values->size);
    struct addition addition = addition_of(builder, name, name_size, &sizes);
    RETURN_IF_FAILED(begin_values(builder, &addition, &sizes, error));
    message_put_bytes(&builder->arena, values->data, values->size);
    end_values(builder, &addition, &sizes, origin);
    return RECMAP_OK;
}

static recmap_status check_name(size_t *size, const char *name, recmap_error *error) {
    if (!name) return fail(error, RECMAP_INVALID, "a feature needs a name");
    size_t length = strlen(name);
    if (!utf8_valid((const uint8_t *)name, length))
        return fail(error, RECMAP_INVALID, "feature name '%s' is not UTF-8", name);
    *size = length;
    return RECMAP_OK;
}

/* The common start of all features: checks, and prefixes in the arena. */
static recmap_status begin_feature(recmap_example_builder *builder, struct addition *addition,
                                   const char *name, const struct feature_sizes *sizes,
                                   recmap_error *error) {
    size_t name_size = 0;
    RETURN_IF_FAILED(check_begun(builder, error));
    if (!builder->is_in_list) RETURN_IF_FAILED(check_name(&name_size, name, error));
    *addition = addition_of(builder, name, name_size, sizes);
    return begin_values(builder, addition, sizes, error);
}

recmap_status recmap_example_builder_add_int64(recmap_example_builder *builder, const char *name,
                                               const int64_t *values, size_t count,
                                               recmap_error *error) {
    struct addition addition;
    uint64_t packed = 0;
    for (size_t i = 0; i < count; i++) packed += varint_size((uint64_t)values[i]);
    struct feature_sizes sizes = sizes_of(RECMAP_TYPE_INT64, packed);
    RETURN_IF_FAILED(begin_feature(builder, &addition, name, &sizes, error));
    for (size_t i = 0; i < count; i++) message_put_varint(&builder->arena, (uint64_t)values[i]);
    end_values(builder, &addition, &sizes, 0);
    return RECMAP_OK;
}

recmap_status recmap_example_builder_add_float(recmap_example_builder *builder, const char *name,
                                               const float *values, size_t count,
                                               recmap_error *error) {
    struct addition addition;
    struct feature_sizes sizes = sizes_of(RECMAP_TYPE_FLOAT, 4 * (uint64_t)count);
    RETURN_IF_FAILED(begin_feature(builder, &addition, name, &sizes, error));
    uint8_t *out = builder->arena.data + builder->arena.size;
    for (size_t i = 0; i < count; i++) {
        uint32_t bits;
        memcpy(&bits, &values[i], sizeof bits);
        store32(out + 4 * i, bits);
    }
    builder->arena.size += 4 * count;
    end_values(builder, &addition, &sizes, 0);
    return RECMAP_OK;
}

recmap_status recmap_example_builder_add_bytes(recmap_example_builder *builder, const char *name,
                                               const recmap_bytes *values, size_t count,
                                               recmap_error *error) {
    struct addition addition;
    uint64_t packed = 0;
    /* Past the limit the exact sum is irrelevant, and it must not overflow. */
    for (size_t i = 0; i < count && packed <= builder->size_limit; i++)
        packed += field_size(min_u64(values[i].size, UINT32_MAX));
    struct feature_sizes sizes = sizes_of(RECMAP_TYPE_BYTES, packed);
    RETURN_IF_FAILED(begin_feature(builder, &addition, name, &sizes, error));
    for (size_t i = 0; i < count; i++) {
        message_put_prefix(&builder->arena, FIRST_TAG, values[i].size);
        message_put_bytes(&builder->arena, values[i].data, values[i].size);
    }
    end_values(builder, &addition, &sizes, 0);
    return RECMAP_OK;
}

recmap_status recmap_example_builder_add_unset(recmap_example_builder *builder, const char *name,
                                               recmap_error *error) {
    struct addition addition;
    struct feature_sizes sizes = sizes_of(RECMAP_TYPE_NONE, 0);
    recmap_status status = begin_feature(builder, &addition, name, &sizes, error);
    if (status == RECMAP_OK) end_values(builder, &addition, &sizes, 0);
    return status;
}

recmap_status builder_begin_list(recmap_example_builder *builder, const char *name,
                                 size_t name_size, size_t origin, recmap_error *error) {
    struct message_writer *arena = &builder->arena;
    if (!message_reserve(arena, name_size + 1) || !entry_map_reserve(&builder->lists))
        return fail_memory(error);
    struct map_entry open = {.name = arena->size,
                             .name_size = name_size,
                             .body = arena->size + name_size,
                             .origin = origin};
    message_put_bytes(arena, name, name_size);
    builder->open = open;
    builder->is_in_list = true;
    recmap_status status = check_size(builder, &(struct addition){.size = 0}, error);
    if (status == RECMAP_OK) return RECMAP_OK;
    builder->is_in_list = false;
    arena->size = open.name;
    return status;
}

recmap_status recmap_example_builder_begin_list(recmap_example_builder *builder, const char *name,
                                                recmap_error *error) {
    size_t name_size = 0;
    RETURN_IF_FAILED(check_begun(builder, error));
    RETURN_IF_FAILED(check_name(&name_size, name, error));
    if (builder->message != RECMAP_MESSAGE_SEQUENCE_EXAMPLE)
        return fail(error, RECMAP_INVALID, "an Example has no feature lists");
    if (builder->is_in_list)
        return fail(error, RECMAP_INVALID, "a feature list is begun within another");
    return builder_begin_list(builder, name, name_size, 0, error);
}

void recmap_example_builder_end_list(recmap_example_builder *builder) {
    if (!builder->is_in_list) return;
    builder->is_in_list = false;
    builder->lists.is_there = true;
    entry_map_add(&builder->lists, &builder->open);
}

/* Writes the prefix and the name of an entry with a body of `body_size` bytes. */
static void put_entry_prefix(struct message_writer *writer, const struct map_entry *entry,
                             uint64_t body_size, const uint8_t *arena) {
    message_put_prefix(writer, FIRST_TAG, field_size(entry->name_size) + field_size(body_size));
    message_put_prefix(writer, FIRST_TAG, entry->name_size);
    message_put_bytes(writer, arena + entry->name, entry->name_size);
    message_put_prefix(writer, SECOND_TAG, body_size);
}

static void put_features(struct message_writer *writer, const struct entry_map *map,
                         const uint8_t *arena) {
    if (!map->is_there) return;
    message_put_prefix(writer, FIRST_TAG, map->size);
    for (size_t i = 0; i < map->count; i++) {
        const struct map_entry *entry = &map->entries[i];
        put_entry_prefix(writer, entry, entry->body_size, arena);
        message_put_bytes(writer, arena + entry->body, entry->body_size);
    }
}

static void put_lists(struct message_writer *writer, const struct entry_map *map,
                      const uint8_t *arena) {
    if (!map->is_there) return;
    message_put_prefix(writer, SECOND_TAG, map->size);
    for (size_t i = 0, count; i < map->count; i += count) {
        count = entry_map_run(map, i, arena);
        put_entry_prefix(writer, &map->entries[i], steps_size(map, i, count), arena);
        for (size_t part = i; part < i + count; part++)
            message_put_bytes(writer, arena + map->entries[part].body,
                              map->entries[part].body_size);
    }
}

recmap_status recmap_example_builder_finish(const uint8_t **data, size_t *size,
                                            recmap_example_builder *builder, recmap_error *error) {
    struct message_writer *output = &builder->output;
    RETURN_IF_FAILED(check_begun(builder, error));
    recmap_example_builder_end_list(builder);
    settle(builder);
    output->size = 0;
    /* Reserve at least one byte, so that an empty record is not NULL. */
    size_t total = (size_t)record_size(builder, builder->features.size, 0);
    if (!message_reserve(output, total ? total : 1)) return fail_memory(error);
    put_features(output, &builder->features, builder->arena.data);
    put_lists(output, &builder->lists, builder->arena.data);
    builder->message = 0;
    *data = output->data;
    *size = output->size;
    return RECMAP_OK;
}
