/* Verifying: scans the shards again and compares the result with the index. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/core/array.h"
#include "base/core/error.h"
#include "base/core/interrupt.h"
#include "base/core/plural.h"
#include "base/core/search.h"
#include "base/core/sort.h"
#include "base/os/process.h"
#include "base/text/json.h"
#include "base/words/url_prefix.h"
#include "dataset/describe/damage_json.h"
#include "dataset/open/concat.h"
#include "index/scan/scan.h"
#include "index/scan/scanner.h"
#include "index/tables/grown.h"

enum {
    PROGRESS_NS = 50 * 1000 * 1000,
    LOST_WORK = 128, /* for the interrupt, in bytes: looking up a record that the scan missed */
};

struct finding {
    uint64_t shard_index, record, offset, length;
    char reason[REASON_MAX];
};

struct recmap_report {
    recmap_dataset *dataset;
    struct finding *findings;
    size_t count;
    size_t capacity;
    size_t grown_count; /* findings that a shard has grown */
    uint64_t good_count;
    bool is_index_only; /* no shard was read, so good_count means nothing */
    char **paths;       /* of all shards; NULL if no shard was read */
    size_t path_count;
};

/* The records [begin, end). */
struct record_range {
    uint64_t begin, end;
};

/* The state of a verification. The members from `shard_index` on belong to the shard being scanned.
 */
struct verification {
    recmap_report *report;
    recmap_dataset *dataset;
    struct identity_builder *identity;
    uint64_t memory_limit; /* of the list of findings; 0: none */
    uint64_t shard_index;
    uint64_t next;          /* the next record of the index to be found in the shard */
    size_t findings_before; /* findings in earlier shards */
    uint64_t good_before;   /* good records in earlier shards */
    uint64_t scanned_count; /* records that the scan found in the shard */
    bool has_other_content; /* a record at its place is not the one that was indexed */
    uint64_t open_end;      /* where the preceding record should end; 0 if that is not in doubt */
    bool is_first;          /* no shard was scanned yet */
    /* Records of the index that the scan did not find, or found with another length. */
    struct record_range *lost;
    size_t lost_count, lost_capacity;
};

static const struct index_shard *shard_at(const struct verification *verification) {
    return &index_shards(verification->dataset->index)[verification->shard_index];
}

static const char *path_of(const recmap_report *report, uint64_t shard_index) {
    return report->paths[shard_index];
}

static recmap_status fail_limit(const struct verification *verification, recmap_error *error) {
    fail(error, RECMAP_UNSUPPORTED,
         "the list of %zu damaged places takes more memory than the limit of %" PRIu64 " bytes",
         verification->report->count + 1, verification->memory_limit);
    fail_file(error, path_of(verification->report, verification->shard_index));
    fail_advise(error, "raise the memory limit (`--memory-limit SIZE`), or restore the shard from "
                       "its source first");
    return RECMAP_UNSUPPORTED;
}

static recmap_status add_finding(struct verification *verification, uint64_t record,
                                 uint64_t offset, uint64_t length, const char *reason,
                                 recmap_error *error) {
    recmap_report *report = verification->report;
    if (verification->memory_limit &&
        (report->count + 1) * sizeof *report->findings > verification->memory_limit)
        return fail_limit(verification, error);
    if (!array_reserve(&report->findings, &report->capacity, report->count + 1,
                       sizeof *report->findings))
        return fail_memory(error);
    struct finding *part_report = &report->findings[report->count++];
    *part_report = (struct finding){verification->shard_index, record, offset, length, ""};
    snprintf(part_report->reason, sizeof part_report->reason, "%.*s", REASON_MAX - 1, reason);
    return RECMAP_OK;
}

/* The shard's first record whose offset in the index is in [offset, limit), or RECMAP_NO_RECORD. A
 * binary search over the records, because the index locates them by number only. */
