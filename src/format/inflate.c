/* ISA-L inflates two to three times as fast as zlib, but does not stop at the end of a block. It
 * can be made to: a block that is marked as the last one ends the stream. So where a point is
 * wanted the block at hand is marked so, and when it has ended the mark is taken back and the next
 * one begins. ISA-L forgets at which bit it stopped when everything has been handed out; so as long
 * as the block lasts, one byte at least is held back. */
#include "format/inflate.h"

#include <stdlib.h>
#include <string.h>

#include <isa-l/crc.h>
#include <isa-l/igzip_lib.h>

#include "base/bytes.h"

enum {
    INPUT_SIZE = 256 << 10,
    INPUT_LEAD = 16,     /* bytes before them that ISA-L may give back */
    PIECE_MAX = 1 << 30, /* ISA-L counts input and output in 32 bits */
    BULK = 512 << 10,    /* out of one call: checksums then find it in the cache */
    TRIED_SIZE = 64 << 10,
};

typedef enum inflate_phase {
    PHASE_HEADER,
    PHASE_BODY,
    PHASE_TRAILER,
    PHASE_NEXT,
    PHASE_DONE
} phase;

struct inflater {
    struct inflate_state state;
    struct isal_gzip_header gzip;
    struct isal_zlib_header zlib;
    compression kind;
    struct inflate_source source;
    phase phase;
    bool checks;
    bool is_bad; /* nothing more comes but what is held back */
    bool is_unreadable;
    uint64_t taken;     /* bytes of the source handed to ISA-L */
    uint64_t offset;    /* of what came out */
    uint64_t member_at; /* of the source */
    uint64_t member_size;
    uint64_t unsure_from;
    uint32_t sum; /* of the member */
    struct inflate_fault fault;
    uint8_t *input;
    uint8_t lead[INPUT_LEAD]; /* of a copy that keeps a place */
};

static const char ends_inside[] = "the file ends inside the compressed stream";

struct inflater *inflater_create(compression kind, const struct inflate_source *source) {
    struct inflater *made = malloc(sizeof *made);
    if (!made) return NULL;
    made->input = source->bytes ? NULL : calloc(1, INPUT_LEAD + INPUT_SIZE);
    if (!source->bytes && !made->input) {
        free(made);
        return NULL;
    }
    made->kind = kind;
    made->source = *source;
    inflater_start(made, 0, 0);
    return made;
}

void inflater_destroy(struct inflater *ended) {
    if (!ended) return;
    free(ended->input);
    free(ended);
}

struct inflater *inflater_copy(const struct inflater *in, const struct inflate_source *source) {
    bool reads = !in->source.bytes;
    struct inflater *made = malloc(sizeof *made);
    if (!made) return NULL;
    *made = *in;
    made->input = NULL;
    made->taken -= in->state.avail_in;
    made->state.avail_in = 0;
    made->state.next_in = NULL;
    if (reads && in->input) memcpy(made->lead, in->state.next_in - INPUT_LEAD, INPUT_LEAD);
    if (!source) return made;
    made->source = *source;
    if (source->bytes) {
        made->state.next_in = (uint8_t *)source->bytes + made->taken;
        return made;
    }
    made->input = malloc(INPUT_LEAD + INPUT_SIZE);
    if (!made->input) {
        free(made);
        return NULL;
    }
    memcpy(made->input, made->lead, INPUT_LEAD);
    made->state.next_in = made->input + INPUT_LEAD;
    return made;
}

/* Goes to a byte of the source. */
static void go_to(struct inflater *in, uint64_t at) {
    in->taken = at;
    in->state.avail_in = 0;
    in->state.next_in = in->input ? in->input + INPUT_LEAD : NULL;
}

static void begin_member(struct inflater *in) {
    isal_inflate_reset(&in->state);
    isal_gzip_header_init(&in->gzip);
    in->zlib = (struct isal_zlib_header){0};
    in->phase = PHASE_HEADER;
    in->member_size = 0;
    in->unsure_from = in->offset;
    in->sum = in->kind == COMPRESSION_ZLIB;
}

