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
((failures == 0))
