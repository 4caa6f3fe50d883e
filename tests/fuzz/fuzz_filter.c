/* Any bytes as an expression over columns: refused with a reason, or a filter that gives the same
 * matches for all records at once and one by one, and whose negation gives the other records. */
#include <stdlib.h>
#include <string.h>

#include <recmap/filter.h>

#include "fuzz/fuzz.h"
#include "fuzz/small_set.h"

/* Matches all records. Returns false if the expression is refused. */
static bool match_all(uint8_t *matches, const char *expression, size_t size) {
    recmap_filter *filter;
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_status status = recmap_filter_create(&filter, small_set(), expression, size, &error);
    if (status != RECMAP_OK) {
        check((status == RECMAP_INVALID || status == RECMAP_NO_COLUMN) && error.message[0]);
        return false;
    }
    check(recmap_filter_match(matches, filter, 0, SMALL_SET_RECORDS, NULL) == RECMAP_OK);
    for (uint64_t i = 0; i < SMALL_SET_RECORDS; i++) {
        uint8_t match = 2;
        check(recmap_filter_match(&match, filter, i, 1, NULL) == RECMAP_OK);
        check(match <= 1 && match == matches[i]);
    }
    recmap_filter_destroy(filter);
    return true;
}

/* An expression can be too deep only together with its negation. */
static void check_negation(const uint8_t *matches, const char *expression, size_t size) {
    static const char head[] = "not (", tail[] = "\n)";
    uint8_t others[SMALL_SET_RECORDS];
    size_t head_size = sizeof head - 1, tail_size = sizeof tail - 1;
    char *negation = malloc(size + head_size + tail_size);
    check(negation != NULL);
    memcpy(negation, head, head_size);
    memcpy(negation + head_size, expression, size);
    memcpy(negation + head_size + size, tail, tail_size);
    if (match_all(others, negation, size + head_size + tail_size))
        for (size_t i = 0; i < SMALL_SET_RECORDS; i++) check(matches[i] != others[i]);
    free(negation);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    uint8_t matches[SMALL_SET_RECORDS];
    if (match_all(matches, (const char *)data, size))
        check_negation(matches, (const char *)data, size);
    return 0;
}
