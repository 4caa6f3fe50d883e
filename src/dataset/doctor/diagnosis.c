#include "dataset/doctor/diagnosis.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/core/array.h"
#include "base/core/error.h"
#include "base/core/plural.h"
#include "base/core/sort.h"
#include "base/text/json.h"
#include "base/words/printable.h"

enum { LISTED_OF_CHECK_MAX = 100, RECORDS_MAX = 1 << 24, MESSAGE_MAX = 1024 };

static const char *const check_names[] = {
#define DOCTOR_CHECK_NAME(name, text) [CHECK_##name] = (text),
    DOCTOR_CHECKS(DOCTOR_CHECK_NAME)};

const char *recmap_severity_name(recmap_severity severity) {
    switch (severity) {
    case RECMAP_SEVERITY_NOTE: return "note";
    case RECMAP_SEVERITY_WARNING: return "warning";
    case RECMAP_SEVERITY_ERROR: return "error";
    default: return "none";
    }
}

/* ---- Adding. */

static recmap_status add(struct recmap_diagnosis *diagnosis, struct finding_kind kind,
                         struct finding_place place, const char *message, recmap_error *error) {
    if (!array_reserve(&diagnosis->findings, &diagnosis->capacity, diagnosis->count + 1,
                       sizeof *diagnosis->findings))
        return fail_memory(error);
    struct finding finding = {.check = kind.check,
                              .severity = kind.severity,
                              .shard = place.shard ? strdup(place.shard) : NULL,
                              .record = place.record,
                              .message = strdup(message),
                              .advice = kind.advice};
    if (!finding.message || (place.shard && !finding.shard)) {
        free(finding.shard);
        free(finding.message);
        return fail_memory(error);
    }
    diagnosis->findings[diagnosis->count++] = finding;
    return RECMAP_OK;
}

recmap_status diagnosis_add(struct recmap_diagnosis *diagnosis, struct finding_kind kind,
                            struct finding_place place, recmap_error *error, const char *format,
                            ...) {
    struct check_count *check = &diagnosis->checks[kind.check];
    if (check->count++ >= LISTED_OF_CHECK_MAX) {
        check->left_out++;
        if (check->severity < kind.severity) check->severity = kind.severity;
        return RECMAP_OK;
    }
    char message[MESSAGE_MAX];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    make_printable(message, sizeof message);
    return add(diagnosis, kind, place, message, error);
}

recmap_status diagnosis_list_record(struct recmap_diagnosis *diagnosis, uint64_t record,
                                    recmap_error *error) {
    size_t count = diagnosis->listed_count;
    if (!diagnosis->lists_records || count == RECORDS_MAX) return RECMAP_OK;
    if (count && diagnosis->records[count - 1] == record) return RECMAP_OK;
    if (!array_reserve(&diagnosis->records, &diagnosis->listed_capacity, count + 1,
                       sizeof *diagnosis->records))
        return fail_memory(error);
    diagnosis->records[diagnosis->listed_count++] = record;
    return RECMAP_OK;
}

/* ---- Completing. */

/* Equal severities keep the order of the checks, and of the data set within each. */
static int compare_findings(const void *a, const void *b) {
    const struct finding *left = a, *right = b;
    if (left->severity != right->severity) return left->severity < right->severity ? 1 : -1;
    return (left->check > right->check) - (left->check < right->check);
}

static int compare_records(const void *a, const void *b) {
    uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;
    return (left > right) - (left < right);
}

static recmap_status settle_records(struct recmap_diagnosis *diagnosis, recmap_error *error) {
    size_t count = 0;
    RETURN_IF_FAILED(sort_items(diagnosis->records, diagnosis->listed_count,
                                sizeof *diagnosis->records, compare_records, error));
    for (size_t i = 0; i < diagnosis->listed_count; i++)
        if (!count || diagnosis->records[count - 1] != diagnosis->records[i])
            diagnosis->records[count++] = diagnosis->records[i];
    diagnosis->listed_count = count;
    return RECMAP_OK;
}

