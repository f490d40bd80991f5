#!/usr/bin/env bash
# import.sh: configurations of GPGPU-Sim become machines that run; no option is lost; what is no configuration is told.
set -euo pipefail
heddle=$HEDDLE_COMMAND
configs=$PWD/tests/cli/import
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() {
    echo "import.sh: $*" >&2
    exit 1
}

# expect NAME TEXT...: the machine of this name has these lines, however they are indented and commented
expect() {
    local lines line
    lines=$(sed 's/ *#.*//; s/^ *//' "$work/$1.yaml")
    for line in "${@:2}"; do
        [[ $'\n'$lines$'\n' == *$'\n'"$line"$'\n'* ]] || fail "$1: no line '$line': $lines"
    done
}

for config in "$configs"/*.config; do
    name=$(basename "$config" .config)
    "$heddle" import "$config" -o "$work/$name.yaml" 2>"$work/said"
    [[ $(<"$work/said") =~ ^([0-9]+)\ options:\ ([0-9]+)\ became\ ([0-9]+)\ keys\ of\ the\ machine,\ ([0-9]+)\ have\ no\ place ]] ||
        fail "$name: $(<"$work/said")"
    # The numbers add up, and are those of the files.
    options=$(grep -cE '^ *-[a-zA-Z]' "$config")
    keys=$(sed -n '/^# Without/q; s/^ *[a-z0-9_]*: [^ ].*# .*/key/p' "$work/$name.yaml" | grep -c key)
    left=$(sed '1,/^# Without/d' "$work/$name.yaml" | grep -c '^# -')
    ((BASH_REMATCH[1] == options)) || fail "$name has $options options: $(<"$work/said")"
    ((BASH_REMATCH[2] + BASH_REMATCH[4] == options)) || fail "$name, $options options: $(<"$work/said")"
    ((BASH_REMATCH[3] == keys)) || fail "$name has $keys keys: $(<"$work/said")"
    ((BASH_REMATCH[4] == left)) || fail "$name leaves $left options: $(<"$work/said")"
    cp "$work/said" "$work/$name.said"
    # Every option is a source of a key or is listed.
    while read -r option; do
        grep -qF -- "${option#-}" "$work/$name.yaml" || fail "$name: $option is lost"
    done < <(sed -n 's/^\(-[^ ]*\).*/\1/p' "$config" | grep -vE 'n_cores_per_cluster|num_(sp|sfu|dp)_units|initiation_(fp|dp|sfu)$|n_mem_per_ctrlr|dram_(buswidth|data_command_freq_ratio|latency)|n_sub_partition')
    "$heddle" run vecadd -m "$work/$name.yaml" --quiet >/dev/null || fail "$name does not run"
done

expect gtx480 'clock: 0.7' 'scheduler: gto' 'divergence: stack' 'count: 15' 'threads: 1536' 'registers: 32768' 'schedulers: 2' \
    'simd_width: 32' 'size: 16384' 'size: 786432' 'banks: 12' 'bytes_per_cycle: 42.24' 'row_hit: 109' 'row_conflict: 127' 'row: 4096' \
    'queue: 64' 'policy: fr-fcfs' 'write: through' 'write: back'
expect titanv 'clock: 1.2' 'scheduler: lrr' 'count: 80' 'threads: 2048' 'schedulers: 4' 'simd_width: 16' 'sfu_width: 16' 'fp64_width: 32' \
    'size: 98304' 'size: 4718592' 'ways: 256' 'channels: 24' 'banks: 48' 'latency: 160' 'row: 2048'
expect rtx2060 'scheduler: two-level-active:active=6' 'count: 30' 'perfect: true' 'banks: 4' 'size: 3145728'
expect a100 'count: 108' 'channels: 40' 'banks: 40' 'latency: 187'
grep -q '^# -specialized_unit_1 .*: not known' "$work/a100.yaml" || fail "an option that is not known is not listed"
grep -q '^# -gpgpu_flush_l1_cache 1: a launch begins' "$work/gtx480.yaml" || fail "an option without a place is not listed"

# An L1 that grows is not as large as it could be.
grep -q '^the L1 has the 32 KB of -gpgpu_cache:dl1 in every launch, although -gpgpu_adaptive_cache_config lets it grow' "$work/a100.said" ||
    fail "nothing is said of the L1: $(<"$work/a100.said")"
grep -q 'although -adaptive_volta_cache_config lets it grow' "$work/titanv.said" || fail "nothing is said of the L1: $(<"$work/titanv.said")"
if grep -q 'the L1 has' "$work/gtx480.said" "$work/rtx2060.said"; then fail "an L1 that does not grow is mentioned"; fi

# What is no configuration, and what no machine can be.
echo 'name: gtx480' >"$work/wrong"
if said=$("$heddle" import "$work/wrong" 2>&1) || [[ $said != *"not a gpgpusim.config"* ]]; then fail "a YAML file: $said"; fi
echo '-gpgpu_shader_core_pipeline 33:32' >"$work/odd"
if said=$("$heddle" import "$work/odd" 2>&1) || [[ $said != *"no machine has these options"* ]]; then fail "33 threads: $said"; fi
if said=$("$heddle" import "$work/missing" 2>&1) || [[ $said != *"No such file"* ]]; then fail "no file: $said"; fi
