/* Random traffic on small, overloaded machines. Every accepted miss is answered once, no resource leaks, the counters
 * add up, and the same run produces the same log. With coherence, version numbers stand for the contents of lines and
 * are followed through caches, packets and memory: every load sees the latest store. */
#include "mem/fixture.h"

enum { N_LINES = 48, MAX_SMS = 8, CODE_LINE = 4096 };

struct versions {
    uint32_t latest[N_LINES], memory[N_LINES], l2[N_LINES];
    uint32_t l1[MAX_SMS][N_LINES], to_sm[MAX_SMS][N_LINES], to_l2[MAX_SMS][N_LINES];
    uint64_t n_reads, n_writes;
};

static void follow(void *user, enum mem_probe_kind kind, uint32_t sm, uint64_t line) {
    struct versions *v = user;
    if (line >= CODE_LINE)
        return;
    assert_true(line < N_LINES && sm < MAX_SMS);
    switch (kind) {
    case MEM_PROBE_L1_READ:
        assert_int_equal(v->l1[sm][line], v->latest[line]);
        v->n_reads++;
        break;
    case MEM_PROBE_L1_WRITE:
        assert_int_equal(v->l1[sm][line], v->latest[line]);
        v->l1[sm][line] = ++v->latest[line];
        v->n_writes++;
        break;
    case MEM_PROBE_L1_FILL:
        v->l1[sm][line] = v->to_sm[sm][line];
        break;
    case MEM_PROBE_L1_SEND:
        v->to_l2[sm][line] = v->l1[sm][line];
        break;
    case MEM_PROBE_L2_RECEIVE:
        v->l2[line] = v->to_l2[sm][line];
        break;
    case MEM_PROBE_L2_SEND:
        v->to_sm[sm][line] = v->l2[line];
        break;
    case MEM_PROBE_L2_ATOMIC:
        assert_int_equal(v->l2[line], v->latest[line]);
        v->l2[line] = ++v->latest[line];
        break;
    case MEM_PROBE_L2_FILL:
        v->l2[line] = v->memory[line];
        break;
    case MEM_PROBE_L2_WRITE:
        v->memory[line] = v->l2[line];
        break;
    }
}

struct traffic {
    uint64_t seed, cycles;
    bool is_descending; /* the SMs call in descending order */
    uint32_t n_lines;
    uint32_t chance_in_8; /* of an access, per SM and cycle */
    struct versions *versions;
};

static uint32_t random_next(uint64_t *state) {
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(*state >> 33);
}

struct tally {
    uint64_t reads, writes, atomics, fetches, hits, misses, refusals;
};

static void step(struct fixture *f, const struct traffic *traffic, uint32_t sm, uint64_t cycle, uint64_t *state,
                 struct tally *tally) {
    static const enum mem_kind kinds[] = {MEM_READ, MEM_READ, MEM_READ, MEM_WRITE, MEM_WRITE, MEM_WRITE, MEM_FETCH};
    uint32_t chance = random_next(state) % 8, kind_of = random_next(state) % 35;
    uint32_t line = random_next(state) % traffic->n_lines;
    uint32_t bytes = random_next(state) % 4 == 0 ? LINE : 4;
    if (chance >= traffic->chance_in_8)
        return;
    enum mem_kind kind = kind_of == 0 ? MEM_ATOMIC : kinds[kind_of % 7];
    uint64_t ready, address = (line + (kind == MEM_FETCH ? CODE_LINE : 0)) * (uint64_t)LINE;
    enum mem_answer answer = mem_access(f->mem, sm, cycle, kind, address, bytes, (uint32_t)tally->misses, &ready);
    if (answer == MEM_REFUSED) {
        assert_true(ready > cycle);
        tally->refusals++;
        return;
    }
    tally->hits += answer == MEM_HIT;
    tally->misses += answer == MEM_MISS;
    tally->reads += kind == MEM_READ;
    tally->writes += kind == MEM_WRITE;
    tally->atomics += kind == MEM_ATOMIC;
    tally->fetches += kind == MEM_FETCH;
}

static void check_answers(const struct fixture *f, const struct tally *tally) {
    assert_int_equal(f->n_log, tally->misses);
    uint8_t *is_answered = calloc(tally->misses + 1, 1);
    for (uint32_t i = 0; i < f->n_log; i++) {
        assert_true(f->log[i].token < tally->misses);
        assert_false(is_answered[f->log[i].token]);
        is_answered[f->log[i].token] = true;
        assert_true(i == 0 || f->log[i].cycle >= f->log[i - 1].cycle);
    }
    free(is_answered);
}

