#include "loader/feed/repair.h"

#include <string.h>

#include "base/core/bytes.h"
#include "base/core/error.h"
#include "base/os/process.h"
#include "dataset/batch/batch.h"
#include "dataset/batch/probe.h"
#include "parse/columns/columns.h"

/* The number of a record that was left out of the batch, until the batch is closed up. */
#define LEFT_OUT RECMAP_NO_RECORD

/* ---- Deciding about a bad item. */

/* The position in the epoch of the item that failed last. */
static uint64_t position_of(const struct repair *repair) {
    return (repair->first + repair->index) % recmap_order_count(repair->deal->order);
}

static recmap_status begin_item(struct repair *repair, size_t index, uint64_t number,
                                recmap_error *error) {
    repair->has_failed = true;
    repair->index = index;
    repair->tries = 0;
    repair->copy = NULL;
    repair->copy_capacity = 0;
    const recmap_skipped skipped = {repair->deal->epoch, position_of(repair), number,
                                    RECMAP_NO_RECORD};
    return filled_batch_add_skipped(repair->result, &skipped) ? RECMAP_OK : fail_memory(error);
}

/* The next item of the epoch, wrapping at its end, that was not tried. */
static recmap_status next_candidate(enum row_choice *choice, uint64_t *candidate,
                                    struct repair *repair, recmap_error *error) {
    const recmap_order *order = repair->deal->order;
    uint64_t count = recmap_order_count(order);
    *choice = ROW_RAISED;
    if (repair->tries == min_u64(count - 1, SUBSTITUTE_TRIES)) return RECMAP_OK;
    uint64_t next = (position_of(repair) + ++repair->tries) % count;
    *candidate = next;
    if (!recmap_order_row_width(order))
        RETURN_IF_FAILED(recmap_order_at(candidate, order, repair->deal->epoch, &next, 1, error));
    repair->result->skipped[repair->result->skipped_count - 1].substitute = *candidate;
    *choice = ROW_REPLACED;
    return RECMAP_OK;
}

recmap_status repair_next(enum row_choice *choice, uint64_t *candidate, struct repair *repair,
                          size_t index, uint64_t number, recmap_error *error) {
    if (!repair->has_failed || repair->index != index)
        RETURN_IF_FAILED(begin_item(repair, index, number, error));
    if (repair->filler->policy == RECMAP_ON_BAD_RECORD_SUBSTITUTE)
        return next_candidate(choice, candidate, repair, error);
    *choice = ROW_LEFT_OUT;
    return RECMAP_OK;
}

/* ---- Records. */

/* A substitute is drawn as at its own position. */
static recmap_status move_draw(const struct repair *repair, size_t record, recmap_error *error) {
    const recmap_deal *deal = repair->deal;
    recmap_batch *batch = repair->result->batch;
    uint64_t *position = &batch->positions[record];
    *position = (position_of(repair) + repair->tries) % recmap_order_count(deal->order);
    if (!batch->place.numbers) return RECMAP_OK;
    return recmap_order_at(&batch->draw_numbers[record], repair->filler->draw_order, deal->epoch,
                           position, 1, error);
}

/* Returns room for the bytes of a substitute. Those of a former one, which was bad, are used again:
 * otherwise a long row of bad records would take as much memory as all of them have bytes. */
static uint8_t *reserve_copy(struct repair *repair, size_t size) {
    if (repair->copy && size <= repair->copy_capacity) return repair->copy;
    size_t capacity = 2 * repair->copy_capacity < size ? size : 2 * repair->copy_capacity;
    repair->copy = batch_allocate(repair->memory, capacity);
    repair->copy_capacity = repair->copy ? capacity : 0;
    return repair->copy;
}

