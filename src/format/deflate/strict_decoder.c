#include "format/deflate/strict_decoder.h"

#include <stdlib.h>
#include <string.h>

#include "base/core/bytes.h"

enum {
    CODE_SIZE_MAX = 15,
    TABLE_BITS = 10, /* codes of up to this size are looked up */
    LITERALS = 288,
    LITERALS_MAX = 286, /* the last two are reserved, as the last two distances are */
    DISTANCES = 32,
    DISTANCES_MAX = 30,
    SIZES = 19, /* symbols of the code for sizes of codes */
    END_OF_BLOCK = 256,
    WINDOW = 32768,
};

/* A canonical Huffman code (RFC 1951, 3.2.2). */
struct code {
    uint16_t counts[CODE_SIZE_MAX + 1]; /* of codes of each size */
    uint16_t symbols[LITERALS];         /* ordered by code */
    uint16_t table[1 << TABLE_BITS];    /* symbol * 16 + size; 0: a longer code, or none */
};

enum mode { MODE_HEADER, MODE_STORED, MODE_CODES, MODE_END };

struct strict_decoder {
    strict_input input;
    void *context;
    const uint8_t *next;
    size_t left;
    uint64_t bits; /* taken from the input; the lowest is the next */
    unsigned bit_count;
    uint64_t used;  /* bits since the start */
    uint64_t place; /* the first bit of the current block header or symbol */
    enum mode mode;
    bool is_last;
    uint32_t stored_left;
    uint32_t copy_left, copy_distance;
    struct code literals, distances;
    size_t end; /* of the history */
    uint8_t history[2 * WINDOW];
};

struct strict_decoder *strict_create(strict_input input, void *context) {
    struct strict_decoder *decoder = calloc(1, sizeof *decoder);
    if (!decoder) return NULL;
    decoder->input = input;
    decoder->context = context;
    return decoder;
}

void strict_destroy(struct strict_decoder *decoder) {
    free(decoder);
}

/* ---- bits ---- */

/* Takes 8 bytes at once. Bits of the last one that do not fit whole are entered again later. */
static void fill_fast(struct strict_decoder *decoder) {
    unsigned bytes = (63 - decoder->bit_count) / 8;
    decoder->bits |= load64(decoder->next) << decoder->bit_count;
    decoder->next += bytes;
    decoder->left -= bytes;
    decoder->bit_count += 8 * bytes;
}

/* Takes 56 bits or more from the input, if there are as many. */
static void fill(struct strict_decoder *decoder) {
    if (decoder->left >= 8 && decoder->bit_count < 64) {
        fill_fast(decoder);
        return;
    }
    while (decoder->bit_count <= 56) {
        if (!decoder->left) decoder->left = decoder->input(&decoder->next, decoder->context);
        if (!decoder->left) return;
        decoder->bits |= (uint64_t)*decoder->next << decoder->bit_count;
        decoder->next++;
        decoder->left--;
        decoder->bit_count += 8;
    }
}

static void use(struct strict_decoder *decoder, unsigned count) {
    decoder->bits >>= count;
    decoder->bit_count -= count;
    decoder->used += count;
}

/* Reads a number of up to 16 bits. Returns false if the input ends before. */
static bool read_number(uint32_t *number, struct strict_decoder *decoder, unsigned size) {
    if (decoder->bit_count < size) fill(decoder);
    if (decoder->bit_count < size) return false;
    *number = (uint32_t)(decoder->bits & ((UINT64_C(1) << size) - 1));
    use(decoder, size);
    return true;
}

void strict_start(struct strict_decoder *decoder, unsigned bit, const uint8_t *window,
                  size_t size) {
    uint32_t skipped;
    decoder->left = 0;
    decoder->bits = decoder->bit_count = 0;
    decoder->mode = MODE_HEADER;
    decoder->stored_left = decoder->copy_left = 0;
    decoder->used = decoder->place = 0;
    if (bit) read_number(&skipped, decoder, bit);
    if (size) memcpy(decoder->history, window, size);
    decoder->end = size;
}

/* ---- codes ---- */

static unsigned reverse(unsigned code, unsigned size) {
    unsigned reversed = 0;
    for (; size; size--, code >>= 1) reversed = reversed << 1 | (code & 1);
    return reversed;
}

/* Enters the codes into the table. They are stored with their first bit lowest, and whatever bits
 * follow a short code, the table finds it. */
