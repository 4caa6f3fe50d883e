/* The section of sample records. */
#include <inttypes.h>
#include <string.h>

#include <recmap/order.h>
#include <recmap/table.h>

#include "report/array.h"
#include "report/characters.h"
#include "report/page.h"
#include "report/picture.h"
#include "report/plot.h"
#include "terminal/interrupt.h"
#include "terminal/message.h"

/* Limits on what one record shows. */
enum {
    FEATURES_SHOWN_MAX = 64,
    NUMBERS_SHOWN_MAX = 16,
    SPARKLINE_MIN = 8,
    BYTES_SHOWN_MAX = 3, /* values of a feature */
    STEPS_SHOWN_MAX = 3, /* of a feature list */
    TEXT_SHOWN_MAX = 600,
    HEX_SHOWN_MAX = 64,
    NAME_SHOWN_MAX = 200,
    RANDOM_COUNT = 6
};

/* Limits on the file: of one sound, of all media, and of everything. */
#define SOUND_SIZE_MAX ((size_t)384 << 10)
#define MEDIA_TOTAL_MAX ((uint64_t)2 << 20)
#define FILE_SIZE_MAX ((uint64_t)4 << 20)
#define RECORD_SIZE_MAX ((uint64_t)256 << 20)

struct record_page {
    struct html *html;
    const recmap_dataset *dataset;
    uint64_t media_size; /* bytes of the media written so far */
    struct array_shape shape;
    size_t features; /* of the record, so far */
    size_t steps;    /* of the feature list, so far */
};

/* ---- Bytes. */

static void write_hex(struct html *html, const uint8_t *data, size_t size) {
    size_t shown = size < HEX_SHOWN_MAX ? size : HEX_SHOWN_MAX;
    html_put(html, "<code>");
    for (size_t i = 0; i < shown; i++) html_format(html, i ? " %02x" : "%02x", data[i]);
    html_format(html, "</code>%s", shown < size ? " …" : "");
    html_format(html, "<div class=\"note\">%zu byte%s</div>", size, plural(size));
}

static void write_words(struct html *html, const uint8_t *data, size_t size) {
    html_put(html, "<pre>");
    html_text(html, data, size, TEXT_SHOWN_MAX);
    html_put(html, "</pre>");
    if (size > TEXT_SHOWN_MAX) html_format(html, "<div class=\"note\">%zu bytes</div>", size);
}

static void write_data_url(struct html *html, const char *type, const uint8_t *data, size_t size) {
    html_format(html, "data:%s;base64,", type);
    html_base64(html, data, size);
    html_put(html, "\"");
}

/* Of a picture in the file. */
static const struct picture_room picture_room = {.file_size = (size_t)64 << 10, .side = 256};

/* Says what a picture or sound is, also if it is not shown. */
static void write_caption(struct html *html, const struct media *media, size_t size,
                          const char *reason) {
    html_format(html, "<div class=\"note\">%s", media->name);
    if (media->width) html_format(html, ", %u x %u", media->width, media->height);
    html_format(html, ", %zu byte%s", size, plural(size));
    html_string(html, reason);
    html_put(html, "</div>");
}

/* Media are part of the page, as data URLs. Returns false if there is no room for more. */
static bool write_element(struct record_page *page, const char *element, const char *end,
                          const char *type, const uint8_t *data, size_t size) {
    if (page->media_size + size > MEDIA_TOTAL_MAX) return false;
    page->media_size += size;
    html_put(page->html, element);
    write_data_url(page->html, type, data, size);
    html_put(page->html, end);
    return true;
}

enum { REASON_SIZE = 200 };

static const char no_room[] = "; not shown: too large for the report";

/* Shows a picture, unless it could not be made. Sets the reason if it is not shown. */
static void show_picture(struct record_page *page, const char *element,
                         const struct picture *picture, const recmap_error *error,
                         char reason[REASON_SIZE]) {
    if (error->status != RECMAP_OK)
        snprintf(reason, REASON_SIZE, "; not shown: %.160s", error->message);
    else if (!write_element(page, element, ">", picture->type, picture->data, picture->size))
        snprintf(reason, REASON_SIZE, "%s", no_room);
}

/* Returns true if the PNG of a decoder's picture has all its pixels. */
static bool is_whole(const struct media *media) {
    return media->is_custom && media->width <= picture_room.side &&
           media->height <= picture_room.side;
}

