/* recmap: random access to the records of TFRecord files, by number or by id, without copying or
 * converting the files.
 *
 * Includes every public header except dlpack.h. Include that one separately: a program that uses
 * DLPack's own header must include DLPack's header first. */
#ifndef RECMAP_RECMAP_H
#define RECMAP_RECMAP_H

#include <recmap/annotation.h>
#include <recmap/arrow.h>
#include <recmap/batch.h>
#include <recmap/columns.h>
#include <recmap/counts.h>
#include <recmap/dataset.h>
#include <recmap/doctor.h>
#include <recmap/duplicates.h>
#include <recmap/example.h>
#include <recmap/example_builder.h>
#include <recmap/feature.h>
#include <recmap/filter.h>
#include <recmap/framing.h>
#include <recmap/image.h>
#include <recmap/image_decoder.h>
#include <recmap/index.h>
#include <recmap/interrupt.h>
#include <recmap/loader.h>
#include <recmap/message.h>
#include <recmap/order.h>
#include <recmap/parser.h>
#include <recmap/progress.h>
#include <recmap/record.h>
#include <recmap/rows.h>
#include <recmap/selection.h>
#include <recmap/shards.h>
#include <recmap/state.h>
#include <recmap/status.h>
#include <recmap/table.h>
#include <recmap/text.h>
#include <recmap/warm.h>
#include <recmap/warning.h>
#include <recmap/writer.h>

#endif