static recmap_status record_between(uint64_t *record, const struct verification *verification,
                                    uint64_t offset, uint64_t limit, recmap_error *error) {
    const struct index_shard *shard = shard_at(verification);
    uint64_t low = shard->first_record, end = low + shard->entry.record_count, high = end;
    struct index_place place;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        RETURN_IF_FAILED(index_locate(&place, verification->dataset->index, middle, error));
        if (place.offset < offset) low = middle + 1;
        else high = middle;
    }
    *record = RECMAP_NO_RECORD;
    if (low == end) return RECMAP_OK;
    recmap_status status = index_locate(&place, verification->dataset->index, low, error);
    if (status == RECMAP_OK && place.offset < limit) *record = low;
    return status;
}

static recmap_status begin_shard(void *context, const char *path, recmap_error *error) {
    struct verification *verification = context;
    (void)path;
    (void)error;
    verification->shard_index = verification->is_first ? 0 : verification->shard_index + 1;
    verification->is_first = false;
    verification->next = shard_at(verification)->first_record;
    verification->findings_before = verification->report->count;
    verification->good_before = verification->report->good_count;
    verification->lost_count = 0;
    verification->scanned_count = 0;
    verification->has_other_content = false;
    verification->open_end = 0;
    identity_reset(verification->identity);
    return RECMAP_OK;
}

/* Lists lost records. Those that damage covers are left out later. */
static recmap_status add_lost(struct verification *verification, uint64_t begin, uint64_t end,
                              recmap_error *error) {
    if (begin == end) return RECMAP_OK;
    struct record_range *last =
        verification->lost_count ? &verification->lost[verification->lost_count - 1] : NULL;
    if (last && last->end == begin) {
        last->end = end;
        return RECMAP_OK;
    }
    if (!array_reserve(&verification->lost, &verification->lost_capacity,
                       verification->lost_count + 1, sizeof *verification->lost))
        return fail_memory(error);
    verification->lost[verification->lost_count++] = (struct record_range){begin, end};
    return RECMAP_OK;
}

/* Returns true unless the index has the check of this record, as a sample, and it differs. */
static bool has_indexed_content(const struct verification *verification, uint64_t number,
                                uint32_t check) {
    const struct index_shard *shard = shard_at(verification);
    const struct shard_identity *identity = &shard->entry.identity;
    uint64_t i = number - shard->first_record;
    if (i % identity->sample_step || i / identity->sample_step >= identity->sample_count)
        return true;
    return identity->samples[i / identity->sample_step] == check;
}

/* Compares record `number` with what the scan found where it begins. The end of a line is not known
 * before the next one begins. */
static recmap_status add_record(struct verification *verification, uint64_t number,
                                const struct index_place *place, const struct record_run *run,
                                size_t i, recmap_error *error) {
    const struct framing *framing = shard_at(verification)->framing;
    if (!framing_fits(framing, place->frame_size, run->sizes[i]))
        return add_lost(verification, number, number + 1, error);
    if (!has_indexed_content(verification, number, run->checks[i])) {
        verification->has_other_content = true;
        return add_finding(verification, number, place->offset, place->frame_size,
                           "its content is not what was indexed", error);
    }
    verification->report->good_count++;
    if (framing->has_delimiter) verification->open_end = place->offset + place->frame_size;
    return RECMAP_OK;
}

/* The frame of the preceding record ends at `offset`, which the index may not have known. */
static recmap_status end_record(struct verification *verification, uint64_t offset,
                                recmap_error *error) {
    uint64_t end = verification->open_end, next = verification->next;
    verification->open_end = 0;
    if (!end || end == offset) return RECMAP_OK;
    verification->report->good_count--;
    return add_lost(verification, next - 1, next, error);
}

/* Returns true if the index lists this damage; its list is ordered by offset. */
static bool is_listed(const struct verification *verification, uint64_t offset, uint64_t length) {
    const struct index_shard *shard = shard_at(verification);
    const struct damage_entry *damages = index_damages(verification->dataset->index) +
                                         shard->first_damage;
    size_t count = (size_t)shard->entry.damage_count;
    size_t i = search_below(&damages->offset, sizeof *damages, count, offset);
    return i < count && damages[i].offset == offset && damages[i].length == length;
}

/* Returns true if the index lists the line as damage: a record of text whose id or lifted columns
 * could not be read. The scan reads no values, so that it takes the line for a record. The run does
 * not say how the line ends: with nothing, LF or CR LF. */
