#include "report/page.h"

#include <inttypes.h>
#include <math.h>

#include <recmap/status.h>

#include "report/plot.h"
#include "terminal/message.h"

/* Nothing is loaded and no script runs, even if a record contains one: the policy forbids both. */
static const char head[] =
    "<!DOCTYPE html>\n"
    "<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; img-src data:; "
    "media-src data:; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'\">\n"
    "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
    "<meta name=\"color-scheme\" content=\"light dark\">\n";

static const char style[] =
    "<style>\n"
    ":root{--text:#1b1f24;--soft:#57606a;--page:#fff;--card:#f6f8fa;--rule:#d0d7de;--bar:#3b7dd8;"
    "--line:#b3541e;--bad:#c62828}\n"
    "@media(prefers-color-scheme:dark){:root{--text:#e6edf3;--soft:#9da7b3;--page:#0d1117;"
    "--card:#161b22;--rule:#30363d;--bar:#6ca4f0;--line:#f0a36c;--bad:#ff6b6b}}\n"
    "@media print{:root{--text:#000;--soft:#444;--page:#fff;--card:#fff;--rule:#bbb;--bar:#3b7dd8;"
    "--line:#b3541e;--bad:#c62828}}\n"
    "*{box-sizing:border-box}\n"
    "body{margin:0 auto;padding:1rem;max-width:64rem;background:var(--page);color:var(--text);"
    "font:1rem/1.45 system-ui,sans-serif;overflow-wrap:anywhere}\n"
    "h1{font-size:1.5rem;margin:.5rem 0}h2{font-size:1.2rem;margin:2rem 0 .5rem}"
    "h3{font-size:1rem;margin:.5rem 0}\n"
    ".grid{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(18rem,100%),1fr));"
    "gap:.8rem}\n"
    ".card{background:var(--card);border:1px solid var(--rule);border-radius:6px;"
    "padding:.6rem .8rem;margin:0 0 .8rem;min-width:0}\n"
    ".note{color:var(--soft);font-size:.85rem}.wide{overflow-x:auto}\n"
    "table{border-collapse:collapse;width:100%;font-size:.9rem}"
    "th,td{text-align:left;vertical-align:top;padding:.2rem .6rem .2rem 0;"
    "border-bottom:1px solid var(--rule)}th{font-weight:600}"
    ".number{text-align:right;white-space:nowrap;font-variant-numeric:tabular-nums}\n"
    "pre,code{font:.85rem/1.4 ui-monospace,monospace;margin:0;white-space:pre-wrap}\n"
    "svg{display:block;width:100%}svg.plot{height:6rem}svg.points{height:14rem}svg.sparkline{"
    "height:2rem;max-width:20rem}"
    "svg.strip{height:1.2rem;border:1px solid var(--rule)}\n"
    "path{fill:var(--bar)}path.good{fill:var(--card)}path.bad{fill:var(--bad)}"
    ".line{fill:none;stroke:var(--line);stroke-width:2;vector-effect:non-scaling-stroke}"
    ".dashed{stroke:var(--bar);stroke-dasharray:5 3}\n"
    ".axis{display:flex;justify-content:space-between;color:var(--soft);font-size:.8rem;"
    "border-top:1px solid var(--soft)}\n"
    "img{max-width:100%;max-height:20rem;background:#8884}img.array{image-rendering:pixelated;"
    "min-width:min(8rem,100%)}audio{max-width:100%}\n"
    "th:first-child{min-width:7rem}.wide th,.wide td{overflow-wrap:normal}"
    ".wide td:last-child{overflow-wrap:anywhere;min-width:4rem}.wide "
    "th:first-child{min-width:0}.wide .number{text-align:left}"
    ".wide+.grid{margin-top:.8rem}.facts th{width:10.5rem}\n"
    "summary{cursor:pointer}summary b{word-break:break-all}.bad{color:var(--bad)}\n"
    "@media(max-width:30rem){.wide table{font-size:.8rem}.wide th,.wide td{padding-right:.4rem}}\n"
    /* On paper: what is folded on a screen is shown, and pages break between rows, not in them. */
    "@media print{html{font-size:11px}body{max-width:none;padding:0}audio{display:none}"
    ".wide{overflow:visible}details::details-content{content-visibility:visible}"
    ".card,tr,img,svg{break-inside:avoid}#records .card{break-inside:auto}"
    "h2,h3,summary,#order p{break-after:avoid}}\n"
    "</style>\n";