/* A large picture is reduced. A caption says why one is not shown. */
static void write_picture(struct record_page *page, const struct media *media, const uint8_t *data,
                          size_t size) {
    struct picture picture;
    recmap_error error = RECMAP_ERROR_INIT;
    char reason[REASON_SIZE] = "";
    if (picture_of_file(&picture, media, data, size, picture_room, &error) == RECMAP_OK &&
        picture.data != data)
        snprintf(reason, sizeof reason, "; shown %s", is_whole(media) ? "as PNG" : "reduced");
    show_picture(page, "<img alt=\"picture\" src=\"", &picture, &error, reason);
    picture_deinit(&picture);
    write_caption(page->html, media, size, reason);
}

static void write_sound(struct record_page *page, const struct media *media, const uint8_t *data,
                        size_t size) {
    bool is_shown = size <= SOUND_SIZE_MAX && write_element(page, "<audio controls src=\"",
                                                            "></audio>", media->type, data, size);
    write_caption(page->html, media, size, is_shown ? "" : no_room);
}

static void write_array(struct record_page *page, const uint8_t *data) {
    struct picture picture;
    recmap_error error = RECMAP_ERROR_INIT;
    char text[ARRAY_TEXT_SIZE], reason[REASON_SIZE] = "";
    (void)!picture_of_array(&picture, &page->shape, data, &error);
    show_picture(page, "<img class=\"array\" alt=\"array\" src=\"", &picture, &error, reason);
    picture_deinit(&picture);
    html_put(page->html, "<div class=\"note\">");
    html_string(page->html, array_describe(text, &page->shape, data));
    html_string(page->html, reason);
    html_put(page->html, "</div>");
}

/* Shows bytes as what they are. */
static void write_bytes(struct record_page *page, const uint8_t *data, size_t size) {
    struct media media = media_detect(data, size);
    if (media.kind == MEDIA_PICTURE) write_picture(page, &media, data, size);
    else if (media.kind == MEDIA_SOUND) write_sound(page, &media, data, size);
    else if (array_shape_matches(&page->shape, size)) write_array(page, data);
    else if (characters_are_text(data, size)) write_words(page->html, data, size);
    else write_hex(page->html, data, size);
}

/* ---- Features. */

static void write_numbers(struct html *html, const recmap_example_part *part) {
    bool are_integers = part->type == RECMAP_TYPE_INT64;
    for (size_t i = 0; i < part->count && i < NUMBERS_SHOWN_MAX; i++) {
        if (i) html_put(html, ", ");
        if (are_integers) html_format(html, "%" PRId64, part->int64s[i]);
        else html_format(html, "%.9g", (double)part->floats[i]);
    }
    if (part->count > NUMBERS_SHOWN_MAX)
        html_format(html, ", … <span class=\"note\">(%zu values)</span>", part->count);
    if (part->count >= SPARKLINE_MIN) plot_sparkline(html, part);
}

static void write_values(struct record_page *page, const recmap_example_part *part) {
    struct html *html = page->html;
    if (part->kind == RECMAP_EXAMPLE_PART_LIST)
        html_format(html, "%zu step%s", part->count, plural(part->count));
    else if (part->type == RECMAP_TYPE_NONE) html_put(html, "<i>unset</i>");
    else if (!part->count) html_put(html, "<i>no values</i>");
    else if (part->type != RECMAP_TYPE_BYTES) write_numbers(html, part);
    for (size_t i = 0; part->bytes && i < part->count && i < BYTES_SHOWN_MAX; i++)
        write_bytes(page, part->bytes[i].data, part->bytes[i].size);
    if (part->bytes && part->count > BYTES_SHOWN_MAX)
        html_format(html, "<div class=\"note\">… (%zu values)</div>", part->count);
}

static recmap_status learn_shape(const recmap_example_part *part, void *context) {
    struct record_page *page = context;
    array_shape_add(&page->shape, part);
    return RECMAP_OK;
}

static recmap_status write_part(const recmap_example_part *part, void *context) {
    struct record_page *page = context;
    bool is_step = part->kind == RECMAP_EXAMPLE_PART_STEP;
    page->steps = is_step ? page->steps + 1 : 0;
    if (!is_step) page->features++;
    if (page->features > FEATURES_SHOWN_MAX || page->steps > STEPS_SHOWN_MAX) return RECMAP_OK;
    if (page->html->size > FILE_SIZE_MAX) return RECMAP_OK;
    html_put(page->html, "<tr><th>");
    html_text(page->html, part->name, part->name_size, NAME_SHOWN_MAX);
    if (is_step) html_format(page->html, "[%zu]", page->steps - 1);
    html_put(page->html, "</th><td>");
    write_values(page, part);
    html_put(page->html, "</td></tr>\n");
    return RECMAP_OK;
}

