/* ISA-L inflates two to three times as fast as zlib but cannot stop at the end of a block, which
 * seek points need. Two tricks make it stop.
 *
 * First, ISA-L stops after a block that is marked as the last one. To stop at the end of the
 * current block, `call` sets that mark in ISA-L's state, inflates, and then takes back both the
 * mark and the state's conclusion that the stream ended.
 *
 * Second, once all output has been handed out, ISA-L resets its buffer of output and forgets at
 * which bit it stopped, and a seek point needs both. So while a block lasts, call_towards_point
 * always leaves at least one byte in that buffer.
 *
 * Both tricks depend on the layout and meaning of `struct inflate_state`, which ISA-L does not
 * promise to keep. tests/unit/format/deflate/test_isal_layout.c fails on an unknown layout, and the
 * build rejects untested versions. */
#include "format/deflate/inflate.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include <isa-l/crc.h>
#include <isa-l/igzip_lib.h>

#include "base/core/bytes.h"
#include "base/words/cut_file.h"
#include "format/deflate/adler32.h"

enum {
    INPUT_SIZE = 256 << 10,
    INPUT_LEAD = 16,       /* bytes before the input that ISA-L may give back */
    WANTED_MAX = 8,        /* bytes that a reader of headers and trailers wants at once */
    PIECE_MAX = 1 << 30,   /* ISA-L counts input and output in 32 bits */
    BULK = 512 << 10,      /* output per call, still in the cache for the checksum */
    TRIED_SIZE = 64 << 10, /* output that makes a candidate member credible */
    TRIED_INPUT = 4 << 10, /* input that is read first to try a candidate */
};

enum inflate_phase { PHASE_HEADER, PHASE_BODY, PHASE_TRAILER, PHASE_NEXT, PHASE_DONE };

struct inflater {
    struct inflate_state state;
    struct isal_gzip_header gzip;
    struct isal_zlib_header zlib;
    enum compression kind;
    struct inflate_source source;
    enum inflate_phase phase;
    bool checks; /* verify the checksum at the end of the member */
    bool is_bad; /* no new output follows, except what is pending */
    bool is_unreadable;
    uint64_t taken;     /* input bytes handed to ISA-L */
    uint64_t offset;    /* in the output */
    uint64_t member_at; /* in the input */
    uint64_t member_size;
    uint64_t unverified_from;
    uint32_t sum; /* of the current member's output */
    struct inflate_fault fault;
    uint8_t *input;
    uint8_t lead[INPUT_LEAD]; /* the input before the position of a copy without a source */
};

static const char ends_inside[] = "the file ends inside the compressed stream" FILE_IS_CUT;

/* The state must be zeroed. ISA-L fills its tables only for the symbols that a block's codes have,
 * but if the codes are incomplete, lookups also reach entries that were never written. Bits that do
 * not start a block, to which a forged seek point can refer, would then expose earlier contents of
 * the memory. */
struct inflater *inflater_create(enum compression kind, const struct inflate_source *source) {
    struct inflater *inflater = calloc(1, sizeof *inflater);
    if (!inflater) return NULL;
    inflater->input = source->bytes ? NULL : calloc(1, INPUT_LEAD + INPUT_SIZE);
    if (!source->bytes && !inflater->input) {
        free(inflater);
        return NULL;
    }
    inflater->kind = kind;
    inflater->source = *source;
    inflater_start(inflater, 0, 0);
    return inflater;
}

void inflater_destroy(struct inflater *inflater) {
    if (!inflater) return;
    free(inflater->input);
    free(inflater);
}

/* Input that ISA-L has not used is dropped and read again by the copy. The last INPUT_LEAD bytes
 * before the position are kept, because ISA-L may step back into them at the end of a block. */
