# Completion of the heddle command for bash.
_heddle() {
    local word=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]} command=${COMP_WORDS[1]-} words=
    local common='--functional --size --json --csv --no-check --timeout --max-instructions -q --quiet -v --verbose --color --help'
    COMPREPLY=()
    if ((COMP_CWORD == 1)); then
        words='run ptx list bench help --version --help'
    else
        case $previous in
            --size) words='small medium paper' ;;
            --color) words='auto always never' ;;
            --json | --csv) compopt -o default && return ;;
            --timeout | --max-instructions | --kernel | --grid | --block | --arg) return ;;
            *)
                case $command in
                    run)
                        words="$common --kernel --grid --block --arg"
                        if [[ $word != -* ]]; then
                            words=$("${COMP_WORDS[0]}" list workloads --names 2>/dev/null)
                            compopt -o default # or a file: a program, a .ptx
                        fi
                        ;;
                    ptx) compopt -o default && words='--help' ;;
                    list) words='workloads' ;;
                    bench) words=$common ;;
                    help) words='run ptx list bench' ;;
                esac
                ;;
        esac
    fi
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
}
complete -F _heddle heddle