/* ---- Records. */

static recmap_status write_example(struct record_page *page, const recmap_record *record,
                                   recmap_error *error) {
    html_put(page->html, "<table>\n");
    recmap_status status = recmap_dataset_visit(write_part, page, page->dataset, record, error);
    html_put(page->html, "</table>\n");
    if (page->features > FEATURES_SHOWN_MAX)
        html_format(page->html, "<div class=\"note\">The first %d of %zu features.</div>\n",
                    FEATURES_SHOWN_MAX, page->features);
    return status;
}

/* Shows the features of a record if it has any, else its bytes. */
static recmap_status write_content(struct record_page *page, const recmap_record *record,
                                   recmap_error *error) {
    recmap_error found = RECMAP_ERROR_INIT;
    page->shape = (struct array_shape){.layout = ARRAY_UNKNOWN};
    page->features = 0;
    recmap_status status = recmap_dataset_visit(learn_shape, page, page->dataset, record, &found);
    if (status == RECMAP_OK) status = write_example(page, record, &found);
    if (status == RECMAP_NO_MEMORY) return message_fail_memory(error);
    if (page->features) return RECMAP_OK;
    if (record->size) write_bytes(page, record->data, record->size);
    else html_put(page->html, "<i>empty</i>");
    return RECMAP_OK;
}

static recmap_status write_read(struct record_page *page, recmap_dataset *dataset, uint64_t number,
                                recmap_error *error) {
    recmap_record record = {.size = 0};
    recmap_error found = RECMAP_ERROR_INIT;
    recmap_status status = recmap_dataset_get(&record, dataset, number, &found);
    if (status == RECMAP_OK) {
        status = write_content(page, &record, error);
        recmap_record_release(&record);
        return status;
    }
    if (!record_error_is_local(&found)) {
        *error = found;
        return status;
    }
    html_put(page->html, "<p class=\"bad\">cannot be read: ");
    html_string(page->html, found.message);
    html_put(page->html, "</p>\n");
    return RECMAP_OK;
}

static recmap_status write_record(struct record_page *page, const struct view *view,
                                  const char *role, uint64_t position, recmap_error *error) {
    recmap_location location;
    uint64_t number = view_number(view, position);
    if (interrupt_is_pending()) return interrupt_fail(error);
    RETURN_IF_FAILED(recmap_dataset_locate(&location, view->dataset, number, 1, error));
    if (page->html->size > FILE_SIZE_MAX) return RECMAP_OK;
    html_format(page->html,
                "<details open class=\"card\"><summary><b>record %" PRIu64 "</b> (%s), %" PRIu64
                " byte%s"
                "</summary>\n",
                number, role, location.size, plural(location.size));
    recmap_status status = RECMAP_OK;
    if (location.size <= RECORD_SIZE_MAX) status = write_read(page, view->dataset, number, error);
    else html_put(page->html, "<p class=\"note\">Too large to show.</p>\n");
    html_put(page->html, "</details>\n");
    return status;
}

static recmap_status write_random(struct record_page *page, const struct view *view,
                                  recmap_error *error) {
    uint64_t positions[RANDOM_COUNT];
    size_t count = view->count < RANDOM_COUNT ? (size_t)view->count : RANDOM_COUNT;
    recmap_order *order = NULL;
    recmap_status status = recmap_order_shuffled(&order, view->count, 0, error);
    if (status == RECMAP_OK) status = recmap_order_read(positions, order, 0, 0, count, error);
    recmap_order_release(order);
    for (size_t i = 0; status == RECMAP_OK && i < count; i++)
        status = write_record(page, view, "random", positions[i], error);
    return status;
}

recmap_status page_write_records(struct html *html, const struct report *report,
                                 recmap_error *error) {
    const struct view *view = &report->view;
    struct record_page page = {.html = html, .dataset = view->dataset};
    html_put(html, "<section id=\"records\">\n<h2>Sample records</h2>\n");
    if (!view->count) html_put(html, "<p>There are no records.</p>\n");
    else {
        RETURN_IF_FAILED(write_record(&page, view, "first", 0, error));
        RETURN_IF_FAILED(write_record(&page, view, "smallest", report->sizes.smallest, error));
        RETURN_IF_FAILED(write_record(&page, view, "largest", report->sizes.largest, error));
        RETURN_IF_FAILED(write_random(&page, view, error));
        if (html->size > FILE_SIZE_MAX)
            html_put(html, "<p class=\"note\">Some records are left out, to keep this file "
                           "small.</p>\n");
    }
    html_put(html, "</section>\n");
    return RECMAP_OK;
}
