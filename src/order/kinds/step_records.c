#include "order/kinds/step_records.h"

#include <stdlib.h>

#include "base/core/array.h"
#include "base/core/error.h"

static recmap_status reserve(struct step_records *list, uint64_t count, recmap_error *error) {
    if (count <= SIZE_MAX &&
        array_reserve(&list->numbers, &list->capacity, (size_t)count, sizeof *list->numbers))
        return RECMAP_OK;
    return fail_memory(error);
}

static recmap_status fill_from_rows(struct step_records *list, const recmap_deal *deal,
                                    const recmap_share *share, recmap_error *error) {
    const uint64_t positions = recmap_order_count(deal->order);
    for (uint64_t i = 0; i < share->count; i++) list->numbers[i] = (share->first + i) % positions;
    RETURN_IF_FAILED(recmap_order_pieces(&list->pieces, deal->order, deal->epoch, list->numbers,
                                         (size_t)share->count, error));
    RETURN_IF_FAILED(reserve(list, list->pieces.count, error));
    for (size_t i = 0; i < list->pieces.count; i++) list->numbers[i] = list->pieces.items[i].record;
    list->count = list->pieces.count;
    return RECMAP_OK;
}

recmap_status step_records_fill(struct step_records *list, const recmap_deal *deal,
                                const recmap_share *share, recmap_error *error) {
    list->count = 0;
    RETURN_IF_FAILED(reserve(list, share->count, error));
    if (recmap_order_row_width(deal->order)) return fill_from_rows(list, deal, share, error);
    RETURN_IF_FAILED(recmap_deal_numbers(list->numbers, deal, share, error));
    list->count = (size_t)share->count;
    return RECMAP_OK;
}

void step_records_deinit(struct step_records *list) {
    free(list->numbers);
    recmap_pieces_deinit(&list->pieces);
    *list = (struct step_records){.numbers = NULL};
}
