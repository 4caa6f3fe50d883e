#include "records/verify_view.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/words/url_prefix.h"
#include "report/characters.h"
#include "terminal/interrupt.h"
#include "terminal/message.h"
#include "terminal/progress_bar.h"

struct view_report {
    uint64_t good_count;
    uint64_t damage_count;
    FILE *json; /* the document, printed when it is complete; NULL: damage is printed at once */
};

static void print_json_text(FILE *json, const char *text) {
    putc('"', json);
    uint32_t character;
    for (size_t size = strlen(text), length; size; text += length, size -= length) {
        length = character_decode(&character, (const uint8_t *)text, size);
        if (!length) { /* as the library writes paths */
            fprintf(json, "\\udc%02x", (unsigned char)*text);
            length = 1;
        } else if (*text == '"' || *text == '\\') fprintf(json, "\\%c", *text);
        else if (recmap_text_unprintable(&character, text, size) && character <= 0xffff)
            fprintf(json, "\\u%04x", (unsigned)character);
        else fwrite(text, 1, length, json);
    }
    putc('"', json);
}

static void print_json_number(FILE *json, const char *name, uint64_t number) {
    if (number == UINT64_MAX) fprintf(json, "\"%s\":null,", name);
    else fprintf(json, "\"%s\":%" PRIu64 ",", name, number);
}

static void print_json_damage(FILE *json, const recmap_error *error, bool is_first) {
    fputs(is_first ? "{\"damage\":[{\"path\":" : ",{\"path\":", json);
    print_json_text(json, error->path);
    putc(',', json);
    print_json_number(json, "record", error->record);
    print_json_number(json, "offset", error->offset);
    fputs("\"length\":null,\"reason\":", json);
    print_json_text(json, error->message);
    putc('}', json);
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
    bool is_remote = url_is_url(error->path);
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
    if (report->json) print_json_damage(report->json, error, report->damage_count == 0);
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
        if (i % 256 == 0 && progress_bar_report(&done, &progress)) status = interrupt_fail(error);
        else status = check_item(report, view, i, error);
    }
    progress_bar_clear(&progress);
    return status;
}

static void print_summary(const struct view_report *report, const struct view *view,
                          const char *path) {
    if (report->json) {
        fputs(report->damage_count ? "]," : "{\"damage\":[],", report->json);
        fprintf(report->json, "\"records\":%" PRIu64 ",\"records_good\":%" PRIu64 "}\n",
                view->count, report->good_count);
        return;
    }
    print_safe(stdout, path);
    printf(": %" PRIu64 " of %" PRIu64 " record%s good\n", report->good_count, view->count,
           view->count == 1 ? " is" : "s are");
}

static int run(struct view_report *report, const struct view *view, const char *path) {
    recmap_error error = RECMAP_ERROR_INIT;
    recmap_status status = check_items(report, view, &error);
    if (status != RECMAP_OK) return interrupt_finish(message_print(&error));
    print_summary(report, view, path);
    return report->damage_count ? 1 : 0;
}

int verify_view(const struct view *view, const char *path, bool as_json) {
    struct view_report report = {.json = NULL};
    if (!as_json) return run(&report, view, path);
    char *text = NULL;
    size_t size = 0;
    report.json = open_memstream(&text, &size);
    int exit_status = report.json ? run(&report, view, path) : 0;
    if (!report.json || fclose(report.json))
        exit_status = message_error(RECMAP_NO_MEMORY, path, NULL, "out of memory for the report");
    else if (exit_status <= 1) fwrite(text, 1, size, stdout);
    free(text);
    return exit_status;
}
