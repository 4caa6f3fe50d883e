#include "simulation/world/mixture.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "simulation/world/report.h"

/* The draws of a source in all epochs up to now. */
struct source {
    uint64_t draw_count;
    uint8_t *is_drawn; /* each record, in this epoch of the source */
};

static struct source sources[MIXTURE_SOURCES_MAX];
static uint64_t draw_count;

static uint64_t weight_sum(const struct mixture *mixture) {
    uint64_t sum = 0;
    for (unsigned i = 0; i < mixture->source_count; i++) sum += mixture->weights[i];
    return sum;
}

static void begin(const struct mixture *mixture) {
    draw_count = 0;
    for (unsigned i = 0; i < mixture->source_count; i++) {
        free(sources[i].is_drawn);
        sources[i] = (struct source){0, calloc(mixture->sizes[i], 1)};
        if (!sources[i].is_drawn) run_fail("the world has no memory for a mixture");
    }
}

static uint64_t epoch_length(const struct mixture *mixture) {
    uint64_t sum = weight_sum(mixture), length = 0;
    for (unsigned i = 0; i < mixture->source_count; i++) {
        uint64_t weight = mixture->weights[i], draws = mixture->sizes[i] * sum;
        uint64_t own = mixture->stops_last ? (draws + weight - 1) / weight : draws / weight;
        if (!i || (own > length) == mixture->stops_last) length = own;
    }
    return length;
}

static void draw(const struct mixture *mixture, uint64_t number) {
    unsigned i = 0;
    uint64_t record = number;
    while (i < mixture->source_count && record >= mixture->sizes[i]) record -= mixture->sizes[i++];
    if (i == mixture->source_count) run_fail("a mixture has no record %" PRIu64, number);
    if (sources[i].draw_count++ % mixture->sizes[i] == 0)
        memset(sources[i].is_drawn, 0, mixture->sizes[i]);
    if (sources[i].is_drawn[record])
        run_fail("a mixture draws record %" PRIu64 " twice in an epoch of its source", number);
    sources[i].is_drawn[record] = 1;
    draw_count++;
}

static void check_shares(const struct mixture *mixture) {
    uint64_t sum = weight_sum(mixture);
    for (unsigned i = 0; i < mixture->source_count; i++) {
        uint64_t share = draw_count * mixture->weights[i], drawn = sources[i].draw_count;
        if (drawn < share / sum || drawn > (share + sum - 1) / sum)
            run_fail("source %u of a mixture has %" PRIu64 " of %" PRIu64 " draws", i, drawn,
                     draw_count);
    }
}

void mixture_check_epoch(const struct mixture *mixture, uint64_t epoch, const uint64_t *numbers,
                         uint64_t count) {
    if (!epoch) begin(mixture);
    if (count != epoch_length(mixture))
        run_fail("an epoch of a mixture has %" PRIu64 " draws, but should have %" PRIu64, count,
                 epoch_length(mixture));
    for (uint64_t i = 0; i < count; i++) {
        draw(mixture, numbers[i]);
        check_shares(mixture);
    }
}
