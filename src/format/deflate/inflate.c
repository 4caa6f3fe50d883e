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
#include "format/deflate/strict_decoder.h"

enum {
    INPUT_SIZE = 256 << 10,
    INPUT_LEAD = 16,       /* bytes before the input that ISA-L may give back */
    WANTED_MAX = 8,        /* bytes that a reader of headers and trailers needs at once */
    PIECE_MAX = 1 << 30,   /* ISA-L counts input and output in 32 bits */
    BULK = 512 << 10,      /* output per call, still in the cache for the checksum */
    TRIED_SIZE = 64 << 10, /* output that makes a candidate member credible */
    TRIED_INPUT = 4 << 10, /* input that is read first to try a candidate */
};

enum inflate_phase { PHASE_HEADER, PHASE_BODY, PHASE_TRAILER, PHASE_NEXT, PHASE_DONE };

struct inflater {
    struct inflate_state state;
    struct strict_decoder *strict; /* inflates in place of ISA-L; or NULL */
    enum compression kind;
    struct inflate_source source;
    enum inflate_phase phase;
    bool checks; /* verify the checksum at the end of the member */
    bool is_bad; /* no new output follows, except what is pending */
    bool is_unreadable;
    uint64_t taken;     /* input bytes handed to the decoder */
    uint64_t body_at;   /* where the strict decoder started in the input */
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
    strict_destroy(inflater->strict);
    free(inflater->input);
    free(inflater);
}

/* Input that ISA-L has not used is dropped and read again by the copy. The last INPUT_LEAD bytes
 * before the position are kept, because ISA-L may step back into them at the end of a block. */