/* Copies a record into memory of the batch, unless it is damaged. */
static recmap_status read_copy(recmap_record *copy, bool *is_damaged, struct repair *repair,
                               uint64_t number, recmap_error *error) {
    recmap_dataset *dataset = repair->filler->dataset;
    recmap_record record;
    RETURN_IF_FAILED(dataset_probe(is_damaged, dataset, number, error));
    if (*is_damaged) return RECMAP_OK;
    RETURN_IF_FAILED(recmap_dataset_get(&record, dataset, number, error));
    uint8_t *bytes = reserve_copy(repair, record.size);
    if (bytes && record.size) memcpy(bytes, record.data, record.size);
    *copy = (recmap_record){bytes, record.size, number, NULL};
    recmap_record_release(&record);
    return bytes ? RECMAP_OK : fail_memory(error);
}

/* Raises what is wrong with the failed record: if it is damaged here, else by the parser. */
static recmap_status give_up(const struct repair *repair, recmap_error *error) {
    const struct filled_batch *result = repair->result;
    bool is_damaged;
    RETURN_IF_FAILED(dataset_probe(&is_damaged, repair->filler->dataset,
                                   result->skipped[result->skipped_count - 1].number, error));
    return is_damaged ? RECMAP_CORRUPT : RECMAP_OK;
}

recmap_status repair_choose(enum row_choice *choice, recmap_record *record, void *context,
                            size_t index, recmap_error *error) {
    struct repair *repair = context;
    recmap_record *place = &repair->result->batch->records[repair->first_record + index];
    bool is_damaged = true;
    while (is_damaged) {
        uint64_t number;
        RETURN_IF_FAILED(repair_next(choice, &number, repair, index, place->number, error));
        if (*choice == ROW_RAISED) return give_up(repair, error);
        if (*choice == ROW_LEFT_OUT) {
            place->number = LEFT_OUT;
            return RECMAP_OK;
        }
        RETURN_IF_FAILED(read_copy(record, &is_damaged, repair, number, error));
    }
    *place = *record;
    return move_draw(repair, repair->first_record + index, error);
}

void repair_close_up(recmap_batch *batch) {
    size_t kept = 0;
    for (size_t i = 0; i < batch->count; i++) {
        if (batch->records[i].number == LEFT_OUT) continue;
        batch_move_place(batch, kept, i);
        batch->records[kept++] = batch->records[i];
    }
    batch->count = kept;
}

/* A record was damaged when the batch was gathered, and is not any more. */
static recmap_status raise_lost(const struct repair *repair, const struct lost_row *lost,
                                recmap_error *error) {
    fail(error, lost->status, "%s", lost->message);
    fail_at(error, NULL, repair->result->batch->records[lost->row].number, RECMAP_NO_OFFSET);
    return lost->status;
}

/* Repairs records that are not parsed: only damaged ones are bad. */
static recmap_status repair_lost(struct repair *repair, recmap_error *error) {
    const struct lost_rows *lost = &repair->result->lost;
    for (size_t i = 0; i < lost->count; i++) {
        enum row_choice choice;
        recmap_record record;
        RETURN_IF_FAILED(repair_choose(&choice, &record, repair, lost->rows[i].row, error));
        if (choice == ROW_RAISED) return raise_lost(repair, &lost->rows[i], error);
    }
    return RECMAP_OK;
}

static recmap_status parse(struct repair *repair, recmap_error *error) {
    struct filled_batch *result = repair->result;
    const struct filler *filler = repair->filler;
    const struct row_repair choices = {repair_choose, repair};
    uint64_t started_ns = clock_ns();
    batch_set_repair(result->batch, &choices);
    recmap_status status =
        dataset_parse_around(result->batch, filler->dataset, filler->parser, &result->lost, error);
    batch_set_repair(result->batch, NULL);
    result->parse_ns += clock_ns() - started_ns;
    return status;
}

recmap_status repair_records(struct filled_batch *result, const struct filler *filler,
                             const recmap_deal *deal, uint64_t first, recmap_error *error) {
    struct repair repair = {
        .result = result, .filler = filler, .deal = deal, .first = first, .memory = result->batch};
    recmap_status status = filler->parser ? parse(&repair, error) : repair_lost(&repair, error);
    lost_rows_deinit(&result->lost);
    if (status != RECMAP_OK) recmap_batch_clear(result->batch);
    else if (result->skipped_count) repair_close_up(result->batch);
    return status;
}
