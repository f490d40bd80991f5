/* Replaces atomic and thread operations by steps of the explorer. Include it before the file under test. Each is one
 * step: the other threads run before it, never in its middle. */
#pragma once

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "explore.h"

#undef atomic_load
#undef atomic_store
#undef atomic_fetch_add
#undef atomic_fetch_sub
#undef atomic_compare_exchange_weak
#undef atomic_load_explicit
#undef atomic_store_explicit
#undef atomic_compare_exchange_weak_explicit

/* Structs, so that an access without an operation does not compile. */
struct explore_uint {
    unsigned value;
};
struct explore_ullong {
    unsigned long long value;
};
struct explore_bool {
    bool value;
};
#define atomic_uint struct explore_uint
#define atomic_ullong struct explore_ullong
#define atomic_bool struct explore_bool

#define atomic_load(place) (explore_point("load " #place, __LINE__), (place)->value)
#define atomic_store(place, new_value) (explore_point("store " #place, __LINE__), (void)((place)->value = (new_value)))
#define atomic_fetch_add(place, n) (explore_point("add to " #place, __LINE__), ((place)->value += (n)) - (n))
#define atomic_fetch_sub(place, n) (explore_point("subtract from " #place, __LINE__), ((place)->value -= (n)) + (n))
#define atomic_load_explicit(place, order) atomic_load(place)
#define atomic_store_explicit(place, value, order) atomic_store(place, value)

#define EXPLORE_EXCHANGE(place, old, new_value)                                                                        \
    ((place)->value == *(old) ? ((place)->value = (new_value), true) : (*(old) = (place)->value, false))
#ifdef SPLIT_EXCHANGE /* a defect that the explorer must notice: it compares, lets others run, and writes all the same \
                       */
#define atomic_compare_exchange_weak(place, old, new_value)                                                            \
    (explore_point("compare " #place, __LINE__),                                                                       \
     (place)->value == *(old) ? (explore_point("exchange " #place, __LINE__), (place)->value = (new_value), true)      \
                              : (*(old) = (place)->value, false))
#else /* a weak one may also fail for no reason */
#define atomic_compare_exchange_weak(place, old, new_value)                                                            \
    (explore_choose(2, "exchange " #place, __LINE__) == 0 ? EXPLORE_EXCHANGE(place, old, new_value)                    \
                                                          : (*(old) = (place)->value, false))
#endif
#define atomic_compare_exchange_weak_explicit(place, old, value, order, failure)                                       \
    atomic_compare_exchange_weak(place, old, value)

/* A mutex is held while its first word is not 0. */
#define pthread_mutex_init(mutex, attributes) ((void)(mutex))
#define pthread_mutex_destroy(mutex) ((void)(mutex))
#define pthread_mutex_lock(mutex) explore_lock((int *)(void *)(mutex), __LINE__)
#define pthread_mutex_unlock(mutex) explore_unlock((int *)(void *)(mutex))
#define pthread_cond_init(condition, attributes) ((void)(condition))
#define pthread_cond_destroy(condition) ((void)(condition))
#define pthread_cond_wait(condition, mutex) explore_wait(condition, (int *)(void *)(mutex), __LINE__)
#ifdef NO_WAKING /* to see that the explorer notices */
#define pthread_cond_broadcast(condition) ((void)(condition))
#else
#define pthread_cond_broadcast(condition) explore_wake(condition, __LINE__)
#endif
#define pthread_create(thread, attributes, body, user) explore_start(thread, body, user, __LINE__)
#define pthread_join(thread, result) explore_join(thread, __LINE__)
#define sched_yield() ((void)0)

#define calloc(count, bytes) explore_allocate((count) * (bytes))
#define aligned_alloc(alignment, bytes) explore_allocate(bytes)
#define free(memory) ((void)(memory))
