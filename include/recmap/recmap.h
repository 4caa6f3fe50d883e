/* recmap: any record of TFRecord files by number or by id, where they lie. Only dlpack.h is to be
 * included by itself: programs that have DLPack's own header include that first. */
#ifndef RECMAP_RECMAP_H
#define RECMAP_RECMAP_H

#include <recmap/arrow.h>
#include <recmap/batch.h>
#include <recmap/columns.h>
#include <recmap/dataset.h>
#include <recmap/example.h>
#include <recmap/example_builder.h>
#include <recmap/feature.h>
#include <recmap/framing.h>
#include <recmap/index.h>
#include <recmap/loader.h>
#include <recmap/order.h>
#include <recmap/parser.h>
#include <recmap/progress.h>
#include <recmap/record.h>
#include <recmap/shards.h>
#include <recmap/state.h>
#include <recmap/status.h>
#include <recmap/text.h>
#include <recmap/writer.h>

#endif
