#include "index/tables/manifest.h"

#include <stdlib.h>
#include <string.h>

#include "base/core/proto.h"
#include "base/text/json.h"
#include "index.pb-c.h"
#include "storage/protocol/reply.h"

/* In memory, a hash is in text order, the most significant byte first. The file holds it as a
 * little-endian number. */
static void reverse_hash(uint8_t out[IDENTITY_HASH_SIZE], const uint8_t hash[IDENTITY_HASH_SIZE]) {
    for (size_t i = 0; i < IDENTITY_HASH_SIZE; i++) out[i] = hash[IDENTITY_HASH_SIZE - 1 - i];
}

static char *no_text(void) {
    return (char *)protobuf_c_empty_string;
}

/* A column of float64 is one of floats with a flag, and not of a type of its own: older readers
 * decode the manifest before they see, and name, a format version that they do not know. */
static void fill_column(Recmap__Column *message, const struct manifest_column *column) {
    recmap__column__init(message);
    message->name = column->name;
    message->is_float64 = column->type == RECMAP_TYPE_FLOAT64;
    message->type = message->is_float64 ? RECMAP__VALUE_TYPE__FLOAT
                                        : (Recmap__ValueType)column->type;
    message->first_value = column->first_value;
    message->is_annotated = column->is_annotated;
    message->null_count = column->null_count;
    message->has_default = column->default_value != NULL;
    message->default_value = column->default_value ? column->default_value : no_text();
}

static void fill_counted(Recmap__CountedFeature *message, const struct manifest_counted *feature) {
    const char *element = recmap_element_name(feature->element);
    recmap__counted_feature__init(message);
    message->name = feature->name;
    message->element = element ? (char *)element : no_text();
}

/* All fields but the lists. The fingerprint's bytes are the caller's. */
static void fill_totals(Recmap__Manifest *message, const struct manifest *manifest,
                        uint8_t fingerprint[IDENTITY_HASH_SIZE]) {
    message->format_version = manifest->format_version;
    message->record_count = manifest->record_count;
    message->shard_count = manifest->shard_count;
    message->byte_count = manifest->byte_count;
    message->id_count = manifest->id_count;
    message->damage_count = manifest->damage_count;
    message->damaged_byte_count = manifest->damaged_byte_count;
    reverse_hash(fingerprint, manifest->fingerprint);
    message->fingerprint = (ProtobufCBinaryData){IDENTITY_HASH_SIZE, fingerprint};
    message->has_ids = manifest->id_name != NULL;
    message->id_name = manifest->id_name ? manifest->id_name : no_text();
    message->extracted_by_caller = manifest->extracted_by_caller;
    message->skips_damage = manifest->skips_damage;
}

/* Fills in a protobuf message that borrows the manifest's strings, and packs it. */
uint8_t *manifest_encode(size_t *size, const struct manifest *manifest) {
    size_t column_count = manifest->column_count, counted_count = manifest->counted_feature_count;
    Recmap__Manifest message = RECMAP__MANIFEST__INIT;
    Recmap__Column *columns = calloc(column_count + 1, sizeof *columns);
    Recmap__Column **column_pointers = calloc(column_count + 1, sizeof *column_pointers);
    Recmap__CountedFeature *counted = calloc(counted_count + 1, sizeof *counted);
    Recmap__CountedFeature **counted_pointers = calloc(counted_count + 1, sizeof *counted_pointers);
    uint8_t *bytes = NULL, fingerprint[IDENTITY_HASH_SIZE];
    if (columns && column_pointers && counted && counted_pointers) {
        for (size_t i = 0; i < column_count; i++) {
            fill_column(&columns[i], &manifest->columns[i]);
            column_pointers[i] = &columns[i];
        }
        for (size_t i = 0; i < counted_count; i++) {
            fill_counted(&counted[i], &manifest->counted_features[i]);
            counted_pointers[i] = &counted[i];
        }
        fill_totals(&message, manifest, fingerprint);
        if (manifest->header)
            message.header =
                (ProtobufCBinaryData){manifest->header_size, (uint8_t *)manifest->header};
        message.n_columns = column_count;
        message.columns = column_pointers;
        message.n_counted_features = counted_count;
        message.counted_features = counted_pointers;
        bytes = proto_pack(size, &message.base, 0);
    }
    free(columns);
    free(column_pointers);
    free(counted);
    free(counted_pointers);
    return bytes;
}

