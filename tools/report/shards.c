/* The sections on shards and their damage. */
#include <inttypes.h>
#include <stdlib.h>

#include "report/page.h"
#include "report/plot.h"
#include "terminal/message.h"

enum { BARS_MAX = 200, ROWS_MAX = 100, STRIPS_MAX = 50, SPANS_MAX = 4096 };

/* ---- Shards. */

/* Sums over shards: each bar is one shard, or several that follow each other. */
struct shard_bars {
    uint64_t records[BARS_MAX];
    uint64_t bytes[BARS_MAX];
    size_t count;
};

static recmap_status sum_shards(struct shard_bars *bars, const recmap_dataset *dataset,
                                uint64_t shard_count, recmap_error *error) {
    bars->count = shard_count < BARS_MAX ? (size_t)shard_count : BARS_MAX;
    for (uint64_t i = 0; i < shard_count; i++) {
        recmap_shard_info shard;
        RETURN_IF_FAILED(recmap_dataset_get_shard(&shard, dataset, i, error));
        size_t bar = (size_t)((double)i / (double)shard_count * (double)bars->count);
        bars->records[bar] += shard.record_count;
        bars->bytes[bar] += shard.size;
    }
    return RECMAP_OK;
}

static void write_bars(struct html *html, const struct shard_bars *bars, uint64_t shard_count) {
    char last[2 * HUMAN_SIZE];
    snprintf(last, sizeof last, "shard %" PRIu64, shard_count - 1);
    html_put(html, "<div class=\"grid\"><div class=\"card\"><h3>Records</h3>");
    plot_bars(html, bars->records, bars->count, "records of each shard");
    plot_axis(html, "shard 0", last);
    html_put(html, "</div>\n<div class=\"card\"><h3>Bytes</h3>");
    plot_bars(html, bars->bytes, bars->count, "bytes of each shard");
    plot_axis(html, "shard 0", last);
    html_put(html, "</div></div>\n");
    if (bars->count < shard_count)
        html_format(html,
                    "<p class=\"note\">Each bar is the sum of about %" PRIu64 " shards.</p>\n",
                    shard_count / bars->count);
}

static recmap_status write_shard_rows(struct html *html, const recmap_dataset *dataset,
                                      uint64_t shard_count, recmap_error *error) {
    html_put(html, "<div class=\"wide\"><table>\n<thead><tr><th>shard</th><th>first record</th>"
                   "<th>records</th><th>bytes</th><th>path</th></tr></thead>\n");
    for (uint64_t i = 0; i < shard_count && i < ROWS_MAX; i++) {
        recmap_shard_info shard;
        RETURN_IF_FAILED(recmap_dataset_get_shard(&shard, dataset, i, error));
        html_format(html,
                    "<tr><td class=\"number\">%" PRIu64 "</td><td class=\"number\">%" PRIu64 "</td>"
                    "<td class=\"number\">%" PRIu64 "</td><td class=\"number\">%" PRIu64
                    "</td><td>",
                    i, shard.first_record, shard.record_count, shard.size);
        html_string(html, shard.path);
        html_put(html, "</td></tr>\n");
    }
    html_put(html, "</table></div>\n");
    if (shard_count > ROWS_MAX)
        html_format(html, "<p class=\"note\">The first %d of %" PRIu64 " shards.</p>\n", ROWS_MAX,
                    shard_count);
    return RECMAP_OK;
}

recmap_status page_write_shards(struct html *html, const struct report *report,
                                recmap_error *error) {
    const recmap_dataset *dataset = report->view.dataset;
    uint64_t count = recmap_dataset_get_info(dataset)->shard_count;
    struct shard_bars bars = {.count = 0};
    html_format(html, "<section id=\"shards\">\n<h2>Shards%s</h2>\n",
                report->view.selection ? " of the index" : "");
    RETURN_IF_FAILED(sum_shards(&bars, dataset, count, error));
    if (count) write_bars(html, &bars, count);
    RETURN_IF_FAILED(write_shard_rows(html, dataset, count, error));
    html_put(html, "</section>\n");
    return RECMAP_OK;
}

/* ---- Damage. */

/* Writes the strip of one shard. Offsets in compressed shards count inflated bytes, whose total is
 * not known: the strip then ends with the damage. */
