# The list of Debian packages that Heddle needs, and how to install those that are missing. Sourced, not run.
# shellcheck shell=bash disable=SC2034

# package, and a command or file (or pattern) that shows that it is installed
run_packages='
gcc             gcc
libc6-dev       /usr/include/stdlib.h
cmake           cmake
ninja-build     ninja
clang           clang
libjansson-dev  /usr/include/jansson.h
libyaml-dev     /usr/include/yaml.h
liblz4-dev      /usr/include/lz4.h
libzstd-dev     /usr/include/zstd.h
libsqlite3-dev  /usr/include/sqlite3.h
'
test_packages='
libcmocka-dev    /usr/include/cmocka.h
clang-format     clang-format
libclang-rt-dev  /usr/lib/llvm-*/lib/clang/*/lib/*/libclang_rt.fuzzer*.a
'

say() { printf 'heddle: %s\n' "$*" >&2; }

# missing_packages LIST: the packages whose mark is absent, on one line
missing_packages() {
    local package mark missing=()
    while read -r package mark; do
        [[ -z $package ]] && continue
        case $mark in
            /*) compgen -G "$mark" >/dev/null || missing+=("$package") ;;
            *) command -v "$mark" >/dev/null || missing+=("$package") ;;
        esac
    done <<<"$1"
    echo "${missing[*]}"
}

# Sets `as_root` to the prefix that runs a command as root; fails when there is none.
find_root() {
    as_root=()
    ((EUID == 0)) && return
    command -v sudo >/dev/null || return
    if sudo -n true 2>/dev/null; then
        as_root=(sudo -n)
    elif [[ -t 0 && -t 2 ]]; then
        sudo -v && as_root=(sudo) # asks for the password
    else
        return 1
    fi
}

apt_get() {
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=120 "$@"
}

# require_packages LIST LOG: installs missing packages, or says what to type and fails
require_packages() {
    local log=$2 missing
    missing=$(missing_packages "$1")
    [[ -z $missing ]] && return
    if ! command -v apt-get >/dev/null; then
        say "missing (as Debian calls it): $missing. Install it, then try again."
        return 1
    fi
    local install=(install -y --no-install-recommends)
    # shellcheck disable=SC2206 # one word per package
    install+=($missing)
    if ! find_root; then
        local become="su -c"
        command -v sudo >/dev/null && become="sudo sh -c"
        say "packages are missing, and only root can install them. Type this, then try again:"
        echo "    $become 'apt-get update && apt-get ${install[*]}'" >&2
        return 1
    fi
    say "installing $missing"
    # Fetches the package lists only if the installation fails without.
    if ! { apt_get "${install[@]}" || { apt_get update && apt_get "${install[@]}"; }; } >"$log" 2>&1 </dev/null; then
        tail -n 20 "$log" >&2
        say "the packages could not be installed; the whole log is $log"
        return 1
    fi
}
