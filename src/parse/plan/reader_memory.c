#include "parse/plan/reader_memory.h"

#include <assert.h>
#include <stdint.h>
#include <stdlib.h>

enum { BLOCK_SIZE = 64 << 10 };

struct text_block {
    struct text_block *next;
    size_t used, capacity;
    char data[];
};

static struct text_block *add_block(struct reader_memory *memory, size_t size) {
    size_t capacity = size < BLOCK_SIZE ? BLOCK_SIZE : size;
    if (capacity > SIZE_MAX - sizeof(struct text_block)) return NULL;
    struct text_block *block = malloc(sizeof *block + capacity);
    if (!block) return NULL;
    block->next = memory->blocks;
    block->used = 0;
    block->capacity = capacity;
    return memory->blocks = block;
}

char *reader_memory_take(struct reader_memory *memory, size_t size) {
    struct text_block *block = memory->blocks;
    if (!block || size > block->capacity - block->used) block = add_block(memory, size);
    if (!block) return NULL;
    char *text = block->data + block->used;
    block->used += size;
    return text;
}

void reader_memory_return(struct reader_memory *memory, size_t size) {
    assert(memory->blocks && memory->blocks->used >= size);
    memory->blocks->used -= size;
}

void *reader_memory_scratch(struct reader_memory *memory, size_t size) {
    if (size <= memory->scratch_size) return memory->scratch;
    void *scratch = realloc(memory->scratch, size);
    if (!scratch) return NULL;
    memory->scratch_size = size;
    return memory->scratch = scratch;
}

void reader_memory_join(struct reader_memory *memory, struct reader_memory *other) {
    struct text_block **last = &other->blocks;
    while (*last) last = &(*last)->next;
    *last = memory->blocks;
    memory->blocks = other->blocks;
    other->blocks = NULL;
}

static void free_blocks(struct text_block *block) {
    while (block) {
        struct text_block *next = block->next;
        free(block);
        block = next;
    }
}

void reader_memory_clear(struct reader_memory *memory) {
    struct text_block *block = memory->blocks;
    if (!block) return;
    free_blocks(block->next);
    block->next = NULL;
    block->used = 0;
    if (block->capacity == BLOCK_SIZE) return;
    free(block);
    memory->blocks = NULL;
}

void reader_memory_deinit(struct reader_memory *memory) {
    free_blocks(memory->blocks);
    free(memory->scratch);
    *memory = (struct reader_memory){0};
}
