/* Opening an index: decodes its messages and checks them against each other and against the number
 * and keys of the tables' values. The values themselves are checked when they are used. */
#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/core/bytes.h"
#include "base/core/error.h"
#include "base/os/file.h"
#include "base/words/url_prefix.h"
#include "format/shards/framings.h"
#include "format/shards/shard_name.h"
#include "format/shards/shard_source.h"
#include "index/tables/index_file.h"

static recmap_status check_decoded(const struct index_file *index, enum decode_verdict verdict,
                                   const char *what, recmap_error *error) {
    if (verdict == DECODE_OK) return RECMAP_OK;
    return verdict == DECODE_NO_MEMORY ? fail_memory(error) : index_fail(index, error, what);
}

/* Returns true if the keys of a table are (0, 0), (0, 1), ..., (0, series - 1), (1, 0), ... without
 * gaps.
 */
static bool keys_are_dense(const struct store_value *values, size_t count, size_t series) {
    assert(series);
    for (size_t i = 0; i < count; i++)
        if (values[i].key.chunk != i / series || values[i].key.series != i % series) return false;
    return true;
}

static uint64_t chunks_of(uint64_t count, unsigned shift) {
    return (count >> shift) + ((count & (((uint64_t)1 << shift) - 1)) != 0);
}

/* The manifest comes first: its format version says whether the rest can be understood. */
static recmap_status read_manifest(struct index_file *index, recmap_error *error) {
    size_t count;
    const struct store_value *values = store_values(index->store, STORE_MANIFEST, &count);
    if (count != 1) return index_fail(index, error, "it has no manifest");
    uint8_t *copy = NULL;
    RETURN_IF_FAILED(store_copy(&copy, index->store, STORE_MANIFEST, 0, error));
    recmap_status status = check_decoded(index,
                                         manifest_decode(&index->manifest, copy, values->size),
                                         "its manifest cannot be read", error);
    free(copy);
    if (status != RECMAP_OK) return status;
    uint32_t version = index->manifest.format_version;
    if (version >= 1 && version <= INDEX_FORMAT_VERSION) return RECMAP_OK;
    fail(error, RECMAP_UNSUPPORTED,
         "the index has format version %" PRIu32 "; this recmap reads 1 to %d",
         index->manifest.format_version, (int)INDEX_FORMAT_VERSION);
    fail_file(error, store_path(index->store));
    fail_advise(error, "use the recmap that built it, or build it again with `recmap index`");
    return RECMAP_UNSUPPORTED;
}

/* Decodes the tables of shards, of which all but the last must be full. Entries decoded before an
 * error are kept, so that they are freed with the index. */
static recmap_status decode_shards(struct index_file *index, struct shard_entry *entries,
                                   recmap_error *error) {
    size_t tables, decoded = 0, count = (size_t)index->manifest.shard_count;
    const struct store_value *values = store_values(index->store, STORE_SHARDS, &tables);
    for (size_t t = 0; t < tables; t++) {
        uint8_t *copy = NULL;
        RETURN_IF_FAILED(store_copy(&copy, index->store, STORE_SHARDS, t, error));
        size_t before = decoded, due = count - decoded;
        if (due > SHARDS_PER_TABLE) due = SHARDS_PER_TABLE;
        enum decode_verdict verdict =
            shards_decode(entries, &decoded, decoded + due, copy, values[t].size);
        free(copy);
        recmap_status status =
            check_decoded(index, verdict, "its table of shards cannot be read", error);
        if (status == RECMAP_OK && decoded - before != due)
            status = index_fail(index, error, "its table of shards is incomplete");
        /* From here on the index owns the decoded entries, also after an error. */
        for (size_t i = before; i < decoded; i++) index->shards[i].entry = entries[i];
        if (status != RECMAP_OK) return status;
    }
    return RECMAP_OK;
}

