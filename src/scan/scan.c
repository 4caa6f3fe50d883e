#include "scan/scan.h"

#include <stdlib.h>

#include "base/error.h"
#include "format/sniff.h"
#include "format/tfrecord.h"
#include "os/file.h"
#include "os/process.h"
#include "os/thread.h"
#include "scan/inflate_scan.h"
#include "scan/scanner.h"
#include "shards/image.h"

enum {
    SEGMENT_MAX = 8 << 20,
    SEGMENT_MIN = 1 << 20,
    SLOTS_MAX = 64,
    SURE_SIZE = 64, /* bytes from which on a file that is no TFRecord is told for what it is */
    SEGMENTS_TOTAL = 64 << 20, /* bytes of file in flight: what is found in them takes up to twice
                                  as many (of empty records), whatever the number of threads */
    UNCUT_MAX = 32,            /* segments that a shard without guesses would have */
    SLOTS_PER_THREAD = 2,
    PROGRESS_NS = 50 * 1000 * 1000,
};

typedef enum shard_state { SHARD_CLOSED, SHARD_OPENING, SHARD_OPEN, SHARD_FAILED } shard_state;

/* A shard to scan. Whoever needs it first maps it, whoever joins its last segment unmaps it. */
struct scan_shard {
    const char *path;
    const struct framing *framing;
    struct file_stat stat;
    compression compression;
    shard_state state;
    struct shard_image image;     /* of a plain one */
    struct inflate_scan inflated; /* of a compressed one: what came of its walk */
    recmap_status status;         /* why it could not be opened */
    recmap_error error;
};

/* A piece of a shard on its way from a worker to the joining thread. */
struct segment {
    uint64_t number; /* among all segments */
    size_t shard_index;
    uint64_t begin, end;
    bool is_last; /* of its shard */
    bool is_done;
    bool has_guess; /* the walk began at `entry` and ended in `state` */
    uint64_t entry;
    struct scan_cursor state;
    struct scan_findings findings;
};

struct scan {
    const struct scan_options *options;
    const struct scan_sink *sink;
    uint64_t segment_size;
    struct scan_shard *shards;
    size_t shard_count;
    recmap_progress *progress;
    uint64_t progress_at_ns;

    pthread_mutex_t lock; /* guards all below and the states of shards */
    pthread_cond_t changed_work;
    pthread_cond_t changed_results;
    struct segment *slots; /* a ring: segment number modulo slot_count */
    size_t slot_count;
    uint64_t taken;  /* segments given to workers */
    uint64_t joined; /* segments done with */
    size_t next_shard;
    uint64_t next_begin;
    bool is_stopped;
    struct worker_group workers;
};

/* A compressed shard is one segment. So is one without guesses, which a worker then walks while
 * others walk the next; unless it is large, since all that is found in it is held. */
static bool is_uncut(const struct scan *scan, const struct scan_shard *shard) {
    return shard->compression != COMPRESSION_NONE ||
           (!shard->framing->guess && shard->stat.size / scan->segment_size < UNCUT_MAX);
}

/* The next stretch to walk, in order; at least one for each shard, even an empty one. */
static void cut_segment(struct scan *scan, struct segment *cut) {
    const struct scan_shard *shard = &scan->shards[scan->next_shard];
    if (cut->shard_index != scan->next_shard) crc_sums_clear(&cut->findings.sums);
    cut->shard_index = scan->next_shard;
    cut->begin = scan->next_begin;
    cut->is_done = false;
    cut->has_guess = false;
    cut->number = scan->taken++;
    cut->is_last = is_uncut(scan, shard) ||
                   shard->stat.size - scan->next_begin <= scan->segment_size;
    if (cut->is_last) {
        cut->end = shard->stat.size;
        scan->next_shard++;
        scan->next_begin = 0;
    } else {
        cut->end = scan->next_begin += scan->segment_size;
    }
}

static recmap_status fail_changed(const struct scan_shard *shard, recmap_error *error) {
    fail(error, RECMAP_STALE, "the file changed while it was being indexed");
    fail_file(error, shard->path);
    fail_advise(error, "index it again when nothing writes to it any more");
    return RECMAP_STALE;
}

