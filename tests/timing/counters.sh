#!/usr/bin/env bash
# counters.sh HEDDLE: a few small runs, and no statistic that is 0 in all of them. What nothing counts is found here.
set -euo pipefail
heddle=$1
run() { "$heddle" run --json - "$@" 2>/dev/null; }
{
    run divergent -m meng2010 -d dws:wst=2
    run bfs -d dws:merge=dwf
    run ray -m meng2010
    run matmul -m narasiman2011
    run matmul -m h200
    run blackscholes -m h200
    run gemm -m h200 -- --code groups
    run mum -m malits2012-memory
    run mergesort -d odgs:latency=20
    run index -m narasiman2014-db -- --code both
    run bfs -m meng2010 --set l2.size=32K
    run histogram --set crossbar.credits=2
    run aggregate
    run lib
    run mum -m h200 -d subwarp
    run blackjack -d aware:timeout=100
} | awk -F'[":, ]+' '
    NR == FNR { unseen[$1]; next }
    $2 in unseen && $3 + 0 > 0 { delete unseen[$2] }
    END { for (name in unseen) { print name " is 0 in every run"; bad = 1 } exit bad }' <("$heddle" list stats --names) -