static void check_counters(const struct fixture *f, const struct tally *tally) {
    const struct stats_mem *c = mem_counters(f->mem);
    bool has_l1 = f->machine.l1.cache.is_present, has_icache = f->machine.icache.is_present;
    assert_int_equal(c->port_conflicts + c->mshr_full + c->crossbar_full, tally->refusals);
    assert_int_equal(c->l1_accesses, has_l1 ? tally->reads + tally->writes : 0);
    assert_int_equal(c->l1_writes, has_l1 ? tally->writes : 0);
    assert_int_equal(c->icache_accesses, has_icache ? tally->fetches : 0);
    assert_int_equal(c->atomics, tally->atomics);
    assert_int_equal(c->uncached_reads, (has_l1 ? 0 : tally->reads) + (has_icache ? 0 : tally->fetches));
    assert_true(c->l1_merges <= c->l1_misses && c->l1_misses <= c->l1_accesses && c->l2_misses <= c->l2_accesses);
    assert_int_equal(c->row_hits + c->row_conflicts, c->dram_reads + c->dram_writes);
    if (f->machine.memory.coherence == CONFIG_COHERENCE_MESI) {
        /* Every miss that does not merge with another asks the L2, a store after a load twice. */
        assert_true(c->l2_accesses >= c->l1_misses - c->l1_merges);
        assert_int_equal(c->l2_writebacks, c->dram_writes);
    }
    if (!f->machine.l2.cache.is_present)
        assert_int_equal(c->l2_accesses, 0);
}

static struct tally drive(struct fixture *f, struct config_machine machine, const struct traffic *traffic) {
    uint64_t state[MAX_SMS];
    struct tally tally = {0};
    fixture_start(f, machine);
    if (traffic->versions != NULL) {
        f->mem->probe = follow;
        f->mem->probe_user = traffic->versions;
    }
    for (uint32_t sm = 0; sm < machine.sm.count; sm++)
        state[sm] = traffic->seed + sm;
    for (uint64_t cycle = 1; cycle <= traffic->cycles; cycle++) {
        mem_advance(f->mem, cycle);
        for (uint32_t i = 0; i < machine.sm.count; i++) {
            uint32_t sm = traffic->is_descending ? machine.sm.count - 1 - i : i;
            step(f, traffic, sm, cycle, &state[sm], &tally);
        }
        if (cycle % 16 == 0)
            fixture_check(f);
    }
    mem_advance(f->mem, MEM_NEVER);
    fixture_check(f);
    check_answers(f, &tally);
    check_counters(f, &tally);
    assert_true(tally.misses > 10);
    return tally;
}

static void press(struct config_machine machine, struct versions *versions) {
    struct fixture f;
    for (uint32_t i = 0; i < 8; i++) {
        struct traffic traffic = {.seed = i,
                                  .cycles = 4000,
                                  .n_lines = i % 2 == 0 ? 6 : N_LINES,
                                  .chance_in_8 = UINT32_C(1) << i / 2,
                                  .versions = versions};
        if (versions != NULL)
            memset(versions, 0, sizeof *versions);
        drive(&f, machine, &traffic);
        fixture_end(&f);
    }
}

static void the_fixture_answers_everything(void **state) {
    (void)state;
    press(fixture_machine(), NULL);
}

static void perfect_caches_answer_everything(void **state) {
    (void)state;
    struct config_machine machine = fixture_machine();
    machine.l2.cache.is_perfect = true;
    press(machine, NULL);
    machine.icache.is_perfect = true;
    press(machine, NULL);
}

static void machines_without_l1_or_l2_answer_everything(void **state) {
    (void)state;
    struct config_machine machine = fixture_machine();
    machine.l1.cache.is_present = false;
    press(machine, NULL);
    machine.icache.is_present = false;
    machine.l2.cache.is_present = false;
    machine.dram.channels = 3;
    press(machine, NULL);
}

static void a_single_write_back_cache_answers_everything(void **state) {
    (void)state;
    struct config_machine machine = fixture_narasiman();
    machine.l1.cache.size_bytes = 1024;
    press(machine, NULL);
    machine.l2 = fixture_machine().l2; /* as narasiman2014-db */
    machine.l2.cache.size_bytes = 2048;
    press(machine, NULL);
    machine.l2.writes.allocates = false;
    press(machine, NULL);
}

static void one_of_everything_is_enough(void **state) {
    (void)state;
    struct config_machine machine = fixture_machine();
    machine.l1.cache.mshrs = machine.l1.cache.mshr_merges = 1;
    machine.icache.mshrs = machine.icache.mshr_merges = 1;
    machine.l2.cache.mshrs = machine.l2.cache.mshr_merges = 1;
    machine.l2.cache.ways = 1;
    machine.l2.cache.size_bytes = 256;
    machine.l1.cache.ways = 1;
    machine.l1.cache.size_bytes = 128;
    machine.dram.queue_entries = 1;
    machine.dram.banks = 1;
    press(machine, NULL);
}