static recmap_status fail_cut(const struct scan_shard *shard, recmap_error *error) {
    fail(error, RECMAP_IO, "the file was cut short while it was being read");
    fail_file(error, shard->path);
    fail_advise(error, "index it again when nothing writes to it any more");
    return RECMAP_IO;
}

static bool is_same_file(const struct file_stat *a, const struct file_stat *b) {
    return a->size == b->size && a->mtime_ns == b->mtime_ns && a->inode == b->inode;
}

/* How the shard is walked. */
static struct scanner walker_of(const struct scan *scan, const struct scan_shard *shard) {
    return (struct scanner){shard->framing, scan->options->extractor, scan->options->on_corrupt};
}

/* Opens the shard and looks at it. */
static recmap_status open_file(int *fd, struct file_stat *stat, const struct scan *scan,
                               const char *path, recmap_error *error) {
    const struct scan_options *options = scan->options;
    recmap_status status = options->open ? options->open(fd, options->open_context, path, error)
                                         : file_open(fd, path, error);
    return status == RECMAP_OK ? file_get_stat(stat, *fd, path, error) : status;
}

static recmap_status open_image(const struct scan *scan, struct scan_shard *shard,
                                recmap_error *error) {
    int fd = -1;
    struct file_stat now;
    recmap_status status = open_file(&fd, &now, scan, shard->path, error);
    if (status == RECMAP_OK && !is_same_file(&now, &shard->stat))
        status = fail_changed(shard, error);
    if (status == RECMAP_OK) status = image_open(&shard->image, fd, now.size, shard->path, error);
    file_close(fd);
    if (status == RECMAP_OK && shard->image.map)
        map_advise(shard->image.map, 0, now.size, MAP_ADVICE_SEQUENTIAL);
    return status;
}

/* Opens the shard if nobody has; waits while another thread is at it. */
static bool open_shard(struct scan *scan, struct scan_shard *shard) {
    pthread_mutex_lock(&scan->lock);
    while (shard->state == SHARD_OPENING) pthread_cond_wait(&scan->changed_work, &scan->lock);
    if (shard->state == SHARD_CLOSED) {
        shard->state = SHARD_OPENING;
        pthread_mutex_unlock(&scan->lock);
        shard->status = open_image(scan, shard, &shard->error);
        pthread_mutex_lock(&scan->lock);
        shard->state = shard->status == RECMAP_OK ? SHARD_OPEN : SHARD_FAILED;
        pthread_cond_broadcast(&scan->changed_work);
    }
    bool is_open = shard->state == SHARD_OPEN;
    pthread_mutex_unlock(&scan->lock);
    return is_open;
}

/* An open file, for the inflater. */
struct opened_file {
    int fd;
    const char *path;
};

static recmap_status read_opened(void *context, void *data, size_t size, uint64_t offset,
                                 recmap_error *error) {
    const struct opened_file *file = context;
    return file_read_at(file->fd, data, size, offset, file->path, error);
}

static recmap_status inflate_shard(const struct scan *scan, struct scan_shard *shard,
                                   struct scan_findings *findings, recmap_error *error) {
    struct opened_file file = {-1, shard->path};
    struct file_stat now;
    struct scanner scanner = walker_of(scan, shard);
    struct inflate_scan *walk = &shard->inflated;
    struct point_list known = {0};
    recmap_status status = open_file(&file.fd, &now, scan, shard->path, error);
    if (status == RECMAP_OK && !is_same_file(&now, &shard->stat))
        status = fail_changed(shard, error);
    *walk = (struct inflate_scan){
        .scanner = &scanner,
        .source = {.size = shard->stat.size, .read = read_opened, .context = &file},
        .kind = shard->compression,
        .path = shard->path,
    };
    if (status == RECMAP_OK && scan->options->known_points) {
        status = scan->options->known_points(&known, &walk->known_size, scan->options->open_context,
                                             (size_t)(shard - scan->shards), error);
        walk->known = &known;
    }
    if (status == RECMAP_OK) status = inflate_walk_shard(walk, findings, error);
    walk->known = NULL;
    walk->scanner = NULL;
    points_free(&known);
    file_close(file.fd);
    return status;
}

