/* Any bytes as a tf.Example: all our ways of reading them agree with each other, and with
 * protobuf-c but for the list in against.h; what is an Example has JSON and a schema. */
#include <stdio.h>
#include <stdlib.h>

#include <recmap/example.h>

#include "fuzz/fuzz.h"
#include "unit/parse/example/against.h"

static void write_json(const uint8_t *data, size_t size) {
    recmap_text text = RECMAP_TEXT_INIT;
    recmap_record record = {data, size, 0, NULL};
    recmap_schema *schema = NULL;
    if (recmap_record_to_json(&text, &record, NULL) != RECMAP_OK) abort();
    if (recmap_schema_create(&schema, NULL) != RECMAP_OK) abort();
    if (recmap_schema_add(schema, data, size, NULL) != RECMAP_OK) abort();
    if (recmap_schema_to_json(&text, schema, NULL) != RECMAP_OK) abort();
    recmap_schema_destroy(schema);
    recmap_text_deinit(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const char *difference = find_difference(data, size);
    if (difference) {
        fprintf(stderr, "%s\n", difference);
        abort();
    }
    write_json(data, size);
    return 0;
}
