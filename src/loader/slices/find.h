/* Finds the values of SLICED features in a record without decoding them. */
#ifndef RECMAP_LOADER_SLICES_FIND_H
#define RECMAP_LOADER_SLICES_FIND_H

#include <recmap/record.h>

#include "parse/plan/plan.h"

/* Where the values of a slice are in a record. */
struct slice_span {
    bool is_found;
    const uint8_t *data; /* packed numbers, raw bytes, or a list of bytes values or of steps */
    size_t size;
};

/* Finds the span of each slice of the parser in a record that is encoded as writers do. Entries
 * that no slice asks for are skipped. Returns false for any other record, valid or not: the record
 * must then be read as a whole. */
bool slice_find(struct slice_span *spans, const recmap_parser *parser, const recmap_record *record);

#endif
