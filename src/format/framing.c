#include "format/framing.h"

#include <string.h>

#include "format/tfrecord.h"

const framing *framing_by_name(const char *name) {
    static const framing *const framings[] = {&tfrecord_framing};
    for (size_t i = 0; i < sizeof framings / sizeof *framings; i++)
        if (!strcmp(framings[i]->name, name)) return framings[i];
    return NULL;
}