static int compare_names(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Sorts the names. Returns whether one occurs twice. */
static bool sort_names(const char **names, size_t count) {
    bool repeats = false;
    qsort(names, count, sizeof *names, compare_names);
    for (size_t i = 1; i < count; i++) repeats |= !strcmp(names[i - 1], names[i]);
    return repeats;
}

static int compare_shards(const void *a, const void *b) {
    const struct index_shard *left = *(struct index_shard *const *)a;
    const struct index_shard *right = *(struct index_shard *const *)b;
    int order = strcmp(left->entry.path, right->entry.path);
    return order ? order : (left > right) - (left < right);
}

/* Returns true if a shard continues the file of the preceding one where that one ends. */
static bool continues_file(const struct index_file *index, const struct index_shard *previous,
                           const struct index_shard *shard) {
    return index->manifest.format_version >= INDEX_FORMAT_PARTS &&
           !strcmp(previous->entry.framing, shard->entry.framing) &&
           previous->entry.compression == COMPRESSION_NONE &&
           shard->entry.compression == COMPRESSION_NONE &&
           shard->entry.start == previous->entry.size;
}

/* Shards of the same name must be parts of a file that follow one another. Sets the last part of
 * each shard. The shards are sorted by their names and, within a file, by their order. */
static recmap_status join_parts(const struct index_file *index, struct index_shard **sorted,
                                size_t count, recmap_error *error) {
    for (size_t i = count; i-- > 0;) {
        struct index_shard *shard = sorted[i], *next = i + 1 < count ? sorted[i + 1] : NULL;
        struct index_shard *previous = i ? sorted[i - 1] : NULL;
        bool has_next = next && !strcmp(next->entry.path, shard->entry.path);
        bool has_previous = previous && !strcmp(previous->entry.path, shard->entry.path);
        shard->last_part = has_next ? next->last_part : (uint32_t)(shard - index->shards);
        if (has_next && !continues_file(index, shard, next))
            return index_fail(index, error, "it names a shard twice");
        if (!has_previous && shard->entry.start)
            return index_fail(index, error, "it lacks the first part of a shard");
    }
    return RECMAP_OK;
}

/* A forged index could name files outside of its folder, such as `../../etc/passwd`, or one shard
 * twice. All code that opens or writes files by the names of an index relies on this check.
 * Absolute names and URLs pass; whether they may be used is the caller's decision, see
 * shard_cache_create.
 */
static recmap_status check_names(const struct index_file *index, recmap_error *error) {
    size_t count = (size_t)index->manifest.shard_count;
    for (size_t i = 0; i < count; i++) {
        const char *name = index->shards[i].entry.path;
        if (!shard_name_is_absolute(name) && !shard_name_stays_inside(name))
            return index_fail(index, error, "it names a shard outside its own folder");
    }
    struct index_shard **sorted = malloc((count + 1) * sizeof *sorted);
    if (!sorted) return fail_memory(error);
    for (size_t i = 0; i < count; i++) sorted[i] = &index->shards[i];
    qsort(sorted, count, sizeof *sorted, compare_shards);
    recmap_status status = join_parts(index, sorted, count, error);
    free(sorted);
    return status;
}

static recmap_status fail_framing(const struct index_file *index, const struct shard_entry *entry,
                                  recmap_error *error) {
    fail(error, RECMAP_UNSUPPORTED,
         "shard %s has the framing \"%s\", which this recmap cannot read", entry->path,
         entry->framing);
    fail_file(error, store_path(index->store));
    fail_advise(error, "load a custom framing with `--framing ./PLUGIN.so` or recmap_framing_load; "
                       "otherwise use a newer recmap");
    return RECMAP_UNSUPPORTED;
}

/* Returns true if the shard has the framing of the previous one. In nearly all indexes all shards
 * do. */
static bool repeats_framing(const struct index_file *index, size_t i) {
    return i && !strcmp(index->shards[i - 1].entry.framing, index->shards[i].entry.framing);
}

static recmap_status find_framings(struct index_file *index, recmap_error *error) {
    size_t shard_count = (size_t)index->manifest.shard_count, run_count = 0;
    for (size_t i = 0; i < shard_count; i++) run_count += !repeats_framing(index, i);
    index->framings = calloc(run_count + 1, sizeof *index->framings);
    if (!index->framings) return fail_memory(error);
    struct framing *next = index->framings;
    for (size_t i = 0; i < shard_count; i++) {
        struct index_shard *shard = &index->shards[i];
        if (!repeats_framing(index, i) && !framings_find(next++, shard->entry.framing))
            return fail_framing(index, &shard->entry, error);
        shard->framing = next - 1;
    }
    return RECMAP_OK;
}

/* Deflate gives at most 258 bytes for two bits. A larger image is a forged one, which would have
 * memory allocated for records that cannot be there. */
static bool can_inflate_to_size(const struct shard_entry *entry) {
    enum { RATIO_MAX = 4 * 258 };
    return entry->compression == COMPRESSION_NONE || entry->size / RATIO_MAX <= entry->file_size;
}

/* Computes where each shard starts among all bytes, records and damages, and checks the totals.
 * Each sum is bounded, so that arithmetic with offsets and record numbers cannot overflow anywhere.
 */
static recmap_status add_up_shards(struct index_file *index, recmap_error *error) {
    const uint64_t limit = (uint64_t)1 << 62;
    uint64_t base = 0, record = 0, damage = 0, bytes = 0;
    for (size_t i = 0; i < index->manifest.shard_count; i++) {
        struct index_shard *shard = &index->shards[i];
        const struct shard_entry *entry = &shard->entry;
        if (entry->tail_size > entry->size || entry->size > limit - base ||
            !can_inflate_to_size(entry) || entry->file_size > limit - bytes ||
            entry->record_count > limit - record || entry->damage_count > limit - damage)
            return index_fail(index, error, "its shards are too large");
        shard->base = index->bases[i] = base;
        shard->first_record = index->first_records[i] = record;
        shard->first_damage = damage;
        base += entry->size;
        bytes += entry->file_size - entry->start;
        record += entry->record_count;
        damage += entry->damage_count;
        index->bases[i + 1] = base;
        index->first_records[i + 1] = record;
    }
    const struct manifest *totals = &index->manifest;
    if (bytes != totals->byte_count || record != totals->record_count ||
        damage != totals->damage_count)
        return index_fail(index, error, "its shards do not add up to its totals");
    return RECMAP_OK;
}

/* Reads the table of shards. The number of shards is checked against the number of values first,
 * so that a forged count cannot cause a large allocation. */
static recmap_status read_shards(struct index_file *index, recmap_error *error) {
    size_t tables;
    uint64_t count = index->manifest.shard_count;
    const struct store_value *values = store_values(index->store, STORE_SHARDS, &tables);
    if (count > UINT32_MAX || tables != (count + SHARDS_PER_TABLE - 1) / SHARDS_PER_TABLE ||
        !keys_are_dense(values, tables, 1))
        return index_fail(index, error, "its table of shards is incomplete");
    index->shards = calloc(count + 1, sizeof *index->shards);
    index->first_records = calloc(count + 1, sizeof *index->first_records);
    index->bases = calloc(count + 1, sizeof *index->bases);
    struct shard_entry *entries = calloc(count + 1, sizeof *entries);
    bool has_room = index->shards && index->first_records && index->bases && entries;
    recmap_status status = has_room ? decode_shards(index, entries, error) : fail_memory(error);
    free(entries);
    RETURN_IF_FAILED(status);
    RETURN_IF_FAILED(check_names(index, error));
    RETURN_IF_FAILED(find_framings(index, error));
    return add_up_shards(index, error);
}

/* Empty damage means a compressed member with a wrong checksum whose records are good. */
static bool may_be_empty(const struct damage_entry *damage, const struct shard_entry *entry) {
    return entry->compression != COMPRESSION_NONE && damage->offset == entry->size;
}

/* Each shard's damage must lie within the shard, in order, without overlap. */
static recmap_status check_damages(const struct index_file *index, recmap_error *error) {
    uint64_t total = 0;
    for (size_t s = 0; s < index->manifest.shard_count; s++) {
        const struct index_shard *shard = &index->shards[s];
        uint64_t end = shard->entry.start;
        for (uint64_t d = 0; d < shard->entry.damage_count; d++) {
            const struct damage_entry *damage = &index->damages[shard->first_damage + d];
            if (damage->shard != s || damage->offset < end ||
                !bytes_fit(damage->offset, damage->length, shard->entry.size) ||
                (!damage->length && !may_be_empty(damage, &shard->entry)))
                return index_fail(index, error, "its list of damage is out of order");
            end = damage->offset + damage->length;
            total += damage->length;
        }
    }
    return total == index->manifest.damaged_byte_count
               ? RECMAP_OK
               : index_fail(index, error, "its list of damage does not add up to its totals");
}

/* Decodes all tables of damage into one array, which must have as many entries as the manifest
 * says. Damage is rare, so opening an index can afford that. */
static recmap_status read_damages(struct index_file *index, recmap_error *error) {
    size_t tables, decoded = 0;
    const struct store_value *values = store_values(index->store, STORE_DAMAGE, &tables);
    uint64_t count = index->manifest.damage_count;
    if (tables != (count + DAMAGES_PER_TABLE - 1) / DAMAGES_PER_TABLE ||
        !keys_are_dense(values, tables, 1))
        return index_fail(index, error, "its list of damage is incomplete");
    /* One more entry than needed, so that first_damage of the last shard is a valid index. */
    index->damages = calloc(count + 1, sizeof *index->damages);
    if (!index->damages) return fail_memory(error);
    for (size_t t = 0; t < tables; t++) {
        uint8_t *copy = NULL;
        RETURN_IF_FAILED(store_copy(&copy, index->store, STORE_DAMAGE, t, error));
        enum decode_verdict verdict =
            damages_decode(index->damages, &decoded, (size_t)count, copy, values[t].size);
        free(copy);
        RETURN_IF_FAILED(check_decoded(index, verdict, "its list of damage cannot be read", error));
    }
    return decoded == count ? check_damages(index, error)
                            : index_fail(index, error, "its list of damage is incomplete");
}

static recmap_status find_offsets(struct index_file *index, recmap_error *error) {
    const struct store_value *values =
        store_values(index->store, STORE_OFFSETS, &index->offsets_count);
    if (index->offsets_count != chunks_of(index->manifest.record_count, OFFSETS_CHUNK_SHIFT) ||
        !keys_are_dense(values, index->offsets_count, 1))
        return index_fail(index, error, "its offsets are incomplete");
    index->offsets = calloc(index->offsets_count + 1, sizeof *index->offsets);
    return index->offsets ? RECMAP_OK : fail_memory(error);
}

/* The seek points of each compressed shard have values of their own, in the order of shards. */
static recmap_status find_points(struct index_file *index, recmap_error *error) {
    size_t count, due = 0;
    const struct store_value *values = store_values(index->store, STORE_POINTS, &count);
    for (size_t s = 0; s < index->manifest.shard_count; s++) {
        struct index_shard *shard = &index->shards[s];
        shard->first_points = due;
        if (shard->entry.compression == COMPRESSION_NONE) continue;
        size_t value_count = points_value_count(shard->entry.point_count);
        if (value_count > count - due)
            return index_fail(index, error, "its points of compressed shards are incomplete");
        due += value_count;
    }
    return due == count && keys_are_dense(values, count, 1)
               ? RECMAP_OK
               : index_fail(index, error, "its points of compressed shards are incomplete");
}

/* Names that begin with `@` are the library's own. */
static recmap_status check_column_names(const struct index_file *index, recmap_error *error) {
    size_t count = index->manifest.column_count;
    const char **names = malloc((count + 1) * sizeof *names);
    if (!names) return fail_memory(error);
    bool is_impossible = false;
    for (size_t i = 0; i < count; i++) {
        names[i] = index->manifest.columns[i].name;
        is_impossible |= !names[i][0] || names[i][0] == '@';
    }
    bool repeats = sort_names(names, count);
    free(names);
    if (is_impossible) return index_fail(index, error, "the name of a column is impossible");
    return repeats ? index_fail(index, error, "it names a column twice") : RECMAP_OK;
}

/* Missing values become the default if there is one, so that only a column without one has nulls.
 */
static recmap_status check_null_count(const struct index_file *index,
                                      const struct manifest_column *column, recmap_error *error) {
    if (!column->null_count) return RECMAP_OK;
    if (index->manifest.format_version < INDEX_FORMAT_NULLS)
        return index_fail(index, error, "a column has nulls, which need format version 2");
    if (column->default_value) return index_fail(index, error, "a column with a default has nulls");
    if (column->null_count > index->manifest.record_count)
        return index_fail(index, error, "a column has more nulls than there are records");
    return RECMAP_OK;
}

static recmap_status check_type(const struct index_file *index,
                                const struct manifest_column *column, recmap_error *error) {
    if (column->type != RECMAP_TYPE_FLOAT64 ||
        index->manifest.format_version >= INDEX_FORMAT_FLOAT64)
        return RECMAP_OK;
    return index_fail(index, error, "a column is of type float64, which needs format version 4");
}

/* Checks the keys of the columns and parses their defaults. The chunks are opened when they are
 * used. */
static recmap_status find_columns(struct index_file *index, recmap_error *error) {
    size_t values_count, column_count = index->manifest.column_count;
    const struct store_value *values = store_values(index->store, STORE_COLUMNS, &values_count);
    uint64_t chunks = chunks_of(index->manifest.record_count, COLUMN_CHUNK_SHIFT);
    if (column_count > UINT32_MAX || (column_count && chunks > SIZE_MAX / column_count) ||
        values_count != chunks * column_count ||
        (column_count && !keys_are_dense(values, values_count, column_count)))
        return index_fail(index, error, "its columns are incomplete");
    index->column_chunk_count = (size_t)chunks;
    index->columns = calloc(values_count + 1, sizeof *index->columns);
    index->defaults = calloc(column_count + 1, sizeof *index->defaults);
    if (!index->columns || !index->defaults) return fail_memory(error);
    for (size_t i = 0; i < column_count; i++) {
        const struct manifest_column *column = &index->manifest.columns[i];
        RETURN_IF_FAILED(check_type(index, column, error));
        RETURN_IF_FAILED(check_null_count(index, column, error));
        if (column->first_value && column->first_value >= index->manifest.record_count)
            return index_fail(index, error, "a column has its first value after the last record");
        if (column->default_value &&
            !column_parse_default(&index->defaults[i], column->type, column->default_value))
            return index_fail(index, error, "the default of a column is not of its type");
    }
    return check_column_names(index, error);
}

static recmap_status check_counted_names(const struct index_file *index, recmap_error *error) {
    size_t count = index->manifest.counted_feature_count;
    const char **names = malloc((count + 1) * sizeof *names);
    if (!names) return fail_memory(error);
    bool is_impossible = false;
    for (size_t i = 0; i < count; i++) {
        names[i] = index->manifest.counted_features[i].name;
        is_impossible |= !names[i][0];
    }
    bool repeats = sort_names(names, count);
    free(names);
    if (is_impossible) return index_fail(index, error, "a counted feature has no name");
    return repeats ? index_fail(index, error, "it counts a feature twice") : RECMAP_OK;
}

/* Checks the keys of the element counts. The chunks are opened when they are used. */
static recmap_status find_counts(struct index_file *index, recmap_error *error) {
    size_t values_count, feature_count = index->manifest.counted_feature_count;
    const struct store_value *values = store_values(index->store, STORE_COUNTS, &values_count);
    uint64_t chunks = chunks_of(index->manifest.record_count, COUNT_CHUNK_SHIFT);
    if (feature_count > UINT32_MAX || (feature_count && chunks > SIZE_MAX / feature_count) ||
        values_count != chunks * feature_count ||
        (feature_count && !keys_are_dense(values, values_count, feature_count)))
        return index_fail(index, error, "its element counts are incomplete");
    index->counts = calloc(values_count + 1, sizeof *index->counts);
    return index->counts ? check_counted_names(index, error) : fail_memory(error);
}

/* Checks the number and sizes of the values of ids, so that pairs can be read without further
 * checks. The fences follow the chunks, under a key that is larger than any chunk's. */
static recmap_status find_ids(struct index_file *index, recmap_error *error) {
    size_t count;
    const struct store_value *values = store_values(index->store, STORE_IDS, &count);
    uint64_t ids = index->manifest.id_count;
    uint64_t chunks = ids / IDS_CHUNK_PAIRS + (ids % IDS_CHUNK_PAIRS != 0);
    bool has_ids = index->manifest.id_name != NULL;
    bool is_sound = ids <= index->manifest.record_count && count == chunks + has_ids &&
                    (has_ids || !ids) && keys_are_dense(values, (size_t)chunks, 1);
    if (is_sound && has_ids) {
        const struct store_value *fences = &values[chunks];
        is_sound = fences->key.chunk == IDS_FENCES_CHUNK && fences->key.series == 0 &&
                   fences->size == chunks * 8;
    }
    index->id_chunk_count = (size_t)chunks;
    index->id_number_size = ids_number_size(index->manifest.record_count);
    for (size_t i = 0; is_sound && i < chunks; i++)
        is_sound = values[i].size ==
                   ids_packed_size((size_t)index_pairs_in_chunk(index, i), index->id_number_size);
    return is_sound ? RECMAP_OK : index_fail(index, error, "its ids are incomplete");
}

/* Opens the store, then runs the steps: each reads one table, or checks its keys, relying on the
 * steps before it. The file may be truncated meanwhile, so the last check is that it was not. */
static recmap_status read_tables(struct index_file *index, int fd, const char *path,
                                 const struct store_options *options, recmap_error *error) {
    RETURN_IF_FAILED(store_open_file(&index->store, fd, path, options, error));
    recmap_status (*const steps[])(struct index_file *, recmap_error *) = {
        read_manifest, read_shards,  read_damages, find_offsets,
        find_points,   find_columns, find_counts,  find_ids,
    };
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
        RETURN_IF_FAILED(steps[i](index, error));
    return store_intact(index->store) ? RECMAP_OK : store_fail_cut(index->store, error);
}

recmap_status index_open_file(struct index_file **index_file, int fd, const char *path,
                              const struct store_options *options, recmap_error *error) {
    struct index_file *index = calloc(1, sizeof *index);
    if (!index) {
        file_close(fd);
        return fail_memory(error);
    }
    recmap_status status = read_tables(index, fd, path, options, error);
    if (status == RECMAP_OK) *index_file = index;
    else index_close(index);
    return status;
}

recmap_status index_check_local(const char *path, recmap_error *error) {
    if (!url_is_url(path)) return RECMAP_OK;
    fail(error, RECMAP_INVALID, "an index in a remote store can only be read");
    fail_file(error, path);
    fail_advise(error, "copy it to this machine, and name the copy");
    return RECMAP_INVALID;
}

recmap_status index_open(struct index_file **index, const char *path,
                         const struct store_options *options, recmap_error *error) {
    int fd;
    RETURN_IF_FAILED(index_check_local(path, error));
    RETURN_IF_FAILED(file_open(&fd, path, error));
    return index_open_file(index, fd, path, options, error);
}

void index_close(struct index_file *index) {
    if (!index) return;
    for (size_t i = 0; index->shards && i < index->manifest.shard_count; i++)
        shard_entry_deinit(&index->shards[i].entry);
    for (size_t i = 0; index->damages && i < index->manifest.damage_count; i++)
        free(index->damages[i].reason);
    free(index->framings);
    free(index->shards);
    free(index->first_records);
    free(index->bases);
    free(index->damages);
    free(index->offsets);
    free(index->columns);
    free(index->defaults);
    free(index->counts);
    manifest_deinit(&index->manifest);
    store_close(index->store);
    free(index);
}
