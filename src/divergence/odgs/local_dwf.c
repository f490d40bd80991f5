/* odgs with local=dwf: the parts of a diverged warp first join incomplete warps of their SM at the same pc, as in
 * dynamic warp formation. Only threads that do not fill a warp leave for the pool. Ours: Malits 2012, section 3.8, only
 * names the variant. */
#include "divergence/odgs/internal.h"

static bool is_here(const struct divergence_odgs_sm *model, const struct divergence_odgs_warp *warp) {
    return warp->is_used && warp->on == model && warp->group.slot != DIVERGENCE_NO_SLOT;
}

/* Forgets those that have left. */
void divergence_odgs_note_here(struct divergence_odgs_sm *model, struct divergence_odgs_warp *warp) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < model->n_here; i++)
        if (is_here(model, model->here[i]))
            model->here[n++] = model->here[i];
    model->here[n++] = warp;
    model->n_here = n;
}

/* These threads of the warp, at pc, join a warp of this SM that waits for its turn there and has empty lanes. */
static void join_at(struct divergence_odgs_sm *model, struct divergence_odgs_warp *from, uint32_t lanes, uint32_t pc,
                    uint64_t cycle) {
    uint32_t all_lanes = divergence_odgs_all_lanes(model->chip);
    const struct divergence_setup *setup = &model->setup;
    for (uint32_t i = 0; i < model->n_here && lanes; i++) {
        struct divergence_odgs_warp *to = model->here[i];
        bool is_open = to->group.pc == pc && to->lanes != all_lanes && to->group.status == DIVERGENCE_RUNS &&
                       to != from && is_here(model, to) && to->stack.depth == 1;
        if (!is_open || setup->host->is_in_flight(setup->sm, &to->group, cycle))
            continue;
        uint32_t room = all_lanes & ~to->lanes;
        uint32_t came = divergence_odgs_take_threads(model->chip, to, room, from, lanes, pc);
        lanes &= ~came;
        from->lanes &= ~came;
        for (; came; came &= came - 1, room &= room - 1)
            to->lanes |= room & -room;
        setup->counters->merges++;
        to->group.row = NULL;
        divergence_stack_top(&to->stack)->pc = pc; /* the SM has moved the group on, not the stack */
        divergence_stack_top(&to->stack)->mask[0] = to->lanes;
        divergence_odgs_show_top(to);
        setup->host->wake(setup->sm, &to->group, cycle);
    }
}

void divergence_odgs_join_here(struct divergence_odgs_sm *model, struct divergence_odgs_warp *warp, uint64_t cycle) {
    for (uint32_t left = warp->lanes, there; left; left &= ~there) {
        uint32_t pc = warp->next_pc[__builtin_ctz(left)];
        there = divergence_odgs_lanes_at(warp, left, pc);
        join_at(model, warp, there, pc, cycle);
    }
}
