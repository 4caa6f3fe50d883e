#include "simulation/program/corpus.h"

#include <string.h>

#include "simulation/world/report.h"

/* ---- Concatenations. */

static void join_states(struct corpus *corpus, const struct epochs *epochs) {
    for (unsigned i = 0; i < epochs->part_count; i++) {
        const struct index_state *part = corpus->states[epochs->parts[i]];
        if (corpus->joined.shard_count + part->shard_count > INDEX_SHARDS_MAX)
            run_fail("the model has too many shards");
        memcpy(corpus->joined.shards + corpus->joined.shard_count, part->shards, part->shard_count);
        corpus->joined.shard_count += part->shard_count;
        corpus->joined.record_count += part->record_count;
    }
    corpus->state = &corpus->joined;
}

/* Three parts are a concatenation of the first two, and the third. */
static recmap_status concatenate(struct corpus *corpus, const struct epochs *epochs,
                                 recmap_error *error) {
    recmap_dataset *parts[EPOCH_PARTS_MAX];
    for (unsigned i = 0; i < epochs->part_count; i++) parts[i] = corpus->indexes[epochs->parts[i]];
    if (epochs->part_count == 2) return recmap_dataset_concat(&corpus->dataset, parts, 2, error);
    recmap_status status = recmap_dataset_concat(&corpus->first_parts, parts, 2, error);
    parts[0] = corpus->first_parts;
    parts[1] = parts[2];
    if (status == RECMAP_OK) status = recmap_dataset_concat(&corpus->dataset, parts, 2, error);
    return status;
}

static bool open_parts(struct corpus *corpus, const struct actor *actor) {
    const struct epochs *epochs = &actor->role->epochs;
    recmap_error error = RECMAP_ERROR_INIT;
    corpus->indexes[0] = actor_open(actor, &corpus->states[0]);
    if (corpus->indexes[0])
        corpus->indexes[1] = actor_open_index(actor, OTHER_INDEX, &corpus->states[1]);
    if (!corpus->indexes[1]) return false;
    recmap_status status = concatenate(corpus, epochs, &error);
    if (status != RECMAP_OK) {
        actor_fail(actor, "concatenate data sets", status, &error);
        return false;
    }
    join_states(corpus, epochs);
    if (recmap_dataset_count(corpus->dataset) != corpus->state->record_count)
        run_fail("a concatenation has %llu records, but should have %llu",
                 (unsigned long long)recmap_dataset_count(corpus->dataset),
                 (unsigned long long)corpus->state->record_count);
    return true;
}

bool corpus_open(struct corpus *corpus, const struct actor *actor) {
    *corpus = (struct corpus){.dataset = NULL};
    if (actor->role->epochs.part_count) return open_parts(corpus, actor);
    corpus->dataset = actor_open(actor, &corpus->state);
    return corpus->dataset != NULL;
}

void corpus_close(struct corpus *corpus) {
    recmap_order_release(corpus->order);
    recmap_dataset_close(corpus->dataset);
    recmap_dataset_close(corpus->first_parts);
    for (unsigned i = 0; i < 2; i++) recmap_dataset_close(corpus->indexes[i]);
}

/* ---- Orders. */

static void plan_mixture(struct corpus *corpus, const struct epochs *epochs) {
    struct mixture *mixture = &corpus->mixture;
    if (!epochs->part_count) {
        uint64_t count = corpus->state->record_count;
        *mixture = (struct mixture){2, {count / 2, count - count / 2}, {1, 2}, true};
        return;
    }
    *mixture = (struct mixture){.source_count = epochs->part_count};
    for (unsigned i = 0; i < epochs->part_count; i++) {
        mixture->sizes[i] = corpus->states[epochs->parts[i]]->record_count;
        mixture->weights[i] = epochs->weights[i];
    }
    mixture->stops_last = epochs->stops_last;
}

static recmap_status create_mixture(recmap_order **order, const struct mixture *mixture,
                                    uint64_t seed, recmap_error *error) {
    recmap_order *sources[MIXTURE_SOURCES_MAX] = {NULL};
    double weights[MIXTURE_SOURCES_MAX];
    recmap_status status = RECMAP_OK;
    for (unsigned i = 0; status == RECMAP_OK && i < mixture->source_count; i++) {
        weights[i] = (double)mixture->weights[i];
        status = recmap_order_shuffled(&sources[i], mixture->sizes[i], seed + i, error);
    }
    if (status == RECMAP_OK)
        status = recmap_order_mixture(order, sources, weights, mixture->source_count,
                                      mixture->stops_last ? RECMAP_STOP_LAST : RECMAP_STOP_FIRST,
                                      error);
    for (unsigned i = 0; i < mixture->source_count; i++) recmap_order_release(sources[i]);
    return status;
}

recmap_status corpus_create_order(struct corpus *corpus, const struct epochs *epochs,
                                  recmap_error *error) {
    recmap_order **order = &corpus->order;
    uint64_t seed = epochs->order_seed, count = corpus->state->record_count;
    if (epochs->part_count || (epochs->order == ORDER_MIXED && count >= 2)) {
        plan_mixture(corpus, epochs);
        return create_mixture(order, &corpus->mixture, seed, error);
    }
    if (count < 2) return recmap_order_shuffled(order, count, seed, error);
    switch (epochs->order) {
    case ORDER_WINDOWED: return recmap_order_windowed(order, count, 4, 3, seed, error);
    case ORDER_REPLACED: return recmap_order_with_replacement(order, count, seed, 0, error);
    default: return recmap_order_shuffled(order, count, seed, error);
    }
}
