/* Checking the options of an index before anything is built from them. */
#ifndef RECMAP_BUILD_OPTIONS_H
#define RECMAP_BUILD_OPTIONS_H

#include <recmap/index.h>

/* Errors: INVALID saying which option is impossible. Lifts are checked where they are compiled. */
recmap_status index_options_check(const recmap_index_options *options, recmap_error *error);

#endif
