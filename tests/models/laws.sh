#!/usr/bin/env bash
# laws.sh LAW HEDDLE: relations between models that hold by construction, on the bundled workloads at size small.
#     rows    a large warp of one row is a warp with a stack: every statistic is the same, in turn on two machines
#     mimd    with perfect memory no model that keeps threads on their SM takes fewer cycles than mimd, within 2 % on a barrel
#             machine and 6 % on one with scoreboards: the order in which threads issue can save that much
set -euo pipefail
law=$1 heddle=$2
mapfile -t workloads < <("$heddle" list workloads --names)

# same_rows CSV: rows of one program and machine differ only in the model and in the columns of the comparison
same_rows() {
    awk -F, '
        NR == 1 { for (i = 1; i <= NF; i++) name[i] = $i; next }
        { if ($7 != "done") { print $1 ": " $7; bad = 1 } }
        { key = $1 " on " $3 }
        !(key in first) { first[key] = $0; next }
        {
            split(first[key], other, ",")
            for (i = 7; i <= NF; i++)
                if (name[i] != "speedup" && $i != other[i]) {
                    print key ": " name[i] " is " other[i] " with stack and " $i " with " $5
                    bad = 1
                }
            n++
        }
        END { print n " pairs"; exit bad || !n }'
}

# none_faster TOLERANCE: the first row of a program is that of mimd
none_faster() {
    awk -F, -v tolerance="$1" '
        NR == 1 { for (i = 1; i <= NF; i++) if ($i == "cycles") at = i; next }
        !($1 in best) { best[$1] = $at; next }
        { n++ }
        $at * tolerance < best[$1] { print $1 ": " $at " cycles with " $5 ", " best[$1] " with mimd"; bad = 1 }
        END { print n " runs"; exit bad || !n }'
}

case $law in
rows)
    for turn in 0 1; do
        machines=(gtx480 narasiman2011) words=()
        for ((i = turn; i < ${#workloads[@]}; i += 2)); do words+=("${workloads[i]}"); done
        "$heddle" compare "${words[@]}" -m "${machines[turn]}" -d stack -d lwm:size=32 --csv - | same_rows
    done
    ;;
mimd)
    bound=(-d mimd -d dwf:lanes=free -d lwm:perfect_rf=on) # and every other model but odgs, which moves threads
    for model in $("$heddle" list divergence --names | grep -vx -e mimd -e odgs); do
        bound+=(-d "$model")
    done
    compare_bound() { # TOLERANCE WORKLOAD... OPTION...
        "$heddle" compare "${@:2}" --set memory.perfect=true "${bound[@]}" --csv - | none_faster "$1"
    }
    compare_bound 1.02 ray lps mum spmv mergesort -m malits2012 -s lrr
    compare_bound 1.06 bfs nn cp nqueens sort needleman -m gtx480 -s gto
    ;;
*)
    echo "laws.sh: no law '$law'" >&2
    exit 2
    ;;
esac