struct inflater *inflater_copy(const struct inflater *inflater,
                               const struct inflate_source *source) {
    bool reads = !inflater->source.bytes;
    struct inflater *copy = malloc(sizeof *copy);
    if (!copy) return NULL;
    *copy = *inflater;
    copy->input = NULL;
    copy->taken -= inflater->state.avail_in;
    copy->state.avail_in = 0;
    copy->state.next_in = NULL;
    if (reads && inflater->input)
        memcpy(copy->lead, inflater->state.next_in - INPUT_LEAD, INPUT_LEAD);
    if (!source) return copy;
    copy->source = *source;
    if (source->bytes) {
        copy->state.next_in = (uint8_t *)source->bytes + copy->taken;
        return copy;
    }
    copy->input = malloc(INPUT_LEAD + INPUT_SIZE);
    if (!copy->input) {
        free(copy);
        return NULL;
    }
    memcpy(copy->input, copy->lead, INPUT_LEAD);
    copy->state.next_in = copy->input + INPUT_LEAD;
    return copy;
}

/* Moves the input position to byte `at` of the source. */
static void seek_input(struct inflater *inflater, uint64_t at) {
    inflater->taken = at;
    inflater->state.avail_in = 0;
    inflater->state.next_in = inflater->input ? inflater->input + INPUT_LEAD : NULL;
}

static void begin_member(struct inflater *inflater) {
    isal_inflate_reset(&inflater->state);
    isal_gzip_header_init(&inflater->gzip);
    inflater->zlib = (struct isal_zlib_header){0};
    inflater->phase = PHASE_HEADER;
    inflater->member_size = 0;
    inflater->unverified_from = inflater->offset;
    inflater->sum = inflater->kind == COMPRESSION_ZLIB;
}

static void start(struct inflater *inflater, uint64_t at, uint64_t offset) {
    isal_inflate_init(&inflater->state);
    inflater->fault = (struct inflate_fault){.error = RECMAP_ERROR_INIT};
    inflater->is_bad = inflater->is_unreadable = false;
    inflater->offset = offset;
    begin_member(inflater);
    inflater->member_at = at;
    seek_input(inflater, at);
}

void inflater_start(struct inflater *inflater, uint64_t at, uint64_t offset) {
    start(inflater, at, offset);
    inflater->checks = true;
}

static bool fail_source(struct inflater *inflater) {
    inflater->is_bad = inflater->is_unreadable = true;
    inflater->fault.at = inflater->taken;
    inflater->fault.reason = inflater->fault.error.message;
    return false;
}

/* Refills the input if it is used up. Returns false if it cannot be read. */
static bool refill(struct inflater *inflater) {
    uint64_t left =
        inflater->taken < inflater->source.size ? inflater->source.size - inflater->taken : 0;
    if (inflater->state.avail_in || !left) return true;
    if (inflater->source.bytes) {
        inflater->state.next_in = (uint8_t *)inflater->source.bytes + inflater->taken;
        inflater->state.avail_in = (uint32_t)min_u64(left, PIECE_MAX);
    } else {
        uint64_t end = inflater->source.read_end, here = inflater->taken;
        /* Also at the end of what is surely needed, a header or trailer is read whole. */
        if (end > here) left = min_u64(left, end - here < WANTED_MAX ? WANTED_MAX : end - here);
        size_t size = (size_t)min_u64(left, INPUT_SIZE);
        uint8_t *begin = inflater->input + INPUT_LEAD;
        /* ISA-L may step back from the new bytes into those that it used last. */
        memmove(inflater->input, inflater->state.next_in - INPUT_LEAD, INPUT_LEAD);
        inflater->state.next_in = begin;
        if (inflater->source.read(inflater->source.context, begin, size, inflater->taken,
                                  &inflater->fault.error) != RECMAP_OK)
            return fail_source(inflater);
        inflater->state.avail_in = (uint32_t)size;
    }
    inflater->taken += inflater->state.avail_in;
    return true;
}

uint64_t inflater_offset(const struct inflater *inflater) {
    return inflater->offset;
}

uint64_t inflater_position(const struct inflater *inflater) {
    int32_t unused = inflater->state.read_in_length > 0 ? inflater->state.read_in_length / 8 : 0;
    return inflater->taken - inflater->state.avail_in - (uint32_t)unused;
}

/* Returns how many of the next `wanted` bytes are available contiguously. Valid only between
 * members, when ISA-L holds no input of its own. */
static uint32_t have(struct inflater *inflater, uint32_t wanted) {
    if (inflater->state.avail_in < wanted && inflater->taken < inflater->source.size) {
        seek_input(inflater, inflater->taken - inflater->state.avail_in);
        refill(inflater);
    }
    return inflater->state.avail_in < wanted ? inflater->state.avail_in : wanted;
}

