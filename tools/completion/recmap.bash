# bash completion for recmap. The command itself lists its commands and options.
_recmap() {
    local word=${COMP_WORDS[COMP_CWORD]} choices
    COMPREPLY=()
    if [ "$COMP_CWORD" -eq 1 ]; then
        choices="$(recmap --list-commands 2>/dev/null) --help --version"
    elif [[ $word == -* ]]; then
        choices=$(recmap "${COMP_WORDS[1]}" --list-options 2>/dev/null)
    else
        return # the default: files
    fi
    mapfile -t COMPREPLY < <(compgen -W "$choices" -- "$word")
}
complete -o bashdefault -o default -F _recmap recmap