/* A compressed shard is one segment, and is walked by whoever comes first. */
static bool walk_compressed(struct scan *scan, struct scan_shard *shard, struct segment *piece) {
    if (!piece->has_guess && shard->state != SHARD_FAILED) {
        shard->status = inflate_shard(scan, shard, &piece->findings, &shard->error);
        piece->has_guess = true;
        piece->entry = 0;
        piece->state = (struct scan_cursor){.position = shard->inflated.end_of_records};
        shard->state = shard->status == RECMAP_OK ? SHARD_OPEN : SHARD_FAILED;
    }
    return shard->state == SHARD_OPEN;
}

static void walk_segment(struct scan *scan, struct segment *piece) {
    struct scan_shard *shard = &scan->shards[piece->shard_index];
    if (shard->compression != COMPRESSION_NONE) {
        walk_compressed(scan, shard, piece);
        return;
    }
    if (!open_shard(scan, shard)) return;
    const struct shard_image *image = &shard->image;
    struct scanner scanner = walker_of(scan, shard);
    if (piece->begin > 0) {
        piece->has_guess = scan_from_guess(&scanner, &piece->findings, &piece->state, &piece->entry,
                                           image->data, image->size, piece->begin, piece->end);
        return;
    }
    piece->has_guess = true; /* where a shard begins needs no guessing */
    piece->entry = 0;
    piece->state = (struct scan_cursor){0};
    scan_from(&scanner, &piece->findings, &piece->state, image->data, image->size, piece->end);
}

/* A worker: takes segments in order, as long as a slot is free. */
static void *run_worker(void *context) {
    struct scan *scan = context;
    pthread_mutex_lock(&scan->lock);
    while (!scan->is_stopped && scan->next_shard < scan->shard_count) {
        if (scan->taken - scan->joined == scan->slot_count) {
            pthread_cond_wait(&scan->changed_work, &scan->lock);
            continue;
        }
        struct segment *piece = &scan->slots[scan->taken % scan->slot_count];
        cut_segment(scan, piece);
        pthread_mutex_unlock(&scan->lock);
        walk_segment(scan, piece);
        pthread_mutex_lock(&scan->lock);
        piece->is_done = true;
        pthread_cond_signal(&scan->changed_results);
    }
    pthread_mutex_unlock(&scan->lock);
    return NULL;
}

static recmap_status report_progress(struct scan *scan, recmap_error *error) {
    const struct scan_options *options = scan->options;
    uint64_t now = clock_ns();
    if (!options->progress || now - scan->progress_at_ns < PROGRESS_NS) return RECMAP_OK;
    scan->progress_at_ns = now;
    if (!options->progress(options->progress_context, scan->progress)) return RECMAP_OK;
    return fail(error, RECMAP_CANCELLED, "cancelled; nothing was written");
}

/* Sleeps until a worker is done with something, or it is time to report progress. */
static void wait_for_workers(struct scan *scan) {
    struct timespec until = clock_until(PROGRESS_NS);
    pthread_cond_timedwait(&scan->changed_results, &scan->lock, &until);
}

/* The next segment in order: walked by a worker, or, without workers, by nobody yet. */
static recmap_status next_segment(struct scan *scan, struct segment **piece, recmap_error *error) {
    recmap_status status = RECMAP_OK;
    struct segment *next = &scan->slots[scan->joined % scan->slot_count];
    *piece = next;
    pthread_mutex_lock(&scan->lock);
    if (!scan->workers.count) {
        cut_segment(scan, next);
        next->is_done = true;
    }
    while (status == RECMAP_OK && (scan->taken == scan->joined || !next->is_done)) {
        wait_for_workers(scan);
        pthread_mutex_unlock(&scan->lock);
        status = report_progress(scan, error);
        pthread_mutex_lock(&scan->lock);
    }
    pthread_mutex_unlock(&scan->lock);
    return status;
}

static void release_segment(struct scan *scan) {
    pthread_mutex_lock(&scan->lock);
    scan->slots[scan->joined % scan->slot_count].is_done = false;
    scan->joined++;
    pthread_cond_broadcast(&scan->changed_work);
    pthread_mutex_unlock(&scan->lock);
}

/* What the file is if it is no TFRecord file, not even in its first header. */
static const struct file_kind *kind_of(const struct scan_shard *shard, uint64_t stopped_at) {
    bool is_plain = shard->compression == COMPRESSION_NONE;
    const uint8_t *bytes = is_plain ? shard->image.data : shard->inflated.head;
    uint64_t size = is_plain ? shard->image.size : shard->inflated.head_size;
    const struct framing *by = shard->framing;
    if (stopped_at || !framing_is_tfrecord(by) || by->begins_frame(by, bytes, size)) return NULL;
    return sniff_file(bytes, size);
}

