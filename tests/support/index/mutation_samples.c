#define _GNU_SOURCE
#include "support/index/mutation_samples.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <zlib.h>

#include "base/core/crc32c.h"
#include "index/tables/count_chunk.h"
#include "index/tables/points.h"
#include "support/folder.h"
#include "support/index/build.h"
#include "support/index/forged.h"
#include "support/index/mutation.h"
#include "support/shards/deflate.h"
#include "support/shards/features.h"
#include "support/shards/oracle.h"
#include "support/shards/plain_tar.h"

enum { FIXED_SIZE = 40, TEXT_SIZE = 240, POINTS_APART = 400, TAR_BLOCK = 512 };

const recmap_counted_feature samples_counted[SAMPLE_COUNTED] = {{"tokens", RECMAP_ELEMENT_NONE},
                                                                {"raw", RECMAP_ELEMENT_UINT16}};

const recmap_lift samples_lifts[SAMPLE_LIFTS] = {
    {"number", "-1", 0}, {"word", "none", 0}, {"language", NULL, 1}, {"score", NULL, 1}};

static const char *const framings[SAMPLE_FRAMINGS] = {"tfrecord", "ofrecord",     "lines",
                                                      "tar",      "fixed:7,40,5", "short"};
enum { TFRECORD, OFRECORD, LINES, TAR, FIXED, SHORT };

static struct sample_file files[SAMPLE_KINDS * SAMPLE_FILES];

/* A framing of the test's own: a byte that says how many follow. */
static recmap_frame_verdict parse_short(recmap_frame_place *frame, const uint8_t *bytes,
                                        size_t size, recmap_frame_fault *fault, void *context) {
    (void)fault;
    (void)context;
    if (size < 1u + bytes[0]) return RECMAP_FRAME_BAD;
    *frame = (recmap_frame_place){.size = 1u + bytes[0], .data_offset = 1, .data_size = bytes[0]};
    return RECMAP_FRAME_GOOD;
}

static const recmap_framing short_framing = {
    .version = RECMAP_FRAMING_VERSION, .name = "short", .parse = parse_short};

/* Finds the id in the payload's text, so that it works for every framing. A payload without an id
 * is valid and has none. */
recmap_status samples_extract(const recmap_record *record, recmap_value *id, recmap_value *columns,
                              size_t column_count, char *message, size_t message_capacity,
                              void *context) {
    (void)context, (void)message, (void)message_capacity;
    const uint8_t *text = memmem(record->data, record->size, "id-", 3);
    if (!text) return RECMAP_OK;
    size_t left = (size_t)(record->data + record->size - text), size = 3;
    int64_t number = 0;
    for (; size < left && size < 9 && text[size] >= '0' && text[size] <= '9'; size++)
        number = number * 10 + text[size] - '0';
    id->type = RECMAP_TYPE_BYTES;
    id->as.bytes.data = text;
    id->as.bytes.size = size;
    recmap_value values[SAMPLE_LIFTS] = {
        {.type = RECMAP_TYPE_INT64, .as.int64 = number},
        *id,
        text_value(number % 3 ? "de" : "a longer text"),
        {.type = RECMAP_TYPE_FLOAT, .as.float32 = (float)number / 4},
    };
    if (number % 5 == 1) values[2].type = RECMAP_TYPE_NONE;
    if (number % 2) values[3].type = RECMAP_TYPE_NONE;
    memcpy(columns, values,
           (column_count < SAMPLE_LIFTS ? column_count : SAMPLE_LIFTS) * sizeof *columns);
    return RECMAP_OK;
}

static void add_text(struct buffer *record, size_t number, size_t size, struct rng *random) {
    char text[16];
    buffer_add(record, text, (size_t)snprintf(text, sizeof text, "id-%zu ", number));
    while (record->size < size) buffer_add_byte(record, (uint8_t)('a' + rng_below(random, 20)));
}

