#define _GNU_SOURCE
#include "support/shards/framing_check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <recmap/framing.h>

#include "format/shards/framings.h"
#include "index/scan/scan.h"
#include "support/shards/plain_tar.h"

static void require(bool holds, const char *reason) {
    if (holds) return;
    fprintf(stderr, "framing: %s\n", reason);
    abort();
}

/* What the plain reader says of the bytes at `at`: a record, the end, or damage. */
enum answer { RECORD, END, DAMAGE };

struct place {
    uint64_t offset, size, data_offset, data_size;
};

static const char *name_of(char name[80], const struct framing_check *check) {
    static const char *const names[] = {
        "lines", "ofrecord", "", "own", "own-trailed", "own-ab", "tar", "csv,noheader", "csv:pipe"};
    snprintf(name, 80, "fixed:%llu,%llu,%llu", (unsigned long long)check->header,
             (unsigned long long)check->record, (unsigned long long)check->footer);
    return check->kind == CHECK_FIXED ? name : names[check->kind];
}

static uint64_t number_at(const uint8_t *data, int count) {
    uint64_t number = 0;
    while (count--) number = number << 8 | data[count];
    return number;
}

static enum answer sized(struct place *out, const uint8_t *data, uint64_t begin, uint64_t end,
                         int head) {
    if (begin == end) return END;
    if (end - begin < (uint64_t)head) return DAMAGE;
    uint64_t length = number_at(data + begin, head);
    if (length > end - begin - (uint64_t)head) return DAMAGE;
    *out = (struct place){begin, length + (uint64_t)head, (uint64_t)head, length};
    return RECORD;
}

static enum answer until(struct place *out, const uint8_t *data, uint64_t begin, uint64_t end,
                         uint8_t byte) {
    if (begin == end) return END;
    uint64_t size = 0;
    while (begin + size < end && data[begin + size] != byte) size++;
    bool is_ended = begin + size < end;
    *out = (struct place){begin, size + is_ended, 0, size};
    return RECORD;
}

static enum answer sample(struct place *out, const uint8_t *data, uint64_t begin, uint64_t end) {
    uint64_t size;
    enum plain_tar_answer said = plain_tar_sample(&size, data + begin, end - begin);
    if (said == PLAIN_SAMPLE) *out = (struct place){begin, size, 0, size};
    return said == PLAIN_SAMPLE ? RECORD : said == PLAIN_END ? END : DAMAGE;
}

/* A row of CSV, byte by byte. A quote opens a field at its start only. */
static enum answer row(struct place *out, const uint8_t *data, uint64_t begin, uint64_t end,
                       uint8_t separator) {
    enum { START, PLAIN, QUOTED, CLOSED } state = START;
    uint64_t mark = end - begin >= 3 && !memcmp(data + begin, "\xef\xbb\xbf", 3) ? 3 : 0;
    uint64_t at = begin + mark;
    if (begin == end) return END;
    for (; at < end && (state == QUOTED || data[at] != '\n'); at++) {
        if (state == QUOTED) state = data[at] == '"' ? CLOSED : QUOTED;
        else if (data[at] == '"' && (state == START || state == CLOSED)) state = QUOTED;
        else state = data[at] == separator ? START : PLAIN;
    }
    if (state == QUOTED) return DAMAGE;
    uint64_t size = at - begin - mark;
    if (at < end && size && data[at - 1] == '\r') size--;
    *out = (struct place){begin, at - begin + (at < end), mark, size};
    return RECORD;
}

static uint64_t end_of_line(const uint8_t *data, uint64_t begin, uint64_t end) {
    while (begin < end && data[begin] != '\n') begin++;
    return begin + (begin < end);
}

/* Reads the frame at `at` with the simplest code that follows the framing's definition. It shares
 * no code with the library, so that a mistake in one shows as a difference. */
static enum answer plain(struct place *out, const struct framing_check *check, const uint8_t *data,
                         uint64_t begin, uint64_t end) {
    enum answer said = END;
    switch (check->kind) {
    case CHECK_LINES:
        said = until(out, data, begin, end, '\n');
        if (said == RECORD && out->size > out->data_size && out->data_size &&
            data[begin + out->data_size - 1] == '\r')
            out->data_size--;
        return said;
    case CHECK_OFRECORD: return sized(out, data, begin, end, 8);
    case CHECK_TAR: return sample(out, data, begin, end);
    case CHECK_CSV: return row(out, data, begin, end, ',');
    case CHECK_CSV_HEADER: return row(out, data, begin, end, '|');
    case CHECK_OWN: return sized(out, data, begin, end, 2);
    case CHECK_OWN_TRAILED:
        if (end - begin >= 2 && number_at(data + begin, 2) == 0xffff) return END;
        return sized(out, data, begin, end, 2);
    case CHECK_OWN_FINDABLE:
        said = until(out, data, begin, end, 0xab);
        return said == RECORD && out->size == out->data_size ? DAMAGE : said;
    default:
        if (begin == end) return END;
        if (end - begin < check->record) return DAMAGE;
        *out = (struct place){begin, check->record, 0, check->record};
        return RECORD;
    }
}

