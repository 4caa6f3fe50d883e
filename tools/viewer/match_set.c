#include "viewer/match_set.h"

#include <stdlib.h>

#include "terminal/message.h"

enum { GROUP_WORDS = 64 };

static uint64_t word_count(uint64_t items) {
    return items / 64 + 1;
}

static uint64_t group_count(const struct match_set *set) {
    return word_count(set->item_count) / GROUP_WORDS + 1;
}

static bool has_bit(const uint64_t *words, uint64_t position) {
    return words[position / 64] >> position % 64 & 1;
}

static unsigned count_bits(uint64_t word) {
    return (unsigned)__builtin_popcountll(word);
}

static recmap_status fail_memory(recmap_error *error) {
    return message_fail(error, RECMAP_NO_MEMORY, NULL, NULL, "out of memory");
}

/* Bits of the data set's records become bits of the view's items. */
static recmap_status map_items(struct match_set *set, const struct view *view,
                               recmap_error *error) {
    uint64_t *items = calloc((size_t)word_count(view->count), sizeof *items);
    if (!items) return fail_memory(error);
    for (uint64_t i = 0; i < view->count; i++)
        items[i / 64] |= (uint64_t)has_bit(set->words, view_number(view, i)) << i % 64;
    free(set->words);
    set->words = items;
    return RECMAP_OK;
}

static recmap_status sum_bits(struct match_set *set, recmap_error *error) {
    uint64_t words = word_count(set->item_count);
    set->sums = calloc((size_t)group_count(set) + 1, sizeof *set->sums);
    if (!set->sums) return fail_memory(error);
    for (uint64_t i = 0; i < words; i++) {
        if (i % GROUP_WORDS == 0) set->sums[i / GROUP_WORDS] = set->count;
        set->count += count_bits(set->words[i]);
    }
    return RECMAP_OK;
}

recmap_status match_set_init(struct match_set *set, const struct view *view, const char *expression,
                             recmap_error *error) {
    *set = (struct match_set){.item_count = view->count};
    RETURN_IF_FAILED(view_match(&set->words, view, expression, error));
    if (view->numbers) RETURN_IF_FAILED(map_items(set, view, error));
    return sum_bits(set, error);
}

void match_set_deinit(struct match_set *set) {
    free(set->words);
    free(set->sums);
    *set = (struct match_set){.words = NULL};
}

/* The last group that starts at or before this match. Groups after the last word have no sum. The
 * search is written out because the command sees only the public headers. */
static uint64_t find_group(const struct match_set *set, uint64_t rank) {
    uint64_t low = 0, high = (word_count(set->item_count) - 1) / GROUP_WORDS;
    while (low < high) {
        uint64_t middle = low + (high - low + 1) / 2;
        if (set->sums[middle] <= rank) low = middle;
        else high = middle - 1;
    }
    return low;
}

uint64_t match_set_select(const struct match_set *set, uint64_t rank) {
    uint64_t group = find_group(set, rank);
    uint64_t left = rank - set->sums[group], word = group * GROUP_WORDS;
    while (left >= count_bits(set->words[word])) left -= count_bits(set->words[word++]);
    uint64_t bits = set->words[word];
    while (left--) bits &= bits - 1;
    return word * 64 + (uint64_t)__builtin_ctzll(bits);
}

bool match_set_rank(uint64_t *rank, const struct match_set *set, uint64_t position) {
    uint64_t word = position / 64, group = word / GROUP_WORDS;
    *rank = set->sums[group];
    for (uint64_t i = group * GROUP_WORDS; i < word; i++) *rank += count_bits(set->words[i]);
    *rank += count_bits(set->words[word] & (((uint64_t)1 << position % 64) - 1));
    return has_bit(set->words, position);
}
