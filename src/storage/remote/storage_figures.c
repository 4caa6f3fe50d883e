#include "storage/remote/storage_figures.h"

#include "base/os/source.h"
#include "base/os/thread.h"
#include "storage/remote/storage.h"

void storage_figures_init(struct storage_figures *figures) {
    *figures = (struct storage_figures){0};
    request_gap_init(&figures->gap);
}

void storage_count_request(recmap_storage *storage, enum request_kind kind) {
    process_lock();
    storage->figures.request_count++;
    storage->figures.retry_count += kind == REQUEST_REPEATED;
    storage->figures.hedge_count += kind == REQUEST_HEDGED;
    process_unlock();
}

void storage_count_reads(recmap_storage *storage, const struct source_read *reads, size_t count) {
    uint64_t size = 0, gap_size = 0;
    for (size_t i = 0; i < count; i++) {
        size += reads[i].size;
        gap_size += reads[i].gap_size;
    }
    process_lock();
    storage->figures.byte_count += size;
    storage->figures.used_byte_count += size - gap_size;
    process_unlock();
}

void storage_note_answer(recmap_storage *storage, const struct answer_times *times) {
    process_lock();
    latency_add(&storage->figures.latency, times->first_ns);
    if (times->is_undisturbed) request_gap_add(&storage->figures.gap, times->size, times->last_ns);
    process_unlock();
}

uint64_t storage_gap(recmap_storage *storage) {
    uint64_t gap;
    if (storage_options_gap(&gap, &storage->options)) return gap;
    process_lock();
    gap = storage->figures.gap.size;
    process_unlock();
    return gap;
}

void storage_add_figures(struct storage_figures *total, recmap_storage *storage) {
    const uint64_t gap = storage_gap(storage);
    process_lock();
    const struct storage_figures *added = &storage->figures;
    total->request_count += added->request_count;
    total->retry_count += added->retry_count;
    total->hedge_count += added->hedge_count;
    total->byte_count += added->byte_count;
    total->used_byte_count += added->used_byte_count;
    latency_merge(&total->latency, &added->latency);
    process_unlock();
    if (gap > total->gap.size) total->gap.size = gap;
}

recmap_storage_statistics storage_figures_show(const struct storage_figures *figures) {
    return (recmap_storage_statistics){
        .request_count = figures->request_count,
        .retry_count = figures->retry_count,
        .hedge_count = figures->hedge_count,
        .byte_count = figures->byte_count,
        .used_byte_count = figures->used_byte_count,
        .latency_p50_ns = latency_percentile(&figures->latency, 50),
        .latency_p99_ns = latency_percentile(&figures->latency, 99),
        .gap = figures->gap.size,
    };
}
