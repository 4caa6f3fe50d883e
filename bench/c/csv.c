/* What do rows of CSV and JSON lines cost, from memory, on one core: finding the rows, beside
 * memchr over the same bytes, and parsing 14 fields of each into columns?
 *
 * Times are CPU times of the thread. bench/peers/csv_rows.py asks TensorFlow to parse the same
 * rows, which `bench_csv write FILE` writes.
 *
 * usage: bench_csv [REPEATS] | bench_csv write FILE */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <recmap/table.h>

#include "base/text/fields.h"
#include "format/framing/framing.h"
#include "measure.h"

enum { ROWS = 100000, ROW_MAX = 512, BATCH = 256, SAMPLE_NS = 100000000 };

static const char *const names[] = {"id",  "label", "user", "item", "hour",  "day", "city",
                                    "age", "price", "ctr",  "cat",  "brand", "pos", "note"};
enum { FIELDS = sizeof names / sizeof *names };

static const recmap_element elements[FIELDS] = {
    RECMAP_ELEMENT_BYTES,   RECMAP_ELEMENT_INT64,   RECMAP_ELEMENT_INT64, RECMAP_ELEMENT_INT64,
    RECMAP_ELEMENT_INT64,   RECMAP_ELEMENT_INT64,   RECMAP_ELEMENT_INT64, RECMAP_ELEMENT_INT64,
    RECMAP_ELEMENT_FLOAT32, RECMAP_ELEMENT_FLOAT32, RECMAP_ELEMENT_BYTES, RECMAP_ELEMENT_BYTES,
    RECMAP_ELEMENT_INT64,   RECMAP_ELEMENT_BYTES};

/* A file in memory, and where its records are. */
struct text {
    char *data;
    size_t size;
    recmap_record records[ROWS];
};

/* Some notes are quoted and have a comma or a line feed, as texts of people do. */
static size_t write_row(char *out, uint64_t number, bool is_json) {
    static const char *const notes[] = {"plain", "\"a, quoted one\"", "\"with\nlines\"", "short"};
    static const char *const escaped[] = {"plain", "a, quoted one", "with\\nlines", "short"};
    uint64_t random = number * UINT64_C(0x9e3779b97f4a7c15);
    unsigned a = (unsigned)(random >> 40) % 100000, b = (unsigned)(random >> 20) % 1000;
    const char *form =
        is_json ? "{\"id\": \"u%07u\", \"label\": %u, \"user\": %u, \"item\": %u, \"hour\": %u, "
                  "\"day\": %u, \"city\": %u, \"age\": %u, \"price\": %u.%02u, \"ctr\": 0.%06u, "
                  "\"cat\": \"c%u\", \"brand\": \"b%u\", \"pos\": %u, \"note\": \"%s\"}\n"
                : "u%07u,%u,%u,%u,%u,%u,%u,%u,%u.%02u,0.%06u,c%u,b%u,%u,%s\n";
    return (size_t)snprintf(out, ROW_MAX, form, (unsigned)number, b & 1, a, a ^ b, b % 24, b % 7, b,
                            b % 90, a % 1000, b % 100, a, b % 40, b % 300, b % 20,
                            (is_json ? escaped : notes)[a % 16 < 4 ? a % 4 : 0]);
}

static void make(struct text *text, bool is_json) {
    text->data = must_have(malloc((size_t)ROWS * ROW_MAX));
    text->size = 0;
    for (uint64_t i = 0; i < ROWS; i++) {
        size_t size = write_row(text->data + text->size, i, is_json);
        const uint8_t *row = (const uint8_t *)text->data + text->size;
        text->records[i] = (recmap_record){row, size - 1, i, NULL};
        text->size += size;
    }
}

/* ---- Finding rows. */

static uint64_t sum; /* of ends, so that no loop is left out */

static void with_memchr(const struct text *text) {
    const char *end = text->data + text->size;
    for (const char *at = text->data; at < end; sum += (uint64_t)(uintptr_t)at)
        at = (const char *)memchr(at, '\n', (size_t)(end - at)) + 1;
}

static void with_row_end(const struct text *text) {
    const char *end = text->data + text->size, *quote;
    for (const char *at = text->data; at < end; sum += (uint64_t)(uintptr_t)at)
        at = field_row_end(&quote, at, end, ',', '"') + 1;
}

