#!/usr/bin/env bash
# The manual page names every command and every option, and no option that does not exist.
set -euo pipefail
manual=docs/heddle.1
failures=0

complain() {
    echo "$*" >&2
    failures=$((failures + 1))
}

commands=$("$HEDDLE_COMMAND" list commands --names)
options=$(for command in $commands; do "$HEDDLE_COMMAND" help "$command" --options; done | cut -d ' ' -f 1 | sort -u)

for command in $commands; do
    grep -q "^\.It Cm $command\$" "$manual" || complain "$manual does not explain the command $command"
done
for option in $options; do
    grep -q -- "Fl ${option#-}\( \|\$\)" "$manual" || complain "$manual does not have $option"
done
for option in $(grep -oE 'Fl -[a-z-]+' "$manual" | cut -d ' ' -f 2 | sort -u); do
    [[ " ${options//$'\n'/ } --version --name " == *" -$option "* || $option == - ]] ||
        complain "$manual has -$option, but no command knows it"
done
# Everything that prints a version takes it from CMakeLists.txt.
version=$(sed -nE 's/^project\(heddle VERSION ([0-9.]+) .*/\1/p' CMakeLists.txt)
[[ $("$HEDDLE_COMMAND" --version) == "heddle $version" ]] || complain "heddle --version does not print $version"
grep -q '^\.Os Heddle @PROJECT_VERSION@$' "$manual" || complain "$manual does not take its version from CMake"
grep -qE "^## $version( |$)" CHANGELOG.md || complain "CHANGELOG.md has no section for $version"
others=$(git grep -lwF "$version" -- include python src cmake docs/heddle.1 2>/dev/null || true)
[[ -z $others ]] || complain "these state the version by themselves: $others"
((failures == 0))