/* The framings of our own. */
static recmap_frame_verdict own_parse(recmap_frame_place *frame, const uint8_t *bytes, size_t size,
                                      recmap_frame_fault *fault, void *context) {
    struct framing_check how = {.kind = *(unsigned *)context};
    struct place found;
    switch (plain(&found, &how, bytes, 0, size)) {
    case RECORD: break;
    case END: return RECMAP_FRAME_END;
    case DAMAGE: memcpy(fault->reason, "no\nrecord", 10); return RECMAP_FRAME_BAD;
    }
    *frame = (recmap_frame_place){found.size, found.data_offset, found.data_size};
    return RECMAP_FRAME_GOOD;
}

static uint64_t own_find(const uint8_t *bytes, size_t size, uint64_t begin, uint64_t limit,
                         void *context) {
    (void)context;
    uint64_t end = limit < size ? limit : size;
    for (uint64_t at = begin ? begin : 1; at < end; at++)
        if (bytes[at - 1] == 0xab && memchr(bytes + at, 0xab, size - at)) return at;
    return UINT64_MAX;
}

static void register_own(void) {
    static unsigned kinds[] = {CHECK_OWN, CHECK_OWN_TRAILED, CHECK_OWN_FINDABLE};
    static const char *const names[] = {"own", "own-trailed", "own-ab"};
    for (size_t i = 0; i < 3; i++) {
        recmap_framing framing = {.version = RECMAP_FRAMING_VERSION,
                                  .name = names[i],
                                  .context = &kinds[i],
                                  .file_header_size = i == 1 ? 3 : 0,
                                  .parse = own_parse,
                                  .find = i == 2 ? own_find : NULL};
        require(recmap_framing_register(&framing, NULL) == RECMAP_OK, "not registered");
    }
}

/* Stretches of damage in a file of tests. */
enum { PASSED_MAX = 20000 };

/* The shard as the plain reader reads it, while the scan says what it finds. */
struct scan_state {
    const struct framing_check *how;
    const uint8_t *data;
    uint64_t size, end, at;
    size_t record_count;
    bool has_damage, has_ended;
    bool has_lines; /* rows are single lines: a row before had no end */
    uint64_t passed_begin[PASSED_MAX], passed_end[PASSED_MAX]; /* damage passed by add_run */
    size_t passed_count, told_count;
};

/* The frame at the reader's place. */
static enum answer plain_here(struct place *out, const struct scan_state *state) {
    uint64_t end = state->has_lines ? end_of_line(state->data, state->at, state->end) : state->end;
    return plain(out, state->how, state->data, state->at, end);
}

/* Where the reader continues after damage at `at`. */
static uint64_t after_damage(const struct scan_state *state) {
    if (state->how->kind == CHECK_CSV || state->how->kind == CHECK_CSV_HEADER) {
        struct place found;
        uint64_t at = state->at, line_end;
        do {
            at = end_of_line(state->data, at, state->end);
            line_end = end_of_line(state->data, at, state->end);
        } while (at < state->end && plain(&found, state->how, state->data, at, line_end) == DAMAGE);
        return at;
    }
    if (state->how->kind != CHECK_OWN_FINDABLE) return state->end;
    uint64_t found = own_find(state->data, state->end, state->at + 1, state->end, NULL);
    return found == UINT64_MAX ? state->end : found;
}

static bool is_csv(const struct framing_check *how) {
    return how->kind == CHECK_CSV || how->kind == CHECK_CSV_HEADER;
}

/* The damage of a segment is told after its records, so the reader passes it before them. */
static void pass_damage(struct scan_state *state) {
    struct place found;
    while (is_csv(state->how) && state->how->skips && state->at < state->end &&
           plain_here(&found, state) == DAMAGE) {
        require(state->passed_count < PASSED_MAX, "too much damage for this test");
        state->passed_begin[state->passed_count] = state->at;
        state->at = after_damage(state);
        state->passed_end[state->passed_count++] = state->at;
        state->has_lines = true;
    }
}

static recmap_status begin_shard(void *context, const char *path, recmap_error *error) {
    (void)context;
    (void)path;
    (void)error;
    return RECMAP_OK;
}