/* As a scan does: with a hash of each row. */
static void with_framing(const struct text *text) {
    struct framing framing;
    if (!framing_init(&framing, "csv,noheader")) abort();
    for (size_t at = 0; at < text->size;) {
        struct frame frame;
        if (framing.parse(&frame, &framing, (const uint8_t *)text->data + at, text->size - at,
                          FRAME_CHECK_STORED, NULL) != FRAME_GOOD)
            abort();
        at += (size_t)frame.size;
        sum += frame.check;
    }
}

/* GB/s. */
static double time_pass(void (*pass)(const struct text *text), const struct text *text) {
    uint64_t start = thread_cpu_ns(), taken = 0;
    size_t rounds = 0;
    for (; taken < SAMPLE_NS; rounds++) {
        pass(text);
        taken = thread_cpu_ns() - start;
    }
    return (double)(rounds * text->size) / (double)taken;
}

static void measure_finding(const struct text *text, int repeats) {
    struct samples plain = {.count = 0}, rows = plain, framing = plain, ratio = plain;
    for (int r = 0; r < repeats; r++) {
        double memchr_speed = time_pass(with_memchr, text);
        double row_speed = time_pass(with_row_end, text);
        samples_add(&plain, memchr_speed);
        samples_add(&rows, row_speed);
        samples_add(&ratio, row_speed / memchr_speed);
        samples_add(&framing, time_pass(with_framing, text));
    }
    print_row(&plain, "GB/s", NO_GOAL, "csv: memchr for each line feed");
    print_row(&rows, "GB/s", NO_GOAL, "csv: the ends of rows");
    print_row(&ratio, "ratio", AT_MIN(0.25), "csv: the ends of rows, to memchr");
    print_row(&framing, "GB/s", AT_MIN(1), "csv: rows with their hashes, as a scan finds them");
}

/* ---- Parsing rows. */

static recmap_parser *create_parser(bool is_json) {
    recmap_parser *parser = NULL;
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_feature features[FIELDS];
    char keys[FIELDS][8];
    for (size_t i = 0; i < FIELDS; i++) {
        snprintf(keys[i], sizeof keys[i], "#%zu", i);
        features[i] = (recmap_feature){.name = names[i],
                                       .key = is_json ? NULL : keys[i],
                                       .kind = RECMAP_FEATURE_FIXED_LEN,
                                       .element = elements[i]};
    }
    must(is_json ? recmap_parser_create_json(&parser, features, FIELDS, &error)
                 : recmap_parser_create_csv(&parser, features, FIELDS, NULL, &error),
         &error);
    return parser;
}

/* ns a record. */
static double time_parse(recmap_columns *columns, const recmap_parser *parser,
                         const struct text *text) {
    recmap_error error = RECMAP_ERROR_INIT;
    uint64_t start = thread_cpu_ns(), taken = 0, count = 0;
    for (size_t i = 0; taken < SAMPLE_NS; i = (i + BATCH) % (ROWS - BATCH)) {
        must(recmap_parser_parse(columns, parser, text->records + i, BATCH, RECMAP_PARSE_RAISE,
                                 &error),
             &error);
        count += BATCH;
        taken = thread_cpu_ns() - start;
    }
    return (double)taken / (double)count;
}

static void measure_parsing(const struct text *text, bool is_json, int repeats) {
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_parser *parser = create_parser(is_json);
    recmap_columns *columns = NULL;
    struct samples times = {.count = 0};
    must(recmap_columns_create(&columns, &error), &error);
    for (int r = 0; r < repeats; r++) samples_add(&times, time_parse(columns, parser, text));
    print_row(&times, "ns a record", NO_GOAL, "parse: 14 small fields of %s",
              is_json ? "JSON" : "CSV");
    recmap_columns_destroy(columns);
    recmap_parser_release(parser);
}

static int write_file(const struct text *text, const char *path) {
    FILE *file = must_have(fopen(path, "w"));
    bool is_written = fwrite(text->data, 1, text->size, file) == text->size;
    return fclose(file) || !is_written;
}

int main(int argc, char **argv) {
    static struct text rows, lines;
    make(&rows, false);
    make(&lines, true);
    if (argc == 3 && !strcmp(argv[1], "write")) return write_file(&rows, argv[2]);
    int repeats = parse_repeats(argc > 1 ? argv[1] : NULL, 8);
    measure_finding(&rows, repeats);
    measure_parsing(&rows, false, repeats);
    measure_parsing(&lines, true, repeats);
    free(rows.data);
    free(lines.data);
    return sum == 1;
}
