/* XXH3 for many bytes. xxHash chooses its vector instructions when it is compiled, which for
 * distributions means SSE2, unless the functions of this second header are called: they choose when
 * the program runs. They exist on x86-64 only, and only in some builds of the library. */
#ifndef RECMAP_BASE_CORE_HASH_H
#define RECMAP_BASE_CORE_HASH_H

#include <xxhash.h>
#ifdef RECMAP_XXHASH_DISPATCH
#include <xxh_x86dispatch.h>
#endif

#endif
