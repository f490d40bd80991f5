#!/usr/bin/env bash
# microbenchmarks.sh HEDDLE HARDWARE: the microbenchmarks find the latencies that the machine file states.
set -euo pipefail
heddle=$1 hardware=$2

# value CSV NAME PARAMETER: a result, rounded down
value() { awk -F, -v name="$2" -v parameter="$3" '$1 == name && $2 == parameter { print int($3) }' <<<"$1"; }

expect() {
    [[ $2 -eq $3 ]] || { echo "$1 is $2, expected $3"; exit 1; }
}

results=$("$heddle" run "$hardware" -m gtx480 --set sm.fp32_cycles=21 --set shared.latency=30 --quiet -- --quick --only op_ffma)
expect "latency of fma" "$(value "$results" op_ffma latency)" 21
results=$("$heddle" run "$hardware" -m gtx480 --set shared.latency=30 --quiet -- --quick --only shared_load_latency)
expect "latency of shared memory" "$(value "$results" shared_load_latency 1)" 30
expect "latency of shared memory with 32 conflicts" "$(value "$results" shared_load_latency 32)" 61
results=$("$heddle" run "$hardware" -m gtx480 --quiet -- --quick --only constant)
[[ $(value "$results" constant_latency 512) -gt 0 ]] || { echo "no latency of constants"; exit 1; }

# What the machine file of the H200 states, and what happens without it.
h200() { "$heddle" run "$hardware" -m h200 --set sm.count=2 --quiet "${@:2}" -- --quick --only "$1"; }
results=$(h200 constant_l)
expect "latency of constants in their cache" "$(value "$results" constant_latency 2048)" 28
expect "latency of constants outside it" "$(value "$results" constant_latency 4096)" 98
expect "cycles of 8 addresses of constants" "$(value "$results" constant_lanes_32_warps 8)" 16
results=$(h200 constant_l --set constant_cache.size=4K --set constant_cache.busy_cycles=1)
expect "latency of constants in a larger cache" "$(value "$results" constant_latency 4096)" 28
expect "cycles of 8 addresses of constants in half the time" "$(value "$results" constant_lanes_32_warps 8)" 8
results=$(h200 constant_f)
expect "latency of constants that the SM has not read" "$(value "$results" constant_first_8192_bytes 512)" 319
expect "constants at a fixed place beside the load/store unit" "$(value "$results" constant_fixed 32)" 0
results=$(h200 constant_first --set constant_cache.far_cycles=0)
expect "the same without a second cache" "$(value "$results" constant_first_8192_bytes 512)" 117
expect "square roots, of zero in one lane" "$(value "$(h200 op_sqrt_f32)" op_sqrt_f32 latency)" 165
expect "square roots of a warp" "$(value "$(h200 op_sqrt_f32)" op_sqrt_f32 one_warp)" 67
expect "divisions, of zero in one lane" "$(value "$(h200 op_div_f32)" op_div_f32 latency)" 271
expect "special registers" "$(value "$(h200 op_guarded_smid)" op_guarded_smid latency)" 38
expect "fence" "$(value "$(h200 fence_device)" fence_device 1)" 267
expect "fence that waits for nothing" "$(value "$(h200 fence_device --set lowering.fence_cycles=0)" fence_device 1)" 5
results=$(h200 l1_beside_shared_164_1)
few=$(value "$results" l1_beside_shared_164_1_warps 57344) # 56 KB in 60, of which 8 hold no lines; the card has 61
[[ $few -gt 50 && $few -lt 75 ]] || { echo "the L1 beside shared memory has no part without lines: $few cycles"; exit 1; }
over=$(value "$results" l1_beside_shared_164_1_warps 92160) # lines are replaced at random: some stay; the card has 212
[[ $over -gt 170 && $over -lt 250 ]] || { echo "the L1 beside shared memory has another size: $over cycles"; exit 1; }
results=$(h200 shifted_rows_l1)
expect "cycles of 32 lines in four banks of tags" "$(value "$results" shifted_rows_l1_32_warps 32)" 9
results=$(h200 uneven_loop) without=$(h200 uneven_loop --set lowering.diverge_cycles=0)
expect "loop that one of two lanes leaves" "$(value "$results" uneven_loop 2)" "$(($(value "$without" uneven_loop 2) + 15))"
results=$(h200 two_sides) without=$(h200 two_sides --set lowering.diverge_cycles=0)
expect "branch with two sides" "$(value "$results" two_sides 16)" "$(($(value "$without" two_sides 16) + 30))"
expect "branch that all take" "$(value "$results" two_sides 32)" "$(value "$without" two_sides 32)"
results=$(h200 new_jumps)
more=$(($(value "$results" new_jumps_1_warps 64) - $(value "$results" new_jumps_again_1_warps 64)))
[[ $more -ge 650 && $more -le 780 ]] || { echo "8 jumps to new code take $more cycles more, on the card 664 and 776"; exit 1; }
more=$(($(value "$results" new_jumps_after_loop_1_warps 16) - $(value "$results" new_jumps_after_loop_again_1_warps 16)))
[[ $more -le 210 ]] || { echo "8 jumps to code that was fetched ahead take $more cycles more, on the card 21 and 210"; exit 1; }
results=$(h200 join_steady_8) without=$(h200 join_steady_8 --set crossbar.store_lines=0)
[[ $(value "$results" join_steady_8_of_16_1_warps 6) -lt $(($(value "$without" join_steady_8_of_16_1_warps 6) * 2 / 3)) ]] ||
    { echo "stores that follow 24 lines later do not join"; exit 1; }
[[ $(value "$results" join_steady_8_of_16_1_warps 8) -gt $(($(value "$without" join_steady_8_of_16_1_warps 8) * 9 / 10)) ]] ||
    { echo "stores that follow 32 lines later join"; exit 1; }
results=$(h200 shared_atomic_f32)
expect "floating-point atomics in shared memory, two rounds" "$(value "$results" shared_atomic_f32_1_warps 2)" 194
results=$(h200 retries_f32_beside)
expect "32 lanes that retry a word, one warp (the card: 3045)" "$(value "$results" retries_f32_beside_1_warps 1)" 3043
expect "two lanes on each word (the card: 195)" "$(value "$results" retries_f32_beside_1_warps 16)" 193
expect "32 warps that retry the same words (the card: 44)" "$(value "$results" retries_f32_beside_32_warps 32)" 44
results=$(h200 sums_red_f32_beside)
expect "32 lanes that add to a number (the card: 113)" "$(value "$results" sums_red_f32_beside_one_warp 1)" 112
expect "32 lanes that add to 32 numbers (the card: 9)" "$(value "$results" sums_red_f32_beside_one_warp 32)" 9
expect "end of a block to the next" "$(value "$(h200 block_end)" block_end 32)" \
    "$(($(value "$(h200 block_end --set launch.turn_cycles=0)" block_end 32) + 330))"
