/* The features of sampled records: their schema, and for each how many values records have, and
 * some of the values. */
#ifndef RECMAP_TOOLS_REPORT_FEATURES_H
#define RECMAP_TOOLS_REPORT_FEATURES_H

#include <recmap/dataset.h>
#include <recmap/example.h>

#include "report/values.h"

/* The values of one feature, or of one feature list of SequenceExamples. */
struct feature_values {
    char *name;
    size_t name_size;
    bool is_list;
    struct value_sample counts; /* values per record, or steps of a list, as int64 */
    struct value_sample values; /* short ones; up to 8 of each record */
};

struct record_features {
    const recmap_dataset *dataset;
    recmap_schema *schema;
    struct feature_values *items;
    size_t count;
    size_t cursor; /* where the next feature is searched first */
};

/* Borrows the data set. Deinit also after an error. Errors: NO_MEMORY. */
recmap_status record_features_init(struct record_features *features, const recmap_dataset *dataset,
                                   recmap_error *error);
void record_features_deinit(struct record_features *features);

/* Adds a record of the data set, which may be anything. Errors: NO_MEMORY. */
recmap_status record_features_add(struct record_features *features, const recmap_record *record,
                                  recmap_error *error);

/* The values of a feature of the schema, or NULL: only the first 256 features have them. */
struct feature_values *record_features_find(struct record_features *features,
                                            const recmap_schema_feature *feature);

#endif
