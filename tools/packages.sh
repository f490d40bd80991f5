# The list of packages that Heddle needs, by distribution, and how to install those that are missing. Sourced, not run.
# shellcheck shell=bash disable=SC2034

# The name in Debian and Ubuntu, in Fedora, in Arch; then commands or files (or patterns). Any of these shows that the
# package is installed.
run_packages='
gcc             gcc             gcc      gcc
libc6-dev       glibc-devel     glibc    /usr/include/stdlib.h
cmake           cmake           cmake    cmake
ninja-build     ninja-build     ninja    ninja
clang           clang           clang    clang
libjansson-dev  jansson-devel   jansson  /usr/include/jansson.h
libyaml-dev     libyaml-devel   libyaml  /usr/include/yaml.h
liblz4-dev      lz4-devel       lz4      /usr/include/lz4.h
libzstd-dev     libzstd-devel   zstd     /usr/include/zstd.h
libsqlite3-dev  sqlite-devel    sqlite   /usr/include/sqlite3.h
'
test_packages='
libcmocka-dev    libcmocka-devel    cmocka       /usr/include/cmocka.h
clang-format     clang-tools-extra  clang        clang-format
libclang-rt-dev  compiler-rt        compiler-rt  /usr/lib/llvm-*/lib/clang/*/lib/*/libclang_rt.fuzzer*.a /usr/lib*/clang/*/lib/*/libclang_rt.fuzzer*.a
'

say() { printf 'heddle: %s\n' "$*" >&2; }

# distribution [FILE]: prints debian, fedora or arch, by what os-release says the system is or resembles; nothing if it is none
distribution() {
    local word
    for word in $(
        # shellcheck source=/dev/null
        source "${1:-/etc/os-release}" 2>/dev/null
        echo "${ID-} ${ID_LIKE-}"
    ); do
        case $word in
            debian | ubuntu) echo debian && return ;;
            fedora | rhel) echo fedora && return ;;
            arch) echo arch && return ;;
        esac
    done
}

# is_installed MARK...
is_installed() {
    local mark
    for mark; do
        case $mark in
            /*) compgen -G "$mark" >/dev/null && return ;;
            *) command -v "$mark" >/dev/null && return ;;
        esac
    done
    return 1
}

# missing_packages LIST DISTRIBUTION: the packages without any of their marks, on one line
missing_packages() {
    local debian fedora arch marks missing=()
    while read -r debian fedora arch marks; do
        [[ -n $debian ]] || continue
        set -f # patterns stay patterns
        # shellcheck disable=SC2086 # one word per mark
        set -- "$1" "$2" $marks
        set +f
        is_installed "${@:3}" && continue
        case $2 in
            fedora) missing+=("$fedora") ;;
            arch) missing+=("$arch") ;;
            *) missing+=("$debian") ;;
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

# tell COMMAND: how root installs what is missing
tell() {
    local become="su -c"
    ((EUID != 0)) || become="sh -c"
    command -v sudo >/dev/null && become="sudo sh -c"
    say "packages are missing. Type this, then try again:"
    echo "    $become '$1'" >&2
    return 1
}

# require_packages LIST LOG [OS-RELEASE]: installs missing packages, or says what to type and fails
require_packages() {
    local log=$2 missing kind
    kind=$(distribution "${3-}")
    missing=$(missing_packages "$1" "$kind")
    [[ -n $missing ]] || return 0
    local install="install -y --no-install-recommends $missing"
    case $kind in
        fedora) tell "dnf install -y $missing" || return ;;
        arch) tell "pacman -S --needed --noconfirm $missing" || return ;;
    esac
    if ! command -v apt-get >/dev/null; then
        say "missing (as Debian calls it): $missing. Install it, then try again."
        return 1
    fi
    if ! find_root; then
        tell "apt-get update && apt-get $install" || return
    fi
    say "installing $missing"
    # Fetches the package lists only if the installation fails without.
    # shellcheck disable=SC2086 # one word per package
    if ! { apt_get $install || { apt_get update && apt_get $install; }; } >"$log" 2>&1 </dev/null; then
        tail -n 20 "$log" >&2
        say "the packages could not be installed; the whole log is $log"
        return 1
    fi
}