static bool is_malformed_line(const struct verification *verification, uint64_t offset,
                              uint64_t size) {
    if (!shard_at(verification)->framing->has_delimiter) return false;
    for (uint64_t end = 0; end <= 2; end++)
        if (is_listed(verification, offset, size + end)) return true;
    return false;
}

/* Merges the records of the run with those of the index, as both are ordered by offset. The
 * identity covers as many records as the index has, so that a shard which only grew keeps it. */
static recmap_status add_run(void *context, const struct record_run *run, recmap_error *error) {
    struct verification *verification = context;
    const struct index_shard *shard = shard_at(verification);
    uint64_t end = shard->first_record + shard->entry.record_count;
    for (size_t i = 0; i < run->count; i++) {
        if (is_malformed_line(verification, run->offsets[i], run->sizes[i])) {
            RETURN_IF_FAILED(end_record(verification, run->offsets[i], error));
            continue;
        }
        if (verification->scanned_count++ < shard->entry.record_count)
            identity_add(verification->identity, run->offsets[i], run->sizes[i], run->checks[i]);
        RETURN_IF_FAILED(end_record(verification, run->offsets[i], error));
        while (verification->next < end) {
            struct index_place place;
            uint64_t number = verification->next;
            RETURN_IF_FAILED(index_locate(&place, verification->dataset->index, number, error));
            if (place.offset > run->offsets[i]) break;
            bool is_here = place.offset == run->offsets[i];
            RETURN_IF_FAILED(is_here ? add_record(verification, number, &place, run, i, error)
                                     : add_lost(verification, number, number + 1, error));
            verification->next++;
            if (is_here) break;
        }
    }
    return RECMAP_OK;
}

static recmap_status add_damage(void *context, uint64_t offset, uint64_t length, const char *reason,
                                recmap_error *error) {
    struct verification *verification = context;
    verification->open_end = 0; /* a line that damage follows was whole */
    if (is_listed(verification, offset, length)) return RECMAP_OK;
    uint64_t record = RECMAP_NO_RECORD;
    if (!length) return add_finding(verification, record, offset, 0, reason, error);
    RETURN_IF_FAILED(record_between(&record, verification, offset, offset + length, error));
    return add_finding(verification, record, offset, length, reason, error);
}

static int compare_findings(const void *a, const void *b) {
    const struct finding *first = a, *second = b;
    if (first->offset != second->offset) return first->offset < second->offset ? -1 : 1;
    return (first->length > second->length) - (first->length < second->length);
}

/* Reports a lost record unless damage that the scan found covers it. Adjacent lost records are
 * joined. The findings below `end` come from the scan; `*stretch`, which only advances, is the
 * first of them that may end after the record begins. */
static recmap_status list_lost(size_t *stretch, struct verification *verification, size_t end,
                               uint64_t record, recmap_error *error) {
    recmap_report *report = verification->report;
    struct index_place place;
    RETURN_IF_FAILED(index_locate(&place, verification->dataset->index, record, error));
    for (; *stretch < end; ++*stretch) {
        const struct finding *finding = &report->findings[*stretch];
        if (finding->length && finding->offset + finding->length > place.offset) break;
    }
    if (*stretch < end && report->findings[*stretch].offset < place.offset + place.frame_size)
        return RECMAP_OK;
    struct finding *last = report->count > end ? &report->findings[report->count - 1] : NULL;
    if (!last || last->offset + last->length != place.offset)
        return add_finding(verification, record, place.offset, place.frame_size,
                           "the indexed records are missing or have other lengths", error);
    last->length += place.frame_size;
    return RECMAP_OK;
}

/* Sorts what was found in the shard. */
static recmap_status sort_findings(const struct verification *verification, recmap_error *error) {
    recmap_report *report = verification->report;
    size_t before = verification->findings_before;
    return sort_items(report->findings + before, report->count - before, sizeof *report->findings,
                      compare_findings, error);
}

/* Reports all records that the scan did not find. After damage that makes an inflated image longer
 * or shorter, and in lines that were changed, good frames are at other places than in the index.
 * The scan finds no fault there, but the records of the index are lost. */
