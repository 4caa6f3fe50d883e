#include "dataset/doctor/equal_records.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/core/array.h"
#include "base/core/error.h"
#include "base/core/hash.h"
#include "base/core/radix.h"
#include "base/core/sort.h"

enum {
    HASHES_BITS = 22,
    HASHES_MAX = 1 << HASHES_BITS,
    SORTED_FROM = 64 - 3 * 11, /* three passes of radix_sort_words */
};

static bool is_kept(const struct equal_records *records, uint64_t low) {
    return !(low & ((UINT64_C(1) << records->zeros) - 1));
}

/* Keeps about every second hash. */
static void thin_out(struct equal_records *records) {
    size_t kept = 0;
    records->zeros++;
    for (size_t i = 0; i < records->count; i++)
        if (is_kept(records, records->hashes[i].low)) records->hashes[kept++] = records->hashes[i];
    records->count = kept;
}

/* If all records are equal, thinning out does not help: then further ones are left out. */
static recmap_status add_hash(struct equal_records *records, const struct record_hash *hash,
                              recmap_error *error) {
    if (!is_kept(records, hash->low)) return RECMAP_OK;
    if (records->count == HASHES_MAX && records->zeros < 32) thin_out(records);
    if (records->count == HASHES_MAX || !is_kept(records, hash->low)) return RECMAP_OK;
    if (!array_reserve(&records->hashes, &records->capacity, records->count + 1,
                       sizeof *records->hashes))
        return fail_memory(error);
    records->hashes[records->count++] = *hash;
    return RECMAP_OK;
}

recmap_status equal_records_add(struct equal_records *records, uint64_t item, const void *data,
                                size_t size, recmap_error *error) {
    XXH128_hash_t bits = XXH3_128bits(data, size);
    struct record_hash hash = {bits.low64, bits.high64, item};
    return add_hash(records, &hash, error);
}

recmap_status equal_records_merge(struct equal_records *records, const struct equal_records *later,
                                  recmap_error *error) {
    for (size_t i = 0; i < later->count; i++)
        RETURN_IF_FAILED(add_hash(records, &later->hashes[i], error));
    return RECMAP_OK;
}

void equal_records_deinit(struct equal_records *records) {
    free(records->hashes);
    records->hashes = NULL;
}

/* ---- Comparing. */

static int compare_hashes(const void *a, const void *b) {
    const struct record_hash *left = a, *right = b;
    if (left->high != right->high) return left->high < right->high ? -1 : 1;
    if (left->low != right->low) return left->low < right->low ? -1 : 1;
    return (left->item > right->item) - (left->item < right->item);
}

static bool is_equal(const struct record_hash *a, const struct record_hash *b) {
    return a->low == b->low && a->high == b->high;
}

/* Records that equal an earlier one. */
struct equal_pairs {
    uint64_t count;
    uint64_t item;  /* the first, */
    uint64_t first; /* and what it equals */
};

/* Of each set: pairs within it, and pairs whose first record is in another set. */
struct set_pairs {
    struct equal_pairs within[SETS_MAX];
    struct equal_pairs across[SETS_MAX];
};

static size_t set_of(const struct examination *examination, uint64_t item) {
    const struct listed_entry *entry =
        shard_list_find(&examination->shards, examination_number(examination, item));
    return examination->shards.shards[entry->shard].set;
}

static void add_pair(struct equal_pairs *pairs, uint64_t item, uint64_t first) {
    if (!pairs->count++ || item < pairs->item) {
        pairs->item = item;
        pairs->first = first;
    }
}

/* Compares the records of one hash, which are in their order. A list of numbers may have a record
 * twice. */
static recmap_status add_group(struct set_pairs *pairs, const struct examination *examination,
                               const struct record_hash *group, size_t count, recmap_error *error) {
    uint64_t first_of_set[SETS_MAX];
    for (size_t i = 0; i < SETS_MAX; i++) first_of_set[i] = RECMAP_NO_RECORD;
    for (size_t i = 0; i < count; i++) {
        uint64_t item = group[i].item;
        size_t set = set_of(examination, item);
        uint64_t first = first_of_set[set];
        bool is_within = first != RECMAP_NO_RECORD;
        if (!is_within) first_of_set[set] = item;
        if (!is_within && i) first = group[0].item;
        if (first == RECMAP_NO_RECORD ||
            examination_number(examination, first) == examination_number(examination, item))
            continue;
        add_pair(is_within ? &pairs->within[set] : &pairs->across[set], item, first);
        RETURN_IF_FAILED(diagnosis_list_record(examination->diagnosis, item, error));
    }
    return RECMAP_OK;
}

/* The groups of records with equal hashes that are found. */
struct search {
    struct set_pairs *pairs;
    const struct equal_records *records;
    const struct examination *examination;
    struct record_hash *run;
    size_t run_capacity;
};