/* An Example, but for the framings whose records have one size or no line feeds. */
static void add_payload(struct buffer *record, size_t framing, size_t number, struct rng *random) {
    size_t size = 40 + (size_t)rng_below(random, TEXT_SIZE - 120);
    if (framing == FIXED) add_text(record, number, FIXED_SIZE, random);
    if (framing == LINES) add_text(record, number, size, random);
    if (framing == FIXED || framing == LINES) return;
    struct buffer features = BUFFER_INIT, text = BUFFER_INIT;
    char id[16];
    snprintf(id, sizeof id, "id-%zu", number);
    add_text(&text, number, size, random);
    features_add_text(&features, "id", id);
    features_add_int64(&features, "number", (int64_t)number);
    features_add_bytes(&features, "text", text.data, text.size);
    features_end(record, &features);
    buffer_deinit(&features);
    buffer_deinit(&text);
}

static void add_member(struct buffer *shard, const struct buffer *record, size_t number) {
    static const uint8_t zeros[TAR_BLOCK];
    uint8_t header[TAR_BLOCK] = {0};
    snprintf((char *)header, 100, "%06zu.bin", number);
    snprintf((char *)header + 100, 8, "0000644");
    snprintf((char *)header + 124, 12, "%011zo", record->size);
    header[156] = '0';
    memcpy(header + 257,
           "ustar\0"
           "00",
           8);
    plain_tar_sum(header);
    buffer_add(shard, header, sizeof header);
    buffer_add(shard, record->data, record->size);
    buffer_add(shard, zeros, (TAR_BLOCK - record->size % TAR_BLOCK) % TAR_BLOCK);
}

static void add_frame(struct buffer *shard, size_t framing, const struct buffer *record,
                      size_t number) {
    uint8_t length[8] = {(uint8_t)record->size, (uint8_t)(record->size >> 8)};
    if (framing == TFRECORD) {
        oracle_add_record(shard, record->data, record->size);
        return;
    }
    if (framing == TAR) {
        add_member(shard, record, number);
        return;
    }
    if (framing == OFRECORD) buffer_add(shard, length, sizeof length);
    if (framing == SHORT) buffer_add(shard, length, 1);
    buffer_add(shard, record->data, record->size);
    if (framing == LINES) buffer_add_byte(shard, '\n');
}

/* Writes one sample file: framing, compression and content follow from `kind` and `number` alone.
 * TFRecord files contain some damage, so that resyncing is part of the samples. */
static void write_file(struct sample_file *file, size_t kind, size_t number) {
    size_t framing = kind % SAMPLE_FRAMINGS, compressed = kind / SAMPLE_FRAMINGS;
    struct rng random = {kind * SAMPLE_FILES + number + 1};
    snprintf(file->name, sizeof file->name, "s%02zu-%zu", kind, number);
    file->kind = kind;
    if (framing == FIXED) buffer_add(&file->content, "HEADER.", 7);
    for (size_t i = 0; i < SAMPLE_FILE_RECORDS; i++) {
        struct buffer record = BUFFER_INIT;
        size_t id = number * SAMPLE_FILE_RECORDS + i;
        add_payload(&record, framing, id, &random);
        for (size_t k = 0; framing == TFRECORD && i % 12 == 6 && k < 20; k++)
            buffer_add_byte(&file->content, 0xff);
        add_frame(&file->content, framing, &record, id);
        buffer_deinit(&record);
    }
    if (framing == FIXED) buffer_add(&file->content, "FOOT.", 5);
    for (size_t i = 0; framing == TAR && i < 2 * TAR_BLOCK; i++) buffer_add_byte(&file->content, 0);
    struct deflate_way way = {.level = 1, .memory = 1};
    if (!compressed) buffer_add(&file->bytes, file->content.data, file->content.size);
    else add_deflated(&file->bytes, (enum compression)compressed, &file->content, &way);
    file_write(file->name, file->bytes.data, file->bytes.size);
}

/* A point at the beginning of a deflate block. A scan puts points megabytes apart. */
static void add_point(struct point_list *points, const struct sample_file *file,
                      const z_stream *stream) {
    enum { UNUSED_BITS = 7, WINDOW = INFLATE_WINDOW_MAX };
    size_t offset = stream->total_out, window_size = offset < WINDOW ? offset : WINDOW;
    struct seek_point point = {.bit = 8 * (uint64_t)stream->total_in -
                                      (uint64_t)(stream->data_type & UNUSED_BITS),
                               .offset = offset,
                               .window = file->content.data + offset - window_size,
                               .window_size = (uint32_t)window_size};
    assert_true(points_add(points, &point));
}