static void skip(struct inflater *inflater, uint32_t size) {
    assert(size <= inflater->state.avail_in);
    inflater->state.next_in += size;
    inflater->state.avail_in -= size;
}

bool inflater_start_at(struct inflater *inflater, const struct seek_point *point) {
    if (point->bit / 8 >= inflater->source.size || point->window_size > INFLATE_WINDOW_MAX)
        return false;
    start(inflater, point->bit / 8, point->offset);
    /* A point without a window is at the start of its member, so the checksum covers all that
     * follows. */
    inflater->checks = !point->window_size;
    inflater->phase = PHASE_BODY;
    unsigned odd = point->bit % 8;
    if (odd && have(inflater, 1)) {
        inflater->state.read_in = *inflater->state.next_in >> odd;
        inflater->state.read_in_length = 8 - (int32_t)odd;
        skip(inflater, 1);
    }
    if (point->window_size)
        isal_inflate_set_dict(&inflater->state, (uint8_t *)point->window, point->window_size);
    return true;
}

bool inflater_continue_at(struct inflater *inflater, const struct seek_point *point) {
    const uint64_t member_at = inflater->member_at, size = inflater->member_size,
                   unverified = inflater->unverified_from;
    const uint32_t sum = inflater->sum;
    const bool checks = inflater->checks;
    if (!inflater_start_at(inflater, point)) return false;
    if (!point->window_size) return true;
    inflater->member_at = member_at;
    inflater->member_size = size;
    inflater->unverified_from = unverified;
    inflater->sum = sum;
    inflater->checks = checks;
    return true;
}

const struct inflate_fault *inflater_fault(const struct inflater *inflater) {
    return &inflater->fault;
}

struct seek_point inflater_point(const struct inflater *inflater) {
    const struct inflate_state *state = &inflater->state;
    uint32_t end = state->tmp_out_valid < 0 ? 0 : (uint32_t)state->tmp_out_valid;
    uint32_t size = end < INFLATE_WINDOW_MAX ? end : INFLATE_WINDOW_MAX;
    return (struct seek_point){
        .bit = (inflater->taken - state->avail_in) * 8 - (uint32_t)state->read_in_length,
        .offset = inflater->offset + (uint32_t)(state->tmp_out_valid - state->tmp_out_processed),
        .window = state->tmp_out_buffer + (end - size),
        .window_size = size,
    };
}

/* A file whose last blocks never reached the disk ends in zeros. Zeros inflate to arbitrary output
 * up to the end of the file, so such a file does not count as merely cut short. */
static bool ends_in_zeros(const struct inflater *inflater) {
    enum { ZEROS = 16 };
    static const uint8_t zeros[ZEROS];
    const struct inflate_source *source = &inflater->source;
    uint8_t last[ZEROS];
    if (source->size < ZEROS) return false;
    uint64_t at = source->size - ZEROS;
    if (source->bytes) return !memcmp(source->bytes + at, zeros, ZEROS);
    return source->read(source->context, last, ZEROS, at, NULL) == RECMAP_OK &&
           !memcmp(last, zeros, ZEROS);
}

static void set_bad(struct inflater *inflater, uint64_t at, const char *reason) {
    inflater->is_bad = true;
    inflater->fault.at = at;
    inflater->fault.reason = reason;
    inflater->fault.is_cut = reason == ends_inside && !ends_in_zeros(inflater);
}

static const char *reason_of(int result) {
    switch (result) {
    case ISAL_INVALID_BLOCK: return "a deflate block is malformed";
    case ISAL_INVALID_SYMBOL: return "a deflate symbol is malformed";
    case ISAL_INVALID_LOOKBACK: return "a deflate distance reaches past the start of the data";
    case ISAL_INVALID_WRAPPER: return "a header is malformed";
    case ISAL_UNSUPPORTED_METHOD: return "the compression method is not deflate";
    case ISAL_INCORRECT_CHECKSUM: return "the checksum of a header is wrong";
    default: return "the data cannot be inflated";
    }
}

/* Reserved flags of a GZIP header may change the meaning of what follows (RFC 1952), so they must
 * be rejected. */