static recmap_status add_run(void *context, const struct record_run *run, recmap_error *error) {
    struct scan_state *state = context;
    (void)error;
    for (size_t i = 0; i < run->count; i++) {
        struct place due;
        pass_damage(state);
        require(plain_here(&due, state) == RECORD, "a record too many");
        require(run->offsets[i] == due.offset && run->sizes[i] == due.data_size,
                "a record elsewhere");
        require(run->checks[i] ==
                    framing_hash(state->data + due.offset + due.data_offset, due.data_size),
                "another hash");
        state->at += due.size;
        state->record_count++;
    }
    return RECMAP_OK;
}

static recmap_status add_damage(void *context, uint64_t offset, uint64_t length, const char *reason,
                                recmap_error *error) {
    struct scan_state *state = context;
    struct place found;
    (void)error;
    require(reason[0] && !strchr(reason, '\n'), "damage without a reason of one line");
    if (is_csv(state->how)) {
        pass_damage(state);
        require(state->told_count < state->passed_count, "damage where there is none");
        size_t told = state->told_count++;
        require(state->passed_begin[told] == offset, "damage elsewhere");
        require(state->passed_end[told] - offset == length, "damage of another length");
        return RECMAP_OK;
    }
    require(state->at == offset, "damage elsewhere");
    if (state->end) /* else the file is too short for its header and footer */
        require(plain_here(&found, state) == DAMAGE, "damage where there is none");
    uint64_t goes_on = state->end ? after_damage(state) : state->size;
    require(length == goes_on - offset, "damage of another length");
    state->at = goes_on;
    return RECMAP_OK;
}

static recmap_status end_shard(void *context, const struct shard_end *end, recmap_error *error) {
    struct scan_state *state = context;
    struct place found;
    (void)error;
    require(end->size == state->size, "another size");
    if (state->end) require(plain_here(&found, state) == END, "the scan ends too soon");
    require(end->tail_size == state->size - state->at, "another tail");
    state->has_ended = true;
    return RECMAP_OK;
}

/* Returns true if a build that does not skip must fail: there is damage. */
static bool is_damaged(const struct scan_state *begin) {
    struct scan_state state = *begin;
    struct place found;
    if (!state.end) return state.has_damage;
    for (;;) switch (plain(&found, state.how, state.data, state.at, state.end)) {
        case RECORD: state.at += found.size; break;
        case END: return false;
        case DAMAGE: return true;
        }
}

/* Scans the file with the library and compares each run and each stretch of damage in the callbacks
 * with the plain reader. The final status must agree as well. */
static void scan_file(struct scan_state *state, const struct framing *framing, const char *path) {
    const struct framing_check *how = state->how;
    recmap_error error = RECMAP_ERROR_INIT;
    struct extractor *nothing;
    if (extractor_create(&nothing, NULL, &error) != RECMAP_OK) abort();
    struct scan_sink sink = {state, begin_shard, add_run, add_damage, end_shard, NULL};
    recmap_progress totals = {0};
    struct scan_options options = {
        .form = {.framing = framing, .compression = RECMAP_COMPRESSION_NONE},
        .thread_count = how->thread_count,
        .on_bad_record = how->skips ? RECMAP_ON_BAD_RECORD_SKIP : RECMAP_ON_BAD_RECORD_ERROR,
        .extractor = nothing,
        .segment_size = how->segment_size,
        .totals = &totals,
    };
    bool fails = !how->skips && is_damaged(state);
    recmap_status status = scan_shards(&path, 1, &sink, &options, &error);
    require((status == RECMAP_OK) == !fails, "another status");
    require(state->has_ended == !fails, "no end");
    require(state->told_count == state->passed_count, "damage that is not told");
    extractor_destroy(nothing);
}

size_t framing_check_bytes(const struct framing_check *check, const uint8_t *data, size_t size) {
    struct framing by;
    char name[80], path[64];
    register_own();
    require(framings_find(&by, name_of(name, check)), "no such framing");
    uint64_t header = by.file_header_size, footer = by.file_footer_size;
    struct scan_state *state = calloc(1, sizeof *state);
    require(state, "no memory");
    *state = (struct scan_state){.how = check, .data = data, .size = size, .at = header};
    state->end = size >= header && size - header >= footer ? size - footer : 0;
    if (!state->end) {
        state->has_damage = header + footer > size;
        if (state->has_damage) state->at = 0;
    }
    struct place first;
    if (check->kind == CHECK_CSV_HEADER && plain_here(&first, state) == RECORD)
        state->at = first.size;
    int fd = memfd_create("shard", MFD_CLOEXEC);
    if (fd < 0 || pwrite(fd, data, size, 0) != (ssize_t)size) abort();
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    scan_file(state, &by, path);
    close(fd);
    size_t count = state->record_count;
    free(state);
    return count;
}
