/* Validation of the options of an index. */
#ifndef RECMAP_INDEX_BUILD_OPTIONS_H
#define RECMAP_INDEX_BUILD_OPTIONS_H

#include <recmap/index.h>

/* Errors: INVALID naming the invalid option. Names of lifts are checked by extractor_create. */
recmap_status index_options_check(const recmap_index_options *options, recmap_error *error);

#endif
