#include "dataset/waypoints.h"

#include <stdlib.h>

#include "base/array.h"
#include "dataset/span.h"
#include "os/thread.h"

enum { WAYPOINTS_MAX = 512 };

struct waypoints {
    struct inflater **at; /* by offset */
    size_t count;
    size_t capacity;
    uint64_t apart; /* at least */
};

struct waypoints *waypoints_create(void) {
    struct waypoints *made = calloc(1, sizeof *made);
    if (made) made->apart = SPAN_PIECE;
    return made;
}

void waypoints_destroy(struct waypoints *ended) {
    if (!ended) return;
    for (size_t i = 0; i < ended->count; i++) inflater_destroy(ended->at[i]);
    free(ended->at);
    free(ended);
}

/* How many lie at or before the offset. */
static size_t count_to(const struct waypoints *from, uint64_t offset) {
    size_t low = 0, high = from->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (inflater_offset(from->at[middle]) <= offset) low = middle + 1;
        else high = middle;
    }
    return low;
}

static void thin_out(struct waypoints *to) {
    size_t kept = 0;
    for (size_t i = 0; i < to->count; i++) {
        if (i % 2) to->at[kept++] = to->at[i];
        else inflater_destroy(to->at[i]);
    }
    to->count = kept;
    to->apart *= 2;
}

/* The lock is held. */
static bool is_wanted(const struct waypoints *to, uint64_t offset) {
    size_t behind = count_to(to, offset);
    return (!behind || offset - inflater_offset(to->at[behind - 1]) >= to->apart) &&
           (behind == to->count || inflater_offset(to->at[behind]) - offset >= to->apart);
}

void waypoints_add(struct waypoints *to, const struct inflater *in) {
    uint64_t offset = inflater_offset(in);
    process_lock();
    bool keeps = is_wanted(to, offset) &&
                 array_reserve(&to->at, &to->capacity, to->count + 1, sizeof *to->at);
    struct inflater *copy = keeps ? inflater_copy(in, NULL) : NULL;
    if (copy) {
        size_t place = count_to(to, offset);
        for (size_t i = to->count++; i > place; i--) to->at[i] = to->at[i - 1];
        to->at[place] = copy;
        if (to->count == WAYPOINTS_MAX) thin_out(to);
    }
    process_unlock();
}

struct inflater *waypoints_resume(const struct waypoints *from, uint64_t least, uint64_t most,
                                  const struct inflate_source *source) {
    struct inflater *found = NULL;
    process_lock();
    size_t behind = count_to(from, most);
    if (behind && inflater_offset(from->at[behind - 1]) >= least)
        found = inflater_copy(from->at[behind - 1], source);
    process_unlock();
    return found;
}