static recmap_status fail_kind(const struct scan_shard *shard, const struct file_kind *kind,
                               recmap_error *error) {
    fail(error, RECMAP_CORRUPT, "is no TFRecord file: it is %s", kind->name);
    fail_at(error, shard->path, RECMAP_NO_RECORD, 0);
    fail_advise(error, "%s", kind->advice);
    return RECMAP_CORRUPT;
}

/* The error of a walk that stopped, with its place. */
static recmap_status fail_walk(struct scan *scan, const struct scan_shard *shard,
                               const struct scan_findings *findings, recmap_error *error) {
    if (!error) return findings->status;
    *error = findings->error;
    fail_at(error, shard->path, scan->progress->record_count, findings->stopped_at);
    if (findings->status != RECMAP_CORRUPT) return findings->status;
    const struct file_kind *kind = kind_of(shard, findings->stopped_at);
    if (kind) return fail_kind(shard, kind, error);
    bool is_other = !findings->stopped_at && framing_is_tfrecord(shard->framing);
    fail_advise(error,
                "restore the file, or index with `--on-corrupt skip` to number the good records "
                "and list the damage%s",
                is_other ? "; a file of another kind needs --framing" : "");
    return RECMAP_CORRUPT;
}

static recmap_status add_damage(struct scan *scan, uint64_t offset, uint64_t length,
                                const char *reason, recmap_error *error) {
    return scan->sink->add_damage(scan->sink->context, offset, length, reason, error);
}

/* Hands on what one walk found. */
static recmap_status take_findings(struct scan *scan, const struct scan_shard *shard,
                                   const struct scan_findings *findings, recmap_error *error) {
    if (image_was_cut(&shard->image)) return fail_cut(shard, error);
    recmap_status status = scan->sink->add_run(scan->sink->context, &findings->run, error);
    if (status != RECMAP_OK && error && !error->path[0]) fail_file(error, shard->path);
    for (size_t i = 0; status == RECMAP_OK && i < findings->damage_count; i++) {
        const struct scan_damage *damage = &findings->damages[i];
        status = add_damage(scan, damage->offset, damage->length, damage->reason, error);
    }
    if (status != RECMAP_OK) return status;
    scan->progress->record_count += findings->run.count;
    return findings->status == RECMAP_OK ? RECMAP_OK : fail_walk(scan, shard, findings, error);
}

/* Whether the worker's walk is the one that goes on from `state`: both stand at the same frame, or
 * the walk is lost and the worker found the first frame behind. */
static bool guess_holds(const struct scan_shard *shard, const struct segment *piece,
                        const struct scan_cursor *state) {
    if (!piece->has_guess) return false;
    if (!state->is_lost) return state->position == piece->entry;
    return state->position == piece->begin && shard->framing->find;
}

static recmap_status join_segment(struct scan *scan, struct segment *piece,
                                  struct scan_cursor *state, recmap_error *error) {
    struct scan_shard *shard = &scan->shards[piece->shard_index];
    bool is_plain = shard->compression == COMPRESSION_NONE;
    if (!(is_plain ? open_shard(scan, shard) : walk_compressed(scan, shard, piece))) {
        /* Of a shard that is passed over only the sink hears. */
        if (error && !scan->sink->skip_shard) *error = shard->error;
        return shard->status;
    }
    const struct shard_image *image = &shard->image;
    /* A record that began before may reach over the whole segment. */
    if (is_plain && !state->is_lost && state->position >= piece->end && piece->end > 0)
        return RECMAP_OK;
    if (!guess_holds(shard, piece, state)) {
        struct scanner scanner = walker_of(scan, shard);
        scan_from(&scanner, &piece->findings, state, image->data, image->size, piece->end);
        return take_findings(scan, shard, &piece->findings, error);
    }
    recmap_status status = RECMAP_OK;
    if (state->is_lost)
        status = add_damage(scan, state->lost_since, piece->entry - state->lost_since,
                            state->reason, error);
    *state = piece->state;
    return status == RECMAP_OK ? take_findings(scan, shard, &piece->findings, error) : status;
}

