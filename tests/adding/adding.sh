#!/usr/bin/env bash
# adding.sh BUILD: adds one thing of each kind to a copy of the sources, with the steps that ARCHITECTURE.md names ("Adding things") and
# no others, and looks for it where users do. What is forgotten has to be told by name: the opcode's test and all documentation come
# last. The copy is built without optimisation; BUILD lends it the workloads' programs.
set -euo pipefail
lent=$(readlink -f "$1")
cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/../.."
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
cp -r CMakeLists.txt ARCHITECTURE.md CHANGELOG.md src include cmake machines experiments bench tests docs tools "$copy"
mkdir -p "$copy/workloads" "$copy/build"
cp workloads/workloads.def "$copy/workloads"
for readme in workloads/*/README.md; do
    mkdir "$copy/${readme%/*}"
    cp "$readme" "$copy/$readme"
done
cp -r "$lent/workloads" "$copy/build"
cd "$copy"
unset HEDDLE_CONFIG HEDDLE_RESULTS HEDDLE_HOST_LEVEL CMAKE_C_COMPILER_LAUNCHER

# The commands of the documentation, without installing, and building no more than they need.
cat >heddle <<'SCRIPT'
#!/usr/bin/env bash
ninja -C build heddle heddle_cuda machines >build.log && exec build/bin/heddle "$@"
SCRIPT
cat >test <<'SCRIPT'
#!/usr/bin/env bash
case $1 in
^sched/*) name=${1#^} && ninja -C build "$(tr / _ <<<"${name%$}")_test" >build.log ;;
esac && exec ctest --test-dir build --output-on-failure --no-tests=error -R "$1"
SCRIPT
chmod +x heddle test

say() { echo "adding: $*"; }

# after FILE PATTERN TEXT: the text becomes a line after the one line that has the pattern
after() {
    [[ $(grep -cE -- "$2" "$1") == 1 ]] || { say "$1: not one line with '$2'" && return 1; }
    TEXT=$3 awk -v pattern="$2" '{ print } $0 ~ pattern { print ENVIRON["TEXT"] }' "$1" >new.txt
    mv new.txt "$1"
}

# without FILE LINE
without() {
    grep -qxF -- "$2" "$1"
    grep -vxF -- "$2" "$1" >new.txt
    mv new.txt "$1"
}

# lists LIST NAME: `heddle list` has it
lists() { grep -qx -- "$2" <<<"$(build/bin/heddle list "$1" --names)" || { say "'heddle list $1' lacks $2" && return 1; }; }

# ---- What is added ----

say "a counter"
after src/stats/counters.def '^STATS_SM\(thread_instructions,' \
    'STATS_SM(full_warp_instructions, TIMED, "instructions that all 32 lanes executed")'
after src/sm/issue.c '^    sm->counters\.thread_instructions \+= lanes;' \
    '    sm->counters.full_warp_instructions += lanes == EXEC_LANES;'

say "an opcode"
after src/ptx/opcodes.def '^/\* Heddle.s own' 'PTX_OPCODE(AVERAGE, "average", INTEGER)'
after src/ptx/check/rules.c '^    RULE\(SAD,' '    RULE(AVERAGE, TYPES(T(U32)), "dss"),'
after src/exec/lanes/integer.def '^BINARY\(MIN, min_u32,' 'BINARY(AVERAGE, average_u32, U32, NONE, uint32_t, (a & b) + ((a ^ b) >> 1))'

say "a divergence model"
sed -e 's/divergence_stack = {/divergence_second_stack = {/' -e 's/\.name = "stack"/.name = "second-stack"/' src/divergence/stack.c \
    >src/divergence/second_stack.c
after src/divergence/models.def '^DIVERGENCE_MODEL\(stack\)$' 'DIVERGENCE_MODEL(second_stack)'

say "a DRAM policy"
sed -e 's/dram_fcfs_bank = {/dram_second = {/' -e 's/\.name = "fcfs-bank"/.name = "second"/' src/mem/dram_fcfs_bank.c >src/mem/dram_second.c
after src/mem/dram_policies.def '^DRAM_POLICY\(fcfs_bank\)$' 'DRAM_POLICY(second)'

say "a machine"
printf '%s\n' '# Ours: a GTX 480 with four SMs.' 'extends: gtx480' 'name: gtx480-quarter' 'description: four SMs of a GTX 480' \
    'sm.count: 4' >machines/gtx480-quarter.yaml

say "a machine option"
after src/config/options.def '^CONFIG_OPTION\("sm\.blocks"' \
    'CONFIG_OPTION("sm.spare", UINT, sm.spare, "3", "0..64", "", "SMs that are switched off")'
after src/config/machine.h '^    uint32_t threads, blocks' '    uint32_t spare;'

say "a target"
sed -e 's/isa_sm_80 = {/isa_sm_86 = {/' -e 's/\.name = "sm_80"/.name = "sm_86"/' src/isa/sm_80.c >src/isa/sm_86.c
after src/config/targets.def '^CONFIG_TARGET\(sm_80\)$' 'CONFIG_TARGET(sm_86)'

say "a CUDA call"
without src/cuda/symbols/unsupported.def 'CUDA_UNSUPPORTED(cuFlushGPUDirectRDMAWrites)'
after include/cuda/cuda.h '^CUresult cuDriverGetVersion' 'CUresult cuFlushGPUDirectRDMAWrites(int target, int scope);'
cat >src/cuda/devices/flush.c <<'SCRIPT'
/* No other device writes to memory, so there is nothing to flush. */
#include "cuda/internal.h"