static recmap_status list_all_lost(struct verification *verification, recmap_error *error) {
    const struct index_shard *shard = shard_at(verification);
    size_t end = verification->report->count, stretch = verification->findings_before;
    RETURN_IF_FAILED(add_lost(verification, verification->next,
                              shard->first_record + shard->entry.record_count, error));
    RETURN_IF_FAILED(sort_findings(verification, error));
    for (size_t i = 0; i < verification->lost_count; i++)
        for (uint64_t r = verification->lost[i].begin; r < verification->lost[i].end; r++) {
            RETURN_IF_FAILED(list_lost(&stretch, verification, end, r, error));
            RETURN_IF_FAILED(interrupt_check(thread_interrupt(), LOST_WORK, error));
        }
    return RECMAP_OK;
}

/* Returns true if the records that were counted as good are the indexed ones. The index has the
 * checks of all records of a small shard. Of a larger one, each record's own checksum, or the
 * checksum of the compressed stream, must show that it is whole, and no sample may differ. */
static bool count_is_certain(const struct verification *verification) {
    const struct index_shard *shard = shard_at(verification);
    const struct shard_entry *entry = &shard->entry;
    if (entry->identity.sample_count == entry->record_count) return true;
    bool has_checks = shard->framing->check_payload || entry->compression != COMPRESSION_NONE;
    return has_checks && !verification->has_other_content;
}

/* Reports the shard as a whole. If `is_certain` is false, any of its records may have changed, so
 * that none counts as good. */
static recmap_status add_shard(struct verification *verification, const char *what, bool is_certain,
                               recmap_error *error) {
    recmap_report *report = verification->report;
    uint64_t count = report->good_count - verification->good_before;
    char reason[REASON_MAX], doubt[72] = "";
    if (!is_certain && count)
        snprintf(doubt, sizeof doubt, "; %" PRIu64 " record%s in place, but may have changed",
                 count, count == 1 ? " is" : "s are");
    if (!is_certain) report->good_count = verification->good_before;
    snprintf(reason, sizeof reason, "%.87s%s", what, doubt);
    RETURN_IF_FAILED(add_finding(verification, RECMAP_NO_RECORD, 0, 0, reason, error));
    return sort_findings(verification, error);
}

static recmap_status add_growth(struct verification *verification, const struct shard_end *end,
                                recmap_error *error) {
    char reason[REASON_MAX];
    snprintf(reason, sizeof reason,
             "the shard has grown from %" PRIu64 " to %" PRIu64
             " bytes since it was indexed; take up "
             "its new records with `recmap index --append`",
             shard_at(verification)->entry.file_size, end->file_size);
    verification->report->grown_count++;
    return add_finding(verification, RECMAP_NO_RECORD, 0, 0, reason, error);
}

/* If the identity differs, either the damage that was found is the reason, or another valid shard
 * took the place of the indexed one. */
static recmap_status judge_shard(struct verification *verification, const struct shard_end *end,
                                 bool has_same_records, recmap_error *error) {
    const struct shard_entry *entry = &shard_at(verification)->entry;
    const recmap_report *report = verification->report;
    bool is_explained = report->count > verification->findings_before;
    bool is_certain = has_same_records || (is_explained && count_is_certain(verification));
    char size[96];
    bool only_grew = has_same_records && !is_explained && end->file_size > entry->file_size &&
                     index_shard_can_grow(shard_at(verification));
    if (only_grew) return add_growth(verification, end, error);
    if (end->file_size != entry->file_size) {
        snprintf(size, sizeof size,
                 "the shard has %" PRIu64 " byte%s; when it was indexed it had %" PRIu64,
                 end->file_size, plural(end->file_size), entry->file_size);
        return add_shard(verification, size, is_certain, error);
    }
    if (!is_explained)
        return add_shard(verification,
                         "the shard is whole, but its records are not those that were indexed",
                         is_certain, error);
    if (is_certain || report->good_count == verification->good_before) return RECMAP_OK;
    return add_shard(verification, "the shard is not the one that was indexed", is_certain, error);
}

