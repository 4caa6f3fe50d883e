#include "order/kinds/digest.h"

#include <string.h>
#include <xxhash.h>

#include "base/core/bytes.h"
#include "base/core/error.h"
#include "base/core/interrupt.h"

/* XXH3 hashes bytes, so words are converted in pieces, to little-endian on every machine. */
enum { PIECE = 512, WORK_SHARE = 4 /* hashing is faster than what the interrupt's work counts */ };

recmap_status digest_words(uint8_t digest[DIGEST_SIZE], const uint64_t *words, size_t count,
                           recmap_error *error) {
    XXH3_state_t *state = XXH3_createState();
    if (!state) return fail_memory(error);
    XXH3_128bits_reset(state);
    recmap_status status = RECMAP_OK;
    while (count && status == RECMAP_OK) {
        uint8_t bytes[PIECE * 8];
        size_t here = count < PIECE ? count : PIECE;
        for (size_t i = 0; i < here; i++) store64(bytes + 8 * i, words[i]);
        XXH3_128bits_update(state, bytes, 8 * here);
        words += here;
        count -= here;
        status = interrupt_check(thread_interrupt(), sizeof bytes / WORK_SHARE, error);
    }
    XXH128_canonical_t canonical;
    XXH128_canonicalFromHash(&canonical, XXH3_128bits_digest(state));
    memcpy(digest, canonical.digest, DIGEST_SIZE);
    XXH3_freeState(state);
    return status;
}
