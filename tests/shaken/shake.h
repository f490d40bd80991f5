/* The shaken build includes this header before the files that several host threads execute. A thread may then lose its
 * processor before and after each atomic operation and each lock, as it may at any time on a busy host. The seed in
 * HEDDLE_SHAKE decides where. Results must stay the same. */
#pragma once

#include <pthread.h>
#include <stdatomic.h>

/* Does nothing in all but one of `rarity` calls. */
void shake(unsigned rarity);

#define SHAKEN(type, operation)                                                                                        \
    __extension__({                                                                                                    \
        shake(SHAKE_RARITY);                                                                                           \
        type shaken_result_ = (operation);                                                                             \
        shake(SHAKE_RARITY);                                                                                           \
        shaken_result_;                                                                                                \
    })
#define SHAKEN_VOID(operation)                                                                                         \
    do {                                                                                                               \
        shake(SHAKE_RARITY);                                                                                           \
        operation;                                                                                                     \
        shake(SHAKE_RARITY);                                                                                           \
    } while (0)

#undef atomic_load
#undef atomic_load_explicit
#undef atomic_store
#undef atomic_store_explicit
#undef atomic_fetch_add
#undef atomic_fetch_sub
#undef atomic_compare_exchange_weak
#undef atomic_compare_exchange_weak_explicit
#define atomic_load_explicit(place, order) SHAKEN(__typeof__(+*(place)), __atomic_load_n(place, order))
#define atomic_load(place) atomic_load_explicit(place, memory_order_seq_cst)
#define atomic_store_explicit(place, value, order) SHAKEN_VOID(__atomic_store_n(place, value, order))
#define atomic_store(place, value) atomic_store_explicit(place, value, memory_order_seq_cst)
#define atomic_fetch_add(place, n) SHAKEN(__typeof__(+*(place)), __atomic_fetch_add(place, n, memory_order_seq_cst))
#define atomic_fetch_sub(place, n) SHAKEN(__typeof__(+*(place)), __atomic_fetch_sub(place, n, memory_order_seq_cst))
#define atomic_compare_exchange_weak_explicit(place, old, value, order, failure)                                       \
    SHAKEN(int, __atomic_compare_exchange_n(place, old, value, 1, order, failure))
#define atomic_compare_exchange_weak(place, old, value)                                                                \
    atomic_compare_exchange_weak_explicit(place, old, value, memory_order_seq_cst, memory_order_seq_cst)

#define pthread_mutex_lock(mutex) SHAKEN(int, pthread_mutex_lock(mutex))
#define pthread_mutex_unlock(mutex) SHAKEN(int, pthread_mutex_unlock(mutex))
#define pthread_cond_wait(condition, mutex) SHAKEN(int, pthread_cond_wait(condition, mutex))
#define pthread_cond_broadcast(condition) SHAKEN(int, pthread_cond_broadcast(condition))
