/* What a build without libcurl has instead of transfer.c. */
#include "base/core/error.h"
#include "storage/remote/transfer.h"

bool transfer_is_supported(void) {
    return false;
}

void transfers_destroy(struct transfer *transfer) {
    (void)transfer;
}

recmap_status transfer_run(size_t *failed_index, recmap_storage *storage,
                           const struct transfer_request *requests, size_t count,
                           struct interrupt *interrupt, recmap_error *error) {
    (void)storage;
    (void)count;
    (void)interrupt;
    *failed_index = 0;
    fail(error, RECMAP_UNSUPPORTED, "this build of recmap reads local files only");
    fail_file(error, requests[0].name);
    fail_advise(error, "build recmap with libcurl (RECMAP_WITH_REMOTE=ON), mount the remote store "
                       "as a folder, or copy the shards to this machine");
    return RECMAP_UNSUPPORTED;
}