enum { RESERVED_FLAGS = 0xe0 };

/* Reads a member's header. It may span several refills, so ISA-L is called until it has the whole
 * header. */
static void read_header(struct inflater *inflater) {
    for (;;) {
        if (!refill(inflater)) return;
        bool was_empty = !inflater->state.avail_in;
        int result = inflater->kind == COMPRESSION_GZIP
                         ? isal_read_gzip_header(&inflater->state, &inflater->gzip)
                         : isal_read_zlib_header(&inflater->state, &inflater->zlib);
        if (result == ISAL_DECOMP_OK) break;
        if (result != ISAL_END_INPUT) {
            set_bad(inflater, inflater_position(inflater), reason_of(result));
            return;
        }
        if (was_empty) {
            set_bad(inflater, inflater->source.size, ends_inside);
            return;
        }
    }
    if (inflater->kind == COMPRESSION_GZIP && inflater->gzip.flags & RESERVED_FLAGS)
        set_bad(inflater, inflater_position(inflater), "a header has flags that are reserved");
    if (inflater->kind == COMPRESSION_ZLIB && inflater->zlib.dict_flag)
        set_bad(inflater, inflater_position(inflater),
                "it needs a preset dictionary, which it does not contain");
    inflater->phase = PHASE_BODY;
}

static uint32_t pending(const struct inflater *inflater) {
    assert(inflater->state.tmp_out_processed <= inflater->state.tmp_out_valid);
    return (uint32_t)(inflater->state.tmp_out_valid - inflater->state.tmp_out_processed);
}

static void take_output(struct inflater *inflater, const uint8_t *out, size_t size) {
    inflater->offset += size;
    inflater->member_size += size;
    if (!inflater->checks || !size) return;
    inflater->sum = inflater->kind == COMPRESSION_GZIP ? crc32_gzip_refl(inflater->sum, out, size)
                                                       : adler32_add(inflater->sum, out, size);
}

/* Hands out pending output after an error, when ISA-L must not be called again. */
static size_t drain(struct inflater *inflater, uint8_t *out, size_t room) {
    size_t size = pending(inflater) < room ? pending(inflater) : room;
    memcpy(out, inflater->state.tmp_out_buffer + inflater->state.tmp_out_processed, size);
    inflater->state.tmp_out_processed += (int32_t)size;
    take_output(inflater, out, size);
    return size;
}

/* Returns whole bytes that ISA-L has loaded into its bit buffer but not used to the input; they
 * belong to the next member or to the trailer. */
static void give_back(struct inflate_state *state) {
    uint32_t unused = state->read_in_length > 0 ? (uint32_t)state->read_in_length / 8 : 0;
    state->next_in -= unused;
    state->avail_in += unused;
    state->read_in_length = 0;
}

/* At an invalid distance ISA-L may count bytes as loaded that are past the end of its input: the
 * count of input left then wraps below 0. A count above the input's size is valid, since ISA-L
 * 2.32.1 and later give back bytes that an earlier call loaded. Inputs are at most PIECE_MAX bytes,
 * so the sign tells the two cases apart. */
static void forget_beyond(struct inflate_state *state) {
    if ((int32_t)state->avail_in >= 0) return;
    uint32_t beyond = 0 - state->avail_in;
    state->next_in -= beyond;
    state->avail_in = 0;
    state->read_in_length -= 8 * (int32_t)beyond;
}

/* Calls ISA-L once. With `stops`, it stops at the end of the current block: the block is marked as
 * the last one for the duration of the call, and if it ended, the state is set back to "a block
 * header follows". A stream has ended early if a call with no input left changed nothing: no
 * output, no change of the block's state, and room to make progress. */