/* Lets zlib stop at each block boundary and takes a seek point there if the previous one is far
 * enough away. */
static void find_points(struct point_list *points, const struct sample_file *file) {
    enum { AT_BLOCK = 128, GZIP_BITS = 31, ZLIB_BITS = 15 };
    bool is_gzip = file->kind / SAMPLE_FRAMINGS == COMPRESSION_GZIP;
    z_stream stream = {.next_in = file->bytes.data, .avail_in = (uInt)file->bytes.size};
    uint8_t *out = must_realloc(NULL, file->content.size + 1);
    uint64_t wanted_from = POINTS_APART;
    int result;
    assert_int_equal(inflateInit2(&stream, is_gzip ? GZIP_BITS : ZLIB_BITS), Z_OK);
    stream.next_out = out;
    stream.avail_out = (uInt)file->content.size + 1;
    while ((result = inflate(&stream, Z_BLOCK)) == Z_OK) {
        if (!(stream.data_type & AT_BLOCK) || stream.total_out < wanted_from ||
            stream.total_out >= file->content.size)
            continue;
        add_point(points, file, &stream);
        wanted_from = stream.total_out + POINTS_APART;
    }
    assert_int_equal(result, Z_STREAM_END);
    points_finish(points, file->content.size);
    inflateEnd(&stream);
    free(out);
}

static void add_checks(struct point_list *points, const struct buffer *content) {
    for (size_t i = 0; i <= points->count; i++) {
        size_t begin = i ? (size_t)points->at[i - 1].offset : 0;
        size_t end = i < points->count ? (size_t)points->at[i].offset : content->size;
        assert_true(points_add_check(points, crc32c(content->data + begin, end - begin)));
    }
    assert_true(points_divide_checks(points, content->size));
}

/* Replaces the index's seek points with those found by zlib. Small samples thus have several spans.
 * */
static void add_points(const char *index_name, size_t kind) {
    struct forged index = forged_read(index_name);
    struct forged_table *table = &index.tables[STORE_POINTS];
    while (table->count) forged_remove(&index, STORE_POINTS);
    for (size_t i = 0; i < index.shard_count; i++) {
        struct point_list points = {0};
        size_t size;
        find_points(&points, &files[kind * SAMPLE_FILES + i]);
        assert_true(points.count > 0);
        add_checks(&points, &files[kind * SAMPLE_FILES + i].content);
        uint8_t *value = points_encode(&size, &points, 0, points.count);
        assert_non_null(value);
        forged_add(&index, STORE_POINTS, (struct store_key){i, 0}, value, size);
        index.shards[i].point_count = points.count;
        free(value);
        points_deinit(&points);
    }
    forged_encode(&index);
    forged_write(&index, index_name);
    forged_deinit(&index);
}

/* Small counts, with a huge one now and then. */
static uint64_t count_of(size_t feature, uint64_t number) {
    return number % 17 == 16 ? (uint64_t)1 << 40 : number * (feature + 3) % 1000;
}

/* Adds element counts to an index without any. */
static void add_counts(const char *index_name) {
    struct forged index = forged_read(index_name);
    struct manifest *manifest = &index.manifest;
    size_t record_count = (size_t)manifest->record_count;
    uint64_t *counts = must_realloc(NULL, record_count * sizeof *counts);
    uint8_t *packed = must_realloc(NULL, count_chunk_capacity(record_count));
    manifest->counted_features =
        must_realloc(NULL, SAMPLE_COUNTED * sizeof *manifest->counted_features);
    manifest->counted_feature_count = SAMPLE_COUNTED;
    for (size_t f = 0; f < SAMPLE_COUNTED; f++) {
        manifest->counted_features[f] =
            (struct manifest_counted){strdup(samples_counted[f].name), samples_counted[f].element};
        for (size_t i = 0; i < record_count; i++) counts[i] = count_of(f, i);
        size_t size = count_chunk_pack(packed, counts, record_count);
        forged_add(&index, STORE_COUNTS, (struct store_key){0, (uint32_t)f}, packed, size);
    }
    forged_encode(&index);
    forged_write(&index, index_name);
    forged_deinit(&index);
    free(packed);
    free(counts);
}

