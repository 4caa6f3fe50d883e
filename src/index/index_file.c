#include "index/index_file.h"

#include "base/error.h"

recmap_status index_fail(const struct index_file *index, recmap_error *error, const char *what) {
    fail(error, RECMAP_CORRUPT, "the index is damaged or forged: %s", what);
    fail_file(error, store_path(index->store));
    fail_advise(error, "build it again with `recmap index`");
    return RECMAP_CORRUPT;
}
