/* Batches of every kind of column, exported for a consumer that comes by address. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <recmap/arrow.h>

#include "unit/parse/columns/parse_specs.h"
#include "unit/parse/columns/parse_text.h"

/* What Python calls. Both return a status. */
RECMAP_API int exports_batch(struct ArrowArray *array, struct ArrowSchema *schema, int copied);
RECMAP_API int exports_records(struct ArrowArray *array, struct ArrowSchema *schema);
/* Batches whose records are still held. */
RECMAP_API int exports_alive(void);

static int alive;

int exports_alive(void) {
    return alive;
}

static void free_records(void *owner) {
    text_batch_deinit(owner);
    free(owner);
    alive--;
}

static struct text_batch *make_records(void) {
    struct text_batch *batch = calloc(1, sizeof *batch);
    if (!batch) abort();
    alive++;
    batch_add(batch,
              "i=i:1,0,0,1 f=f:1.5,-2 t=b:short,more_than_12_bytes v=i:1,2,3,4 n=i:1,0,1 "
              "x=i:3,1,2,0 w=b:a,the_second_of_many_bytes,c,d | a=[i:1,2][i:3,4] "
              "b=[b:u,another_of_many_bytes][?]",
              1);
    batch_add(batch, "", 1);
    batch_add(batch, "i=i:1", 1);
    batch_add(batch, "i=i:0,0,0,0 f=f:0,1 t=b:more_than_12_bytes_too, v=i: | b=", 1);
    return batch;
}

/* Every kind of column, each with the element types and shapes that Arrow maps differently. `mode`
 * chooses how bytes are exported. */
static recmap_status make_parser(recmap_parser **parser, recmap_bytes_mode mode) {
    const recmap_feature context[] = {
        {.name = "vector",
         .key = "i",
         .kind = FIXED,
         .element = I64,
         SHAPE(4),
         DEFAULTS(INT64(-1))},
        {.name = "matrix",
         .key = "i",
         .kind = FIXED,
         .element = RECMAP_ELEMENT_INT16,
         SHAPE(2, 2),
         DEFAULTS(INT64(-1))},
        {.name = "flags",
         .key = "i",
         .kind = FIXED,
         .element = RECMAP_ELEMENT_BOOL,
         SHAPE(2, 2),
         DEFAULTS(INT64(1))},
        {.name = "half",
         .key = "f",
         .kind = FIXED,
         .element = RECMAP_ELEMENT_FLOAT16,
         SHAPE(2),
         DEFAULTS(FLOAT(8))},
        {.name = "brain", .key = "f", .kind = VAR, .element = RECMAP_ELEMENT_BFLOAT16},
        {.name = "texts",
         .key = "t",
         .kind = FIXED,
         .element = STR,
         SHAPE(2),
         .bytes_mode = mode,
         DEFAULTS(TEXT("a_default_of_many_bytes"))},
        {.name = "v", .kind = VAR, .element = I64},
        {.name = "words", .key = "w", .kind = VAR, .element = STR, .bytes_mode = mode},
        {.name = "padded",
         .key = "w",
         .kind = SEQUENCE,
         .element = STR,
         SHAPE(2),
         .bytes_mode = mode,
         DEFAULTS(TEXT("pad"))},
        {.name = "pairs", .key = "v", .kind = SEQUENCE, .element = I64, SHAPE(1, 2)},
        {.name = "ragged",
         .key = "v",
         .kind = RAGGED,
         .element = I64,
         PARTITIONS({RECMAP_PARTITION_ROW_LENGTHS, "n", 0}, {RECMAP_PARTITION_UNIFORM, NULL, 2})},
        {.name = "sparse",
         .key = "w",
         .kind = SPARSE,
         .element = STR,
         .bytes_mode = mode,
         INDICES("x", "v"),
         SIZES(9, 9)},
    };
    const recmap_feature lists[] = {{.name = "a", .kind = SEQUENCE, .element = I64, SHAPE(2)},
                                    {.name = "b", .kind = VAR, .element = STR, .bytes_mode = mode}};
    return recmap_parser_create_sequence(parser, context, COUNT(context), lists, COUNT(lists),
                                         NULL);
}

int exports_batch(struct ArrowArray *array, struct ArrowSchema *schema, int copied) {
    recmap_parser *parser = NULL;
    recmap_columns *columns = NULL;
    struct text_batch *records = make_records();
    recmap_status status = make_parser(&parser, copied ? RECMAP_BYTES_COPY : RECMAP_BYTES_VIEW);
    if (status == RECMAP_OK) status = recmap_columns_create(&columns, NULL);
    if (status == RECMAP_OK)
        status = recmap_parser_parse(columns, parser, records->records, records->count,
                                     RECMAP_PARSE_COLLECT, NULL);
    if (status == RECMAP_OK) {
        recmap_columns_set_owner(columns, records, free_records);
        status = recmap_columns_export_arrow(array, schema, columns, NULL);
    }
    recmap_columns_destroy(columns);
    recmap_parser_release(parser);
    return status;
}

int exports_records(struct ArrowArray *array, struct ArrowSchema *schema) {
    struct text_batch *records = make_records();
    return recmap_records_export_arrow(array, schema, records->records, records->count, records,
                                       free_records, NULL);
}
