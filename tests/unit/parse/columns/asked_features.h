/* The features that a parser asks a record for, inferred from the record. */
#ifndef RECMAP_TESTS_UNIT_PARSE_COLUMNS_ASKED_FEATURES_H
#define RECMAP_TESTS_UNIT_PARSE_COLUMNS_ASKED_FEATURES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <recmap/record.h>

#include "parse/example/wire.h"

/* What an entry of the map says; NULL pointers where it does not. */
struct entry_fields {
    struct wire name;
    struct wire value; /* the last of them */
};

/* Reads the fields of an entry. Returns false if they are malformed. */
bool entry_fields_read(struct entry_fields *fields, struct wire entry);

/* A feature to ask for: as VAR_LEN, and with `fixed` above 0 also as FIXED_LEN of that many values.
 */
struct asked_feature {
    char *name;
    recmap_type kind;
    uint64_t fixed;
    bool is_converted; /* the FIXED_LEN: to int32, or to float64 */
};

enum { ASKED_MAX = 48 };
struct asked_features {
    struct asked_feature features[ASKED_MAX];
    size_t count;
};

/* What the entries of a record seem to hold, also where it is damaged. With `leave_out` above 0
 * some of the names are left out, others for each number. */
void asked_infer(struct asked_features *request, const uint8_t *data, size_t size,
                 unsigned leave_out);
void asked_deinit(struct asked_features *request);

/* Returns the feature of this name, or NULL. */
const struct asked_feature *asked_find(const struct asked_features *request,
                                       const struct wire *name);

/* Returns whether an int64 fits 32 bits. */
bool is_int32(const recmap_value *value);

#endif