static void start(struct inflater *in, uint64_t at, uint64_t offset) {
    isal_inflate_init(&in->state);
    in->fault = (struct inflate_fault){.error = RECMAP_ERROR_INIT};
    in->is_bad = in->is_unreadable = false;
    in->offset = offset;
    begin_member(in);
    in->member_at = at;
    go_to(in, at);
}

void inflater_start(struct inflater *in, uint64_t at, uint64_t offset) {
    start(in, at, offset);
    in->checks = true;
}

static bool fail_source(struct inflater *in) {
    in->is_bad = in->is_unreadable = true;
    in->fault.at = in->taken;
    in->fault.reason = in->fault.error.message;
    return false;
}

/* More input, where there is none left. False when it cannot be read. */
static bool refill(struct inflater *in) {
    uint64_t left = in->taken < in->source.size ? in->source.size - in->taken : 0;
    if (in->state.avail_in || !left) return true;
    if (in->source.bytes) {
        in->state.next_in = (uint8_t *)in->source.bytes + in->taken;
        in->state.avail_in = (uint32_t)min_u64(left, PIECE_MAX);
    } else {
        size_t size = (size_t)min_u64(left, INPUT_SIZE);
        uint8_t *begin = in->input + INPUT_LEAD;
        memmove(in->input, in->state.next_in - INPUT_LEAD, INPUT_LEAD);
        in->state.next_in = begin;
        if (in->source.read(in->source.context, begin, size, in->taken, &in->fault.error) !=
            RECMAP_OK)
            return fail_source(in);
        in->state.avail_in = (uint32_t)size;
    }
    in->taken += in->state.avail_in;
    return true;
}

uint64_t inflater_offset(const struct inflater *in) {
    return in->offset;
}

uint64_t inflater_position(const struct inflater *in) {
    int32_t unused = in->state.read_in_length > 0 ? in->state.read_in_length / 8 : 0;
    return in->taken - in->state.avail_in - (uint32_t)unused;
}

/* How many of the next `wanted` bytes there are, in one piece. Only between members. */
static uint32_t have(struct inflater *in, uint32_t wanted) {
    if (in->state.avail_in < wanted && in->taken < in->source.size) {
        go_to(in, in->taken - in->state.avail_in);
        refill(in);
    }
    return in->state.avail_in < wanted ? in->state.avail_in : wanted;
}

static void skip(struct inflater *in, uint32_t size) {
    in->state.next_in += size;
    in->state.avail_in -= size;
}

bool inflater_start_at(struct inflater *in, const struct seek_point *point) {
    if (point->bit / 8 >= in->source.size || point->window_size > INFLATE_WINDOW_MAX) return false;
    start(in, point->bit / 8, point->offset);
    /* Without a window nothing came out of the member before. */
    in->checks = !point->window_size;
    in->phase = PHASE_BODY;
    unsigned odd = point->bit % 8;
    if (odd && have(in, 1)) {
        in->state.read_in = *in->state.next_in >> odd;
        in->state.read_in_length = 8 - (int32_t)odd;
        skip(in, 1);
    }
    if (point->window_size)
        isal_inflate_set_dict(&in->state, (uint8_t *)point->window, point->window_size);
    return true;
}

bool inflater_go_on_at(struct inflater *in, const struct seek_point *point) {
    const uint64_t member_at = in->member_at, size = in->member_size, unsure = in->unsure_from;
    const uint32_t sum = in->sum;
    const bool checks = in->checks;
    if (!inflater_start_at(in, point)) return false;
    if (!point->window_size) return true;
    in->member_at = member_at;
    in->member_size = size;
    in->unsure_from = unsure;
    in->sum = sum;
    in->checks = checks;
    return true;
}

const struct inflate_fault *inflater_fault(const struct inflater *in) {
    return &in->fault;
}

