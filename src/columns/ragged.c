#include "columns/ragged.h"

#include <stdarg.h>
#include <stdio.h>

/* One partition of one row at work: what it says, and how much there is to cut. */
struct cut {
    const recmap_feature *feature;
    const recmap_partition *partition;
    const int64_t *said;
    int64_t said_count;
    int64_t count; /* of what is cut */
    size_t slot;   /* that holds what it says; of a uniform one, the values */
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

/* Ascending from `least` on, and ending with the count where they must. */
static bool check_ascent(const struct cut *cut, int64_t least) {
    for (int64_t i = 0; i < cut->said_count; i++) {
        if (cut->said[i] < least)
            return refuse(cut, "does not ascend: %lld after %lld", (long long)cut->said[i],
                          (long long)least);
        least = cut->said[i];
    }
    return true;
}

static bool check_end(const struct cut *cut, int64_t end) {
    if (end == cut->count) return true;
    return refuse(cut, "ends with %lld where there are %lld to cut", (long long)end,
                  (long long)cut->count);
}

static bool check_first(const struct cut *cut) {
    if (cut->said_count == 0 || cut->said[0] == 0) return true;
    return refuse(cut, "begins with %lld, not 0", (long long)cut->said[0]);
}

static bool check_lengths(const struct cut *cut) {
    int64_t end = 0;
    for (int64_t i = 0; i < cut->said_count; i++) {
        if (cut->said[i] < 0) return refuse(cut, "has the length %lld", (long long)cut->said[i]);
        if (cut->said[i] > cut->count - end)
            return refuse(cut, "has more than the %lld that there are to cut",
                          (long long)cut->count);
        end += cut->said[i];
    }
    return check_end(cut, end);
}

static bool check_row_ids(const struct cut *cut) {
    if (cut->said_count != cut->count)
        return refuse(cut, "has %lld rows' numbers for %lld values", (long long)cut->said_count,
                      (long long)cut->count);
    if (!check_ascent(cut, 0)) return false;
    if (cut->said_count &&
        cut->said[cut->said_count - 1] - cut->said_count >= RAGGED_EMPTY_ROW_LIMIT)
        return refuse(cut, "names row %lld, too far behind its %lld values",
                      (long long)cut->said[cut->said_count - 1], (long long)cut->count);
    return true;
}

/* What `said` must be, and how many rows it makes. */
static bool check_cut(const struct cut *cut, int64_t *row_count) {
    int64_t count = cut->said_count, last = count ? cut->said[count - 1] : 0;
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
        return last <= cut->count || check_end(cut, last);
    case RECMAP_PARTITION_VALUE_ROW_IDS:
        if (!check_row_ids(cut)) return false;
        *row_count = count ? last + 1 : 0;
        return true;
    case RECMAP_PARTITION_UNIFORM: break;
    }
    *row_count = cut->count / (int64_t)cut->partition->length;
    if (cut->count % (int64_t)cut->partition->length == 0) return true;
    return refuse(cut, "of %llu does not divide the %lld that there are to cut",
                  (unsigned long long)cut->partition->length, (long long)cut->count);
}

/* The number of what is cut that lies before row ends: `ends[0]` is the end of the first row. */
static void write_ends(const struct cut *cut, int64_t *ends, int64_t row_count, int64_t base) {
    int64_t end = 0, at = 0;
    for (int64_t i = 0; i < row_count; i++) {
        switch (cut->partition->kind) {
        case RECMAP_PARTITION_ROW_SPLITS: end = cut->said[i + 1]; break;
        case RECMAP_PARTITION_ROW_LENGTHS: end += cut->said[i]; break;
        case RECMAP_PARTITION_ROW_LIMITS: end = cut->said[i]; break;
        case RECMAP_PARTITION_ROW_STARTS:
            end = i + 1 < row_count ? cut->said[i + 1] : cut->count;
            break;
        case RECMAP_PARTITION_VALUE_ROW_IDS:
            while (at < cut->count && cut->said[at] <= i) at++;
            end = at;
            break;
        case RECMAP_PARTITION_UNIFORM: end += (int64_t)cut->partition->length; break;
        }
        ends[i] = base + end;
    }
}

/* How many entries of level `index` belong to the rows before `row`: what the level before it says,
 * whose end is that of the row before, since levels hold nothing of rows that were taken back. */
static int64_t count_before(struct batch_memory *memory, size_t column_index, size_t row,
                            size_t index) {
    int64_t count = (int64_t)row;
    for (size_t i = 0; i < index; i++) count = level(memory, column_index, i)[count];
    return count;
}

/* Cuts what the partition cuts in this row into rows of level `index`. */
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

bool ragged_add_row(struct batch_memory *memory, size_t column_index, size_t row,
                    struct read_fault *fault) {
    const struct column_plan *plan = &memory->parser->columns[column_index];
    const recmap_feature *feature = &plan->feature;
    const int64_t *rows = buffer_int64(&batch_memory_sink(memory, false, plan->values_slot)->rows);
    size_t cut_count = feature->partition_count - ragged_tail_count(feature);
    int64_t count = rows[row + 1] - rows[row], stride = (int64_t)tail_stride(feature);
    if (count % stride) {
        fault_set(fault, RECMAP_FEATURE, SIZE_MAX,
                  "feature '%s': %lld values where uniform rows hold %lld", feature->name,
                  (long long)count, (long long)stride);
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
            c.said = buffer_int64(&said->values) + begin;
            c.said_count = buffer_int64(&said->rows)[row + 1] - begin;
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