static recmap_status end_shard(void *context, const struct shard_end *end, recmap_error *error) {
    struct verification *verification = context;
    const struct shard_entry *entry = &shard_at(verification)->entry;
    struct shard_identity identity = identity_finish(verification->identity, entry->size);
    bool has_same_records = !memcmp(identity.hash, entry->identity.hash, sizeof identity.hash);
    RETURN_IF_FAILED(end_record(verification, end->size - end->tail_size, error));
    RETURN_IF_FAILED(list_all_lost(verification, error));
    bool has_same_end = end->file_size == entry->file_size && end->size == entry->size &&
                        verification->scanned_count == entry->record_count;
    if (has_same_records && has_same_end) return RECMAP_OK;
    return judge_shard(verification, end, has_same_records, error);
}

/* Returns true if the error is a lack of memory, descriptors or disk space in this process, which
 * is not the shard's fault. A shard over the default limits of memory is damaged, because an index
 * could be built of it; one over the caller's limit need not be. */
static bool lacks_resources(const struct verification *verification, const recmap_error *error) {
    return error->status == RECMAP_NO_MEMORY || error->system_errno == EMFILE ||
           error->system_errno == ENFILE || error->system_errno == ENOSPC ||
           error->system_errno == EDQUOT ||
           (verification->memory_limit && error->status == RECMAP_UNSUPPORTED);
}

/* Returns true if the store, the network, the credentials or the copy of a remote shard failed, so
 * that nothing is known about the shard. An object that the store does not have is a finding, as a
 * missing file is. */
static bool is_out_of_reach(const struct verification *verification, const recmap_error *error) {
    if (!url_is_url(path_of(verification->report, verification->shard_index))) return false;
    if (error->status == RECMAP_INVALID) return true;
    bool is_missing = error->system_errno == ENOENT && url_is_url(error->path);
    return error->status == RECMAP_IO && !is_missing;
}

static recmap_status skip_shard(void *context, const recmap_error *cause, recmap_error *error) {
    struct verification *verification = context;
    if (lacks_resources(verification, cause) || is_out_of_reach(verification, cause)) {
        if (error) *error = *cause;
        return cause->status;
    }
    /* A remote shard may fail after a part of it was scanned. */
    verification->report->good_count = verification->good_before;
    return add_finding(verification, RECMAP_NO_RECORD, 0, 0, cause->message, error);
}

static recmap_status open_indexed(struct source **source, void *context, size_t shard_index,
                                  const char *path, const struct remote_identity *expected,
                                  recmap_error *error) {
    const recmap_dataset *dataset = context;
    return shard_folder_open(source, shard_cache_folder(dataset->shards),
                             index_shards(dataset->index)[shard_index].entry.path, path, expected,
                             error);
}

static recmap_status known_points(struct point_list *points, uint64_t *size, void *context,
                                  size_t shard_index, recmap_error *error) {
    recmap_dataset *dataset = context;
    *size = index_shards(dataset->index)[shard_index].entry.size;
    return index_points(points, dataset->index, shard_index, error);
}

/* Finds the paths of all shards, which belong to the report. */
static recmap_status find_paths(recmap_report *report, recmap_error *error) {
    const recmap_dataset *dataset = report->dataset;
    size_t count = (size_t)dataset->info.shard_count;
    report->paths = calloc(count + 1, sizeof *report->paths);
    if (!report->paths) return fail_memory(error);
    report->path_count = count;
    for (size_t i = 0; i < count; i++) {
        report->paths[i] = shard_folder_find_path(shard_cache_folder(dataset->shards),
                                                  index_shards(dataset->index)[i].entry.path);
        if (!report->paths[i]) return fail_memory(error);
    }
    return RECMAP_OK;
}

/* Says how to read the shards: inflated as readers do, even if damage changed the first bytes, by
 * which files are recognised. */
static void list_forms(struct scan_form *forms, const recmap_dataset *dataset) {
    for (size_t i = 0; i < dataset->info.shard_count; i++) {
        const struct index_shard *shard = &index_shards(dataset->index)[i];
        forms[i] = (struct scan_form){
            .framing = shard->framing,
            .compression = (recmap_compression)(RECMAP_COMPRESSION_NONE + shard->entry.compression),
            .start = shard->entry.start,
            .end = shard->entry.file_size,
            .is_bounded = shard->last_part != i};
    }
}

/* After damage in a compressed shard the scan resumes at the index's seek points, as readers do.
 * Damage is added to the report; it is not an error of the scan. */
