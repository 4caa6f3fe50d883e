/* Inflates a raw deflate stream (RFC 1951) symbol by symbol and stops exactly at the first block or
 * symbol that the RFC forbids, or that the input does not contain completely.
 *
 * What a damaged stream inflates to must not depend on the version of a library, on the processor,
 * or on how the input was cut. ISA-L is fast, but accepts codes that the RFC forbids, and what it
 * returns at an error depends on all three. So ISA-L inflates sound streams, and this decoder
 * decides what is left of damaged ones. It is several times as slow. */
#ifndef RECMAP_FORMAT_DEFLATE_STRICT_DECODER_H
#define RECMAP_FORMAT_DEFLATE_STRICT_DECODER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct strict_decoder;

/* Returns the number of further input bytes, and sets `next` to the first. Returns 0 at the end of
 * the input. Bytes that were returned before are not used any more, except the last 8. */
typedef size_t (*strict_input)(const uint8_t **next, void *context);

enum strict_verdict {
    STRICT_OK,           /* the output is full, or a block begins: see strict_is_at_block */
    STRICT_END,          /* the last block ended */
    STRICT_CUT,          /* the input ends first */
    STRICT_BAD_BLOCK,    /* the header of a block */
    STRICT_BAD_SYMBOL,   /* a code that no symbol has, or whose symbol is reserved */
    STRICT_BAD_DISTANCE, /* past the start of the data */
};

/* Returns NULL if memory runs out. Call strict_start before reading. */
struct strict_decoder *strict_create(strict_input input, void *context);
void strict_destroy(struct strict_decoder *decoder);

/* Starts at a block, at bit `bit` of the next byte of the input. The window is the preceding
 * output: at most 32 KiB. */
void strict_start(struct strict_decoder *decoder, unsigned bit, const uint8_t *window, size_t size);

/* Inflates up to `room` bytes. `size` receives the number of bytes written, whatever the verdict
 * is. With `stops`, also stops at the end of each block but the last. */
enum strict_verdict strict_read(size_t *size, struct strict_decoder *decoder, uint8_t *out,
                                size_t room, bool stops);

/* Returns true if the next bit is the first of a block. */
bool strict_is_at_block(const struct strict_decoder *decoder);

/* The next bit, counted from the first byte of the input after strict_start; after an error, the
 * first bit of the bad block or symbol. */
uint64_t strict_bit(const struct strict_decoder *decoder);

/* The last 32 KiB of the output and the window, or less if there is less. */
const uint8_t *strict_window(size_t *size, const struct strict_decoder *decoder);

/* Takes back the input that was not used, which begins at the next whole byte. */
size_t strict_unused(const uint8_t **next, struct strict_decoder *decoder);

#endif
