#include "parse/columns/ragged.h"

#include "base/core/plural.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

/* One partition of one row: the numbers stored in the record, and how many entries it splits. */
struct cut {
    const recmap_feature *feature;
    const recmap_partition *partition;
    const int64_t *numbers;
    int64_t number_count;
    int64_t count; /* of the entries that it splits */
    size_t slot;   /* the slot of the partition's numbers; for a uniform partition, of the values */
    struct read_fault *fault;
};

static bool refuse(const struct cut *cut, const char *format, ...) {
    char why[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(why, sizeof why, format, arguments);
    va_end(arguments);
    fault_set(cut->fault, RECMAP_FEATURE, SIZE_MAX, "feature '%s': its partition '%s' %s",
              cut->feature->name, cut->partition->key ? cut->partition->key : "uniform", why);
    return fault_blame(cut->fault, cut->slot);
}

size_t ragged_tail_count(const recmap_feature *feature) {
    size_t count = 0;
    while (count < feature->partition_count &&
           feature->partitions[feature->partition_count - 1 - count].kind ==
               RECMAP_PARTITION_UNIFORM)
        count++;
    return count;
}

static uint64_t tail_stride(const recmap_feature *feature) {
    uint64_t stride = 1;
    for (size_t i = 0; i < ragged_tail_count(feature); i++)
        stride *= feature->partitions[feature->partition_count - 1 - i].length;
    return stride;
}

static int64_t *level(struct batch_memory *memory, size_t column_index, size_t index) {
    return buffer_int64(batch_memory_part(memory, column_index, BATCH_PART_LEVELS + index));
}

bool ragged_begin(struct batch_memory *memory, size_t column_index) {
    const recmap_feature *feature = &memory->parser->columns[column_index].feature;
    size_t count = 1 + feature->partition_count - ragged_tail_count(feature);
    for (size_t i = 0; i < count; i++) {
        struct buffer *offsets = batch_memory_part(memory, column_index, BATCH_PART_LEVELS + i);
        uint64_t entries = i == 0 ? memory->row_count + 1 : 1;
        if (!buffer_reserve(offsets, 0, entries * sizeof(int64_t))) return false;
        buffer_int64(offsets)[0] = 0;
    }
    return true;
}

/* Checks that the numbers ascend from `min`. */
static bool check_ascent(const struct cut *cut, int64_t min) {
    for (int64_t i = 0; i < cut->number_count; i++) {
        if (cut->numbers[i] < min)
            return refuse(cut, "does not ascend: %" PRId64 " after %" PRId64, cut->numbers[i], min);
        min = cut->numbers[i];
    }
    return true;
}

static bool check_end(const struct cut *cut, int64_t end) {
    if (end == cut->count) return true;
    return refuse(cut, "ends with %" PRId64 ", but there %s %" PRId64 " entr%s to split", end,
                  cut->count == 1 ? "is" : "are", cut->count, cut->count == 1 ? "y" : "ies");
}

static bool check_first(const struct cut *cut) {
    if (cut->number_count == 0 || cut->numbers[0] == 0) return true;
    return refuse(cut, "begins with %" PRId64 ", not 0", cut->numbers[0]);
}

static bool check_lengths(const struct cut *cut) {
    int64_t end = 0;
    for (int64_t i = 0; i < cut->number_count; i++) {
        if (cut->numbers[i] < 0) return refuse(cut, "has the length %" PRId64, cut->numbers[i]);
        if (cut->numbers[i] > cut->count - end)
            return refuse(cut, "describes more than the %" PRId64 " entr%s to split", cut->count,
                          cut->count == 1 ? "y" : "ies");
        end += cut->numbers[i];
    }
    return check_end(cut, end);
}

static bool check_row_ids(const struct cut *cut) {
    if (cut->number_count != cut->count)
        return refuse(cut, "has %" PRId64 " row number%s for %" PRId64 " value%s",
                      cut->number_count, plural((uint64_t)cut->number_count), cut->count,
                      plural((uint64_t)cut->count));
    if (!check_ascent(cut, 0)) return false;
    if (cut->number_count &&
        cut->numbers[cut->number_count - 1] - cut->number_count >= RAGGED_EMPTY_ROW_LIMIT)
        return refuse(cut, "names row %" PRId64 ", too far past its %" PRId64 " value%s",
                      cut->numbers[cut->number_count - 1], cut->count,
                      plural((uint64_t)cut->count));
    return true;
}

/* Checks the partition's numbers and sets the number of rows that they describe. */
static bool check_cut(const struct cut *cut, int64_t *row_count) {
    int64_t count = cut->number_count, last = count ? cut->numbers[count - 1] : 0;
    *row_count = count;
    switch (cut->partition->kind) {
    case RECMAP_PARTITION_ROW_SPLITS:
        *row_count = count ? count - 1 : 0;
        return check_first(cut) && check_ascent(cut, 0) && check_end(cut, last);
    case RECMAP_PARTITION_ROW_LENGTHS: return check_lengths(cut);
    case RECMAP_PARTITION_ROW_LIMITS: return check_ascent(cut, 0) && check_end(cut, last);
    case RECMAP_PARTITION_ROW_STARTS:
        if (count == 0) return check_end(cut, 0);
        if (!check_first(cut) || !check_ascent(cut, 0)) return false;
        /* The last row has all entries that are left, so it may start anywhere among them. */
        return last <= cut->count || check_end(cut, last);
    case RECMAP_PARTITION_VALUE_ROW_IDS:
        if (!check_row_ids(cut)) return false;
        *row_count = count ? last + 1 : 0;
        return true;
    case RECMAP_PARTITION_UNIFORM: break;
    }
    *row_count = cut->count / (int64_t)cut->partition->length;
    if (cut->count % (int64_t)cut->partition->length == 0) return true;
    return refuse(cut, "of %" PRIu64 " does not divide the %" PRId64 " entr%s to split",
                  cut->partition->length, cut->count, cut->count == 1 ? "y" : "ies");
}

/* Writes the end of each row, relative to all entries of the level: `ends[0]` is the end of the
 * first row. */
static void write_ends(const struct cut *cut, int64_t *ends, int64_t row_count, int64_t base) {
    int64_t end = 0, at = 0;
    for (int64_t i = 0; i < row_count; i++) {
        switch (cut->partition->kind) {
        case RECMAP_PARTITION_ROW_SPLITS: end = cut->numbers[i + 1]; break;
        case RECMAP_PARTITION_ROW_LENGTHS: end += cut->numbers[i]; break;
        case RECMAP_PARTITION_ROW_LIMITS: end = cut->numbers[i]; break;
        case RECMAP_PARTITION_ROW_STARTS:
            end = i + 1 < row_count ? cut->numbers[i + 1] : cut->count;
            break;
        case RECMAP_PARTITION_VALUE_ROW_IDS:
            while (at < cut->count && cut->numbers[at] <= i) at++;
            end = at;
            break;
        case RECMAP_PARTITION_UNIFORM: end += (int64_t)cut->partition->length; break;
        }
        ends[i] = base + end;
    }
}

/* Returns how many entries of level `index` belong to rows before `row`. They are counted from
 * level to level, because a level may end with leftovers of a row that was rolled back. */
static int64_t count_before(struct batch_memory *memory, size_t column_index, size_t row,
                            size_t index) {
    int64_t count = (int64_t)row;
    for (size_t i = 0; i < index; i++) count = level(memory, column_index, i)[count];
    return count;
}

/* Splits the entries of this row into rows of level `index`. */
static bool add_level(const struct cut *cut, struct batch_memory *memory, size_t column_index,
                      size_t row, size_t index, int64_t *row_count) {
    struct buffer *offsets = batch_memory_part(memory, column_index, BATCH_PART_LEVELS + index);
    int64_t before = count_before(memory, column_index, row, index);
    if (!check_cut(cut, row_count)) return false;
    if (!buffer_reserve(offsets, (size_t)(before + 1) * sizeof(int64_t),
                        (size_t)(before + *row_count + 1) * sizeof(int64_t)))
        return fault_memory(cut->fault);
    int64_t *ends = buffer_int64(offsets) + before;
    write_ends(cut, ends + 1, *row_count, ends[0]);
    return true;
}

/* Works from the innermost partition outwards: each one splits the rows that the one inside it
 * produced. Uniform partitions at the inner end were taken into account by dividing by their
 * stride, since they are dimensions of the values. */
bool ragged_add_row(struct batch_memory *memory, size_t column_index, size_t row,
                    struct read_fault *fault) {
    const struct column_plan *plan = &memory->parser->columns[column_index];
    const recmap_feature *feature = &plan->feature;
    const int64_t *rows = buffer_int64(&batch_memory_sink(memory, false, plan->values_slot)->rows);
    size_t cut_count = feature->partition_count - ragged_tail_count(feature);
    int64_t count = rows[row + 1] - rows[row], stride = (int64_t)tail_stride(feature);
    if (count % stride) {
        fault_set(fault, RECMAP_FEATURE, SIZE_MAX,
                  "feature '%s': %" PRId64 " value%s where uniform rows hold %" PRId64,
                  feature->name, count, plural((uint64_t)count), stride);
        return fault_blame(fault, plan->values_slot);
    }
    count /= stride;
    for (size_t i = cut_count; i > 0; i--) {
        struct cut c = {
            .feature = feature, .partition = &feature->partitions[i - 1], .count = count};
        c.fault = fault;
        c.slot = plan->values_slot;
        if (c.partition->kind != RECMAP_PARTITION_UNIFORM) {
            c.slot = plan->other_slots[i - 1];
            const struct sink *said = batch_memory_sink(memory, false, c.slot);
            int64_t begin = buffer_int64(&said->rows)[row];
            c.numbers = buffer_int64(&said->values) + begin;
            c.number_count = buffer_int64(&said->rows)[row + 1] - begin;
        }
        if (!add_level(&c, memory, column_index, row, i, &count)) return false;
    }
    level(memory, column_index, 0)[row + 1] = level(memory, column_index, 0)[row] + count;
    return true;
}

bool assemble_ragged(const struct assembly *a) {
    const recmap_feature *feature = &a->plan->feature;
    size_t tail = ragged_tail_count(feature), count = 1 + feature->partition_count - tail;
    const int64_t **offsets = assembly_reserve(a, BATCH_PART_OFFSETS, count, sizeof *offsets);
    uint64_t value_count = a->sink->value_count;
    if (!offsets || !assembly_set_shape(a, value_count / tail_stride(feature), NULL, tail))
        return false;
    for (size_t i = 0; i < count; i++) offsets[i] = level(a->memory, a->column_index, i);
    for (size_t i = 0; i < tail; i++) {
        uint64_t *shape =
            buffer_uint64(batch_memory_part(a->memory, a->column_index, BATCH_PART_SHAPE));
        shape[i + 1] = feature->partitions[feature->partition_count - tail + i].length;
    }
    a->column->offsets = offsets;
    a->column->offsets_count = count;
    return assembly_set_values(a, a->sink->values.data, value_count);
}
