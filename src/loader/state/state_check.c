/* Comparing a state with a data set and an order: says in words what differs, with both values. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/core/error.h"
#include "base/core/plural.h"
#include "loader/state/description.h"
#include "loader/state/state.h"

/* A list of differences as text; those that do not fit are omitted. */
struct difference_list {
    char text[900];
    size_t size;
    size_t count;
    struct description_member seed; /* of the state's order, if it differs */
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
    list->count++;
    int length = snprintf(list->text + list->size, room, "%s%s", separator, one);
    if (length > 0 && (size_t)length < room) list->size += (size_t)length;
    else list->text[list->size] = 0;
}

/* ---- The data set. */

static void fingerprint_text(char text[2 * sizeof(recmap_fingerprint) + 1],
                             const recmap_fingerprint *fingerprint) {
    for (size_t i = 0; i < sizeof fingerprint->bytes; i++)
        snprintf(text + 2 * i, 3, "%02x", fingerprint->bytes[i]);
}

static void add_growth(struct difference_list *list, uint64_t theirs, uint64_t ours) {
    add(list,
        "the data set has grown from %" PRIu64 " to %" PRIu64 " records; the first %" PRIu64
        " are those of the state",
        theirs, ours, theirs);
}

static void add_dataset(struct difference_list *list, const recmap_state_info *theirs,
                        const recmap_state_info *ours, bool has_grown) {
    char texts[2][2 * sizeof(recmap_fingerprint) + 1];
    uint64_t count = theirs->record_count, here = ours->record_count;
    if (!memcmp(&theirs->fingerprint, &ours->fingerprint, sizeof ours->fingerprint)) {
        if (count != here)
            add(list, "another number of records: the state has %" PRIu64 ", the loader %" PRIu64,
                count, here);
    } else if (has_grown) {
        add_growth(list, count, here);
    } else {
        fingerprint_text(texts[0], &theirs->fingerprint);
        fingerprint_text(texts[1], &ours->fingerprint);
        add(list,
            "another data set: the state has %" PRIu64
            " record%s and the fingerprint %s, the loader %" PRIu64 " and %s",
            count, plural(count), texts[0], here, texts[1]);
    }
}

/* ---- The order. */

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

static bool is_named(const struct description_member *member, const char *name) {
    return name_size(member) == (int)strlen(name) && !memcmp(member->key + 1, name, strlen(name));
}

static bool are_equal(const struct description_member *one,
                      const struct description_member *other) {
    return one->value_size == other->value_size &&
           !memcmp(one->value, other->value, one->value_size);
}

/* A digest says that long lists differ, but not where. */
static bool is_digest(const struct description_member *member) {
    enum { QUOTED_SIZE = 34 };
    return member->value_size == QUOTED_SIZE &&
           strspn(member->value + 1, "0123456789abcdef") == QUOTED_SIZE - 2;
}

/* "another seed", "other weights". */
static void member_noun(char noun[64], const struct description_member *member) {
    if (is_named(member, "n")) snprintf(noun, 64, "another number of records");
    else if (is_named(member, "kind")) snprintf(noun, 64, "another kind of order");
    else if (is_named(member, "counts")) snprintf(noun, 64, "other lengths of records");
    else {
        int size = name_size(member);
        bool is_plural = size && member->key[size] == 's';
        snprintf(noun, 64, "%s %.*s", is_plural ? "other" : "another", size, member->key + 1);
    }
}

/* Long values are shown from shortly before their first difference on. */
static void add_values(struct difference_list *list, struct description_member one,
                       struct description_member other) {
    enum { SAME_SHOWN = 20 };
    char noun[64];
    member_noun(noun, &one);
    if (is_named(&one, "seed")) list->seed = one;
    if (is_digest(&one) && is_digest(&other)) {
        add(list, "%s", noun);
        return;
    }
    size_t same = same_size(&one, &other), begin = same > SAME_SHOWN ? same - SAME_SHOWN : 0;
    if (shown_size(&one) == (int)one.value_size && shown_size(&other) == (int)other.value_size)
        begin = 0;
    const char *before = begin ? "..." : "";
    one.value += begin, other.value += begin;
    one.value_size -= begin, other.value_size -= begin;
    add(list, "%s: the state has %s%.*s, the loader %s%.*s", noun, before, shown_size(&one),
        one.value, before, shown_size(&other), other.value);
}

static void add_lone(struct difference_list *list, const struct description_member *member,
                     bool is_theirs) {
    char noun[64];
    member_noun(noun, member);
    if (is_theirs)
        add(list, "%s: the state has %.*s, the loader none", noun, shown_size(member),
            member->value);
    else
        add(list, "%s: the state has none, the loader %.*s", noun, shown_size(member),
            member->value);
}

/* Adds the members of two descriptions that differ or that only one has, except the base of a view,
 * and except the number of records if `counts_differ`: another data set or view was named then. If
 * the kinds differ, the other members cannot be compared. */
static void add_members(struct difference_list *list, const char *theirs, const char *ours,
                        bool counts_differ) {
    struct description_member one, other;
    for (const char *cursor = theirs + 1; description_next_member(&one, &cursor);) {
        if (is_named(&one, "of") || (counts_differ && is_named(&one, "n"))) continue;
        if (!description_find_member(&other, ours, &one)) add_lone(list, &one, true);
        else if (!are_equal(&one, &other)) add_values(list, one, other);
        else continue;
        if (is_named(&one, "kind")) return;
    }
    for (const char *cursor = ours + 1; description_next_member(&one, &cursor);)
        if (!is_named(&one, "of") && !(counts_differ && is_named(&one, "n")) &&
            !description_find_member(&other, theirs, &one))
            add_lone(list, &one, false);
}

