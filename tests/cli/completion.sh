#!/usr/bin/env bash
# Completion in bash offers the commands, options and values of heddle.
set -euo pipefail
source tools/completion.bash
compopt() { :; } # works only while bash completes
failures=0

# completes WORDS... -- EXPECTED...: completes the last of WORDS; every EXPECTED must be among the offers
completes() {
    COMP_WORDS=("$HEDDLE_COMMAND") COMPREPLY=()
    while [[ $1 != -- ]]; do
        COMP_WORDS+=("$1")
        shift
    done
    shift
    COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
    _heddle || true
    local expected
    for expected; do
        if [[ " ${COMPREPLY[*]} " != *" $expected "* ]]; then
            echo "heddle ${COMP_WORDS[*]:1}: '$expected' is not offered, but: ${COMPREPLY[*]}" >&2
            failures=$((failures + 1))
        fi
    done
}

completes '' -- run compare characterize list paper sweep report query cost bench help --version
completes r -- run
completes run b -- bfs bfs_1 blackscholes
completes run bfs --f -- --functional
completes run bfs - -- --size --json --max-instructions -q --help
completes run bfs --size '' -- small medium paper
completes run bfs --color n -- never
completes run bfs --machine gt -- gtx480
completes run bfs -s g -- gto gtrr
completes run bfs --divergence '' -- stack
completes run bfs --set sm.c -- sm.count=
completes compare b -- bfs blackscholes
completes characterize b -- bfs bfs_1 blackscholes
completes characterize --table m -- meng2010 malits2012
completes compare bfs --scheduler two -- two-level two-level-active
completes compare bfs --th -- --threads --threads-per-block
completes characterize --th -- --threads
completes paper --th -- --threads
completes run bfs --th -- --threads --thread-map
completes list '' -- workloads aliases machines options schedulers divergence experiments stats
completes list machines g -- gtx480
completes list machines gtx480 --set l1.s -- l1.size=
completes paper '' -- liu2023-fig1 narasiman2014-fig8.1
completes paper --st -- --store
completes sweep --p -- --plot
completes report --o -- --output
completes query 'SELECT v FROM t' t.csv --code '' -- plain extended
completes query 'SELECT v FROM t' t.csv --i -- --index
completes cost l -- lwm lfws lrr
completes cost lwm -m gt -- gtx480
completes bench '' -- fma gather bfs
completes help '' -- run bench
((failures == 0))
