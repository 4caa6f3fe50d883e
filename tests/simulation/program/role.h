/* What a simulated process does. The world writes roles, the program plays them. */
#ifndef RECMAP_TESTS_SIMULATION_PROGRAM_ROLE_H
#define RECMAP_TESTS_SIMULATION_PROGRAM_ROLE_H

#include <stdbool.h>
#include <stdint.h>

struct process;

enum { ROLE_SHARDS_MAX = 16, PATH_SPACE = 48, EPOCHS_MAX = 12, EPOCH_PARTS_MAX = 3 };

/* An index that no process changes, for concatenations. */
#define OTHER_INDEX "/data/other.rmx"

enum role_kind {
    ROLE_BUILD,    /* indexes shards */
    ROLE_MERGE,    /* indexes them in two parts, and merges these */
    ROLE_APPEND,   /* adds shards to the index, one by one */
    ROLE_ANNOTATE, /* adds columns to the index, one by one */
    ROLE_WRITE,    /* writes a shard and its index */
    ROLE_READ,     /* opens the index and reads records, also with threads of its own */
    ROLE_CHECK,    /* reads everything once */
    ROLE_SEQUENCE, /* asks the order for the numbers of all epochs */
    ROLE_ORDERS,   /* reads orders with several threads */
    ROLE_LOAD,     /* reads epochs as a rank, from the last checkpoint on */
};

enum order_kind { ORDER_SHUFFLED, ORDER_WINDOWED, ORDER_REPLACED, ORDER_MIXED, ORDER_KINDS };

/* A run of loaders; the same for all ranks. */
struct epochs {
    enum order_kind order;
    uint64_t order_seed;
    uint64_t epoch_count;
    uint32_t batch_size;
    uint32_t world_size;
    uint32_t last; /* recmap_last */
    /* A concatenation, whose order is a mixture of its parts; 0 parts: the index of the role. */
    unsigned part_count;
    uint8_t parts[EPOCH_PARTS_MAX]; /* 0: the index of the role; 1: the other one */
    uint8_t weights[EPOCH_PARTS_MAX];
    bool stops_last; /* an epoch ends when all parts are complete, else before any would repeat */
};

struct role {
    enum role_kind kind;
    struct process *process; /* that plays it */
    uint64_t seed;
    char index[PATH_SPACE];
    uint8_t shards[ROLE_SHARDS_MAX];
    unsigned shard_count;
    unsigned first_column, column_count;
    unsigned rounds;
    unsigned thread_count;
    uint32_t access; /* recmap_access */
    uint32_t check;  /* recmap_check */
    uint64_t span_keep_size;
    uint64_t segment_size; /* that a scan cuts shards into; 0: the library's choice */
    int64_t question_work; /* bytes between two questions whether to stop */
    bool reads_shards;
    bool may_cancel;  /* the progress function ends some calls */
    unsigned readers; /* threads of the program that read together */
    bool selects;     /* a reader saves a selection as well */
    bool warms;       /* a rank warms what it is about to read */
    uint32_t rank;
    struct epochs epochs;
    uint32_t batches_ahead;
    uint32_t readahead; /* recmap_readahead */
    bool uses_store;    /* shards are objects of a store, kept in a cache on the disk */
    bool uses_cache;    /* compressed local shards are kept in it as well */
};

#endif
