#include "scan/unsure.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/bytes.h"
#include "base/error.h"

static uint64_t end_of(const struct scan_damage *stretch) {
    return stretch->offset + stretch->length;
}

/* Takes in a stretch that may overlap with it. */
static void widen(struct scan_damage *stretch, uint64_t begin, uint64_t end) {
    uint64_t last = end_of(stretch);
    if (last < end) last = end;
    stretch->offset = min_u64(stretch->offset, begin);
    stretch->length = last - stretch->offset;
}

bool unsure_add(struct unsure_list *list, uint64_t begin, uint64_t end, const char *reason) {
    if (list->count && begin <= end_of(&list->at[list->count - 1])) {
        widen(&list->at[list->count - 1], begin, end);
        return true;
    }
    if (!array_reserve(&list->at, &list->capacity, list->count + 1, sizeof *list->at)) return false;
    struct scan_damage *added = &list->at[list->count++];
    *added = (struct scan_damage){.offset = begin, .length = end - begin};
    snprintf(added->reason, sizeof added->reason, "%s", reason);
    return true;
}

void unsure_free(struct unsure_list *list) {
    free(list->at);
    *list = (struct unsure_list){0};
}

/* Where what stands around a record varies, the next one ends it at the latest. A line that nothing
 * ends reaches to the end of what there was. */
static uint64_t end_of_record(const struct record_run *run, size_t i, const struct framing *framing,
                              uint64_t image_size) {
    enum { LF = 1, CRLF = 2 };
    bool is_last = i + 1 == run->count;
    uint64_t next = is_last ? image_size : run->offsets[i + 1];
    uint64_t data_end = run->offsets[i] + run->sizes[i];
    if (!framing->overhead_varies) return data_end + framing->overhead;
    if (framing->begins_behind) return is_last ? data_end + LF : min_u64(next, data_end + CRLF);
    return next;
}

/* Which records touch no stretch; stretches grow by those that do. */
static void choose(uint8_t *keeps, const struct record_run *run, struct unsure_list *list,
                   const struct framing *framing, uint64_t image_size) {
    size_t s = 0;
    for (; s < list->count; s++) {
        struct scan_damage *stretch = &list->at[s];
        stretch->length = min_u64(end_of(stretch), image_size) -
                          min_u64(stretch->offset, image_size);
    }
    s = 0;
    for (size_t i = 0; i < run->count; i++) {
        uint64_t begin = run->offsets[i], end = end_of_record(run, i, framing, image_size);
        while (s < list->count && end_of(&list->at[s]) <= begin) s++;
        keeps[i] = s == list->count || end <= list->at[s].offset;
        if (!keeps[i]) widen(&list->at[s], begin, min_u64(end, image_size));
    }
}

/* Adds behind the others what may overlap with the last of them. */
static void append(struct scan_damage *merged, size_t *count, const struct scan_damage *added) {
    if (*count && added->offset <= end_of(&merged[*count - 1]))
        widen(&merged[*count - 1], added->offset, end_of(added));
    else if (added->length) merged[(*count)++] = *added;
}

static bool merge(struct scan_findings *findings, const struct unsure_list *list) {
    size_t room = findings->damage_count + list->count, count = 0, d = 0;
    struct scan_damage *merged = malloc((room + 1) * sizeof *merged);
    if (!merged) return false;
    for (size_t s = 0; s < list->count; s++) {
        for (; d < findings->damage_count && findings->damages[d].offset < list->at[s].offset; d++)
            append(merged, &count, &findings->damages[d]);
        append(merged, &count, &list->at[s]);
    }
    for (; d < findings->damage_count; d++) append(merged, &count, &findings->damages[d]);
    free(findings->damages);
    findings->damages = merged;
    findings->damage_count = count;
    findings->damage_capacity = room + 1;
    return true;
}

void unsure_take_back(struct scan_findings *findings, struct unsure_list *list,
                      const struct framing *framing, uint64_t image_size) {
    uint8_t *keeps = list->count ? malloc(findings->run.count + 1) : NULL;
    bool has_memory = !list->count || keeps;
    if (keeps) {
        choose(keeps, &findings->run, list, framing, image_size);
        run_keep(&findings->run, keeps);
        has_memory = merge(findings, list);
    }
    if (!has_memory) findings->status = fail_memory(&findings->error);
    free(keeps);
    unsure_free(list);
}
