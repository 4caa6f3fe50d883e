/* <stdatomic.h> for the simulation: another thread may run before each atomic operation. It takes
 * the place of the compiler's header, so that no source of the library names the simulator. */
#ifndef RECMAP_TESTS_SIMULATION_SEAM_STDATOMIC_H
#define RECMAP_TESTS_SIMULATION_SEAM_STDATOMIC_H

#include_next <stdatomic.h>

void world_point(void);

#undef atomic_load_explicit
#define atomic_load_explicit(object, order)                                                        \
    __extension__({                                                                                \
        __auto_type world_object = (object);                                                       \
        __typeof__((void)0, *world_object) world_value;                                            \
        world_point();                                                                             \
        __atomic_load(world_object, &world_value, (order));                                        \
        world_value;                                                                               \
    })

#undef atomic_store_explicit
#define atomic_store_explicit(object, value, order)                                                \
    __extension__({                                                                                \
        __auto_type world_object = (object);                                                       \
        __typeof__((void)0, *world_object) world_value = (value);                                  \
        world_point();                                                                             \
        __atomic_store(world_object, &world_value, (order));                                       \
    })

#undef atomic_exchange_explicit
#define atomic_exchange_explicit(object, value, order)                                             \
    __extension__({                                                                                \
        __auto_type world_object = (object);                                                       \
        __typeof__((void)0, *world_object) world_value = (value), world_former;                    \
        world_point();                                                                             \
        __atomic_exchange(world_object, &world_value, &world_former, (order));                     \
        world_former;                                                                              \
    })

#undef atomic_compare_exchange_strong_explicit
#define atomic_compare_exchange_strong_explicit(object, expected, value, success, failure)         \
    __extension__({                                                                                \
        __auto_type world_object = (object);                                                       \
        __typeof__((void)0, *world_object) world_value = (value);                                  \
        world_point();                                                                             \
        __atomic_compare_exchange(world_object, (expected), &world_value, 0, (success),            \
                                  (failure));                                                      \
    })

#undef atomic_compare_exchange_weak_explicit
#define atomic_compare_exchange_weak_explicit(object, expected, value, success, failure)           \
    atomic_compare_exchange_strong_explicit(object, expected, value, success, failure)

#undef atomic_fetch_add_explicit
#define atomic_fetch_add_explicit(object, value, order)                                            \
    (world_point(), __atomic_fetch_add((object), (value), (order)))
#undef atomic_fetch_add
#define atomic_fetch_add(object, value) atomic_fetch_add_explicit(object, value, __ATOMIC_SEQ_CST)

#undef atomic_fetch_sub_explicit
#define atomic_fetch_sub_explicit(object, value, order)                                            \
    (world_point(), __atomic_fetch_sub((object), (value), (order)))
#undef atomic_fetch_sub
#define atomic_fetch_sub(object, value) atomic_fetch_sub_explicit(object, value, __ATOMIC_SEQ_CST)

#undef atomic_fetch_or_explicit
#define atomic_fetch_or_explicit(object, value, order)                                             \
    (world_point(), __atomic_fetch_or((object), (value), (order)))
#undef atomic_fetch_or
#define atomic_fetch_or(object, value) atomic_fetch_or_explicit(object, value, __ATOMIC_SEQ_CST)

#undef atomic_fetch_and_explicit
#define atomic_fetch_and_explicit(object, value, order)                                            \
    (world_point(), __atomic_fetch_and((object), (value), (order)))
#undef atomic_fetch_and
#define atomic_fetch_and(object, value) atomic_fetch_and_explicit(object, value, __ATOMIC_SEQ_CST)

#endif