void page_begin(struct html *html, const struct report *report) {
    html_put(html, head);
    html_put(html, "<title>");
    html_string(html, report->view.path);
    html_put(html, "</title>\n");
    html_put(html, style);
    html_put(html, "</head>\n<body>\n<h1>");
    html_string(html, report->view.path);
    html_put(html, "</h1>\n");
}

void page_end(struct html *html) {
    html_format(html,
                "<p class=\"note\">Written by recmap %s. This file loads nothing and contains no "
                "script.</p>\n</body>\n</html>\n",
                recmap_version());
}

/* ---- Totals. */

static void write_total(struct html *html, const char *name, uint64_t number) {
    html_format(html, "<tr><th>%s</th><td>%" PRIu64 "</td></tr>\n", name, number);
}

static void write_size(struct html *html, const char *name, uint64_t size) {
    char text[HUMAN_SIZE];
    html_format(html, "<tr><th>%s</th><td>%s (%" PRIu64 " byte%s)</td></tr>\n", name,
                human_bytes(text, (double)size), size, plural(size));
}

static void write_fingerprint(struct html *html, const recmap_fingerprint *fingerprint) {
    html_put(html, "<tr><th>fingerprint</th><td><code>");
    for (size_t i = 0; i < sizeof fingerprint->bytes; i++)
        html_format(html, "%02x", fingerprint->bytes[i]);
    html_put(html, "</code></td></tr>\n");
}

static recmap_status write_columns(struct html *html, recmap_dataset *dataset,
                                   const recmap_dataset_info *info, recmap_error *error) {
    enum { COLUMNS_SHOWN_MAX = 100 };
    html_put(html, "<tr><th>columns</th><td>");
    for (size_t i = 0; i < info->lifted_column_count && i < COLUMNS_SHOWN_MAX; i++) {
        recmap_lifted_column column;
        RETURN_IF_FAILED(recmap_dataset_get_lifted_column(&column, dataset, i, error));
        html_put(html, i ? ", <code>" : "<code>");
        html_string(html, column.name);
        html_put(html, "</code>");
        if (column.null_count) html_format(html, " (%" PRIu64 " null)", column.null_count);
    }
    if (info->lifted_column_count > COLUMNS_SHOWN_MAX) html_put(html, ", …");
    html_put(html, "</td></tr>\n");
    return RECMAP_OK;
}

recmap_status page_write_totals(struct html *html, const struct report *report,
                                recmap_error *error) {
    const struct view *view = &report->view;
    const recmap_dataset_info *info = recmap_dataset_get_info(view->dataset);
    html_put(html, "<section id=\"totals\" class=\"card\">\n<table class=\"facts\">\n");
    write_total(html, view->selection ? "selected records" : "records", view->count);
    if (view->selection) {
        html_put(html, "<tr><th>index</th><td>");
        html_string(html, view->index_path);
        html_put(html, "</td></tr>\n");
        write_total(html, "records of the index", info->record_count);
    }
    write_total(html, "shards", info->file_count);
    write_size(html, "size of the shards", info->byte_count);
    write_size(html, "size of the index", info->index_size);
    write_total(html, "damaged places", info->damage_count);
    if (info->id_name) {
        html_put(html, "<tr><th>ids</th><td><code>");
        html_string(html, info->id_name);
        html_format(html, "</code>, of %" PRIu64 " records</td></tr>\n", info->id_count);
    }
    RETURN_IF_FAILED(write_columns(html, view->dataset, info, error));
    write_fingerprint(html, &info->fingerprint);
    html_put(html, "</table>\n</section>\n");
    return RECMAP_OK;
}

/* ---- Sizes. */

