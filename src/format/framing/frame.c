#include <recmap/writer.h>

#include "format/framing/tfrecord.h"

recmap_frame recmap_frame_of(const void *data, size_t size) {
    recmap_frame frame;
    tfrecord_make_header(frame.header, size);
    tfrecord_make_footer(frame.footer, data, size);
    return frame;
}
