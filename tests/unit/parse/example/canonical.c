#include "unit/parse/example/canonical.h"

#include <stdlib.h>
#include <string.h>

#include "example.pb-c.h"

/* An entry of either map: what its messages begin with. */
struct keyed {
    ProtobufCMessage base;
    char *key;
    ProtobufCMessage *value;
};

static bool is_later(const struct keyed *entry, struct keyed *const *entries, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (!strcmp(entries[i]->key, entry->key)) return true;
    return false;
}

static int compare(const void *left, const void *right) {
    return strcmp((*(struct keyed *const *)left)->key, (*(struct keyed *const *)right)->key);
}

/* The entries that count, sorted: `sorted` has room for all. False when one has no name. */
static bool sort_map(struct keyed **sorted, size_t *sorted_count, struct keyed **entries,
                     size_t count, ProtobufCMessage *nothing) {
    *sorted_count = 0;
    for (size_t i = 0; i < count; i++) {
        if (!entries[i]->key || !entries[i]->key[0]) return false;
        if (is_later(entries[i], entries + i + 1, count - i - 1)) continue;
        sorted[*sorted_count] = entries[i];
        if (!entries[i]->value) entries[i]->value = nothing;
        ++*sorted_count;
    }
    qsort(sorted, *sorted_count, sizeof(struct keyed *), compare);
    return true;
}

static void forget(struct keyed **entries, size_t count, const ProtobufCMessage *nothing) {
    for (size_t i = 0; i < count; i++)
        if (entries[i]->value == nothing) entries[i]->value = NULL;
}

static void *room(size_t count) {
    void *memory = calloc(count + 1, sizeof(void *));
    if (!memory) abort();
    return memory;
}

struct maps {
    Tensorflow__Features context;
    Tensorflow__FeatureLists lists;
    Tensorflow__Feature no_feature;
    Tensorflow__FeatureList no_list;
};

/* Takes the maps of `message` in order; it is left as it was when they are put back. */
static bool sort_maps(Tensorflow__SequenceExample *message, struct maps *m) {
    bool is_good = true;
    *m = (struct maps){TENSORFLOW__FEATURES__INIT, TENSORFLOW__FEATURE_LISTS__INIT,
                       TENSORFLOW__FEATURE__INIT, TENSORFLOW__FEATURE_LIST__INIT};
    if (message->context) {
        Tensorflow__Features *source = message->context;
        m->context.feature = room(source->n_feature);
        is_good &= sort_map((struct keyed **)m->context.feature, &m->context.n_feature,
                            (struct keyed **)source->feature, source->n_feature,
                            &m->no_feature.base);
    }
    if (message->feature_lists) {
        Tensorflow__FeatureLists *source = message->feature_lists;
        m->lists.feature_list = room(source->n_feature_list);
        is_good &= sort_map((struct keyed **)m->lists.feature_list, &m->lists.n_feature_list,
                            (struct keyed **)source->feature_list, source->n_feature_list,
                            &m->no_list.base);
    }
    return is_good;
}

/* Parses with protobuf-c, sorts the maps by key and serializes again. Two records with the same
 * content thus have the same bytes. */
bool canonical(uint8_t **out, size_t *out_size, const uint8_t *data, size_t size) {
    Tensorflow__SequenceExample *message = tensorflow__sequence_example__unpack(NULL, size, data);
    struct maps m;
    if (!message) return false;
    bool is_good = sort_maps(message, &m);
    if (is_good) {
        Tensorflow__SequenceExample sorted = TENSORFLOW__SEQUENCE_EXAMPLE__INIT;
        if (message->context) sorted.context = &m.context;
        if (message->feature_lists) sorted.feature_lists = &m.lists;
        *out_size = tensorflow__sequence_example__get_packed_size(&sorted);
        *out = malloc(*out_size + 1);
        if (!*out) abort();
        tensorflow__sequence_example__pack(&sorted, *out);
    }
    free(m.context.feature);
    free(m.lists.feature_list);
    if (message->context)
        forget((struct keyed **)message->context->feature, message->context->n_feature,
               &m.no_feature.base);
    if (message->feature_lists)
        forget((struct keyed **)message->feature_lists->feature_list,
               message->feature_lists->n_feature_list, &m.no_list.base);
    tensorflow__sequence_example__free_unpacked(message, NULL);
    return is_good;
}