/* A message and the bytes that it points to. */
struct shard_message {
    Recmap__Shard base;
    uint8_t hash[IDENTITY_HASH_SIZE];
};

/* The message borrows the strings of the entry. protobuf-c declares them mutable but only reads
 * them.
 */
static void fill_shard(struct shard_message *out, const struct shard_entry *entry) {
    Recmap__Shard *message = &out->base;
    recmap__shard__init(message);
    message->path = (ProtobufCBinaryData){strlen(entry->path), (uint8_t *)entry->path};
    message->file_size = entry->file_size;
    message->size = entry->size;
    message->compression = (Recmap__Compression)entry->compression;
    message->mtime_ns = entry->mtime_ns;
    message->etag = entry->etag;
    message->record_count = entry->record_count;
    message->framing = entry->framing;
    reverse_hash(out->hash, entry->identity.hash);
    message->hash = (ProtobufCBinaryData){sizeof out->hash, out->hash};
    message->n_samples = entry->identity.sample_count;
    message->samples = (uint32_t *)entry->identity.samples;
    message->sample_step = entry->identity.sample_step;
    message->damage_count = entry->damage_count;
    message->tail_size = entry->tail_size;
    message->start = entry->start;
    message->point_count = entry->point_count;
}

uint8_t *shards_encode(size_t *size, const struct shard_entry *shards, size_t count) {
    Recmap__ShardTable message = RECMAP__SHARD_TABLE__INIT;
    struct shard_message *entries = calloc(count + 1, sizeof *entries);
    Recmap__Shard **pointers = calloc(count + 1, sizeof *pointers);
    uint8_t *bytes = NULL;
    if (entries && pointers) {
        for (size_t i = 0; i < count; i++) {
            fill_shard(&entries[i], &shards[i]);
            pointers[i] = &entries[i].base;
        }
        message.n_shards = count;
        message.shards = pointers;
        bytes = proto_pack(size, &message.base, 0);
    }
    free(entries);
    free(pointers);
    return bytes;
}

/* Protobuf-c packs arrays of pointers to messages, so the messages and the pointers are built
 * first. */
uint8_t *damages_encode(size_t *size, const struct damage_entry *damages, size_t count) {
    Recmap__DamageTable message = RECMAP__DAMAGE_TABLE__INIT;
    Recmap__Damage *entries = calloc(count + 1, sizeof *entries);
    Recmap__Damage **pointers = calloc(count + 1, sizeof *pointers);
    uint8_t *bytes = NULL;
    if (entries && pointers) {
        for (size_t i = 0; i < count; i++) {
            recmap__damage__init(&entries[i]);
            entries[i].shard = damages[i].shard;
            entries[i].offset = damages[i].offset;
            entries[i].length = damages[i].length;
            entries[i].reason = damages[i].reason;
            pointers[i] = &entries[i];
        }
        message.n_damages = count;
        message.damages = pointers;
        bytes = proto_pack(size, &message.base, 0);
    }
    free(entries);
    free(pointers);
    return bytes;
}

static enum decode_verdict verdict_without_message(bool out_of_memory) {
    return out_of_memory ? DECODE_NO_MEMORY : DECODE_BAD;
}

/* What a caller gets is text, in every language. */
static bool is_utf8(const char *text) {
    return utf8_valid((const uint8_t *)text, strlen(text));
}

/* False if the message has an unknown type. */
static bool read_type(recmap_type *type, const Recmap__Column *message) {
    *type = message->is_float64 ? RECMAP_TYPE_FLOAT64 : (recmap_type)message->type;
    return message->is_float64 ? message->type == RECMAP__VALUE_TYPE__FLOAT
                               : message->type <= RECMAP__VALUE_TYPE__BYTES;
}

/* Copies the columns out of the message. `column_count` grows with the copies, so that after an
 * error manifest_deinit frees those that exist. */