/* Whether the shard could not be opened, and may be passed over: its segments then hold nothing. */
static bool is_skipped(const struct scan *scan, const struct scan_shard *shard) {
    return shard->state == SHARD_FAILED && scan->sink->skip_shard;
}

/* `end_of_records` is where the last record or damage ends. */
static recmap_status join_segments(uint64_t *end_of_records, struct scan *scan,
                                   struct scan_shard *shard, recmap_error *error) {
    struct scan_cursor state = {0};
    recmap_status status = RECMAP_OK;
    scan->progress->path = shard->path;
    for (bool is_last = false; status == RECMAP_OK && !is_last;) {
        struct segment *piece;
        status = next_segment(scan, &piece, error);
        if (status != RECMAP_OK) break;
        status = join_segment(scan, piece, &state, error);
        if (status != RECMAP_OK && is_skipped(scan, shard)) status = RECMAP_OK;
        if (status != RECMAP_OK) break;
        is_last = piece->is_last;
        uint64_t end = is_last ? shard->stat.size : piece->end;
        scan->progress->bytes_done += end - piece->begin;
        release_segment(scan);
        status = report_progress(scan, error);
    }
    *end_of_records = state.position;
    return status;
}

static uint64_t image_size(const struct scan_shard *shard) {
    return shard->compression == COMPRESSION_NONE ? shard->image.size : shard->inflated.size;
}

/* Skipping is for damaged shards. A file without a single record that is known to be something else
 * was named by mistake. Of a few bytes too much can be said by chance. */
static recmap_status check_is_shard(const struct scan *scan, const struct scan_shard *shard,
                                    uint64_t records, recmap_error *error) {
    if (records || image_size(shard) < SURE_SIZE || !scan->options->refuses_others)
        return RECMAP_OK;
    const struct file_kind *kind = kind_of(shard, 0);
    return kind ? fail_kind(shard, kind, error) : RECMAP_OK;
}

static recmap_status join_shard(struct scan *scan, struct scan_shard *shard, recmap_error *error) {
    uint64_t before = scan->progress->record_count;
    recmap_status status = scan->sink->begin_shard(scan->sink->context, shard->path, error);
    uint64_t end_of_records = 0;
    if (status == RECMAP_OK) status = join_segments(&end_of_records, scan, shard, error);
    if (status != RECMAP_OK) return status;
    if (is_skipped(scan, shard))
        return scan->sink->skip_shard(scan->sink->context, &shard->error, error);
    status = check_is_shard(scan, shard, scan->progress->record_count - before, error);
    if (status != RECMAP_OK) return status;
    int fd = -1;
    struct file_stat now;
    status = open_file(&fd, &now, scan, shard->path, error);
    file_close(fd);
    if (status != RECMAP_OK) return status;
    if (!is_same_file(&now, &shard->stat)) return fail_changed(shard, error);
    struct shard_end end = {shard->stat.size,
                            image_size(shard),
                            shard->compression,
                            shard->stat.mtime_ns,
                            image_size(shard) - end_of_records,
                            &shard->inflated.points};
    image_close(&shard->image);
    status = scan->sink->end_shard(scan->sink->context, &end, error);
    points_free(&shard->inflated.points);
    return status;
}

/* A TFRecord file tells by its bytes whether it is compressed. In files of other framings anything
 * may stand first, even the two bytes of a ZLIB header: they are GZIP, or what their user says. */
static recmap_status choose_compression(struct scan_shard *shard, const struct scan_form *form,
                                        int fd) {
    bool is_sure = form->compression != RECMAP_COMPRESSION_AUTO;
    if (is_sure) shard->compression = (compression)(form->compression - RECMAP_COMPRESSION_NONE);
    if (is_sure) return RECMAP_OK;
    recmap_status status =
        image_detect(&shard->compression, fd, shard->stat.size, shard->path, &shard->error);
    if (!framing_is_tfrecord(shard->framing) && shard->compression == COMPRESSION_ZLIB)
        shard->compression = COMPRESSION_NONE;
    return status;
}