struct seek_point inflater_point(const struct inflater *in) {
    const struct inflate_state *state = &in->state;
    uint32_t end = state->tmp_out_valid < 0 ? 0 : (uint32_t)state->tmp_out_valid;
    uint32_t size = end < INFLATE_WINDOW_MAX ? end : INFLATE_WINDOW_MAX;
    return (struct seek_point){
        .bit = (in->taken - state->avail_in) * 8 - (uint32_t)state->read_in_length,
        .offset = in->offset + (uint32_t)(state->tmp_out_valid - state->tmp_out_processed),
        .window = state->tmp_out_buffer + (end - size),
        .window_size = size,
    };
}

/* As files do whose last bytes never reached the device: they inflate to anything, up to the end.
 */
static bool ends_in_zeros(const struct inflater *in) {
    enum { ZEROS = 16 };
    static const uint8_t zeros[ZEROS];
    const struct inflate_source *source = &in->source;
    uint8_t last[ZEROS];
    if (source->size < ZEROS) return false;
    uint64_t at = source->size - ZEROS;
    if (source->bytes) return !memcmp(source->bytes + at, zeros, ZEROS);
    return source->read(source->context, last, ZEROS, at, NULL) == RECMAP_OK &&
           !memcmp(last, zeros, ZEROS);
}

static void set_bad(struct inflater *in, uint64_t at, const char *reason) {
    in->is_bad = true;
    in->fault.at = at;
    in->fault.reason = reason;
    in->fault.is_cut = reason == ends_inside && !ends_in_zeros(in);
}

static const char *reason_of(int result) {
    switch (result) {
    case ISAL_INVALID_BLOCK: return "a deflate block is malformed";
    case ISAL_INVALID_SYMBOL: return "a deflate symbol is malformed";
    case ISAL_INVALID_LOOKBACK: return "a deflate distance reaches before the beginning";
    case ISAL_INVALID_WRAPPER: return "a header is malformed";
    case ISAL_UNSUPPORTED_METHOD: return "it is compressed by another method than deflate";
    case ISAL_INCORRECT_CHECKSUM: return "the checksum of a header does not hold";
    default: return "it cannot be inflated";
    }
}

/* Of a GZIP header. What they stand for would change what follows. */
enum { RESERVED_FLAGS = 0xe0 };

/* Reads a member's header, which may come in pieces. */
static void read_header(struct inflater *in) {
    for (;;) {
        if (!refill(in)) return;
        bool was_empty = !in->state.avail_in;
        int result = in->kind == COMPRESSION_GZIP ? isal_read_gzip_header(&in->state, &in->gzip)
                                                  : isal_read_zlib_header(&in->state, &in->zlib);
        if (result == ISAL_DECOMP_OK) break;
        if (result != ISAL_END_INPUT) {
            set_bad(in, inflater_position(in), reason_of(result));
            return;
        }
        if (was_empty) {
            set_bad(in, in->source.size, ends_inside);
            return;
        }
    }
    if (in->kind == COMPRESSION_GZIP && in->gzip.flags & RESERVED_FLAGS)
        set_bad(in, inflater_position(in), "a header has flags that are reserved");
    if (in->kind == COMPRESSION_ZLIB && in->zlib.dict_flag)
        set_bad(in, inflater_position(in), "it needs a dictionary that it does not hold");
    in->phase = PHASE_BODY;
}

static uint32_t pending(const struct inflater *in) {
    return (uint32_t)(in->state.tmp_out_valid - in->state.tmp_out_processed);
}

static void take_output(struct inflater *in, const uint8_t *out, size_t size) {
    in->offset += size;
    in->member_size += size;
    if (!in->checks || !size) return;
    in->sum = in->kind == COMPRESSION_GZIP ? crc32_gzip_refl(in->sum, out, size)
                                           : isal_adler32(in->sum, out, size);
}

/* Hands out what ISA-L has already, once nothing more comes. */
static size_t drain(struct inflater *in, uint8_t *out, size_t room) {
    size_t size = pending(in) < room ? pending(in) : room;
    memcpy(out, in->state.tmp_out_buffer + in->state.tmp_out_processed, size);
    in->state.tmp_out_processed += (int32_t)size;
    take_output(in, out, size);
    return size;
}