static enum decode_verdict copy_columns(struct manifest *manifest,
                                        const Recmap__Manifest *message) {
    if (!message->n_columns) return DECODE_OK;
    manifest->columns = calloc(message->n_columns, sizeof *manifest->columns);
    if (!manifest->columns) return DECODE_NO_MEMORY;
    for (size_t i = 0; i < message->n_columns; i++) {
        const Recmap__Column *column = message->columns[i];
        recmap_type type;
        if (!read_type(&type, column) || !is_utf8(column->name) ||
            (column->has_default && !is_utf8(column->default_value)))
            return DECODE_BAD;
        manifest->column_count++;
        manifest->columns[i].type = type;
        manifest->columns[i].first_value = column->first_value;
        manifest->columns[i].is_annotated = column->is_annotated;
        manifest->columns[i].null_count = column->null_count;
        manifest->columns[i].name = strdup(column->name);
        if (!manifest->columns[i].name) return DECODE_NO_MEMORY;
        if (!column->has_default) continue;
        manifest->columns[i].default_value = strdup(column->default_value);
        if (!manifest->columns[i].default_value) return DECODE_NO_MEMORY;
    }
    return DECODE_OK;
}

/* Elements are numbers: bytes have no size of their own. */
static bool is_number(recmap_element element) {
    return element != RECMAP_ELEMENT_NONE && element != RECMAP_ELEMENT_BYTES;
}

/* Copies the counted features, as copy_columns does with columns. */
static enum decode_verdict copy_counted(struct manifest *manifest,
                                        const Recmap__Manifest *message) {
    if (!message->n_counted_features) return DECODE_OK;
    manifest->counted_features =
        calloc(message->n_counted_features, sizeof *manifest->counted_features);
    if (!manifest->counted_features) return DECODE_NO_MEMORY;
    for (size_t i = 0; i < message->n_counted_features; i++) {
        const Recmap__CountedFeature *feature = message->counted_features[i];
        recmap_element element = recmap_element_of_name(feature->element);
        if (!is_utf8(feature->name) || (feature->element[0] && !is_number(element)))
            return DECODE_BAD;
        struct manifest_counted *copy =
            &manifest->counted_features[manifest->counted_feature_count++];
        copy->element = element;
        copy->name = strdup(feature->name);
        if (!copy->name) return DECODE_NO_MEMORY;
    }
    return DECODE_OK;
}

static enum decode_verdict copy_header(struct manifest *manifest, const Recmap__Manifest *message) {
    size_t size = message->header.len;
    if (!size) return DECODE_OK;
    manifest->header = malloc(size + 1);
    if (!manifest->header) return DECODE_NO_MEMORY;
    memcpy(manifest->header, message->header.data, size);
    manifest->header[size] = 0;
    manifest->header_size = size;
    return DECODE_OK;
}

/* Unpacks the message, copies its fields, and frees it. Fields are checked only as far as the
 * struct needs it; index_open.c checks them against each other. */
enum decode_verdict manifest_decode(struct manifest *manifest, const uint8_t *data, size_t size) {
    bool out_of_memory;
    Recmap__Manifest *message =
        proto_unpack(&out_of_memory, &recmap__manifest__descriptor, data, size);
    if (!message) return verdict_without_message(out_of_memory);
    struct manifest decoded = {
        .format_version = message->format_version,
        .record_count = message->record_count,
        .shard_count = message->shard_count,
        .byte_count = message->byte_count,
        .id_count = message->id_count,
        .damage_count = message->damage_count,
        .damaged_byte_count = message->damaged_byte_count,
        .extracted_by_caller = message->extracted_by_caller,
        .skips_damage = message->skips_damage,
    };
    enum decode_verdict verdict = message->fingerprint.len == IDENTITY_HASH_SIZE ? DECODE_OK
                                                                                 : DECODE_BAD;
    if (verdict == DECODE_OK) reverse_hash(decoded.fingerprint, message->fingerprint.data);
    if (verdict == DECODE_OK && message->has_ids && !is_utf8(message->id_name))
        verdict = DECODE_BAD;
    if (verdict == DECODE_OK && message->has_ids) {
        decoded.id_name = strdup(message->id_name);
        if (!decoded.id_name) verdict = DECODE_NO_MEMORY;
    }
    if (verdict == DECODE_OK) verdict = copy_columns(&decoded, message);
    if (verdict == DECODE_OK) verdict = copy_counted(&decoded, message);
    if (verdict == DECODE_OK) verdict = copy_header(&decoded, message);
    recmap__manifest__free_unpacked(message, NULL);
    if (verdict == DECODE_OK) *manifest = decoded;
    else manifest_deinit(&decoded);
    return verdict;
}

const struct manifest_column *manifest_find_annotated(const struct manifest *manifest) {
    for (size_t i = 0; i < manifest->column_count; i++)
        if (manifest->columns[i].is_annotated) return &manifest->columns[i];
    return NULL;
}

