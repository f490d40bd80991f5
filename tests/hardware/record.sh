#!/usr/bin/env bash
# record.sh HEDDLE WORKLOADS: bench/hardware/record.sh names what is missing, on a machine without a GPU, and makes a
# recording that `heddle validate` reads from what Nsight Compute prints. A script stands for Nsight Compute here.
set -euo pipefail
heddle=$1 workloads=$2
record=$(dirname "$(readlink -f "$0")")/../../bench/hardware/record.sh
folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT
cd "$folder"
fail() { echo "record: $*" >&2; exit 1; }

# refuses TEXT STATUS ARGUMENT...: writes nothing, and one line with the text
refuses() {
    local text=$1 status=$2 got=0 said
    shift 2
    said=$(PATH=$folder/bin:/usr/bin:/bin "$record" "$@" 2>&1) || got=$?
    [[ $got -eq $status && $said == *"$text"* && $said != *$'\n'* ]] || fail "$*: status $got, '$said'"
    [[ -z $(find . -name '*.csv') ]] || fail "$*: wrote a recording"
}
refuses "the name of the recording is missing" 2
refuses "no option -x" 2 -x
refuses "-p needs the folder" 2 -p
refuses "no folder ./nowhere" 1 -p ./nowhere mine
refuses "no folder ./nowhere" 1 ./nowhere/mine
refuses "no program ./app" 1 mine ./app
command -v ncu >/dev/null || refuses "no ncu" 1 mine

mkdir bin
ln -s "$workloads/vecadd" app
cat >bin/ncu <<'END'
#!/usr/bin/env bash
while [[ $1 != --metrics ]]; do shift; done
IFS=, read -ra names <<<"$2"
printf '==PROF== Connected\n"ID","Kernel Name","Block Size","Grid Size"'
printf ',"%s"' "${names[@]}"
printf '\n"","","",""'
for name in "${names[@]}"; do printf ',"unit"'; done
printf '\n"0","void vecadd(const float *, float *)","(256, 1, 1)","(4096, 1, 1)"'
for name in "${names[@]}"; do printf ',"1,234"'; done
echo
END
chmod +x bin/ncu
PATH=$folder/bin:$PATH "$record" mine ./app
[[ $(sed -n 2p mine_programs.csv) == 'app,own,vecadd,"(4096, 1, 1)","(256, 1, 1)",1234,1234,'* ]] || fail "$(cat mine_programs.csv)"
"$heddle" validate mine_programs.csv --csv - -q >table.csv || fail "mine_programs.csv cannot be compared"
grep -q '^app,vecadd,1,1234,' table.csv || fail "no line of app in: $(cat table.csv)"
"$heddle" validate mine_programs_metrics.csv --metrics --csv - -q >table.csv || fail "the metrics cannot be compared"
grep -q '^app,vecadd,instructions,1234,' table.csv || fail "no metric of app in: $(head -3 table.csv)"