static void fill_table(struct code *code) {
    unsigned next = 0;
    const uint16_t *symbol = code->symbols;
    memset(code->table, 0, sizeof code->table);
    for (unsigned size = 1; size <= TABLE_BITS; size++, next <<= 1)
        for (unsigned i = 0; i < code->counts[size]; i++, next++, symbol++)
            for (unsigned at = reverse(next, size); at < 1 << TABLE_BITS; at += 1U << size)
                code->table[at] = (uint16_t)(*symbol << 4 | size);
}

/* Makes a code from the sizes of its symbols' codes. Returns false if there are more codes than
 * fit, or fewer. The exception is at most one code, of one bit, if `may_be_single`. */
static bool make_code(struct code *code, const uint8_t *sizes, unsigned count, bool may_be_single) {
    uint16_t begins[CODE_SIZE_MAX + 2] = {0};
    int left = 1;
    unsigned total = 0;
    memset(code->counts, 0, sizeof code->counts);
    for (unsigned i = 0; i < count; i++) code->counts[sizes[i]]++;
    code->counts[0] = 0;
    for (unsigned size = 1; size <= CODE_SIZE_MAX; size++) {
        left = 2 * left - code->counts[size];
        if (left < 0) return false;
        total += code->counts[size];
        begins[size + 1] = (uint16_t)total;
    }
    bool is_single = total == code->counts[1] && total <= 1;
    if (left && !(may_be_single && is_single)) return false;
    for (unsigned i = 0; i < count; i++)
        if (sizes[i]) code->symbols[begins[sizes[i]]++] = (uint16_t)i;
    fill_table(code);
    return true;
}

/* Finds a code that is too long for the table. Returns 0 if there is none. */
static unsigned find_long(const struct code *code, uint64_t bits) {
    unsigned value = 0, first = 0, index = 0;
    for (unsigned size = 1; size <= CODE_SIZE_MAX; size++, bits >>= 1) {
        unsigned count = code->counts[size];
        value = value << 1 | (bits & 1);
        first <<= 1;
        if (value - first < count) return code->symbols[index + value - first] << 4 | size;
        first += count;
        index += count;
    }
    return 0;
}

/* Reads a symbol. The bits that the input lacks count as zeros for finding it. A code that does not
 * exist is known by its first bit: only codes with at most one symbol have such. */
static enum strict_verdict read_symbol(uint32_t *symbol, struct strict_decoder *decoder,
                                       const struct code *code) {
    if (decoder->bit_count < CODE_SIZE_MAX) fill(decoder);
    unsigned entry = code->table[decoder->bits & ((1 << TABLE_BITS) - 1)];
    if (!entry) entry = find_long(code, decoder->bits);
    unsigned size = entry ? entry & 15 : 1;
    if (decoder->bit_count < size) return STRICT_CUT;
    if (!entry) return STRICT_BAD_SYMBOL;
    use(decoder, size);
    *symbol = entry >> 4;
    return STRICT_OK;
}

/* ---- blocks ---- */

static enum strict_verdict start_stored(struct strict_decoder *decoder) {
    uint32_t size, inverse;
    use(decoder, decoder->bit_count % 8);
    if (!read_number(&size, decoder, 16) || !read_number(&inverse, decoder, 16)) return STRICT_CUT;
    if (size != (inverse ^ 0xffff)) return STRICT_BAD_BLOCK;
    decoder->stored_left = size;
    decoder->mode = MODE_STORED;
    return STRICT_OK;
}

static enum strict_verdict start_fixed(struct strict_decoder *decoder) {
    uint8_t sizes[LITERALS];
    for (unsigned i = 0; i < LITERALS; i++) sizes[i] = i < 144 ? 8 : i < 256 ? 9 : i < 280 ? 7 : 8;
    make_code(&decoder->literals, sizes, LITERALS, false);
    memset(sizes, 5, DISTANCES);
    make_code(&decoder->distances, sizes, DISTANCES, false);
    decoder->mode = MODE_CODES;
    return STRICT_OK;
}