recmap_status diagnosis_finish(struct recmap_diagnosis *diagnosis, recmap_error *error) {
    for (size_t i = 0; i < CHECK_COUNT; i++) {
        struct check_count *check = &diagnosis->checks[i];
        if (!check->left_out) continue;
        char message[MESSAGE_MAX];
        snprintf(message, sizeof message, "there %s %zu more finding%s of this check",
                 check->left_out == 1 ? "is" : "are", check->left_out, plural(check->left_out));
        struct finding_kind kind = {
            (enum doctor_check)i, check->severity,
            "correct those that are listed, and examine the data set again"};
        struct finding_place nowhere = {NULL, RECMAP_NO_RECORD};
        RETURN_IF_FAILED(add(diagnosis, kind, nowhere, message, error));
    }
    RETURN_IF_FAILED(sort_items(diagnosis->findings, diagnosis->count, sizeof *diagnosis->findings,
                                compare_findings, error));
    return settle_records(diagnosis, error);
}

/* ---- Reading. */

void recmap_diagnosis_destroy(recmap_diagnosis *diagnosis) {
    if (!diagnosis) return;
    for (size_t i = 0; i < diagnosis->count; i++) {
        free(diagnosis->findings[i].shard);
        free(diagnosis->findings[i].message);
    }
    free(diagnosis->findings);
    free(diagnosis->records);
    free(diagnosis);
}

size_t recmap_diagnosis_count(const recmap_diagnosis *diagnosis) {
    return diagnosis->count;
}

recmap_finding recmap_diagnosis_finding(const recmap_diagnosis *diagnosis, size_t finding_index) {
    const struct finding *finding = &diagnosis->findings[finding_index];
    return (recmap_finding){
        .check = check_names[finding->check],
        .severity = finding->severity,
        .shard = finding->shard,
        .record = finding->record,
        .message = finding->message,
        .advice = finding->advice,
    };
}

recmap_severity recmap_diagnosis_severity(const recmap_diagnosis *diagnosis) {
    return diagnosis->count ? diagnosis->findings[0].severity : RECMAP_SEVERITY_NONE;
}

uint64_t recmap_diagnosis_read_count(const recmap_diagnosis *diagnosis) {
    return diagnosis->read_count;
}

size_t recmap_diagnosis_record_count(const recmap_diagnosis *diagnosis) {
    return diagnosis->listed_count;
}

const uint64_t *recmap_diagnosis_records(const recmap_diagnosis *diagnosis) {
    return diagnosis->records;
}

static void write_finding(struct json_writer *json, const recmap_finding *finding) {
    json_open(json, '{');
    json_key(json, "check");
    json_text(json, finding->check);
    json_key(json, "severity");
    json_text(json, recmap_severity_name(finding->severity));
    json_key(json, "shard");
    if (finding->shard) json_path(json, finding->shard);
    else json_none(json);
    json_key(json, "record");
    if (finding->record != RECMAP_NO_RECORD) json_uint64(json, finding->record);
    else json_none(json);
    json_key(json, "message");
    json_text(json, finding->message);
    json_key(json, "advice");
    json_text(json, finding->advice);
    json_close(json, '}');
}

recmap_status recmap_diagnosis_to_json(recmap_text *text, const recmap_diagnosis *diagnosis,
                                       recmap_error *error) {
    struct json_writer json = json_begin(text);
    json_open(&json, '{');
    json_key(&json, "findings");
    json_open(&json, '[');
    for (size_t i = 0; i < diagnosis->count; i++) {
        recmap_finding finding = recmap_diagnosis_finding(diagnosis, i);
        write_finding(&json, &finding);
    }
    json_close(&json, ']');
    json_key(&json, "records");
    json_uint64(&json, diagnosis->record_count);
    json_key(&json, "records_read");
    json_uint64(&json, diagnosis->read_count);
    json_close(&json, '}');
    return json_end(&json, error);
}
