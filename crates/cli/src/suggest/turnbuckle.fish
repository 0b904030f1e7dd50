# Completion of turnbuckle for fish: the program itself knows what may come next.

function __turnbuckle_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    set -l program $words[1]
    set -e words[1]
    set -l lines ($program __complete -- $words $current 2>/dev/null)
    if test "$lines[1]" = :files
        set -l start (string match -r '^[^=]*=@' -- $current)
        set -l path (string replace -r '^[^=]*=@' '' -- $current)
        for file in (__fish_complete_path $path)
            echo $start$file
        end
        return
    end
    printf '%s\n' $lines
end

complete -c turnbuckle -f -a '(__turnbuckle_complete)'