struct inflater *inflater_copy(const struct inflater *inflater,
                               const struct inflate_source *source) {
    bool reads = !inflater->source.bytes;
    struct inflater *copy = malloc(sizeof *copy);
    assert(!inflater->strict);
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

/* Hands the strict decoder all input that is in memory. */
static size_t take_input(const uint8_t **next, void *context) {
    struct inflater *inflater = context;
    if (!refill(inflater)) return 0;
    size_t size = inflater->state.avail_in;
    *next = inflater->state.next_in;
    inflater->state.next_in += size;
    inflater->state.avail_in = 0;
    return size;
}

struct inflater *inflater_create_strict(enum compression kind,
                                        const struct inflate_source *source) {
    struct inflater *inflater = inflater_create(kind, source);
    if (!inflater) return NULL;
    inflater->strict = strict_create(take_input, inflater);
    if (inflater->strict) return inflater;
    inflater_destroy(inflater);
    return NULL;
}

bool inflater_is_strict(const struct inflater *inflater) {
    return inflater->strict != NULL;
}

uint64_t inflater_offset(const struct inflater *inflater) {
    return inflater->offset;
}

uint64_t inflater_position(const struct inflater *inflater) {
    if (inflater->strict && inflater->phase == PHASE_BODY)
        return inflater->body_at + (strict_bit(inflater->strict) + 7) / 8;
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

/* Starts inflating at a block, at a bit of the next byte of the input. */
static void start_body(struct inflater *inflater, unsigned bit, const uint8_t *window,
                       uint32_t window_size) {
    struct inflate_state *state = &inflater->state;
    inflater->phase = PHASE_BODY;
    if (inflater->strict) {
        inflater->body_at = inflater->taken - state->avail_in;
        strict_start(inflater->strict, bit, window, window_size);
        return;
    }
    if (bit && have(inflater, 1)) {
        state->read_in = *state->next_in >> bit;
        state->read_in_length = 8 - (int32_t)bit;
        skip(inflater, 1);
    }
    if (window_size) isal_inflate_set_dict(state, (uint8_t *)window, window_size);
}

bool inflater_start_at(struct inflater *inflater, const struct seek_point *point) {
    if (point->bit / 8 >= inflater->source.size || point->window_size > INFLATE_WINDOW_MAX)
        return false;
    start(inflater, point->bit / 8, point->offset);
    /* A point without a window is at the start of its member, so the checksum covers all that
     * follows. */
    inflater->checks = !point->window_size;
    start_body(inflater, point->bit % 8, point->window, point->window_size);
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

static struct seek_point strict_point(const struct inflater *inflater) {
    size_t size;
    const uint8_t *window = strict_window(&size, inflater->strict);
    return (struct seek_point){.bit = inflater->body_at * 8 + strict_bit(inflater->strict),
                               .offset = inflater->offset,
                               .window = window,
                               .window_size = (uint32_t)size};
}

struct seek_point inflater_point(const struct inflater *inflater) {
    if (inflater->strict) return strict_point(inflater);
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

static const char bad_block[] = "a deflate block is malformed";
static const char bad_symbol[] = "a deflate symbol is malformed";
static const char bad_distance[] = "a deflate distance reaches past the start of the data";

static const char *reason_of(int result) {
    switch (result) {
    case ISAL_INVALID_BLOCK: return bad_block;
    case ISAL_INVALID_SYMBOL: return bad_symbol;
    case ISAL_INVALID_LOOKBACK: return bad_distance;
    default: return "the data cannot be inflated";
    }
}

/* Reads a header byte by byte: it may span several refills. */
struct header {
    struct inflater *inflater;
    uint32_t sum; /* of the bytes so far, as GZIP's headers store it */
    bool is_cut;
};

static uint8_t header_byte(struct header *header) {
    struct inflate_state *state = &header->inflater->state;
    header->is_cut = header->is_cut || !refill(header->inflater) || !state->avail_in;
    if (header->is_cut) return 0;
    header->sum = crc32_gzip_refl(header->sum, state->next_in, 1);
    state->avail_in--;
    return *state->next_in++;
}

static uint32_t header_number(struct header *header, unsigned size) {
    uint32_t number = 0;
    for (unsigned i = 0; i < size; i++) number |= (uint32_t)header_byte(header) << 8 * i;
    return number;
}

/* Reads a GZIP header (RFC 1952) and returns what is wrong with it, or NULL. Reserved flags may
 * change the meaning of what follows, so they must be rejected. */
static const char *read_gzip_header(struct header *header) {
    enum { SUM = 2, EXTRA = 4, NAME = 8, COMMENT = 16, RESERVED = 0xe0 };
    if (header_number(header, 2) != 0x8b1f) return "a header is malformed";
    if (header_number(header, 1) != 8) return "the compression method is not deflate";
    uint32_t flags = header_number(header, 1);
    if (flags & RESERVED) return "a header has flags that are reserved";
    for (int i = 0; i < 6; i++) header_byte(header);
    if (flags & EXTRA)
        for (uint32_t left = header_number(header, 2); left; left--) header_byte(header);
    if (flags & NAME)
        while (header_byte(header)) {
        }
    if (flags & COMMENT)
        while (header_byte(header)) {
        }
    uint32_t sum = header->sum & 0xffff;
    return flags & SUM && header_number(header, 2) != sum ? "the checksum of a header is wrong"
                                                          : NULL;
}

/* The same for a ZLIB header (RFC 1950). */
static const char *read_zlib_header(struct header *header) {
    enum { DICTIONARY = 0x20, WINDOW_BITS_MAX = 7 };
    uint32_t method = header_byte(header), flags = header_byte(header);
    if ((method << 8 | flags) % 31) return "the checksum of a header is wrong";
    if (method % 16 != 8) return "the compression method is not deflate";
    if (method / 16 > WINDOW_BITS_MAX) return "a header is malformed";
    return flags & DICTIONARY ? "it needs a preset dictionary, which it does not contain" : NULL;
}

static void read_header(struct inflater *inflater) {
    struct header header = {.inflater = inflater};
    const char *reason = inflater->kind == COMPRESSION_GZIP ? read_gzip_header(&header)
                                                            : read_zlib_header(&header);
    if (inflater->is_bad) return;
    if (header.is_cut) set_bad(inflater, inflater->source.size, ends_inside);
    else if (reason) set_bad(inflater, inflater->member_at, reason);
    start_body(inflater, 0, NULL, 0);
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
    /* At an error, ISA-L may leave `avail_out` too small, but `next_out` is right. */
    size_t size = (size_t)(state->next_out - out);
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

/* Inflates by the strict decoder. */
static size_t call_strict(struct inflater *inflater, uint8_t *out, size_t room, bool stops) {
    struct strict_decoder *strict = inflater->strict;
    static const char *const reasons[] = {[STRICT_BAD_BLOCK] = bad_block,
                                          [STRICT_BAD_SYMBOL] = bad_symbol,
                                          [STRICT_BAD_DISTANCE] = bad_distance};
    size_t size;
    enum strict_verdict verdict = strict_read(&size, strict, out, room, stops);
    take_output(inflater, out, size);
    if (inflater->is_bad || verdict == STRICT_OK) return size;
    if (verdict == STRICT_END) {
        const uint8_t *next = NULL;
        inflater->phase = PHASE_TRAILER;
        inflater->state.avail_in = (uint32_t)strict_unused(&next, strict);
        inflater->state.next_in = (uint8_t *)next;
    } else if (verdict == STRICT_CUT) {
        set_bad(inflater, inflater->source.size, ends_inside);
    } else {
        set_bad(inflater, inflater->body_at + strict_bit(strict) / 8, reasons[verdict]);
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

static bool is_at_block(const struct inflater *inflater) {
    return inflater->strict ? strict_is_at_block(inflater->strict)
                            : inflater->state.block_state == ISAL_BLOCK_NEW_HDR;
}

static size_t inflate_some(struct inflater *inflater, uint8_t *out, size_t room, bool stops) {
    if (inflater->strict) return call_strict(inflater, out, room, stops);
    return stops ? call_towards_point(inflater, out, room) : call(inflater, out, room, false);
}

/* Returns whether a trailer has another checksum than the member, or another size, which only GZIP
 * has, after the checksum. */
static bool is_wrong_trailer(const struct inflater *inflater, const uint8_t *trailer,
                             uint32_t size) {
    enum { SUM = 4, SUM_AND_SIZE = 8 };
    if (!inflater->checks || size < SUM) return false;
    uint32_t sum = load32(trailer);
    if (inflater->kind != COMPRESSION_GZIP) return __builtin_bswap32(sum) != inflater->sum;
    return sum != inflater->sum ||
           (size == SUM_AND_SIZE && load32(trailer + SUM) != (uint32_t)inflater->member_size);
}

static const char wrong_sum[] = "its checksum is wrong";

/* Compares the trailer. On a mismatch it is still consumed, so that the caller can continue with
 * the next member. */
static void read_trailer(struct inflater *inflater, bool *is_wrong) {
    uint32_t size = inflater->kind == COMPRESSION_GZIP ? 8 : 4, there = have(inflater, size);
    if (inflater->is_bad) return;
    bool is_other = is_wrong_trailer(inflater, inflater->state.next_in, there);
    uint64_t at = inflater_position(inflater);
    if (there < size) {
        set_bad(inflater, is_other ? at : inflater->source.size,
                is_other ? wrong_sum : ends_inside);
        return;
    }
    if (is_other) {
        inflater->fault.at = at;
        inflater->fault.reason = wrong_sum;
    } else {
        inflater->unverified_from = inflater->offset;
    }
    *is_wrong = is_other;
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
        } else if (wants_point && is_at_block(inflater)) {
            verdict = INFLATE_AT_POINT;
        } else if (count == room) {
            break;
        } else {
            count += inflate_some(inflater, out + count, room - count, wants_point);
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
    if (inflater->member_at != at) return true; /* it ended well, and another one followed */
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
