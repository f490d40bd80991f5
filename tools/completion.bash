# Completion of the heddle command for bash. The words come from the command itself, so they match its version.
_heddle_options() { "$1" help "$2" --options 2>/dev/null; }

# _heddle_value OPTION LINES: completes the value of an option according to its line
_heddle_value() {
    local line value=
    while IFS= read -r line; do
        [[ ${line%% *} == "$1" && $line == *' '* ]] && value=${line#* }
    done <<<"$2"
    case $value in
        '') return 1 ;;
        'KEY=VALUE'*) mapfile -t COMPREPLY < <(compgen -W "$("$heddle" list options --names 2>/dev/null)" -S = -- "$word") ;;
        'NAME|FILE.so[:'*)
            mapfile -t COMPREPLY < <(compgen -W "$("$heddle" list schedulers --names 2>/dev/null)" -- "$word")
            compopt -o default
            ;;
        'POLICY|FILE.so[:'*)
            mapfile -t COMPREPLY < <(compgen -W "$("$heddle" list dram --names 2>/dev/null)" -- "$word")
            compopt -o default
            ;;
        'NAME|FILE'*)
            mapfile -t COMPREPLY < <(compgen -W "$("$heddle" list machines --names 2>/dev/null)" -- "$word")
            compopt -o default
            ;;
        'NAME[:'*) mapfile -t COMPREPLY < <(compgen -W "$("$heddle" list schedulers --names 2>/dev/null)" -- "$word") ;;
        MODEL*) mapfile -t COMPREPLY < <(compgen -W "$("$heddle" list divergence --names 2>/dev/null)" -- "$word") ;;
        FILE*) compopt -o default ;;
        [a-z]*'|'*) mapfile -t COMPREPLY < <(compgen -W "${value//|/ }" -- "$word") ;;
    esac
}

_heddle() {
    local word=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]} heddle=${COMP_WORDS[0]}
    local command=${COMP_WORDS[1]-} words='' lines
    COMPREPLY=()
    if ((COMP_CWORD == 1)); then
        words="$("$heddle" list commands --names 2>/dev/null) --version --help"
    else
        lines=$(_heddle_options "$heddle" "$command")
        _heddle_value "$previous" "$lines" && return
        if [[ $word == -* ]]; then
            words=$(while read -r option _; do echo "$option"; done <<<"$lines")
        else
            case $command in
                run | compare | characterize)
                    words="$("$heddle" list workloads --names 2>/dev/null) $("$heddle" list aliases --names 2>/dev/null)"
                    compopt -o default # or a file: a program, a .ptx
                    ;;
                new) words='scheduler divergence dram-policy' ;;
                ptx | query | report | sweep | check | import) compopt -o default ;;
                list)
                    words='workloads aliases machines options schedulers divergence dram experiments stats commands'
                    if [[ $previous == machines ]]; then
                        words=$("$heddle" list machines --names 2>/dev/null)
                        compopt -o default # or a file
                    fi
                    ;;
                cost) words="$("$heddle" list divergence --names 2>/dev/null) $("$heddle" list schedulers --names 2>/dev/null)" ;;
                paper) words=$("$heddle" list experiments --names 2>/dev/null) ;;
                bench) words=$("$heddle" bench --names 2>/dev/null) ;;
                help) words=$("$heddle" list commands --names 2>/dev/null) ;;
            esac
        fi
    fi
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
}
complete -F _heddle heddle
