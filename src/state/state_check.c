/* Comparing a state with a data set and an order: lists the fields that differ, with both values.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "state/description.h"
#include "state/state.h"

/* A list of differences as text; those that do not fit are omitted. */
struct difference_list {
    char text[900];
    size_t size;
};

static void __attribute__((format(printf, 2, 3)))
add(struct difference_list *list, const char *format, ...) {
    size_t room = sizeof list->text - list->size;
    const char *separator = list->size ? "; " : "";
    char one[400];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(one, sizeof one, format, arguments);
    va_end(arguments);
    int length = snprintf(list->text + list->size, room, "%s%s", separator, one);
    if (length > 0 && (size_t)length < room) list->size += (size_t)length;
    else list->text[list->size] = 0;
}

static void add_number(struct difference_list *list, const char *field, uint64_t theirs,
                       uint64_t ours) {
    if (theirs != ours) add(list, "%s is %" PRIu64 ", here %" PRIu64, field, theirs, ours);
}

static void add_fingerprint(struct difference_list *list, const recmap_fingerprint *theirs,
                            const recmap_fingerprint *ours) {
    if (!memcmp(theirs, ours, sizeof *ours)) return;
    char texts[2][33];
    for (size_t i = 0; i < sizeof ours->bytes; i++) {
        snprintf(texts[0] + 2 * i, 3, "%02x", theirs->bytes[i]);
        snprintf(texts[1] + 2 * i, 3, "%02x", ours->bytes[i]);
    }
    add(list, "fingerprint is %s, here %s", texts[0], texts[1]);
}

static int name_size(const struct description_member *member) {
    return member->key_size >= 2 ? (int)member->key_size - 2 : 0;
}

static int shown_size(const struct description_member *member) {
    return member->value_size < 80 ? (int)member->value_size : 80;
}

/* Where two values differ, for the user to see the difference of long ones. */
static size_t same_size(const struct description_member *member,
                        const struct description_member *other) {
    size_t size = 0;
    while (size < member->value_size && size < other->value_size &&
           member->value[size] == other->value[size])
        size++;
    return size;
}

/* Long values are shown from shortly before their first difference on. */
static void add_values(struct difference_list *list, struct description_member one,
                       struct description_member other) {
    enum { SAME_SHOWN = 20 };
    size_t same = same_size(&one, &other), begin = same > SAME_SHOWN ? same - SAME_SHOWN : 0;
    if (shown_size(&one) == (int)one.value_size && shown_size(&other) == (int)other.value_size)
        begin = 0;
    const char *before = begin ? "..." : "";
    one.value += begin, other.value += begin;
    one.value_size -= begin, other.value_size -= begin;
    add(list, "order.%.*s is %s%.*s, here %s%.*s", name_size(&one), one.key + 1, before,
        shown_size(&one), one.value, before, shown_size(&other), other.value);
}

/* Lists members of `first` that `second` lacks or has with another value; with `only_missing`, only
 * those that it lacks. */
static void add_members(struct difference_list *list, const char *first, const char *second,
                        const char *if_missing, bool only_missing) {
    struct description_member one, other;
    for (const char *cursor = first + 1; description_next_member(&one, &cursor);) {
        bool is_there = description_find_member(&other, second, &one);
        if (!is_there) add(list, "order.%.*s is %s", name_size(&one), one.key + 1, if_missing);
        else if (!only_missing && (one.value_size != other.value_size ||
                                   memcmp(one.value, other.value, one.value_size)))
            add_values(list, one, other);
    }
}

static void add_order(struct difference_list *list, const char *theirs, const char *ours) {
    if (!strcmp(theirs, ours)) return;
    size_t before = list->size;
    add_members(list, theirs, ours, "not here", false);
    add_members(list, ours, theirs, "only here", true);
    if (list->size == before) add(list, "order is %.100s, here %.100s", theirs, ours);
}

static const char *advice_for(const recmap_state_info *theirs, const recmap_state_info *ours) {
    if (description_is_of_mixture(theirs->order) && description_is_of_mixture(ours->order))
        return "open the data set and make the order with which the state was saved; to change the "
               "weights or sources of a mixture, see `recmap_order_blended`";
    return "open the data set and make the order with which the state was saved";
}

static recmap_status check(const recmap_state_info *info, const recmap_state_info *expected,
                           recmap_error *error) {
    struct difference_list list = {.size = 0};
    add_fingerprint(&list, &info->fingerprint, &expected->fingerprint);
    add_number(&list, "record_count", info->record_count, expected->record_count);
    add_number(&list, "position_count", info->position_count, expected->position_count);
    add_order(&list, info->order, expected->order);
    if (!list.size) return RECMAP_OK;
    fail(error, RECMAP_MISMATCH, "the state is of another run: %s", list.text);
    fail_advise(error, "%s", advice_for(info, expected));
    return RECMAP_MISMATCH;
}

/* Copies `from` with the description as this version would write it, which the caller frees. States
 * of earlier versions have longer ones. Returns false if memory runs out. */
static bool copy_info(recmap_state_info *info, char **order, const recmap_state_info *from) {
    *info = *from;
    info->order = *order = strdup(from->order);
    if (*order) description_shorten(*order);
    return *order;
}

/* What a state was saved with and what is here. */
struct comparison {
    recmap_state_info theirs, ours;
    char *their_order, *our_order; /* malloc'ed */
};

static void comparison_deinit(struct comparison *comparison) {
    free(comparison->their_order);
    free(comparison->our_order);
}

/* Both descriptions are shortened: what is here may be another state's. The caller deinitialises
 * the comparison, also after a failure. */
static recmap_status comparison_init(struct comparison *comparison, const recmap_state *state,
                                     const recmap_state_info *expected, recmap_error *error) {
    *comparison = (struct comparison){.our_order = NULL};
    if (copy_info(&comparison->theirs, &comparison->their_order, &state->info) &&
        copy_info(&comparison->ours, &comparison->our_order, expected))
        return RECMAP_OK;
    return fail_memory(error);
}

recmap_status recmap_state_check(const recmap_state *state, const recmap_state_info *expected,
                                 recmap_error *error) {
    struct comparison comparison;
    recmap_status status = comparison_init(&comparison, state, expected, error);
    if (status == RECMAP_OK) status = check(&comparison.theirs, &comparison.ours, error);
    comparison_deinit(&comparison);
    return status;
}

/* A run's position: counted over all epochs. It saturates, and is then after all changes. */
static uint64_t run_position(const recmap_state_info *info) {
    uint64_t count = info->position_count;
    if (info->epoch && count > RECMAP_STATE_NUMBER_MAX / info->epoch) return UINT64_MAX;
    return info->epoch * count + info->position;
}

static recmap_status check_continued(recmap_state_info *theirs, const recmap_state_info *ours,
                                     recmap_error *error) {
    if (theirs->position_count == ours->position_count &&
        description_continues(ours->order, theirs->order, run_position(theirs)))
        theirs->order = ours->order;
    return check(theirs, ours, error);
}

recmap_status recmap_state_check_continued(const recmap_state *state,
                                           const recmap_state_info *expected, recmap_error *error) {
    struct comparison comparison;
    recmap_status status = comparison_init(&comparison, state, expected, error);
    if (status == RECMAP_OK) status = check_continued(&comparison.theirs, &comparison.ours, error);
    comparison_deinit(&comparison);
    return status;
}