CUresult cuFlushGPUDirectRDMAWrites(int target, int scope) {
    CUDA_CALL call = cuda_enter_context();
    return call.result ? call.result : target == 0 && scope >= 100 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
SCRIPT

say "a subcommand"
after src/cli/commands.h '^extern const struct command cli_run_command;' 'extern const struct command cli_hello_command;'
after src/cli/commands.c '^const struct command \*const cli_commands\[\] = \{' '    &cli_hello_command,'
cat >src/cli/cmd_hello.c <<'SCRIPT'
/* `heddle hello`. */
#include <stdio.h>

#include "cli/cli.h"
#include "cli/commands.h"

static int hello(int argc, char **argv) {
    (void)argc, (void)argv;
    puts("hello");
    return COMMAND_DONE;
}

const struct command cli_hello_command = {.name = "hello", .summary = "greet", .usage = "hello", .main = hello};
SCRIPT

say "building"
cmake -G Ninja -S . -B build -DHEDDLE_TESTS=ON -DHEDDLE_BASE_ONLY=ON -DCMAKE_BUILD_TYPE=Plain >build.log
ninja -C build heddle heddle_cuda machines coverage table_runner config_docs_test models_random >build.log || { tail -n 40 build.log && exit 1; }

# ---- Where users find it ----

say "looking for it"
lists stats full_warp_instructions
lists divergence second-stack
lists dram second
lists machines gtx480-quarter
lists options sm.spare
lists commands hello
[[ $(build/bin/heddle hello) == hello ]]
grep -qE '^ *spare: 7 ' <<<"$(build/bin/heddle list machines gtx480-quarter --set sm.spare=7)"
stack=$(build/bin/heddle run bfs -m gtx480-quarter -d stack --json -)
second=$(build/bin/heddle run bfs -m gtx480-quarter -d second-stack --json -)
[[ $(build/bin/heddle run bfs --dram-policy second --json - | sed -n '/"kernels"/,/"host"/p') == "$(
    build/bin/heddle run bfs --dram-policy fcfs-bank --json - | sed -n '/"kernels"/,/"host"/p')" ]]
count() { sed -nE '/"total"/,$s/^ *"'"$1"'": ([0-9]+),?$/\1/p' <<<"$stack"; }
(($(count full_warp_instructions) > 0 && $(count full_warp_instructions) < $(count warp_instructions)))
diff <(sed -n '/"kernels"/,/"host"/p' <<<"$stack") <(sed -n '/"kernels"/,/"host"/p' <<<"$second")
old=$(build/bin/heddle run bfs -m a100 --json -)
new=$(build/bin/heddle run bfs -m a100 --set lowering.target=sm_86 --json -)
diff <(sed -n '/"kernels"/,/"host"/p' <<<"$old") <(sed -n '/"kernels"/,/"host"/p' <<<"$new")
grep -qF 'sm_80, sm_86, sm_89 and sm_90' <<<"$(build/bin/heddle ptx call.ptx --target sm_52 2>&1)"
grep -q ,full_warp_instructions, <<<"$(build/bin/heddle run bfs --csv -)"
build/tests/models_random 1 20 second-stack # the tests of all models know it
cat >call.c <<'SCRIPT'
#include <cuda.h>

int main(void) {
    CUcontext context;
    CUdevice device;
    return cuInit(0) || cuDeviceGet(&device, 0) || cuDevicePrimaryCtxRetain(&context, device) || cuCtxSetCurrent(context) ||
           cuFlushGPUDirectRDMAWrites(0, 100);
}
SCRIPT
cc -Iinclude/cuda call.c -o call -Lbuild/lib/cuda -l:libcuda.so.1
LD_LIBRARY_PATH=build/lib/cuda ./call

# ---- What is forgotten is told ----

# refuses WHAT COMMAND...: the command fails and says so
refuses() {
    local told
    if told=$("${@:2}" 2>&1) || [[ $told != *"$1"* ]]; then
        say "'${*:2}' should have told of '$1'; it says: $told"
        return 1
    fi
}
say "coverage asks for a test of the opcode"
cover() { build/tests/coverage tests/instructions/*.txt tests/kernels/*.ptx; }
refuses 'the opcode average has no form' cover
after tests/runner/extensions.def '^FORMS\("progress' 'FORMS("average.u32 r, r, r")'
ninja -C build coverage >build.log
refuses 'no test: average.u32 r, r, r' cover
printf '%s\n' '# Heddle adds an average.' 'op average.u32 {=d:u32}, {a:u32}, {b:u32};' '  3 8 -> 5' '  0xffffffff 0xffffffff -> 0xffffffff' \
    >tests/instructions/average.txt
cover
build/tests/table_runner tests/instructions/average.txt

say "the gate asks for a run that the option changes"
refuses 'tests/timing/options.txt: no run that sm.spare changes' tools/gate unread

say "documentation is asked for"
documented() { tests/adding/documented.sh build/bin/heddle; }
cp -p src/stats/counters.def kept.def
after src/stats/counters.def '^STATS_SM\(full_warp' 'STATS_SM(never_bumped, TIMED, "nothing")'
told=$(documented 2>&1) || true
mv kept.def src/stats/counters.def
for what in 'DRAM policy second: a section' 'divergence model second-stack: a page' 'divergence model second-stack: a row' 'machine gtx480-quarter: a section' \
    'machine option sm.spare: its row' 'statistic full_warp_instructions: its row' 'counter never_bumped: no code in src/sm'; do
    [[ $told == *"$what"* ]] || { say "documented.sh should have told of '$what'; it says: $told" && exit 1; }
done
printf '%s\n' '## second: fcfs-bank again' '' 'As fcfs-bank.' >>docs/dram.md
printf '%s\n' '# second-stack: the stack again' '' 'As [stack](stack.md).' >docs/models/second-stack.md
after docs/models/README.md '^\| \[`stack`\]' '| [`second-stack`](second-stack.md) | the same | the same | none |'
after docs/machines.md '^### gtx480$' $'\nThe default.\n\n### gtx480-quarter\n\nFour SMs of it.'
HEDDLE_BUILD=$copy/build tools/docs machines statistics
documented
manual() { HEDDLE_COMMAND=build/bin/heddle tests/cli/manual.sh; }
refuses 'does not explain the command hello' manual
after docs/heddle.1 '^Explain Heddle or a command\.$' $'.It Cm hello\nGreet.'
manual
say "no test knows the lists by heart"
ninja -C build config_machines_test sched_registry_test stats_counters_test gpu_fault_test cli_e2e_machines_test heddle_ptx_run >build.log
ctest --test-dir build --output-on-failure -R '^(config/(docs|machines)|sched/registry|stats/counters|gpu/fault|cli/machines)$'

# ---- The page that adds a scheduler ----

say "a scheduler, by its page"
tests/adding/follow.sh docs/write-a-scheduler.md
lists schedulers quantum
say "all done"