/* Says that one of the orders is of a view, or of another view, and removes the views. Returns true
 * if it did: the numbers of records then differ without a further reason. */
static bool add_view(struct difference_list *list, const char **theirs, const char **ours,
                     const char *which) {
    const char *their_base = description_base(*theirs), *our_base = description_base(*ours);
    bool is_other = their_base && our_base && !description_views_agree(*ours, *theirs);
    if (is_other) add(list, "the state is of another view of %s data set", which);
    else if (their_base && !our_base)
        add(list, "the state is of a view of %s data set, the loader reads all of it", which);
    else if (our_base && !their_base)
        add(list, "the state is of all of %s data set, the loader reads a view of it", which);
    if (their_base) *theirs = their_base;
    if (our_base) *ours = our_base;
    return is_other || !their_base != !our_base;
}

static void add_order(struct difference_list *list, const recmap_state_info *theirs,
                      const recmap_state_info *ours) {
    if (!strcmp(theirs->order, ours->order)) return;
    const char *their_order = theirs->order, *our_order = ours->order;
    size_t before = list->size;
    bool counts_differ = before != 0;
    const char *which = before ? "its" : "this";
    while (description_base(their_order) || description_base(our_order))
        if (add_view(list, &their_order, &our_order, which)) counts_differ = true;
    add_members(list, their_order, our_order, counts_differ);
    if (!list->size)
        add(list, "another order: the state has %.100s, the loader %.100s", theirs->order,
            ours->order);
}

/* ---- The check. */

static const char *advice_for(const recmap_state_info *theirs, const recmap_state_info *ours,
                              bool has_grown) {
    if (has_grown && memcmp(&theirs->fingerprint, &ours->fingerprint, sizeof ours->fingerprint))
        return "to finish its epoch over these records, and to continue with all, use "
               "`recmap_loader_load_grown`";
    if (description_is_of_mixture(theirs->order) && description_is_of_mixture(ours->order))
        return "open the data set and make the order with which the state was saved; to change the "
               "weights or sources of a mixture, see `recmap_order_blended`";
    return "open the data set and make the order with which the state was saved";
}

static bool differ_in_draws(const recmap_state_info *theirs, const recmap_state_info *ours) {
    return theirs->has_draws && ours->has_draws && theirs->draw_seed != ours->draw_seed;
}

static recmap_status fail_draws(const recmap_state_info *theirs, const recmap_state_info *ours,
                                recmap_error *error) {
    fail(error, RECMAP_MISMATCH,
         "another seed for random images and the seeds of batches: the state has %" PRIu64
         ", the loader %" PRIu64,
         theirs->draw_seed, ours->draw_seed);
    fail_advise(error, "create the loader with seed=%" PRIu64, theirs->draw_seed);
    return RECMAP_MISMATCH;
}

static recmap_status fail_order(const struct difference_list *list, const recmap_state_info *theirs,
                                const recmap_state_info *ours, bool has_grown,
                                recmap_error *error) {
    const struct description_member *seed = &list->seed;
    fail(error, RECMAP_MISMATCH, "%s", list->text);
    if (list->count == 1 && seed->value)
        fail_advise(error, "create the loader, or its order, with seed=%.*s", shown_size(seed),
                    seed->value);
    else fail_advise(error, "%s", advice_for(theirs, ours, has_grown));
    return RECMAP_MISMATCH;
}

static recmap_status check(const recmap_state_info *info, const recmap_state_info *expected,
                           bool has_grown, recmap_error *error) {
    struct difference_list list = {.size = 0};
    add_dataset(&list, info, expected, has_grown);
    add_order(&list, info, expected);
    if (!list.size && info->position_count != expected->position_count)
        add(&list, "another number of positions: the state has %" PRIu64 ", the loader %" PRIu64,
            info->position_count, expected->position_count);
    if (!list.size && differ_in_draws(info, expected)) return fail_draws(info, expected, error);
    if (!list.size) return RECMAP_OK;
    return fail_order(&list, info, expected, has_grown, error);
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

/* A run's position: counted over all epochs. It saturates, and is then after all changes. */
static uint64_t run_position(const recmap_state_info *info) {
    uint64_t count = info->position_count;
    if (info->epoch && count > RECMAP_STATE_NUMBER_MAX / info->epoch) return UINT64_MAX;
    return info->epoch * count + info->position;
}

static bool continues(const recmap_state_info *theirs, const recmap_state_info *ours) {
    return theirs->position_count == ours->position_count &&
           description_continues(ours->order, theirs->order, run_position(theirs));
}

recmap_status state_compare(const recmap_state *state, const recmap_state_info *expected,
                            struct state_rule rule, recmap_error *error) {
    struct comparison comparison;
    recmap_state_info *theirs = &comparison.theirs, *ours = &comparison.ours;
    recmap_status status = comparison_init(&comparison, state, expected, error);
    if (status == RECMAP_OK && rule.accepts_continued && continues(theirs, ours))
        theirs->order = ours->order;
    if (status == RECMAP_OK) status = check(theirs, ours, rule.has_grown, error);
    comparison_deinit(&comparison);
    return status;
}

recmap_status recmap_state_check(const recmap_state *state, const recmap_state_info *expected,
                                 recmap_error *error) {
    return state_compare(state, expected, (struct state_rule){false}, error);
}

recmap_status recmap_state_check_continued(const recmap_state *state,
                                           const recmap_state_info *expected, recmap_error *error) {
    return state_compare(state, expected, (struct state_rule){.accepts_continued = true}, error);
}
