# fish completion for recmap. The command itself lists its commands, options and their arguments.
complete -c recmap -n __fish_use_subcommand -f -a '(recmap --list-commands) --help --version'
for command in (recmap --list-commands 2>/dev/null)
    set -l given "string match -q -- $command (commandline -opc)[2]"
    for line in (recmap $command --list-options)
        set -l words (string split -m1 ' ' -- $line '') # --NAME, its argument
        set -l name (string sub -s 3 -- $words[1])
        set -l choices (string split '|' -- $words[2] | string match -rv '[A-Z]|^$')
        if test "$words[2]" = FOLDER
            complete -c recmap -n $given -l $name -x -a \
                "(__fish_complete_directories (commandline -ct | string replace -- --$name= ''))"
        else if set -q choices[1]
            complete -c recmap -n $given -l $name -x -a "$choices"
        else if test -n "$words[2]"
            complete -c recmap -n $given -l $name -r
        else
            complete -c recmap -n $given -l $name
        end
    end
end
