# bash completion for recmap. The command itself lists its commands, options and their arguments.
_recmap() {
    local command=${COMP_WORDS[1]} word=${COMP_WORDS[COMP_CWORD]} choices option argument
    local before=${COMP_WORDS[COMP_CWORD - 1]}
    COMPREPLY=()
    # bash makes three words of --access=map.
    if [ "$before" = = ]; then before=${COMP_WORDS[COMP_CWORD - 2]}; fi
    if [ "$word" = = ]; then word=; fi
    if [ "$COMP_CWORD" -eq 1 ]; then
        choices="$(recmap --list-commands 2>/dev/null) --help --version"
    elif [[ $word == -* ]]; then
        choices=$(recmap "$command" --list-options 2>/dev/null | cut -d' ' -f1)
    else
        while read -r option argument; do
            if [ "$option" = "$before" ]; then break; fi
        done < <(recmap "$command" --list-options 2>/dev/null)
        choices=$(tr '|' '\n' <<<"$argument" | grep -v '[A-Z]')
    fi
    if [ "$argument" = FOLDER ]; then
        mapfile -t COMPREPLY < <(compgen -d -- "$word")
    else
        mapfile -t COMPREPLY < <(compgen -W "$choices" -- "$word") # none: files, the default
    fi
}
complete -o bashdefault -o default -F _recmap recmap