/* Whole bytes that ISA-L has loaded and not used belong to what follows. */
static void give_back(struct inflate_state *state) {
    uint32_t unused = state->read_in_length > 0 ? (uint32_t)state->read_in_length / 8 : 0;
    state->next_in -= unused;
    state->avail_in += unused;
    state->read_in_length = 0;
}

/* At a bad distance ISA-L may count bytes as loaded that lie behind its input. */
static void forget_beyond(struct inflate_state *state, uint32_t input) {
    if (state->avail_in <= input) return;
    uint32_t beyond = 0 - state->avail_in;
    state->next_in -= beyond;
    state->avail_in = 0;
    state->read_in_length -= 8 * (int32_t)beyond;
}

/* One call of ISA-L. With `stops` it goes no further than the end of the block at hand. */
static size_t call(struct inflater *in, uint8_t *out, size_t room, bool stops) {
    struct inflate_state *state = &in->state;
    bool marks = stops &&
                 (state->block_state == ISAL_BLOCK_CODED || state->block_state == ISAL_BLOCK_TYPE0);
    uint32_t is_last = state->bfinal, had = pending(in);
    if (!refill(in)) return 0;
    uint32_t input = state->avail_in;
    uint32_t given = (uint32_t)(room < BULK ? room : BULK);
    if (marks) state->bfinal = 1;
    state->next_out = out;
    state->avail_out = given;
    enum isal_block_state before = state->block_state;
    int result = isal_inflate(state);
    forget_beyond(state, input);
    if (marks && state->block_state == ISAL_BLOCK_INPUT_DONE && !is_last)
        state->block_state = ISAL_BLOCK_NEW_HDR;
    if (marks) state->bfinal = is_last;
    size_t size = given - state->avail_out;
    take_output(in, out, size);
    if (result < 0) {
        set_bad(in, inflater_position(in), reason_of(result));
    } else if (state->block_state == ISAL_BLOCK_FINISH) {
        give_back(state);
        in->phase = PHASE_TRAILER;
    } else if (!input && in->taken >= in->source.size && !size && had == pending(in) &&
               before == state->block_state && state->block_state != ISAL_BLOCK_INPUT_DONE &&
               (room || !marks)) {
        set_bad(in, in->source.size, ends_inside);
    }
    return size;
}

/* Goes on towards the end of the block, without handing out the last byte there is. */
static size_t call_towards_point(struct inflater *in, uint8_t *out, size_t room) {
    struct inflate_state *state = &in->state;
    enum { FULL = 2 * INFLATE_WINDOW_MAX };
    if (state->tmp_out_valid >= FULL && pending(in) > 1) {
        size_t held = pending(in) - 1;
        return call(in, out, room < held ? room : held, true);
    }
    if (state->tmp_out_valid == 0 || state->tmp_out_valid >= FULL)
        return call(in, out, room, false);
    bool holds = !pending(in);
    int32_t valid = state->tmp_out_valid;
    uint64_t at = in->taken - state->avail_in;
    enum isal_block_state before = state->block_state;
    if (holds) state->tmp_out_processed--;
    call(in, out, 0, true);
    if (holds) state->tmp_out_processed++;
    bool is_stuck = state->tmp_out_valid == valid && in->taken - state->avail_in == at &&
                    state->block_state == before;
    return is_stuck && !in->is_bad ? call(in, out, room, false) : 0;
}