/* Returns true if the hashes are sorted, as those of equal records are: they keep their order. */
static bool is_sorted(const struct record_hash *run, size_t count) {
    for (size_t i = 1; i < count; i++)
        if (compare_hashes(&run[i - 1], &run[i]) > 0) return false;
    return true;
}

static recmap_status add_groups(const struct search *search, size_t count, recmap_error *error) {
    struct record_hash *run = search->run;
    if (!is_sorted(run, count))
        RETURN_IF_FAILED(sort_items(run, count, sizeof *run, compare_hashes, error));
    for (size_t first = 0, end; first < count; first = end) {
        for (end = first + 1; end < count; end++)
            if (!is_equal(&run[first], &run[end])) break;
        if (end - first > 1)
            RETURN_IF_FAILED(
                add_group(search->pairs, search->examination, run + first, end - first, error));
    }
    return RECMAP_OK;
}

/* Copies the hashes of a run, in which equal ones are, but not only these. */
static recmap_status add_run(struct search *search, const uint64_t *words, size_t count,
                             recmap_error *error) {
    if (count < 2) return RECMAP_OK;
    if (!array_reserve(&search->run, &search->run_capacity, count, sizeof *search->run))
        return fail_memory(error);
    for (size_t i = 0; i < count; i++)
        search->run[i] = search->records->hashes[words[i] & (HASHES_MAX - 1)];
    return add_groups(search, count, error);
}

static recmap_status add_runs(struct search *search, const uint64_t *words, recmap_error *error) {
    for (size_t first = 0, end, count = search->records->count; first < count; first = end) {
        for (end = first + 1; end < count; end++)
            if ((words[first] ^ words[end]) >> SORTED_FROM) break;
        RETURN_IF_FAILED(add_run(search, words + first, end - first, error));
    }
    return RECMAP_OK;
}

/* Sorts words of a part of each hash and its index. So few hashes have the sorted bits in common
 * without being equal that this is nearly all of the work. The zero bits that hashes have in common
 * are left out. */
static recmap_status find_pairs(struct set_pairs *pairs, const struct equal_records *records,
                                const struct examination *examination, recmap_error *error) {
    struct search search = {pairs, records, examination, NULL, 0};
    size_t count = records->count;
    uint64_t *words = malloc((2 * count + 1) * sizeof *words);
    if (!words) return fail_memory(error);
    for (size_t i = 0; i < count; i++)
        words[i] = records->hashes[i].low >> records->zeros << HASHES_BITS | i;
    recmap_status status =
        add_runs(&search, radix_sort_words(words, words + count, count, SORTED_FROM, 64), error);
    free(words);
    free(search.run);
    return status;
}

/* ---- Reporting. */

static recmap_status add_within(const struct examination *examination,
                                const struct equal_pairs *pairs, recmap_error *error) {
    static const struct finding_kind kind = {
        CHECK_EQUAL_RECORDS, RECMAP_SEVERITY_WARNING,
        "leave the repeated ones out with `recmap duplicates -o NAME.rmv`, unless they are meant"};
    struct finding_place first = examination_place(examination, pairs->first);
    return examination_add(examination, kind, pairs->item, error,
                           "%" PRIu64 " record%s equal to an earlier one; the first is equal to "
                           "record %" PRIu64,
                           pairs->count, pairs->count == 1 ? " is" : "s are", first.record);
}

static recmap_status add_across(const struct examination *examination,
                                const struct equal_pairs *pairs, recmap_error *error) {
    static const struct finding_kind kind = {
        CHECK_EQUAL_RECORDS, RECMAP_SEVERITY_ERROR,
        "remove them from one of the sets: what is trained on must not be tested on"};
    char title[SET_TITLE_SIZE];
    struct finding_place first = examination_place(examination, pairs->first);
    set_list_write_title(title, &examination->sets, set_of(examination, pairs->first));
    return examination_add(examination, kind, pairs->item, error,
                           "%" PRIu64
                           " record%s equal to one of another set; the first is equal to "
                           "record %" PRIu64 " of %.400s",
                           pairs->count, pairs->count == 1 ? " is" : "s are", first.record, title);
}

recmap_status equal_records_report(struct equal_records *records,
                                   const struct examination *examination, recmap_error *error) {
    static const struct finding_kind limit = {CHECK_LIMITS, RECMAP_SEVERITY_NOTE,
                                              "`recmap duplicates` compares all records"};
    struct set_pairs pairs = {.within = {{0}}};
    RETURN_IF_FAILED(find_pairs(&pairs, records, examination, error));
    for (size_t set = 0; set < SETS_MAX; set++) {
        if (pairs.within[set].count)
            RETURN_IF_FAILED(add_within(examination, &pairs.within[set], error));
        if (pairs.across[set].count)
            RETURN_IF_FAILED(add_across(examination, &pairs.across[set], error));
    }
    if (!records->zeros) return RECMAP_OK;
    return diagnosis_add(examination->diagnosis, limit, place_of_none(), error,
                         "only one of %" PRIu64 " records was compared with the others",
                         UINT64_C(1) << records->zeros);
}
