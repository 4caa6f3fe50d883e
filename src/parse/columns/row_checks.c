#include "parse/columns/row_checks.h"

#include "parse/columns/ragged.h"
#include "parse/columns/sparse.h"

bool row_checks_begin(struct batch_memory *memory) {
    const recmap_parser *parser = memory->parser;
    for (size_t i = 0; parser->needs_checks && i < parser->column_count; i++)
        if (parser->columns[i].feature.kind == RECMAP_FEATURE_RAGGED && !ragged_begin(memory, i))
            return false;
    return true;
}

bool row_checks(struct batch_memory *memory, size_t row, struct read_fault *fault) {
    const recmap_parser *parser = memory->parser;
    for (size_t i = 0; i < parser->column_count; i++) {
        recmap_feature_kind kind = parser->columns[i].feature.kind;
        if (kind == RECMAP_FEATURE_RAGGED && !ragged_add_row(memory, i, row, fault)) return false;
        if (kind == RECMAP_FEATURE_SPARSE && !sparse_check_row(memory, i, row, fault)) return false;
    }
    return true;
}

bool row_checks_nothing(struct batch_memory *memory, size_t row) {
    struct read_fault fault;
    return !memory->parser->needs_checks || row_checks(memory, row, &fault);
}
