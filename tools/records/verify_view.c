#include "records/verify_view.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "report/characters.h"
#include "terminal/interrupt.h"
#include "terminal/message.h"
#include "terminal/progress_bar.h"

struct view_report {
    uint64_t good_count;
    uint64_t damage_count;
    bool as_json;
};

static void print_json_text(const char *text) {
    putchar('"');
    uint32_t character;
    for (size_t size = strlen(text), length; size; text += length, size -= length) {
        length = character_decode(&character, (const uint8_t *)text, size);
        if (!length) { /* as the library writes paths */
            printf("\\udc%02x", (unsigned char)*text);
            length = 1;
        } else if (*text == '"' || *text == '\\') printf("\\%c", *text);
        else if (control_size(text, size)) printf("\\u%04x", (unsigned)character);
        else fwrite(text, 1, length, stdout);
    }
    putchar('"');
}

static void print_json_number(const char *name, uint64_t number) {
    if (number == UINT64_MAX) printf("\"%s\":null,", name);
    else printf("\"%s\":%" PRIu64 ",", name, number);
}

static void print_json_damage(const recmap_error *error, bool is_first) {
    fputs(is_first ? "{\"damage\":[{\"path\":" : ",{\"path\":", stdout);
    print_json_text(error->path);
    putchar(',');
    print_json_number("record", error->record);
    print_json_number("offset", error->offset);
    fputs("\"length\":null,\"reason\":", stdout);
    print_json_text(error->message);
    putchar('}');
}

static void print_damage(const recmap_error *error) {
    print_safe(stdout, error->path);
    fputs(": ", stdout);
    if (error->record != RECMAP_NO_RECORD) printf("record %" PRIu64, error->record);
    if (error->offset != RECMAP_NO_OFFSET) printf(" at byte %" PRIu64, error->offset);
    fputs(error->record != RECMAP_NO_RECORD || error->offset != RECMAP_NO_OFFSET ? ": " : "",
          stdout);
    print_safe(stdout, error->message);
    putchar('\n');
}

/* Damaged, missing and changed shards are results; other errors end the verification. So does a
 * store that fails in any other way than that it does not have the object. */
static bool is_damage(const recmap_error *error) {
    if (error->status == RECMAP_CORRUPT || error->status == RECMAP_STALE) return true;
    bool is_remote = strstr(error->path, "://");
    return error->status == RECMAP_IO && (!is_remote || error->system_errno == ENOENT);
}

static recmap_status check_item(struct view_report *report, const struct view *view, uint64_t item,
                                recmap_error *error) {
    recmap_record record;
    recmap_status status =
        recmap_dataset_get(&record, view->dataset, view_number(view, item), error);
    if (status == RECMAP_OK) {
        recmap_record_release(&record);
        report->good_count++;
        return RECMAP_OK;
    }
    if (!is_damage(error)) return status;
    if (report->as_json) print_json_damage(error, report->damage_count == 0);
    else print_damage(error);
    report->damage_count++;
    return RECMAP_OK;
}

static recmap_status check_items(struct view_report *report, const struct view *view,
                                 recmap_error *error) {
    struct progress_bar progress = progress_bar_start("verifying");
    recmap_status status = RECMAP_OK;
    interrupt_watch();
    for (uint64_t i = 0; status == RECMAP_OK && i < view->count; i++) {
        recmap_progress done = {.bytes_done = i, .bytes_total = view->count, .record_count = i};
        if (i % 256 == 0 && progress_bar_report(&progress, &done)) status = interrupt_fail(error);
        else status = check_item(report, view, i, error);
    }
    progress_bar_clear(&progress);
    return status;
}

static void print_summary(const struct view_report *report, const struct view *view,
                          const char *path) {
    if (report->as_json) {
        fputs(report->damage_count ? "]," : "{\"damage\":[],", stdout);
        printf("\"records\":%" PRIu64 ",\"records_good\":%" PRIu64 "}\n", view->count,
               report->good_count);
        return;
    }
    print_safe(stdout, path);
    printf(": %" PRIu64 " of %" PRIu64 " record%s good\n", report->good_count, view->count,
           view->count == 1 ? " is" : "s are");
}

int verify_view(const struct view *view, const char *path, bool as_json) {
    struct view_report report = {.as_json = as_json};
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_status status = check_items(&report, view, &error);
    if (status != RECMAP_OK) return interrupt_finish(recmap_error_print(&error, stderr));
    print_summary(&report, view, path);
    return report.damage_count ? 1 : 0;
}
