/* usage: print_fields < TABLES
 * Reads tables with the field reader, to compare it with another one. The input has for each table
 * its separator, its size in 4 bytes, and its text. The output has a line for each row, with `=`
 * and the hexadecimal text of each field, `"` before quoted ones, and a line `.` or the error. */
#include <stdio.h>
#include <stdlib.h>

#include "base/core/bytes.h"
#include "base/text/fields.h"

static recmap_status print_row(struct field_reader *reader, char *scratch, recmap_error *error) {
    struct field_text field = {.is_last = false};
    while (!field.is_last) {
        RETURN_IF_FAILED(field_reader_next(&field, reader, error));
        size_t size = field_text_unquote(scratch, &field);
        fputs(field.is_quoted ? "\"=" : "=", stdout);
        for (size_t i = 0; i < size; i++) printf("%02x", (unsigned char)scratch[i]);
    }
    putchar('\n');
    return RECMAP_OK;
}

static void print_table(const char *text, size_t size, char separator, char *scratch) {
    struct field_reader reader;
    recmap_error error = RECMAP_ERROR_INIT;
    field_reader_init(&reader, text, size, separator, NULL);
    while (field_reader_has_row(&reader))
        if (print_row(&reader, scratch, &error) != RECMAP_OK) {
            printf("\n%s\n", error.message);
            return;
        }
    puts(".");
}

int main(void) {
    int separator;
    while ((separator = getchar()) != EOF) {
        uint8_t size_bytes[4];
        if (fread(size_bytes, 4, 1, stdin) != 1) return 2;
        size_t size = load32(size_bytes);
        char *text = malloc(size + 1), *scratch = malloc(size + 1);
        if (!text || !scratch || fread(text, 1, size, stdin) != size) return 2;
        print_table(text, size, (char)separator, scratch);
        free(text);
        free(scratch);
    }
    return 0;
}