void manifest_deinit(struct manifest *manifest) {
    for (size_t i = 0; i < manifest->column_count; i++) {
        free(manifest->columns[i].name);
        free(manifest->columns[i].default_value);
    }
    free(manifest->columns);
    for (size_t i = 0; i < manifest->counted_feature_count; i++)
        free(manifest->counted_features[i].name);
    free(manifest->counted_features);
    free(manifest->id_name);
    free(manifest->header);
    *manifest = (struct manifest){0};
}

static bool shard_is_valid(const Recmap__Shard *message) {
    return message->path.len && !memchr(message->path.data, 0, message->path.len) &&
           message->hash.len == IDENTITY_HASH_SIZE && message->n_samples <= IDENTITY_SAMPLES_MAX &&
           message->sample_step > 0 && etag_is_valid(message->etag) &&
           message->compression <= RECMAP__COMPRESSION__ZLIB && message->start <= message->size &&
           (message->compression ? !message->start
                                 : message->size == message->file_size && !message->point_count);
}

/* Copies a checked message into an entry, which is unchanged after an error. */
static enum decode_verdict copy_shard(struct shard_entry *entry, const Recmap__Shard *message) {
    if (!shard_is_valid(message)) return DECODE_BAD;
    struct shard_entry decoded = {
        .path = strndup((const char *)message->path.data, message->path.len),
        .file_size = message->file_size,
        .size = message->size,
        .compression = (enum compression)message->compression,
        .mtime_ns = message->mtime_ns,
        .record_count = message->record_count,
        .damage_count = message->damage_count,
        .tail_size = message->tail_size,
        .start = message->start,
        .point_count = message->point_count,
        .framing = strdup(message->framing),
        .etag = strdup(message->etag),
        .identity = {.sample_count = message->n_samples, .sample_step = message->sample_step},
    };
    if (!decoded.path || !decoded.framing || !decoded.etag) {
        shard_entry_deinit(&decoded);
        return DECODE_NO_MEMORY;
    }
    reverse_hash(decoded.identity.hash, message->hash.data);
    if (message->n_samples)
        memcpy(decoded.identity.samples, message->samples,
               message->n_samples * sizeof *message->samples);
    *entry = decoded;
    return DECODE_OK;
}

enum decode_verdict shards_decode(struct shard_entry *shards, size_t *count, size_t capacity,
                                  const uint8_t *data, size_t size) {
    bool out_of_memory;
    Recmap__ShardTable *message =
        proto_unpack(&out_of_memory, &recmap__shard_table__descriptor, data, size);
    if (!message) return verdict_without_message(out_of_memory);
    enum decode_verdict verdict = message->n_shards <= capacity - *count ? DECODE_OK : DECODE_BAD;
    for (size_t i = 0; verdict == DECODE_OK && i < message->n_shards; i++) {
        verdict = copy_shard(&shards[*count], message->shards[i]);
        if (verdict == DECODE_OK) ++*count;
    }
    recmap__shard_table__free_unpacked(message, NULL);
    return verdict;
}

void shard_entry_deinit(struct shard_entry *entry) {
    free(entry->path);
    free(entry->framing);
    free(entry->etag);
    *entry = (struct shard_entry){0};
}

/* Appends the entries of one table. Those appended before an error are counted and keep their
 * strings. */
enum decode_verdict damages_decode(struct damage_entry *damages, size_t *count, size_t capacity,
                                   const uint8_t *data, size_t size) {
    bool out_of_memory;
    Recmap__DamageTable *message =
        proto_unpack(&out_of_memory, &recmap__damage_table__descriptor, data, size);
    if (!message) return verdict_without_message(out_of_memory);
    enum decode_verdict verdict = message->n_damages <= capacity - *count ? DECODE_OK : DECODE_BAD;
    for (size_t i = 0; verdict == DECODE_OK && i < message->n_damages; i++) {
        const Recmap__Damage *damage = message->damages[i];
        char *reason = strdup(damage->reason);
        if (!reason) {
            verdict = DECODE_NO_MEMORY;
            break;
        }
        damages[*count] =
            (struct damage_entry){damage->shard, damage->offset, damage->length, reason};
        ++*count;
    }
    recmap__damage_table__free_unpacked(message, NULL);
    return verdict;
}