/* Reads the code in which the sizes of the other codes are written. */
static enum strict_verdict read_size_code(struct strict_decoder *decoder, uint32_t count) {
    static const uint8_t order[SIZES] = {16, 17, 18, 0, 8,  7, 9,  6, 10, 5,
                                         11, 4,  12, 3, 13, 2, 14, 1, 15};
    uint8_t sizes[SIZES] = {0};
    for (uint32_t i = 0, size; i < count; i++) {
        if (!read_number(&size, decoder, 3)) return STRICT_CUT;
        sizes[order[i]] = (uint8_t)size;
    }
    return make_code(&decoder->literals, sizes, SIZES, false) ? STRICT_OK : STRICT_BAD_BLOCK;
}

/* Reads the sizes of the codes. Symbols from 16 on repeat the preceding size, or zero. */
static enum strict_verdict read_sizes(uint8_t *sizes, struct strict_decoder *decoder,
                                      uint32_t count) {
    static const uint8_t widths[] = {2, 3, 7}, bases[] = {3, 3, 11};
    for (uint32_t i = 0, symbol, repeats; i < count;) {
        enum strict_verdict verdict = read_symbol(&symbol, decoder, &decoder->literals);
        if (verdict != STRICT_OK) return verdict;
        if (symbol < 16) {
            sizes[i++] = (uint8_t)symbol;
            continue;
        }
        if (symbol == 16 && !i) return STRICT_BAD_BLOCK;
        if (!read_number(&repeats, decoder, widths[symbol - 16])) return STRICT_CUT;
        repeats += bases[symbol - 16];
        if (repeats > count - i) return STRICT_BAD_BLOCK;
        memset(sizes + i, symbol == 16 ? sizes[i - 1] : 0, repeats);
        i += repeats;
    }
    return STRICT_OK;
}

static enum strict_verdict start_dynamic(struct strict_decoder *decoder) {
    uint8_t sizes[LITERALS + DISTANCES] = {0};
    uint32_t literals, distances, size_count;
    if (!read_number(&literals, decoder, 5) || !read_number(&distances, decoder, 5) ||
        !read_number(&size_count, decoder, 4))
        return STRICT_CUT;
    literals += 257;
    distances += 1;
    if (literals > LITERALS_MAX || distances > DISTANCES_MAX) return STRICT_BAD_BLOCK;
    enum strict_verdict verdict = read_size_code(decoder, size_count + 4);
    if (verdict == STRICT_OK) verdict = read_sizes(sizes, decoder, literals + distances);
    if (verdict != STRICT_OK) return verdict;
    if (!sizes[END_OF_BLOCK] || !make_code(&decoder->literals, sizes, literals, true) ||
        !make_code(&decoder->distances, sizes + literals, distances, true))
        return STRICT_BAD_BLOCK;
    decoder->mode = MODE_CODES;
    return STRICT_OK;
}

static enum strict_verdict start_block(struct strict_decoder *decoder) {
    uint32_t is_last, type;
    decoder->place = decoder->used;
    if (!read_number(&is_last, decoder, 1) || !read_number(&type, decoder, 2)) return STRICT_CUT;
    decoder->is_last = is_last;
    if (type == 0) return start_stored(decoder);
    if (type == 1) return start_fixed(decoder);
    return type == 2 ? start_dynamic(decoder) : STRICT_BAD_BLOCK;
}

static void end_block(struct strict_decoder *decoder) {
    decoder->mode = decoder->is_last ? MODE_END : MODE_HEADER;
}

/* ---- symbols ---- */

/* Reads the rest of a copy: bits of its size, and its distance. */
static enum strict_verdict start_copy(struct strict_decoder *decoder, uint32_t symbol) {
    static const uint16_t sizes[] = {3,  4,  5,  6,   7,   8,   9,   10,  11, 13,
                                     15, 17, 19, 23,  27,  31,  35,  43,  51, 59,
                                     67, 83, 99, 115, 131, 163, 195, 227, 258};
    uint32_t index = symbol - END_OF_BLOCK - 1, more, distance;
    if (symbol >= LITERALS_MAX) return STRICT_BAD_SYMBOL;
    unsigned width = index < 8 || index == 28 ? 0 : index / 4 - 1;
    if (!read_number(&more, decoder, width)) return STRICT_CUT;
    uint32_t size = sizes[index] + more;
    enum strict_verdict verdict = read_symbol(&distance, decoder, &decoder->distances);
    if (verdict != STRICT_OK) return verdict;
    if (distance >= DISTANCES_MAX) return STRICT_BAD_SYMBOL;
    width = distance < 4 ? 0 : distance / 2 - 1;
    if (!read_number(&more, decoder, width)) return STRICT_CUT;
    distance = distance < 4 ? distance + 1 : ((2 + distance % 2) << width) + 1 + more;
    if (distance > decoder->end) return STRICT_BAD_DISTANCE;
    decoder->copy_left = size;
    decoder->copy_distance = distance;
    return STRICT_OK;
}

