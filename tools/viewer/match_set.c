#include "viewer/match_set.h"

#include <stdlib.h>

#include "terminal/message.h"

enum { GROUP_WORDS = 64, GROUP_ITEMS = GROUP_WORDS * 64 };

static unsigned count_bits(uint64_t word) {
    return (unsigned)__builtin_popcountll(word);
}

recmap_status match_set_init(struct match_set *set, uint64_t capacity, recmap_error *error) {
    *set = (struct match_set){.words = NULL};
    set->words = calloc((size_t)(capacity / 64 + 1), sizeof *set->words);
    set->sums = calloc((size_t)(capacity / GROUP_ITEMS + 1), sizeof *set->sums);
    if (set->words && set->sums) return RECMAP_OK;
    return message_fail_memory(error);
}

void match_set_deinit(struct match_set *set) {
    free(set->words);
    free(set->sums);
    *set = (struct match_set){.words = NULL};
}

/* Sums the matches before each group of words that starts, or will start with the next item. */
void match_set_add(struct match_set *set, const uint8_t *matches, size_t count) {
    for (size_t i = 0; i < count; i++) {
        uint64_t position = set->item_count++;
        set->words[position / 64] |= (uint64_t)matches[i] << position % 64;
        set->count += matches[i];
        if (set->item_count % GROUP_ITEMS == 0)
            set->sums[set->item_count / GROUP_ITEMS] = set->count;
    }
}

bool match_set_has(const struct match_set *set, uint64_t position) {
    return position < set->item_count && set->words[position / 64] >> position % 64 & 1;
}

/* The last group that starts at or before this match. The search is written out because the command
 * sees only the public headers. */
static uint64_t find_group(const struct match_set *set, uint64_t rank) {
    uint64_t low = 0, high = set->item_count / GROUP_ITEMS;
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
    if (!match_set_has(set, position)) return false;
    uint64_t word = position / 64, group = word / GROUP_WORDS;
    *rank = set->sums[group];
    for (uint64_t i = group * GROUP_WORDS; i < word; i++) *rank += count_bits(set->words[i]);
    *rank += count_bits(set->words[word] & (((uint64_t)1 << position % 64) - 1));
    return true;
}