static recmap_status write_strip(struct html *html, const recmap_dataset *dataset,
                                 uint64_t shard_index, const struct plot_span *spans, size_t count,
                                 recmap_error *error) {
    recmap_shard_info shard;
    RETURN_IF_FAILED(recmap_dataset_get_shard(&shard, dataset, shard_index, error));
    uint64_t size = shard.size;
    for (size_t i = 0; i < count; i++)
        if (spans[i].size <= UINT64_MAX - spans[i].offset && spans[i].offset + spans[i].size > size)
            size = spans[i].offset + spans[i].size;
    html_put(html, "<div class=\"card\"><div>");
    html_string(html, shard.path);
    html_put(html, "</div>");
    plot_strip(html, spans, count, size, "damaged places along the shard");
    char text[HUMAN_SIZE];
    plot_axis(html, "0", human_bytes(text, (double)size));
    html_put(html, "</div>\n");
    return RECMAP_OK;
}

/* Writes a strip for each damaged shard. The damage is in file order, so all damage of a shard is
 * together. */
static recmap_status write_strips(struct html *html, recmap_dataset *dataset, uint64_t count,
                                  struct plot_span *spans, recmap_error *error) {
    size_t span_count = 0, strips = 0;
    uint64_t shard_index = 0;
    for (uint64_t i = 0; i < count && strips < STRIPS_MAX; i++) {
        recmap_damage damage;
        RETURN_IF_FAILED(recmap_dataset_get_damage(&damage, dataset, i, error));
        if (span_count && damage.shard_index != shard_index) {
            RETURN_IF_FAILED(write_strip(html, dataset, shard_index, spans, span_count, error));
            span_count = 0;
            strips++;
        }
        shard_index = damage.shard_index;
        if (span_count < SPANS_MAX)
            spans[span_count++] = (struct plot_span){damage.offset, damage.size};
    }
    if (!span_count || strips == STRIPS_MAX) return RECMAP_OK;
    return write_strip(html, dataset, shard_index, spans, span_count, error);
}

static recmap_status write_damage_rows(struct html *html, recmap_dataset *dataset, uint64_t count,
                                       recmap_error *error) {
    html_put(html,
             "<div class=\"wide\"><table>\n<thead><tr><th>shard</th><th>byte</th><th>bytes</th>"
             "<th>reason</th></tr></thead>\n");
    for (uint64_t i = 0; i < count && i < ROWS_MAX; i++) {
        recmap_damage damage;
        RETURN_IF_FAILED(recmap_dataset_get_damage(&damage, dataset, i, error));
        html_put(html, "<tr><td>");
        html_string(html, damage.path);
        html_format(html,
                    "</td><td class=\"number\">%" PRIu64 "</td><td class=\"number\">%" PRIu64
                    "</td><td>",
                    damage.offset, damage.size);
        html_string(html, damage.reason);
        html_put(html, "</td></tr>\n");
    }
    html_put(html, "</table></div>\n");
    if (count > ROWS_MAX)
        html_format(html,
                    "<p class=\"note\">The first %d of %" PRIu64 " damaged places; <code>recmap "
                    "info --json</code> lists all.</p>\n",
                    ROWS_MAX, count);
    return RECMAP_OK;
}

static void write_unreadable(struct html *html, const struct record_sample *sample) {
    uint64_t unreadable = sample->unreadable_count;
    if (!unreadable) return;
    html_format(
        html,
        "<p class=\"bad\">%" PRIu64 " of %" PRIu64 " sampled record%s cannot be read; <code>recmap "
        "verify</code> finds all damage.</p>\n<table>\n<tr><th>record</th>"
        "<th>reason</th></tr>\n",
        unreadable, unreadable + sample->read_count, plural(unreadable + sample->read_count));
    for (size_t i = 0; i < unreadable && i < UNREADABLE_LISTED_MAX; i++) {
        const struct unreadable_record *record = &sample->unreadable[i];
        html_format(html, "<tr><td>%" PRIu64 "</td><td>", record->number);
        html_string(html, record->message ? record->message : "");
        html_put(html, "</td></tr>\n");
    }
    html_put(html, "</table>\n");
}

static recmap_status write_listed(struct html *html, recmap_dataset *dataset, uint64_t count,
                                  recmap_error *error) {
    struct plot_span *spans = malloc(SPANS_MAX * sizeof *spans);
    if (!spans) return message_fail_memory(error);
    recmap_status status = write_strips(html, dataset, count, spans, error);
    if (status == RECMAP_OK) status = write_damage_rows(html, dataset, count, error);
    free(spans);
    return status;
}

recmap_status page_write_damage(struct html *html, const struct report *report,
                                recmap_error *error) {
    recmap_dataset *dataset = report->view.dataset;
    uint64_t count = recmap_dataset_get_info(dataset)->damage_count;
    html_put(html, "<section id=\"damage\">\n<h2>Damage</h2>\n");
    if (!count) html_put(html, "<p>The index lists no damage.</p>\n");
    recmap_status status = RECMAP_OK;
    if (count) status = write_listed(html, dataset, count, error);
    write_unreadable(html, &report->sample);
    html_put(html, "</section>\n");
    return status;
}