static void write_quantiles(struct html *html, const recmap_record_sizes *sizes) {
    static const struct {
        const char *name;
        double share;
    } quantiles[] = {{"smallest", 0}, {"10 %", .1}, {"median", .5}, {"90 %", .9}, {"largest", 1}};
    html_put(html, "<div class=\"wide\"><table><tr>");
    for (size_t i = 0; i < sizeof quantiles / sizeof *quantiles; i++)
        html_format(html, "<th class=\"number\">%s</th>", quantiles[i].name);
    html_put(html, "<th class=\"number\">mean</th></tr><tr>");
    for (size_t i = 0; i < sizeof quantiles / sizeof *quantiles; i++) {
        size_t place = (size_t)(quantiles[i].share * (double)(sizes->count - 1));
        html_format(html, "<td class=\"number\">%" PRIu64 "</td>", sizes->sizes[place]);
    }
    html_format(html, "<td class=\"number\">%.1f</td></tr></table></div>\n",
                sizes->sum / (double)sizes->count);
}

static void write_size_plots(struct html *html, const recmap_record_sizes *sizes) {
    double min = (double)sizes->sizes[0], max = (double)sizes->sizes[sizes->count - 1];
    struct histogram histogram = histogram_logarithmic(min, max);
    for (uint64_t i = 0; i < sizes->count; i++) histogram_add(&histogram, (double)sizes->sizes[i]);
    char low[HUMAN_SIZE], high[HUMAN_SIZE];
    human_bytes(low, min);
    human_bytes(high, max);
    html_put(html, "<div class=\"grid\"><div class=\"card\"><h3>Records by size</h3>");
    plot_histogram(html, &histogram, "number of records by size, on a logarithmic scale");
    plot_axis(html, low, high);
    html_put(html, "<div class=\"note\">logarithmic scale</div></div>\n"
                   "<div class=\"card\"><h3>Cumulative share</h3>");
    plot_shares(html, &histogram, "cumulative shares of records and of bytes by size");
    plot_axis(html, low, high);
    html_put(html, "<div class=\"note\">of records (solid) and of their bytes (dashed), up to a "
                   "size</div></div></div>\n");
}

void page_write_sizes(struct html *html, const struct report *report) {
    const recmap_record_sizes *sizes = &report->sizes;
    html_put(html, "<section id=\"sizes\">\n<h2>Sizes of records</h2>\n");
    if (sizes->count < report->view.count)
        html_format(html,
                    "<p class=\"note\">Of %" PRIu64 " of %" PRIu64
                    " records, in evenly spaced runs.</p>\n",
                    sizes->count, report->view.count);
    if (!sizes->count) html_put(html, "<p>There are no records.</p>\n");
    else {
        write_quantiles(html, sizes);
        write_size_plots(html, sizes);
    }
    html_put(html, "</section>\n");
}

/* ---- Ids. */

static void write_repeated(struct html *html, const recmap_repeated_ids *ids,
                           const struct view *view) {
    html_format(html, "<p class=\"bad\">%" PRIu64 " record%s the id of an earlier record.</p>\n",
                ids->count, ids->count == 1 ? " has" : "s have");
    html_put(html, "<table><tr><th>record</th><th>first record with its id</th></tr>\n");
    for (size_t i = 0; i < ids->listed_count; i++)
        html_format(html, "<tr><td>%" PRIu64 "</td><td>%" PRIu64 "</td></tr>\n",
                    view_number(view, ids->listed[i].record),
                    view_number(view, ids->listed[i].first));
    if (ids->listed_count < ids->count) html_put(html, "<tr><td>…</td><td></td></tr>\n");
    html_put(html, "</table>\n");
}

void page_write_ids(struct html *html, const struct report *report) {
    const recmap_repeated_ids *ids = &report->ids;
    html_put(html, "<section id=\"ids\">\n<h2>Duplicate ids</h2>\n");
    if (!recmap_dataset_get_info(report->view.dataset)->id_name)
        html_put(html, "<p>The index has no ids.</p>\n");
    else if (ids->is_estimate)
        html_format(html,
                    "<p class=\"bad\">About %" PRIu64
                    " records have the id of an earlier record, by "
                    "their hashes; <code>recmap duplicates --by id</code> lists them.</p>\n",
                    ids->count);
    else if (!ids->is_known)
        html_put(html, "<p>There are too many records to compare ids here; <code>recmap duplicates "
                       "--by id</code> compares them.</p>\n");
    else if (!ids->count) html_put(html, "<p>No two records have the same id.</p>\n");
    else write_repeated(html, ids, &report->view);
    html_put(html, "</section>\n");
}