static recmap_status look_at_shards(struct scan *scan, const char *const *paths,
                                    recmap_error *error) {
    for (size_t i = 0; i < scan->shard_count; i++) {
        struct scan_shard *shard = &scan->shards[i];
        const struct scan_form *form = scan->options->forms ? &scan->options->forms[i]
                                                            : &scan->options->form;
        shard->path = paths[i];
        shard->framing = form->framing ? form->framing : &tfrecord_framing;
        int fd = -1;
        shard->status = open_file(&fd, &shard->stat, scan, shard->path, &shard->error);
        if (shard->status == RECMAP_OK) shard->status = choose_compression(shard, form, fd);
        file_close(fd);
        if (shard->status != RECMAP_OK) shard->state = SHARD_FAILED;
        if (shard->status != RECMAP_OK && !is_skipped(scan, shard)) {
            if (error) *error = shard->error;
            return shard->status;
        }
        scan->progress->bytes_total += shard->stat.size;
    }
    return RECMAP_OK;
}

static uint64_t segment_count(const struct scan *scan) {
    uint64_t count = 0;
    for (size_t i = 0; i < scan->shard_count; i++)
        count += scan->shards[i].stat.size / scan->segment_size + 1;
    return count;
}

/* How many segments are in flight, and how large they are: bounded together, so that memory does
 * not grow with the number of threads. */
static size_t choose_segments(struct scan *scan, unsigned threads) {
    size_t slots = (size_t)threads * SLOTS_PER_THREAD + 2;
    if (slots > SLOTS_MAX) slots = SLOTS_MAX;
    uint64_t size = SEGMENTS_TOTAL / slots;
    if (size > SEGMENT_MAX) size = SEGMENT_MAX;
    if (size < SEGMENT_MIN) size = SEGMENT_MIN;
    scan->segment_size = scan->options->segment_size ? scan->options->segment_size : size;
    return slots;
}

static recmap_status start(struct scan *scan, recmap_error *error) {
    unsigned threads = scan->options->thread_count ? scan->options->thread_count : core_count();
    size_t slots = choose_segments(scan, threads);
    uint64_t segments = segment_count(scan);
    if (threads > segments) threads = (unsigned)segments;
    if (slots > segments + 1) slots = (size_t)segments + 1;
    /* A single thread has nobody to run ahead of it: it walks while it joins, and never guesses. */
    if (threads <= 1) slots = 1;
    scan->slots = calloc(slots, sizeof *scan->slots);
    if (!scan->slots) return fail_memory(error);
    for (; scan->slot_count < slots; scan->slot_count++)
        if (!findings_init(&scan->slots[scan->slot_count].findings, scan->options->extractor))
            return fail_memory(error);
    if (threads <= 1) return RECMAP_OK;
    return workers_start(&scan->workers, threads, run_worker, scan, error);
}

static void finish(struct scan *scan) {
    pthread_mutex_lock(&scan->lock);
    scan->is_stopped = true;
    pthread_cond_broadcast(&scan->changed_work);
    pthread_mutex_unlock(&scan->lock);
    workers_join(&scan->workers);
    for (size_t i = 0; i < scan->slot_count; i++) findings_free(&scan->slots[i].findings);
    free(scan->slots);
    for (size_t i = 0; scan->shards && i < scan->shard_count; i++) {
        image_close(&scan->shards[i].image);
        points_free(&scan->shards[i].inflated.points);
    }
    free(scan->shards);
    pthread_cond_destroy(&scan->changed_results);
    pthread_cond_destroy(&scan->changed_work);
    pthread_mutex_destroy(&scan->lock);
}

recmap_status scan_shards(const char *const *paths, size_t path_count, const struct scan_sink *sink,
                          const struct scan_options *options, recmap_error *error) {
    struct scan scan = {
        .options = options,
        .sink = sink,
        .shards = calloc(path_count + 1, sizeof *scan.shards),
        .shard_count = path_count,
        .progress = options->totals,
        .lock = PTHREAD_MUTEX_INITIALIZER,
        .changed_work = PTHREAD_COND_INITIALIZER,
    };
    condition_init(&scan.changed_results);
    recmap_status status = scan.shards ? RECMAP_OK : fail_memory(error);
    if (status == RECMAP_OK) status = look_at_shards(&scan, paths, error);
    if (status == RECMAP_OK) status = start(&scan, error);
    for (size_t i = 0; status == RECMAP_OK && i < path_count; i++)
        status = join_shard(&scan, &scan.shards[i], error);
    finish(&scan);
    return status;
}