static size_t call(struct inflater *inflater, uint8_t *out, size_t room, bool stops) {
    struct inflate_state *state = &inflater->state;
    bool marks = stops &&
                 (state->block_state == ISAL_BLOCK_CODED || state->block_state == ISAL_BLOCK_TYPE0);
    uint32_t is_last = state->bfinal, had = pending(inflater);
    if (!refill(inflater)) return 0;
    uint32_t input = state->avail_in;
    uint32_t given = (uint32_t)(room < BULK ? room : BULK);
    if (marks) state->bfinal = 1;
    state->next_out = out;
    state->avail_out = given;
    enum isal_block_state before = state->block_state;
    int result = isal_inflate(state);
    forget_beyond(state);
    if (marks && state->block_state == ISAL_BLOCK_INPUT_DONE && !is_last)
        state->block_state = ISAL_BLOCK_NEW_HDR;
    if (marks) state->bfinal = is_last;
    size_t size = given - state->avail_out;
    take_output(inflater, out, size);
    if (result < 0) {
        set_bad(inflater, inflater_position(inflater), reason_of(result));
    } else if (state->block_state == ISAL_BLOCK_FINISH) {
        give_back(state);
        inflater->phase = PHASE_TRAILER;
    } else if (!input && inflater->taken >= inflater->source.size && !size &&
               had == pending(inflater) && before == state->block_state &&
               state->block_state != ISAL_BLOCK_INPUT_DONE && (room || !marks)) {
        set_bad(inflater, inflater->source.size, ends_inside);
    }
    return size;
}

/* Inflates towards the end of the current block and never hands out the last pending byte (see the
 * top of this file).
 *
 * ISA-L collects output in a buffer of its own when the caller's buffer is full. If that buffer is
 * full too, hand out all but one byte. If it is empty or has just been reset, inflate straight to
 * the caller. Otherwise inflate into ISA-L's buffer only, with no room at the caller. If nothing is
 * pending, ISA-L would reset the buffer at this call; pretending that one byte is pending prevents
 * that. If even this makes no progress, the block needs room at the caller. */
static size_t call_towards_point(struct inflater *inflater, uint8_t *out, size_t room) {
    struct inflate_state *state = &inflater->state;
    enum { FULL = 2 * INFLATE_WINDOW_MAX };
    if (state->tmp_out_valid >= FULL && pending(inflater) > 1) {
        size_t held = pending(inflater) - 1;
        return call(inflater, out, room < held ? room : held, true);
    }
    if (state->tmp_out_valid == 0 || state->tmp_out_valid >= FULL)
        return call(inflater, out, room, false);
    bool holds = !pending(inflater);
    int32_t valid = state->tmp_out_valid;
    uint64_t at = inflater->taken - state->avail_in;
    enum isal_block_state before = state->block_state;
    if (holds) state->tmp_out_processed--;
    call(inflater, out, 0, true);
    if (holds) state->tmp_out_processed++;
    bool is_stuck = state->tmp_out_valid == valid && inflater->taken - state->avail_in == at &&
                    state->block_state == before;
    return is_stuck && !inflater->is_bad ? call(inflater, out, room, false) : 0;
}

/* Compares the member's checksum (and for GZIP its size) with the trailer. On a mismatch the
 * trailer is still consumed, so that the caller can continue with the next member. */
static void read_trailer(struct inflater *inflater, bool *is_wrong) {
    uint32_t size = inflater->kind == COMPRESSION_GZIP ? 8 : 4;
    if (have(inflater, size) < size) {
        if (!inflater->is_bad) set_bad(inflater, inflater->source.size, ends_inside);
        return;
    }
    const uint8_t *start = inflater->state.next_in;
    if (inflater->checks && inflater->kind == COMPRESSION_GZIP)
        *is_wrong = load32(start) != inflater->sum ||
                    load32(start + 4) != (uint32_t)inflater->member_size;
    else if (inflater->checks) *is_wrong = __builtin_bswap32(load32(start)) != inflater->sum;
    if (!*is_wrong) inflater->unverified_from = inflater->offset;
    if (*is_wrong) {
        inflater->fault.at = inflater_position(inflater);
        inflater->fault.reason = "its checksum is wrong";
    }
    skip(inflater, size);
    inflater->phase = PHASE_NEXT;
}

/* Decides what follows a member: another member, padding of zeros at the end (which gzip(1) accepts
 * too), or bytes that do not belong there. */
