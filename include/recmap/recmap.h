/* recmap: any record of TFRecord files by number or by id, where they lie. */
#ifndef RECMAP_RECMAP_H
#define RECMAP_RECMAP_H

#include <recmap/batch.h>
#include <recmap/dataset.h>
#include <recmap/example.h>
#include <recmap/index.h>
#include <recmap/loader.h>
#include <recmap/order.h>
#include <recmap/progress.h>
#include <recmap/record.h>
#include <recmap/shards.h>
#include <recmap/state.h>
#include <recmap/status.h>
#include <recmap/text.h>
#include <recmap/writer.h>

#endif