static void odd_numbers_of_everything_work(void **state) {
    (void)state;
    struct config_machine machine = fixture_machine();
    machine.sm.count = 7;
    machine.l1.cache.banks = 3;
    machine.l1.cache.size_bytes = 3 * 4 * LINE;
    machine.l2.cache.banks = 3;
    machine.l2.cache.size_bytes = 3 * 5 * 4 * LINE;
    machine.dram.channels = 5;
    machine.crossbar.bytes_per_cycle = 3.7;
    machine.dram.bytes_per_cycle = 0.9; /* backlogs beyond the event wheel */
    press(machine, NULL);
}

static void coherent_loads_see_the_latest_store(void **state) {
    (void)state;
    struct versions versions;
    struct config_machine machine = fixture_mesi();
    press(machine, &versions);
    machine.sm.count = MAX_SMS;
    press(machine, &versions);
    assert_true(versions.n_reads > 1000 && versions.n_writes > 500);
}

/* Few ways everywhere: lines leave L1s and the L2 all the time, with requests, answers and upgrades in flight. */
static void coherence_survives_evictions_at_any_moment(void **state) {
    (void)state;
    struct versions versions;
    struct config_machine machine = fixture_mesi();
    machine.sm.count = 4;
    machine.l1.cache.size_bytes = 2 * 2 * LINE;
    machine.l1.cache.ways = 2;
    machine.l1.cache.banks = 4;
    machine.l2.cache.size_bytes = 2 * 4 * 2 * LINE;
    machine.l2.cache.ways = 2;
    press(machine, &versions);
    machine.l2.cache.mshrs = machine.l2.cache.mshr_merges = 1;
    press(machine, &versions);
    machine.l1.cache.ways = 1;
    machine.l1.cache.size_bytes = LINE;
    machine.l2.cache.ways = 1;
    machine.l2.cache.size_bytes = 2 * LINE;
    press(machine, &versions);
    machine.l1.cache.mshrs = machine.l1.cache.mshr_merges = 1;
    press(machine, &versions);
}

static void coherence_survives_any_timing(void **state) {
    (void)state;
    struct versions versions;
    for (uint32_t i = 0; i < 12; i++) {
        struct config_machine machine = fixture_mesi();
        machine.sm.count = 3;
        machine.l1.cache.size_bytes = 2 * 4 * LINE;
        machine.l2.cache.size_bytes = 2 * 2 * 4 * LINE;
        machine.l1.cache.latency_cycles = 1 + i % 3 * 7;
        machine.l2.cache.latency_cycles = i % 4 * 13;
        machine.crossbar.latency_cycles = i % 5 * 3;
        machine.crossbar.bytes_per_cycle = i % 3 == 0 ? 0 : i % 3 * 5;
        machine.dram.row_hit_cycles = machine.dram.row_conflict_cycles = 1 + i * 10;
        machine.dram.bytes_per_cycle = i % 2 * 64;
        press(machine, &versions);
    }
}

static void compare_logs(struct config_machine machine) {
    struct fixture a, b;
    struct traffic traffic = {.seed = 5, .cycles = 8000, .n_lines = N_LINES, .chance_in_8 = 3};
    drive(&a, machine, &traffic);
    drive(&b, machine, &traffic);
    assert_int_equal(a.n_log, b.n_log);
    assert_memory_equal(a.log, b.log, a.n_log * sizeof a.log[0]);
    assert_memory_equal(mem_counters(a.mem), mem_counters(b.mem), sizeof(struct stats_mem));
    fixture_end(&b);
    /* Tokens are numbered in the order of the calls, so only cycles and SMs can be compared here. */
    traffic.is_descending = true;
    drive(&b, machine, &traffic);
    assert_int_equal(a.n_log, b.n_log);
    for (uint32_t i = 0; i < a.n_log; i++) {
        assert_int_equal(a.log[i].cycle, b.log[i].cycle);
        assert_int_equal(a.log[i].sm, b.log[i].sm);
    }
    assert_memory_equal(mem_counters(a.mem), mem_counters(b.mem), sizeof(struct stats_mem));
    fixture_end(&a);
    fixture_end(&b);
}

static void the_same_traffic_produces_the_same_log_in_any_order_of_sms(void **state) {
    (void)state;
    struct config_machine machine = fixture_machine();
    machine.sm.count = MAX_SMS;
    compare_logs(machine);
    machine = fixture_mesi();
    machine.sm.count = MAX_SMS;
    compare_logs(machine);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_fixture_answers_everything),
        cmocka_unit_test(perfect_caches_answer_everything),
        cmocka_unit_test(machines_without_l1_or_l2_answer_everything),
        cmocka_unit_test(a_single_write_back_cache_answers_everything),
        cmocka_unit_test(one_of_everything_is_enough),
        cmocka_unit_test(odd_numbers_of_everything_work),
        cmocka_unit_test(coherent_loads_see_the_latest_store),
        cmocka_unit_test(coherence_survives_evictions_at_any_moment),
        cmocka_unit_test(coherence_survives_any_timing),
        cmocka_unit_test(the_same_traffic_produces_the_same_log_in_any_order_of_sms),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
