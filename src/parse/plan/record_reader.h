/* Reads records that are not tf.Examples: rows of CSV, JSON objects, messages of other types. A
 * parser with such a reader uses it in place of the tf.Example decoder; everything after that, such
 * as pictures, columns, threads and failures, is the same. */
#ifndef RECMAP_PARSE_PLAN_RECORD_READER_H
#define RECMAP_PARSE_PLAN_RECORD_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <recmap/parser.h>

#include "parse/plan/reader_memory.h"
#include "parse/plan/slot.h"

struct read_fault;

struct record_reader {
    /* Reads the slots of the parser's features into row `row` of the sinks, one per slot. Returns
     * false and fills `fault` on failure; the caller then rolls the row back. Texts that the record
     * does not contain as they are belong to `memory`, which also has scratch memory. */
    bool (*read)(const struct record_reader *reader, struct sink *sinks,
                 struct reader_memory *memory, const recmap_parser *parser, const uint8_t *data,
                 size_t size, size_t row, struct read_fault *fault);
    void (*destroy)(struct record_reader *reader);
};

#endif
