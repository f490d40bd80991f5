# Builds a checkout into build/, once at a time, and quietly. Sourced by ./heddle and ./test with `root` set.
# shellcheck shell=bash disable=SC2154
source "$root/tools/packages.sh"
build=$root/build

# Only one process installs and builds; a second one waits, then finds the work done.
lock_build() {
    if ! mkdir -p "$build" 2>/dev/null || [[ ! -w $build ]]; then
        say "cannot write to $build; does the checkout belong to another user?"
        return 1
    fi
    exec 9>"$build/.lock"
    flock -n 9 || { say "waiting for another build of this checkout" && flock 9; }
}

unlock_build() { exec 9>&-; }

# run_logged LOG COMMAND...: runs silently; shows the end of the log on failure
run_logged() {
    local log=$1
    shift
    "$@" >"$log" 2>&1 </dev/null && return
    tail -n 40 "$log" >&2
    say "the build failed; the whole log is $log"
    return 1
}

# configure OPTIONS...: needed for the first build, for other options, and after the checkout has moved
configure() {
    local cache=$build/CMakeCache.txt fresh=()
    if [[ -f $cache ]] && ! grep -qxF "CMAKE_HOME_DIRECTORY:INTERNAL=$root" "$cache"; then
        fresh=(--fresh)
    elif [[ -f $build/build.ninja && $# -eq 0 ]]; then
        return
    fi
    run_logged "$build/configure.log" cmake "${fresh[@]}" -G Ninja -S "$root" -B "$build" "$@"
}

# Turns ninja's "[n/m] ..." lines into one line of progress, updated on a terminal.
show_progress() {
    local line percent shown=
    while IFS= read -r line; do
        [[ $line =~ ^\[([0-9]+)/([0-9]+)\]\ [^R] ]] || continue # "Re-checking", "Re-running CMake" build nothing
        if [[ -t 2 ]]; then
            percent=$((100 * BASH_REMATCH[1] / BASH_REMATCH[2]))
            [[ $percent == "$shown" ]] || printf '\rheddle: building %3d %%' "$percent" >&2
            shown=$percent
        elif [[ -z $shown ]]; then
            say "building"
            shown=yes
        fi
    done
    [[ -t 2 && -n $shown ]] && printf '\r\033[K' >&2
    return 0
}

run_ninja() { NINJA_STATUS='[%f/%t] ' ninja -C "$build" "$@" 2>&1 </dev/null | tee "$build/build.log" | show_progress; }

# build_target TARGET
build_target() {
    run_ninja "$1" && return
    tail -n 40 "$build/build.log" >&2
    say "the build failed; the whole log is $build/build.log"
    return 1
}