static void read_padding_or_member(struct inflater *inflater) {
    enum { MAGIC = 4 };
    uint64_t at = inflater_position(inflater);
    if (have(inflater, MAGIC) &&
        compression_begins(inflater->kind, inflater->state.next_in, have(inflater, MAGIC))) {
        begin_member(inflater);
        inflater->member_at = at;
        return;
    }
    while (have(inflater, 1) && !*inflater->state.next_in) skip(inflater, 1);
    if (inflater->is_bad) return;
    if (have(inflater, 1)) set_bad(inflater, at, "other bytes follow the compressed stream");
    else inflater->phase = PHASE_DONE;
}

/* Runs the phases of a member (header, body, trailer, whatever follows) until the room is full, a
 * seek point is reached or something is wrong. After an error, all pending output is delivered
 * before the verdict is. */
enum inflate_verdict inflater_read(size_t *size, struct inflater *inflater, uint8_t *out,
                                   size_t room, bool wants_point) {
    size_t count = 0;
    bool is_wrong = false;
    enum inflate_verdict verdict = INFLATE_OK;
    while (verdict == INFLATE_OK && !is_wrong) {
        if (inflater->is_bad) {
            count += drain(inflater, out + count, room - count);
            if (!pending(inflater))
                verdict = inflater->is_unreadable ? INFLATE_UNREADABLE : INFLATE_BAD;
            else break;
        } else if (inflater->phase == PHASE_HEADER) {
            read_header(inflater);
        } else if (inflater->phase == PHASE_TRAILER) {
            read_trailer(inflater, &is_wrong);
        } else if (inflater->phase == PHASE_NEXT) {
            read_padding_or_member(inflater);
        } else if (inflater->phase == PHASE_DONE) {
            verdict = INFLATE_END;
        } else if (wants_point && inflater->state.block_state == ISAL_BLOCK_NEW_HDR) {
            verdict = INFLATE_AT_POINT;
        } else if (count == room) {
            break;
        } else {
            count += wants_point ? call_towards_point(inflater, out + count, room - count)
                                 : call(inflater, out + count, room - count, false);
        }
    }
    *size = count;
    return is_wrong ? INFLATE_WRONG_SUM : verdict;
}

uint64_t inflater_member_size(const struct inflater *inflater) {
    return inflater->member_size;
}

uint64_t inflater_member_at(const struct inflater *inflater) {
    return inflater->member_at;
}

uint64_t inflater_unverified_from(const struct inflater *inflater) {
    return inflater->unverified_from;
}

/* Returns whether a member at byte `at` inflates for TRIED_SIZE bytes, or to its valid end. */
static bool is_member(struct inflater *inflater, uint64_t at) {
    uint8_t *out = malloc(TRIED_SIZE);
    if (!out) return false;
    size_t size;
    inflater_start(inflater, at, 0);
    enum inflate_verdict verdict = inflater_read(&size, inflater, out, TRIED_SIZE, false);
    free(out);
    return verdict == INFLATE_OK || verdict == INFLATE_END ||
           (verdict == INFLATE_BAD && inflater->phase >= PHASE_NEXT);
}

/* Each occurrence of GZIP's first magic byte is a candidate. A header alone occurs by chance too
 * often, so is_member inflates the start of each plausible one. That discards the input read ahead,
 * so little is read for each: a file can be full of headers without members. */
uint64_t inflater_find_member(struct inflater *inflater, uint64_t from) {
    enum { MAGIC = 4 };
    const uint64_t read_end = inflater->source.read_end;
    uint64_t at = from;
    bool is_found = false;
    if (inflater->kind != COMPRESSION_GZIP) return UINT64_MAX;
    start(inflater, from, 0);
    while (!is_found && have(inflater, MAGIC) == MAGIC) {
        const uint8_t *next = inflater->state.next_in;
        const uint8_t *magic = memchr(next, 0x1f, inflater->state.avail_in);
        uint32_t before = magic ? (uint32_t)(magic - next) : inflater->state.avail_in;
        at += before;
        skip(inflater, before);
        if (!magic || have(inflater, MAGIC) < MAGIC) continue;
        if (compression_begins(inflater->kind, inflater->state.next_in, MAGIC)) {
            inflater->source.read_end = at + TRIED_INPUT;
            is_found = is_member(inflater, at);
            if (!is_found) start(inflater, ++at, 0);
        } else {
            at++;
            skip(inflater, 1);
        }
    }
    inflater->source.read_end = read_end;
    return is_found ? at : UINT64_MAX;
}