static recmap_status scan_as(struct verification *verification, const struct scan_form *forms,
                             const recmap_verify_options *options, recmap_error *error) {
    struct extractor *no_extraction;
    RETURN_IF_FAILED(extractor_create(&no_extraction, NULL, error));
    struct scan_sink sink = {verification, begin_shard, add_run, add_damage, end_shard, skip_shard};
    recmap_progress progress = {0};
    const struct manifest *manifest = index_manifest(verification->dataset->index);
    const struct scan_header header = {(const uint8_t *)manifest->header, manifest->header_size,
                                       dataset_path(verification->dataset)};
    struct scan_options scanning = {
        .forms = forms,
        .thread_count = options->thread_count,
        .on_bad_record = RECMAP_ON_BAD_RECORD_SKIP,
        .memory_limit = options->memory_limit,
        .extractor = no_extraction,
        .header = manifest->header ? &header : NULL,
        .never_maps = verification->dataset->access != RECMAP_ACCESS_MAP,
        .open = open_indexed,
        .open_context = verification->dataset,
        .known_points = known_points,
        .progress = options->progress,
        .progress_context = options->progress_context,
        .totals = &progress,
    };
    recmap_report *report = verification->report;
    recmap_status status = scan_shards((const char *const *)report->paths, report->path_count,
                                       &sink, &scanning, error);
    extractor_destroy(no_extraction);
    return status;
}

static recmap_status scan_all(struct verification *verification,
                              const recmap_verify_options *options, recmap_error *error) {
    size_t count = (size_t)verification->dataset->info.shard_count;
    RETURN_IF_FAILED(find_paths(verification->report, error));
    struct scan_form *forms = calloc(count + 1, sizeof *forms);
    if (!forms) return fail_memory(error);
    list_forms(forms, verification->dataset);
    recmap_status status = scan_as(verification, forms, options, error);
    free(forms);
    return status;
}

/* Moves the paths of a part's shards to the report of all parts. */
static void move_paths(recmap_report *report, const struct dataset_part *part,
                       recmap_report *part_report) {
    for (size_t i = 0; i < part_report->path_count; i++) {
        report->paths[part->first_shard + i] = part_report->paths[i];
        part_report->paths[i] = NULL;
    }
}

/* Adds what the verification of a part found. */
static recmap_status add_report(recmap_report *report, const struct dataset_part *part,
                                recmap_report *part_report, recmap_error *error) {
    move_paths(report, part, part_report);
    report->good_count += part_report->good_count;
    report->grown_count += part_report->grown_count;
    if (!array_reserve(&report->findings, &report->capacity, report->count + part_report->count,
                       sizeof *report->findings))
        return fail_memory(error);
    for (size_t i = 0; i < part_report->count; i++) {
        struct finding *finding = &report->findings[report->count++];
        *finding = part_report->findings[i];
        finding->shard_index += part->first_shard;
        if (finding->record != RECMAP_NO_RECORD) finding->record += part->first_record;
    }
    return RECMAP_OK;
}

/* Progress is reported for each part by itself. */
static recmap_status verify_parts(recmap_report **report, recmap_dataset *dataset,
                                  const recmap_verify_options *options, recmap_error *error) {
    size_t shard_count = (size_t)dataset->info.shard_count;
    recmap_report *fresh = calloc(1, sizeof *fresh);
    if (!fresh) return fail_memory(error);
    *fresh = (recmap_report){.dataset = dataset,
                             .is_index_only = options->index_only != 0,
                             .paths = calloc(shard_count + 1, sizeof *fresh->paths),
                             .path_count = shard_count};
    recmap_status status = fresh->paths ? RECMAP_OK : fail_memory(error);
    for (size_t i = 0; status == RECMAP_OK && i < dataset->part_count; i++) {
        const struct dataset_part *part = &dataset->parts[i];
        recmap_report *part_report = NULL;
        status = recmap_dataset_verify(&part_report, part->dataset, options, error);
        if (status == RECMAP_OK) status = add_report(fresh, part, part_report, error);
        recmap_report_destroy(part_report);
    }
    if (status == RECMAP_OK) *report = fresh;
    else recmap_report_destroy(fresh);
    return status;
}

