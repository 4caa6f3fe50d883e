/* Looks up the built-in framings by name. */
#include <string.h>

#include "base/words/character.h"
#include "format/framing/csv.h"
#include "format/framing/fixed.h"
#include "format/framing/framing.h"
#include "format/framing/lines.h"
#include "format/framing/ofrecord.h"
#include "format/framing/tar.h"
#include "format/framing/tfrecord.h"

/* Reads a decimal number without sign or leading zeros, so that every framing has exactly one name.
 */
static bool read_number(uint64_t *number, const char **text) {
    const char *c = *text;
    uint64_t value = 0;
    if (c[0] == '0' && is_digit(c[1])) return false;
    for (; is_digit(*c); c++) {
        if (value > FIXED_MAX / 10) return false;
        value = value * 10 + (uint64_t)(*c - '0');
    }
    if (c == *text || value > FIXED_MAX) return false;
    *text = c;
    *number = value;
    return true;
}

/* Parses "HEADER,RECORD,FOOTER". */
static bool make_fixed(struct framing *framing, const char *sizes) {
    uint64_t numbers[3];
    for (int i = 0; i < 3; i++) {
        if (i && *sizes++ != ',') return false;
        if (!read_number(&numbers[i], &sizes)) return false;
    }
    if (*sizes || !numbers[1]) return false;
    *framing = fixed_framing(numbers[0], numbers[1], numbers[2]);
    return true;
}

bool framing_init(struct framing *framing, const char *name) {
    static const char fixed[] = "fixed:";
    static const struct framing *const framings[] = {&tfrecord_framing, &ofrecord_framing,
                                                     &lines_framing, &tar_framing};
    for (size_t i = 0; i < sizeof framings / sizeof *framings; i++) {
        if (strcmp(framings[i]->name, name)) continue;
        *framing = *framings[i];
        return true;
    }
    if (csv_framing_init(framing, name)) return true;
    return !strncmp(name, fixed, sizeof fixed - 1) && make_fixed(framing, name + sizeof fixed - 1);
}
