/* Huffman decoding alone, without the inverse transform, colours or pixels: what no decoder that
 * uses libjpeg can be faster than. A shared library for image.py. */
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <jpeglib.h>

struct failing {
    struct jpeg_error_mgr base;
    jmp_buf jump;
};

static void fail(j_common_ptr common) {
    longjmp(((struct failing *)common->err)->jump, 1);
}

/* Decodes the coefficients down to pixel row `end`. Returns 0, or 1 if that is impossible. */
int huffman_decode(const uint8_t *data, size_t size, unsigned end) {
    struct jpeg_decompress_struct jpeg;
    struct failing error;
    jpeg.err = jpeg_std_error(&error.base);
    error.base.error_exit = fail;
    jpeg_create_decompress(&jpeg);
    int is_bad = setjmp(error.jump);
    if (!is_bad) {
        jpeg_mem_src(&jpeg, data, size);
        jpeg_read_header(&jpeg, TRUE);
        jpeg.buffered_image = TRUE; /* input is consumed apart from output */
        jpeg_start_decompress(&jpeg);
        unsigned height = (unsigned)jpeg.max_v_samp_factor * DCTSIZE;
        while (jpeg.input_iMCU_row * height < end)
            if (jpeg_consume_input(&jpeg) == JPEG_REACHED_EOI) break;
    }
    jpeg_destroy_decompress(&jpeg);
    return is_bad;
}
