#!/usr/bin/env bash
# packages.sh: what a user of each distribution is told to type when packages are missing. Nothing is installed.
set -euo pipefail
source tools/packages.sh
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
list='
here-dev   here-devel   here   sh
mine-dev   mine-devel   mine   /nonexistent/mine.h
yours-dev  yours-devel  yours  no-such-command /nonexistent/*/yours.a
'
find_root() { return 1; }
apt_get() { echo "apt-get is called" >&2 && exit 1; }

# expect OS-RELEASE TEXT: the last line says this
expect() {
    local told
    printf '%b' "$1" >"$work/os-release"
    if told=$(require_packages "$list" "$work/log" "$work/os-release" 2>&1); then
        echo "$1: missing packages are no error" && exit 1
    fi
    told=${told##*$'\n'}
    [[ $told == *"$2"* ]] || { echo "$1: expected '$2', got '$told'" && exit 1; }
}
if command -v apt-get >/dev/null; then
    for system in 'ID=debian\n' 'ID=ubuntu\nID_LIKE=debian\n' 'ID=linuxmint\nID_LIKE="ubuntu debian"\n'; do
        expect "$system" "'apt-get update && apt-get install -y --no-install-recommends mine-dev yours-dev'"
    done
fi
expect 'ID=fedora\n' " -c 'dnf install -y mine-devel yours-devel'"
expect 'ID="rocky"\nID_LIKE="rhel centos fedora"\n' " -c 'dnf install -y mine-devel yours-devel'"
expect 'ID=arch\n' " -c 'pacman -S --needed --noconfirm mine yours'"
expect 'ID=manjaro\nID_LIKE=arch\n' " -c 'pacman -S --needed --noconfirm mine yours'"
command() { [[ $2 != apt-get ]] && builtin command "$@"; }
expect 'ID=opensuse\n' 'missing (as Debian calls it): mine-dev yours-dev.'
expect '' 'missing (as Debian calls it): mine-dev yours-dev.'

# What is there is not missing, and every row names the package for each distribution and a mark.
[[ $(missing_packages $'\nhere-dev here-devel here sh\n' arch) == '' ]]
while read -r debian fedora arch mark _; do
    [[ -z $debian || ($fedora != /* && $arch != /* && -n $mark) ]] || { echo "the row of $debian is incomplete" && exit 1; }
done <<<"$run_packages$test_packages"
