# fish completion for recmap. The command itself lists its commands and options.
complete -c recmap -n __fish_use_subcommand -f -a '(recmap --list-commands) --help --version'
complete -c recmap -n 'not __fish_use_subcommand; and string match -q -- "-*" (commandline -ct)' \
    -a '(recmap (commandline -opc)[2] --list-options 2>/dev/null)'