static recmap_index_options options_of(size_t kind) {
    static const recmap_compression compressions[] = {
        RECMAP_COMPRESSION_NONE, RECMAP_COMPRESSION_GZIP, RECMAP_COMPRESSION_ZLIB};
    recmap_index_options options = RECMAP_INDEX_OPTIONS_INIT;
    options.framing = framings[kind % SAMPLE_FRAMINGS];
    options.compression = compressions[kind / SAMPLE_FRAMINGS];
    options.id_feature = "id";
    options.lifts = samples_lifts;
    options.lift_count = SAMPLE_LIFTS;
    options.lift = samples_extract;
    options.on_bad_record = RECMAP_ON_BAD_RECORD_SKIP;
    options.thread_count = 1;
    return options;
}

const char *samples_index_name(char *name, size_t set) {
    snprintf(name, 16, "set%02u.rmx", (unsigned)set);
    return name;
}

static void write_set(size_t kind) {
    char index_name[16];
    const char *names[SAMPLE_FILES];
    for (size_t i = 0; i < SAMPLE_FILES; i++) {
        struct sample_file *file = &files[kind * SAMPLE_FILES + i];
        write_file(file, kind, i);
        names[i] = file->name;
    }
    recmap_index_options options = options_of(kind);
    recmap_index_summary summary =
        index_build(samples_index_name(index_name, kind), &options, names, SAMPLE_FILES);
    assert_int_equal(summary.record_count, SAMPLE_FILES * SAMPLE_FILE_RECORDS);
    if (kind >= SAMPLE_FRAMINGS) add_points(index_name, kind);
}

/* One index over a shard of each kind, merged out of indexes of one shard. */
static void write_mixed(void) {
    char index_name[16];
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_index_builder *builder;
    recmap_index_options options = options_of(0);
    samples_index_name(index_name, SAMPLE_KINDS);
    ASSERT_OK(recmap_index_builder_create(&builder, index_name, &options, &error), &error);
    for (size_t kind = 0; kind < SAMPLE_KINDS; kind++) {
        char part[16];
        const char *name = files[kind * SAMPLE_FILES].name;
        recmap_index_options of_part = options_of(kind);
        snprintf(part, sizeof part, "part%02u.rmx", (unsigned)kind);
        index_build(part, &of_part, &name, 1);
        if (kind >= SAMPLE_FRAMINGS) add_points(part, kind);
        ASSERT_OK(recmap_index_builder_add_index(builder, part, &error), &error);
    }
    ASSERT_OK(recmap_index_builder_finish(NULL, builder, &error), &error);
    recmap_index_builder_destroy(builder);
}

void samples_write(void) {
    recmap_error error = RECMAP_ERROR_INIT;
    ASSERT_OK(recmap_framing_register(&short_framing, &error), &error);
    for (size_t kind = 0; kind < SAMPLE_KINDS; kind++) write_set(kind);
    write_mixed();
    for (size_t set = 0; set < SAMPLE_SETS; set++) {
        char name[16];
        add_counts(samples_index_name(name, set));
    }
}

void samples_deinit(void) {
    for (size_t i = 0; i < SAMPLE_KINDS * SAMPLE_FILES; i++) {
        buffer_deinit(&files[i].bytes);
        buffer_deinit(&files[i].content);
        files[i] = (struct sample_file){.kind = 0};
    }
}

void samples_mutate(const char *path, uint64_t seed) {
    struct rng random = {seed * 0x9e3779b97f4a7c15u};
    char sample[16];
    /* The last set is as good as several others, and is chosen more often. */
    size_t set = (size_t)rng_below(&random, SAMPLE_SETS + 2);
    struct forged index =
        forged_read(samples_index_name(sample, set < SAMPLE_SETS ? set : SAMPLE_SETS - 1));
    mutate_index(&index, &random);
    forged_write(&index, path);
    forged_deinit(&index);
}

const struct sample_file *samples_find(const char *name) {
    for (size_t i = 0; i < SAMPLE_KINDS * SAMPLE_FILES; i++)
        if (!strcmp(files[i].name, name)) return &files[i];
    return NULL;
}

const char *samples_framing(size_t kind) {
    return framings[kind % SAMPLE_FRAMINGS];
}