static void read_trailer(struct inflater *in, bool *is_wrong) {
    uint32_t size = in->kind == COMPRESSION_GZIP ? 8 : 4;
    if (have(in, size) < size) {
        if (!in->is_bad) set_bad(in, in->source.size, ends_inside);
        return;
    }
    const uint8_t *at = in->state.next_in;
    if (in->checks && in->kind == COMPRESSION_GZIP)
        *is_wrong = load32(at) != in->sum || load32(at + 4) != (uint32_t)in->member_size;
    else if (in->checks) *is_wrong = __builtin_bswap32(load32(at)) != in->sum;
    if (!*is_wrong) in->unsure_from = in->offset;
    if (*is_wrong) {
        in->fault.has_size = in->kind == COMPRESSION_GZIP &&
                             load32(at + 4) == (uint32_t)in->member_size;
        in->fault.at = inflater_position(in);
        in->fault.reason = "its checksum does not hold";
    }
    skip(in, size);
    in->phase = PHASE_NEXT;
}

/* Zeros that pad a GZIP file end it, as for gzip(1); else another member follows. */
static void look_behind(struct inflater *in) {
    enum { MAGIC = 4 };
    uint64_t at = inflater_position(in);
    if (have(in, MAGIC) && compression_begins(in->kind, in->state.next_in, have(in, MAGIC))) {
        begin_member(in);
        in->member_at = at;
        return;
    }
    while (have(in, 1) && !*in->state.next_in) skip(in, 1);
    if (in->is_bad) return;
    if (have(in, 1)) set_bad(in, at, "other bytes follow the compressed stream");
    else in->phase = PHASE_DONE;
}

inflate_verdict inflater_read(size_t *size, struct inflater *in, uint8_t *out, size_t room,
                              bool wants_point) {
    size_t count = 0;
    bool is_wrong = false;
    inflate_verdict verdict = INFLATE_OK;
    while (verdict == INFLATE_OK && !is_wrong) {
        if (in->is_bad) {
            count += drain(in, out + count, room - count);
            if (!pending(in)) verdict = in->is_unreadable ? INFLATE_UNREADABLE : INFLATE_BAD;
            else break;
        } else if (in->phase == PHASE_HEADER) {
            read_header(in);
        } else if (in->phase == PHASE_TRAILER) {
            read_trailer(in, &is_wrong);
        } else if (in->phase == PHASE_NEXT) {
            look_behind(in);
        } else if (in->phase == PHASE_DONE) {
            verdict = INFLATE_END;
        } else if (wants_point && in->state.block_state == ISAL_BLOCK_NEW_HDR) {
            verdict = INFLATE_AT_POINT;
        } else if (count == room) {
            break;
        } else {
            count += wants_point ? call_towards_point(in, out + count, room - count)
                                 : call(in, out + count, room - count, false);
        }
    }
    *size = count;
    return is_wrong ? INFLATE_WRONG_SUM : verdict;
}

uint64_t inflater_member_size(const struct inflater *in) {
    return in->member_size;
}

uint64_t inflater_member_at(const struct inflater *in) {
    return in->member_at;
}

uint64_t inflater_unsure_from(const struct inflater *in) {
    return in->unsure_from;
}

/* Whether a member that begins there goes on for a while, or ends well. */
static bool is_member(struct inflater *in, uint64_t at) {
    uint8_t *out = malloc(TRIED_SIZE);
    if (!out) return false;
    size_t size;
    inflater_start(in, at, 0);
    inflate_verdict verdict = inflater_read(&size, in, out, TRIED_SIZE, false);
    free(out);
    return verdict == INFLATE_OK || verdict == INFLATE_END ||
           (verdict == INFLATE_BAD && in->phase >= PHASE_NEXT);
}

uint64_t inflater_find_member(struct inflater *in, uint64_t from) {
    if (in->kind != COMPRESSION_GZIP) return UINT64_MAX;
    start(in, from, 0);
    for (uint64_t at = from; have(in, 4) == 4;) {
        const uint8_t *found = memchr(in->state.next_in, 0x1f, in->state.avail_in);
        uint32_t before = found ? (uint32_t)(found - in->state.next_in) : in->state.avail_in;
        at += before;
        skip(in, before);
        if (!found || have(in, 4) < 4) continue;
        if (compression_begins(in->kind, in->state.next_in, 4) && is_member(in, at)) return at;
        start(in, ++at, 0);
    }
    return UINT64_MAX;
}
