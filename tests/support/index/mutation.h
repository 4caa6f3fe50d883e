/* Changes to an index that leave its form alone: fields of its messages, offsets, ids, seek points
 * and bytes get other values, in ways that come near to what is right. Written again, every hash
 * and the seal hold, so that a reader has to find by itself what cannot be. */
#ifndef RECMAP_TESTS_SUPPORT_INDEX_MUTATION_H
#define RECMAP_TESTS_SUPPORT_INDEX_MUTATION_H

#include "support/index/forged.h"
#include "support/random.h"

/* Makes one to three changes. The index must be as forged_read gave it. */
void mutate_index(struct forged *index, struct rng *random);

#endif