static void copy(struct strict_decoder *decoder, size_t limit) {
    uint32_t size = (uint32_t)min_u64(decoder->copy_left, limit - decoder->end);
    uint8_t *out = decoder->history + decoder->end;
    for (uint32_t i = 0; i < size; i++) out[i] = out[(ptrdiff_t)i - decoder->copy_distance];
    decoder->end += size;
    decoder->copy_left -= size;
}

static enum strict_verdict read_codes(struct strict_decoder *decoder, size_t limit) {
    while (decoder->end < limit) {
        uint32_t symbol;
        if (decoder->copy_left) {
            copy(decoder, limit);
            continue;
        }
        decoder->place = decoder->used;
        enum strict_verdict verdict = read_symbol(&symbol, decoder, &decoder->literals);
        if (verdict == STRICT_OK && symbol < END_OF_BLOCK)
            decoder->history[decoder->end++] = (uint8_t)symbol;
        else if (verdict == STRICT_OK && symbol > END_OF_BLOCK)
            verdict = start_copy(decoder, symbol);
        else if (verdict == STRICT_OK) {
            end_block(decoder);
            return STRICT_OK;
        }
        if (verdict != STRICT_OK) return verdict;
    }
    return STRICT_OK;
}

static enum strict_verdict read_stored(struct strict_decoder *decoder, size_t limit) {
    uint32_t byte;
    for (; decoder->stored_left && decoder->end < limit; decoder->stored_left--) {
        decoder->place = decoder->used;
        if (!read_number(&byte, decoder, 8)) return STRICT_CUT;
        decoder->history[decoder->end++] = (uint8_t)byte;
    }
    if (!decoder->stored_left) end_block(decoder);
    return STRICT_OK;
}

/* ---- reading ---- */

/* The history always has the last 32 KiB of the output, so its end says how far a distance may
 * reach. */
static void make_room(struct strict_decoder *decoder) {
    if (decoder->end < sizeof decoder->history) return;
    memmove(decoder->history, decoder->history + decoder->end - WINDOW, WINDOW);
    decoder->end = WINDOW;
}

/* Continues with a block, or begins one. */
static enum strict_verdict advance(struct strict_decoder *decoder, size_t limit) {
    switch (decoder->mode) {
    case MODE_HEADER: return start_block(decoder);
    case MODE_STORED: return read_stored(decoder, limit);
    case MODE_CODES: return read_codes(decoder, limit);
    case MODE_END: break;
    }
    return STRICT_END;
}

/* After an error, the decoder stays at the first bit of what is bad. */
enum strict_verdict strict_read(size_t *size, struct strict_decoder *decoder, uint8_t *out,
                                size_t room, bool stops) {
    enum strict_verdict verdict = STRICT_OK;
    size_t done = 0;
    while (verdict == STRICT_OK && done < room) {
        make_room(decoder);
        size_t begin = decoder->end;
        size_t limit = (size_t)min_u64(begin + (room - done), sizeof decoder->history);
        verdict = advance(decoder, limit);
        memcpy(out + done, decoder->history + begin, decoder->end - begin);
        done += decoder->end - begin;
        if (stops && strict_is_at_block(decoder)) break;
    }
    if (verdict >= STRICT_BAD_BLOCK) decoder->used = decoder->place;
    *size = done;
    return verdict;
}

bool strict_is_at_block(const struct strict_decoder *decoder) {
    return decoder->mode == MODE_HEADER;
}

uint64_t strict_bit(const struct strict_decoder *decoder) {
    return decoder->used;
}

const uint8_t *strict_window(size_t *size, const struct strict_decoder *decoder) {
    *size = decoder->end < WINDOW ? decoder->end : WINDOW;
    return decoder->history + decoder->end - *size;
}

size_t strict_unused(const uint8_t **next, struct strict_decoder *decoder) {
    unsigned held = decoder->bit_count / 8;
    size_t unused = decoder->left + held;
    *next = decoder->next - held;
    decoder->left = 0;
    decoder->bits = decoder->bit_count = 0;
    return unused;
}
