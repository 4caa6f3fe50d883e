#include "support/index/sample.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "support/folder.h"
#include "support/index/build.h"
#include "support/shards/features.h"
#include "support/shards/oracle.h"

recmap_index_options sample_options(void) {
    static const recmap_lift lifts[SAMPLE_COLUMNS] = {
        {"number", "-1", 0}, {"share", "0.5", 0}, {"word", "none", 0}, {"never", "7", 0}};
    recmap_index_options options = RECMAP_INDEX_OPTIONS_INIT;
    options.id_feature = "id";
    options.lifts = lifts;
    options.lift_count = SAMPLE_COLUMNS;
    options.on_bad_record = RECMAP_ON_BAD_RECORD_SKIP;
    return options;
}

recmap_value sample_id(char text[24], uint64_t number) {
    snprintf(text, 24, "id-%u", (unsigned)number);
    return text_value(text);
}

static void add_record(struct buffer *shard, uint64_t number) {
    struct buffer features = BUFFER_INIT, example = BUFFER_INIT;
    char text[24];
    sample_id(text, number);
    features_add_text(&features, "id", text);
    features_add_int64(&features, "number", (int64_t)number * 3);
    features_add_float(&features, "share", (float)number / 8);
    /* Of many lengths, so that offsets need bits. */
    char word[16];
    snprintf(word, sizeof word, "%.*s", (int)(number * 7 % 13), "abcdefghijklm");
    features_add_text(&features, "word", word);
    features_end(&example, &features);
    oracle_add_record(shard, example.data, example.size);
    buffer_deinit(&features);
    buffer_deinit(&example);
}

void sample_build(const char *index_path) {
    const char *const *names = shard_names(SAMPLE_SHARDS);
    for (uint64_t s = 0; s < SAMPLE_SHARDS; s++) {
        struct buffer shard = BUFFER_INIT;
        for (uint64_t i = 0; i < SAMPLE_SHARD_RECORDS; i++) {
            if (i == 50 || i == 150)
                for (int k = 0; k < SAMPLE_DAMAGE_SIZE; k++) buffer_add_byte(&shard, 0xff);
            add_record(&shard, s * SAMPLE_SHARD_RECORDS + i);
        }
        file_write(names[s], shard.data, shard.size);
        buffer_deinit(&shard);
    }
    recmap_index_options options = sample_options();
    recmap_index_summary summary = index_build(index_path, &options, names, SAMPLE_SHARDS);
    assert_int_equal(summary.record_count, SAMPLE_RECORDS);
    assert_int_equal(summary.damage_count, SAMPLE_DAMAGES);
}
