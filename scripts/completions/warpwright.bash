# Completion of warpwright's command line for bash: machines, workloads, policies and their parameters, parameters of the machine.
# Installed as share/bash-completion/completions/warpwright; or: source scripts/completions/warpwright.bash
_warpwright() {
    local IFS=$'\n' line=${COMP_LINE:0:COMP_POINT} words=()
    # Words as the program sees them: bash would part them at '=' and ':', too.
    IFS=' ' read -r -a words <<<"${line//\'/}"
    [[ $line == *' ' ]] && words+=('')
    local current=${words[-1]} candidates
    candidates=$("${words[0]}" --complete "${words[@]:1}" 2>/dev/null)
    if [[ -z $candidates ]]; then
        compopt -o default 2>/dev/null
        COMPREPLY=()
        return
    fi
    mapfile -t COMPREPLY <<<"$candidates"
    # What bash has taken for words of their own already is not repeated.
    local before=${current%"${COMP_WORDS[COMP_CWORD]#[=:]}"}
    if [[ $current == *[=:]* && -n $before ]]; then COMPREPLY=("${COMPREPLY[@]#"$before"}"); fi
    if [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *[=:/] ]]; then compopt -o nospace 2>/dev/null; fi
}
complete -F _warpwright warpwright