/* Checks the index itself first, because the shards are compared with it. */
static recmap_status verify(struct verification *verification, const recmap_verify_options *options,
                            recmap_error *error) {
    RETURN_IF_FAILED(index_check_all(verification->dataset->index, error));
    return options->index_only ? RECMAP_OK : scan_all(verification, options, error);
}

/* The progress function, as the interrupt of checking the index. */
struct index_progress {
    const recmap_verify_options *options;
    const char *path;
    uint64_t asked_ns;
};

static int ask_progress(void *context) {
    struct index_progress *asked = context;
    uint64_t now = clock_ns();
    if (now - asked->asked_ns < PROGRESS_NS) return 0;
    asked->asked_ns = now;
    recmap_progress progress = {.path = asked->path};
    return asked->options->progress(&progress, asked->options->progress_context);
}

static recmap_status verify_or_stop(struct verification *verification,
                                    const recmap_verify_options *options, recmap_error *error) {
    struct index_progress asked = {.options = options, .path = dataset_path(verification->dataset)};
    struct interrupt former =
        thread_interrupt_replace(options->progress ? ask_progress : NULL, &asked);
    recmap_status status = verify(verification, options, error);
    thread_interrupt_restore(&former);
    return status;
}

recmap_status recmap_dataset_verify(recmap_report **report, recmap_dataset *dataset,
                                    const recmap_verify_options *options, recmap_error *error) {
    static const recmap_verify_options defaults = RECMAP_VERIFY_OPTIONS_INIT;
    if (!options) options = &defaults;
    if (options->version != RECMAP_VERIFY_OPTIONS_VERSION)
        return fail(error, RECMAP_INVALID, "recmap_verify_options has version %u, expected %d",
                    options->version, RECMAP_VERIFY_OPTIONS_VERSION);
    RETURN_IF_FAILED(scan_check_memory_limit(options->memory_limit, error));
    if (dataset->part_count) return verify_parts(report, dataset, options, error);
    recmap_report *fresh = calloc(1, sizeof *fresh);
    struct verification verification = {
        .report = fresh,
        .dataset = dataset,
        .identity = identity_create(),
        .memory_limit = options->memory_limit,
        .is_first = true,
    };
    if (fresh)
        *fresh = (recmap_report){.dataset = dataset, .is_index_only = options->index_only != 0};
    recmap_status status = fresh && verification.identity
                               ? verify_or_stop(&verification, options, error)
                               : fail_memory(error);
    identity_destroy(verification.identity);
    free(verification.lost);
    if (status == RECMAP_OK) *report = fresh;
    else recmap_report_destroy(fresh);
    return status;
}

void recmap_report_destroy(recmap_report *report) {
    if (!report) return;
    for (size_t i = 0; report->paths && i < report->path_count; i++) free(report->paths[i]);
    free(report->paths);
    free(report->findings);
    free(report);
}

uint64_t recmap_report_record_count(const recmap_report *report) {
    return report->good_count;
}

size_t recmap_report_damage_count(const recmap_report *report) {
    return report->count;
}

size_t recmap_report_grown_count(const recmap_report *report) {
    return report->grown_count;
}

recmap_damage recmap_report_damage(const recmap_report *report, size_t damage_index) {
    const struct finding *finding = &report->findings[damage_index];
    return (recmap_damage){
        .shard_index = finding->shard_index,
        .record = finding->record,
        .offset = finding->offset,
        .size = finding->length,
        .path = path_of(report, finding->shard_index),
        .reason = finding->reason,
    };
}

recmap_status recmap_report_to_json(recmap_text *text, const recmap_report *report,
                                    recmap_error *error) {
    struct json_writer json = json_begin(text);
    json_open(&json, '{');
    json_key(&json, "records");
    json_uint64(&json, report->dataset->info.record_count);
    json_key(&json, "records_good");
    if (report->is_index_only) json_none(&json);
    else json_uint64(&json, report->good_count);
    json_key(&json, "damage");
    json_open(&json, '[');
    for (size_t i = 0; i < report->count; i++) {
        recmap_damage damage = recmap_report_damage(report, i);
        damage_write_json(&json, &damage);
    }
    json_close(&json, ']');
    json_close(&json, '}');
    return json_end(&json, error);
}
